"""`Model`, which the command line, the scikit-learn estimators and the River models use.

It knows which column is the target, what its values mean, how columns become features and which
classes exist, and adds new features and classes as they appear.
"""

import os
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless.encoders import FrameEncoder
from unitless.encoders.dict_rows import plain
from unitless.labels import ClassWeights, Label, as_labels
from unitless.learners.base import Learner
from unitless.locking import PicklableLock
from unitless.model import file_blocks
from unitless.model.decisions import decisions
from unitless.model.file_blocks import Prepared, codes_of
from unitless.model.input_rows import factors_by_column, features, rows_of
from unitless.model.learner_choice import learner_for_task
from unitless.model.numbered_names import NumberedNames
from unitless.readers.blocks import FileBlock
from unitless.rows import Rows

if TYPE_CHECKING:
    from unitless.regret import BlendCertificate, Certificate

Float = NDArray[np.float64]
Task = Literal["binary", "multiclass", "regression", "multilabel", "multioutput"]


@dataclass(repr=False)
class Model:
    """A learner with the encoding of its data: target, classes and features.

    ============= ======================================================================
    field         meaning
    ============= ======================================================================
    task          "binary", "multiclass", "regression"; "multilabel", "multioutput"
    learner       the learner, whose targets are -1 and +1, class numbers or numbers
    labels        the classes by code; of two, the first is -1
    target        tables: name of the target's column
    weight        tables: name of the column of sample weights, if there is one
    ignore        tables: columns excluded from the features
    keep          tables: the only columns used as features, if any are named
    columns       tables: the encoder that turns columns into features
    inputs        arrays: the number of columns, which are called x0, x1, ...
    rows          rows learned
    position      where the reader is in the file
    source        the file as it was named
    reading       options of the reader that the file needs
    decisions     what was decided about the file, one sentence each
    class_weights weights of the classes, if there are any
    parameters    parameters of the scikit-learn estimator it belongs to
    label_type    NumPy's name for the type of its `classes_`, if not that of the labels
    ============= ======================================================================

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
    inputs: int | None = None
    rows: int = 0
    position: dict[str, Any] = field(default_factory=dict)
    source: str = ""
    reading: dict[str, Any] = field(default_factory=dict)
    decisions: list[str] = field(default_factory=list)
    class_weights: ClassWeights | None = None
    parameters: dict[str, Any] | None = None
    label_type: str = ""
    lock: PicklableLock = field(default_factory=PicklableLock, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.class_weights is not None:
            self.learner.weigh_gradients()

    def __repr__(self) -> str:
        kept = f"{self.task}, {self.learner.name}, {self.learner.loss.name} loss"
        return f"<Model: {kept}, {self.rows} rows learned>"

    # Construction

    @classmethod
    def from_first_block(
        cls,
        block: FileBlock,
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
        """A fresh model for a stream that begins with this block, which shows task and classes."""
        kind, labels = file_blocks.task_and_labels(block, target, task)
        made = learner_for_task(learner, kind, loss, len(labels))
        model = cls(kind, made, labels, target, weight, [*ignore], [*keep], source=source)
        file_blocks.take_format(model, block, columns)
        model.decisions = decisions(model, block, task)
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
            if thing.loss.targets == "signs":
                return cls("binary", thing, [-1.0, 1.0])
            if thing.loss.targets == "classes":
                return cls("multiclass", thing, list(map(float, range(thing.classes))))
            return cls("regression", thing)
        if hasattr(thing, "to_model"):
            return thing.to_model()
        raise TypeError(
            f"a {type(thing).__name__} cannot be saved: give a learner, an OnlineClassifier, an "
            "OnlineRegressor, a River model of unitless.river or a Model"
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

    def prepared(self, block: FileBlock, *, grow: bool = True, labelled: bool = True) -> Prepared:
        """The block's rows; with `grow`, new features get a column.

        Without `labelled`, targets and weights are not used: the rows are to be predicted.
        """
        return file_blocks.prepared(self, block, grow, labelled)

    def features(self, frame: Any) -> Any:
        """The columns of a frame that are features."""
        return features(self, frame)

    def add_class(self, label: Label) -> None:
        """Add a class that has not been seen; a two-class learner knows its second one already."""
        self.labels.append(label)
        if self.task == "multiclass" and len(self.labels) > self.learner.classes:
            self.learner.add_class()

    # Frames, arrays and dicts

    def learn(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Float:
        """Learn rows in order; returns the scores made before each target was used.

        If an error is raised, the model is as it was.

        Parameters
        ----------
        X : data frame, array, sparse matrix, list of dicts, or dict (one row)
        y : labels or numbers
            New classes are added as they appear, if the task is "multiclass". With several targets
            one column per target; NaN where a target is not known.
        sample_weight : one weight per row, optional
        """
        with self.lock:
            codes, new = codes_of(self, y)
            if self._is_plain_row(X) and not new and sample_weight is None:
                score = self.learner.learn_one(plain(X), codes[0])
                self.rows += 1
                return np.array([score])
            before = self.learner, self.learner.names, list(self.labels)
            counts = self.rows, self.class_weights
            try:
                if new:  # classes are added on the way, and a later row may be refused
                    self.learner = deepcopy(self.learner)
                rows, commit = rows_of(self, X, True, sample_weight)
                scores = self._learn_pieces(rows.with_targets(codes), new)
            except BaseException:
                self.learner, self.learner.names, self.labels = before
                self.rows, self.class_weights = counts
                raise
            commit()
            return scores

    def _learn_pieces(self, rows: Rows, new: list[tuple[int, Label]]) -> Float:
        """Learn the rows, with each new class added before its first row."""
        if not new:
            return self.learn_rows(rows)
        classes = len(self.labels) + len(new)
        parts = []
        start = 0
        for end in dict.fromkeys([*(row for row, _ in new if row), len(rows)]):
            for row, label in new:
                if row == start:
                    self.add_class(label)
            part = self.learn_rows(rows[start:end])
            if part.ndim == 2:
                part = np.pad(part, ((0, 0), (0, max(classes - part.shape[1], 0))))
            parts.append(part)
            start = end
        return np.concatenate(parts)

    def learn_rows(self, rows: Rows) -> Float:
        """Learn rows with coded targets; returns the scores made before each was used."""
        after = None
        if self.class_weights is not None:
            if rows.weights is not None:
                raise ValueError("class_weight and sample_weight cannot be used together")
            codes = np.asarray(rows.targets)
            places = (codes > 0) if self.task == "binary" else codes
            factors, after = self.class_weights.factors(places.astype(np.int64), self.labels)
            rows = Rows(*rows.parts, rows.targets, factors)
        scores = self.learner.learn(rows)
        self.class_weights = after
        self.rows += len(rows)
        return scores

    def scores(self, X: Any) -> Float:
        """Scores of the rows, each as if it were the next one: numbers, or one per class."""
        with self.lock:
            if self._is_plain_row(X):
                return np.array([self.learner.predict_one(plain(X))])
            return self.learner.predict(rows_of(self, X)[0])

    def _is_plain_row(self, X: Any) -> bool:
        """Whether the learner itself takes X: a dict of its features."""
        return type(X) is dict and self.by_name and self.class_weights is None

    def predict(self, X: Any) -> Any:
        """The class or the number of each row; a dict is one row and gives one value."""
        found = self.answers(self.scores(X))
        return found.tolist()[0] if isinstance(X, Mapping) else found

    def predict_proba(self, X: Any) -> Any:
        """Probabilities, one column per class (or label); for a dict, a dict by class."""
        found = self.probabilities(self.scores(X))
        if found is None:
            raise ValueError(f"the {self.learner.loss.name} loss gives no probabilities")
        if not isinstance(X, Mapping):
            return found
        if self.task == "multilabel":
            return found[0].tolist()
        return dict(zip(self.labels, found[0].tolist(), strict=True))

    def answers(self, scores: Float) -> NDArray[Any]:
        """The class of each row, or the number."""
        if self.task in ("regression", "multioutput"):
            return scores
        if self.task == "multilabel":
            return (scores >= 0).astype(np.int64)
        labels = np.empty(len(self.labels), dtype=object)
        labels[:] = self.labels
        return as_labels(scores[:, : len(labels)] if scores.ndim == 2 else scores, labels)

    def probabilities(self, scores: Float) -> Float | None:
        """One column per class (or label); None for numbers and losses without probabilities."""
        if self.learner.loss.name not in ("logistic", "softmax"):
            return None
        p = self.learner.loss.link(scores)
        if self.task == "multilabel":
            return p
        if len(self.labels) == 1:
            return np.ones((len(p), 1))
        return p[:, : len(self.labels)] if p.ndim == 2 else np.column_stack([1 - p, p])

    # Inspection

    @property
    def by_name(self) -> bool:
        """Whether the names of dict rows, or of VW text, are those of the features."""
        return self.columns is None and bool(self.learner.names.columns)

    def feature_names(self, count: int | None = None) -> Sequence[str]:
        """Names of the features by column, up to `count`; columns of svmlight are numbers."""
        if self.columns is not None:
            return self.columns.names
        if self.by_name:
            return list(map(str, self.learner.names.columns))
        if self.inputs is not None:
            return NumberedNames(self.inputs, "x")
        return NumberedNames(self.position.get("columns", 0) if count is None else count)

    def explain(self, x: Any) -> dict[str, Any]:
        """What each feature adds to the score of one row; with `(base)` they add up to it.

        Features that add nothing are left out. Each entry has one number per class, if there are
        more than two, or per target, if there are several.
        """
        with self.lock:
            rows = rows_of(self, x)[0]
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
            self.learner.rescale(factors_by_column(self, factors))

    def certificate(self, **options: Any) -> "Certificate | BlendCertificate":
        """Upper bounds on the regret so far, with the options of `unitless.regret.certificate`."""
        from unitless.regret import certificate  # not needed to start

        with self.lock:
            return certificate(self.learner, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model; `unitless.load` gives it back."""
        from unitless import persistence

        with self.lock:
            persistence.save(self, path)
