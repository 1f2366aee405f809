"""Model: a learner with the encoding of its data: target, classes and features.

It knows which column is the target, what its values mean, how columns become features and which
classes exist. It adds new features and classes as they appear, and is saved with the learner.
The command line, the scikit-learn estimators and the River models use it, and `unitless.load`
returns it.
"""

import os
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless import model_blocks, model_building, model_input
from unitless.encoders import FrameEncoder
from unitless.labels import Label, as_labels
from unitless.learners.base import Learner
from unitless.locking import PicklableLock
from unitless.model_blocks import Prepared as Prepared
from unitless.model_building import LOSSES as LOSSES
from unitless.readers.blocks import Block, NumberedNames
from unitless.rows import Rows, as_rows

if TYPE_CHECKING:
    from unitless.regret import BlendCertificate, Certificate

Float = NDArray[np.float64]
Task = Literal["binary", "multiclass", "regression"]


@dataclass(repr=False)
class Model:
    """A learner with the encoding of its data: target, classes and features.

    ========= ==========================================================================
    field     meaning
    ========= ==========================================================================
    task      "binary", "multiclass" or "regression"
    learner   the learner, whose targets are -1 and +1, class numbers or numbers
    labels    the classes by code; of two, the first is -1
    target    tables: name of the target's column
    weight    tables: name of the column of sample weights, if there is one
    ignore    tables: columns excluded from the features
    keep      tables: the only columns used as features, if any are named
    columns   tables: the encoder that turns columns into features
    names     VW text and arrays: names of the features by column
    rows      rows learned
    position  where the reader is in the file
    source    the file as it was named
    reading   options of the reader that the file needs
    estimator scikit-learn: parameters and input of the estimator it belongs to
    ========= ==========================================================================

    One thread may learn while others predict.

    >>> import pandas
    >>> from unitless import OnlineRegressor
    >>> frame = pandas.DataFrame({"size": [1.0, 2.0, 3.0], "kind": ["cat", "dog", "cat"]})
    >>> model = OnlineRegressor("coordinate", loss="absolute")
    >>> model = model.fit(frame, [1.0, 2.0, 3.0]).model_
    >>> model.task, model.feature_names()
    ('regression', ['size', 'kind=cat', 'kind=dog'])
    >>> scores = model.learn(frame, [1.0, 2.0, 3.0])
    >>> bool(model.predict({"size": 2.0, "kind": "dog"}) == model.predict(frame)[1])
    True
    """

    task: Task
    learner: Learner
    labels: list[Any] = field(default_factory=list)
    target: str | None = None
    weight: str | None = None
    ignore: list[str] = field(default_factory=list)
    keep: list[str] = field(default_factory=list)
    columns: FrameEncoder | None = None
    names: list[str] | None = None
    rows: int = 0
    position: dict[str, Any] = field(default_factory=dict)
    source: str = ""
    reading: dict[str, Any] = field(default_factory=dict)
    estimator: dict[str, Any] | None = None
    lock: PicklableLock = field(default_factory=PicklableLock, repr=False, compare=False)

    def __repr__(self) -> str:
        kept = f"{self.task}, {self.learner.name}, {self.learner.loss.name} loss"
        return f"<Model: {kept}, {self.rows} rows learned>"

    # Construction

    @classmethod
    def from_first_block(
        cls,
        block: Block,
        *,
        target: str | None = None,
        learner: str | Learner = "blend",
        loss: str | None = None,
        task: str = "auto",
        weight: str | None = None,
        ignore: Sequence[str] = (),
        keep: Sequence[str] = (),
        columns: FrameEncoder | None = None,
        source: str = "",
    ) -> Self:
        """A fresh model for a stream that begins with this block, which shows task and classes.

        "auto" takes strings, booleans or two distinct values for classes, otherwise regression.

        >>> import io
        >>> from unitless.readers import open_blocks
        >>> text = io.BytesIO(b"size,kind\\n1,cat\\n9,dog\\n2,cat\\n8,dog\\n1.5,cat\\n")
        >>> (block,) = open_blocks(text)
        >>> model = Model.from_first_block(block, target="kind", learner="coordinate")
        >>> model.task, model.labels
        ('binary', ['cat', 'dog'])
        """
        kind, labels = model_blocks.task_and_labels(block, target, task, source)
        made = model_building.learner_for_task(learner, kind, loss, len(labels))
        model = cls(kind, made, labels, target, weight, [*ignore], [*keep], source=source)
        model_blocks.take_format(model, block, columns)
        return model

    @classmethod
    def of(cls, thing: Any) -> "Model":
        """The model of anything that can be saved: a model, a learner, an estimator.

        >>> from unitless.learners import Coordinate
        >>> Model.of(Coordinate()).labels
        [-1.0, 1.0]
        """
        if isinstance(thing, Model):
            return thing
        if isinstance(thing, Learner):
            task = model_building.task_of_learner(thing)
            return cls(task, thing, model_building.labels_of_learner(thing))
        if hasattr(thing, "to_model"):
            return thing.to_model()
        raise TypeError(
            f"a {type(thing).__name__} cannot be saved: give a learner, an OnlineClassifier, an "
            "OnlineRegressor, a River model of unitless.estimators.river or a Model"
        )

    def to_sklearn(self) -> Any:
        """The `OnlineClassifier` or `OnlineRegressor` with this model."""
        from unitless.estimators.base import from_model

        return from_model(self)

    def to_river(self) -> Any:
        """The River model with this learner, for dicts of its features."""
        from unitless.estimators.river import from_model

        return from_model(self)

    # Blocks of a reader

    def prepared(self, block: Block, *, grow: bool = True, labelled: bool = True) -> Prepared:
        """The block's rows; with `grow`, new features get a column.

        Without `labelled`, targets and weights are not used: the rows are to be predicted.
        """
        return model_blocks.prepared(self, block, grow, labelled)

    def features(self, frame: Any) -> Any:
        """The columns of a frame that are features."""
        return model_blocks.features(self, frame)

    def add_class(self, label: Label) -> None:
        """Add a class that has not been seen; a two-class learner knows its second one already."""
        self.labels.append(label)
        if self.task == "multiclass" and len(self.labels) > self.learner.classes:
            self.learner.add_class()

    # Frames, arrays and dicts

    def learn(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Float:
        """Learn rows in order; returns the scores made before each target was used.

        Parameters
        ----------
        X : data frame, array, sparse matrix, dict or list of dicts
            A dict is one row.
        y : labels or numbers
            New classes are added as they appear, if the task is "multiclass".
        sample_weight : optional
            One weight per row.

        If an error is raised, the model is as it was.
        """
        with self.lock:
            codes, new = model_input.codes_of(self, y)
            before = self.learner, self.learner.names, list(self.labels)
            try:
                if new:  # classes are added on the way, and a later row may be refused
                    self.learner = deepcopy(self.learner)
                rows, commit = model_input.rows_of(self, X, grow=True)
                checked = as_rows(np.empty((len(rows), 0)), codes, sample_weight)
                rows = replace(rows, targets=checked.targets, weights=checked.weights)
                scores = self._learn_pieces(rows, new)
            except BaseException:
                self.learner, self.learner.names, self.labels = before
                raise
            commit()
            self.rows += len(rows)
            return scores

    def _learn_pieces(self, rows: Rows, new: list[tuple[int, Label]]) -> Float:
        """Learn the rows, with each new class added before its first row."""
        classes = len(self.labels) + len(new)
        parts = []
        start = 0
        for end in dict.fromkeys([*(row for row, _ in new if row), len(rows)]):
            for row, label in new:
                if row == start:
                    self.add_class(label)
            parts.append(self.learner.learn(rows[start:end]))
            start = end
        if parts[0].ndim == 1:
            return np.concatenate(parts)
        missing = [max(classes - part.shape[1], 0) for part in parts]
        wide = [np.pad(p, ((0, 0), (0, m))) for p, m in zip(parts, missing, strict=True)]
        return np.concatenate(wide)

    def scores(self, X: Any) -> Float:
        """Scores of the rows, each as if it were the next one: numbers, or one per class."""
        with self.lock:
            return self.learner.predict(model_input.rows_of(self, X)[0])

    def predict(self, X: Any) -> Any:
        """The class or the number of each row; a dict is one row and gives one value."""
        found = self.answers(self.scores(X))
        return found.tolist()[0] if isinstance(X, Mapping) else found

    def predict_proba(self, X: Any) -> Any:
        """Probabilities, one column per class; for a dict (one row), a dict by class."""
        found = self.probabilities(self.scores(X))
        if found is None:
            raise ValueError(f"the {self.learner.loss.name} loss gives no probabilities")
        return (
            dict(zip(self.labels, found[0].tolist(), strict=True))
            if isinstance(X, Mapping)
            else found
        )

    def answers(self, scores: Float) -> NDArray[Any]:
        """The class of each row, or the number."""
        if self.task == "regression":
            return scores
        labels = np.empty(len(self.labels), dtype=object)
        labels[:] = self.labels
        return as_labels(scores[:, : len(labels)] if scores.ndim == 2 else scores, labels)

    def probabilities(self, scores: Float) -> Float | None:
        """One column per class; None for numbers, and for losses without probabilities."""
        if self.task == "regression" or self.learner.loss.name not in ("logistic", "softmax"):
            return None
        p = self.learner.loss.link(scores)
        return (p if p.ndim == 2 else np.column_stack([1 - p, p]))[:, : len(self.labels)]

    # Inspection

    def feature_names(self, count: int | None = None) -> Sequence[str]:
        """Names of the features by column, up to `count`; columns of svmlight are numbers."""
        if self.columns is not None:
            return self.columns.names
        if self.names is not None:
            return list(self.names)
        if self.learner.names.columns:
            return list(map(str, self.learner.names.columns))
        if self.estimator is not None:
            return [f"x{j}" for j in range(self.estimator["fitted"]["n_features_in_"])]
        return NumberedNames(self.position.get("columns", 0) if count is None else count)

    def explain(self, x: Any) -> dict[str, Any]:
        """What each feature adds to the score of one row; with `(base)` they add up to it.

        Features that add nothing are left out. With several classes each entry has one number per
        class.
        """
        with self.lock:
            rows = model_input.rows_of(self, x)[0]
            if len(rows) != 1:
                raise ValueError(f"explain takes one row, not {len(rows)}")
            base, parts = self.learner.contributions(rows)
        used = np.flatnonzero(parts if parts.ndim == 1 else parts.any(axis=1))
        names = self.feature_names(len(parts))
        plain = float if parts.ndim == 1 else np.asarray
        return {"(base)": plain(base)} | {names[int(j)]: plain(parts[j]) for j in used}

    def rescale(self, factors: Mapping[str, float]) -> None:
        """From now on these columns arrive multiplied by these factors, interactions included."""
        with self.lock:
            self.learner.rescale(model_input.factors_by_column(self, factors))

    def certificate(self, **options: Any) -> "Certificate | BlendCertificate":
        """Upper bounds on the regret so far: `unitless.regret.certificate` of the learner.

        The regret is that of the learner's own loss and of the rows it has learned; `options`
        (a comparator `u`, the `rows`, a `ball`) are those of the function.
        """
        from unitless.regret import certificate  # not needed to start

        with self.lock:
            return certificate(self.learner, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model; `unitless.load` gives it back."""
        from unitless import persistence

        with self.lock:
            persistence.save(self, path)


def load(path: str | os.PathLike[str]) -> Model:
    """Load a model file, whether a learner, an estimator or the command line saved it.

    >>> import tempfile
    >>> from unitless.learners import Coordinate
    >>> learner = Coordinate()
    >>> score = learner.learn_one({"height": 1.8}, 1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(learner, f"{folder}/model")
    ...     model = load(f"{folder}/model")
    >>> model.task, model.feature_names(), model.predict({"height": 1.8})
    ('binary', ['height'], 1.0)
    """
    from unitless import persistence

    return Model.of(persistence.load(path))


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Save a model, an estimator, a River model or a learner; `load` gives a `Model` back."""
    from unitless import persistence

    persistence.save(model, path)
