"""`Model`, which the command line, the scikit-learn estimators and the River models use.

It knows which column is the target, what its values mean, how columns become features and which
classes exist, and adds new features and classes as they appear.
"""

import os
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import pairwise
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless.core.learner import Learner
from unitless.encoders import FrameEncoder
from unitless.encoders.dict_encoder import plain
from unitless.labels import (
    ClassWeights,
    add_label,
    as_labels,
    classes,
    code_of,
    label_array,
)
from unitless.model import file_blocks, intake
from unitless.model.effects import effects, importances
from unitless.model.explanations import Explanation, explained
from unitless.model.file_decisions import file_decisions
from unitless.model.file_settings import FileSettings
from unitless.model.input_columns import input_columns
from unitless.model.input_names import NumberedNames, Unknown, factors_by_column
from unitless.model.intake import Prepared
from unitless.model.learner_choice import learner_for_task
from unitless.model.reservoir import Reservoir, row_of_dict
from unitless.readers.blocks import FileBlock
from unitless.rows import Rows
from unitless.uncertainty import Coverage, Intervals, intervals_for

if TYPE_CHECKING:
    from unitless.regret import BlendCertificate, Certificate

Float = NDArray[np.float64]
Bool = NDArray[np.bool_]
Task = Literal["binary", "multiclass", "regression", "multilabel", "multioutput"]


@dataclass(repr=False)
class Model:
    """A learner with the encoding of its data: target, classes and features.

    One thread may learn while others predict.

    >>> import pandas
    >>> from unitless import OnlineRegressor
    >>> frame = pandas.DataFrame({"size": [1.0, 2.0, 3.0], "kind": ["cat", "dog", "cat"]})
    >>> model = OnlineRegressor("vaw").fit(frame, [1.0, 2.0, 3.0]).to_model()
    >>> model.task, model.feature_names()
    ('regression', ['size', 'kind=cat', 'kind=dog'])
    >>> print(f"{model.predict({'size': 2.0, 'kind': 'dog'}):.2f}")
    2.50
    """

    task: Task
    learner: Learner  # its targets are -1 and +1, class numbers or numbers
    labels: list[Any] = field(default_factory=list)  # the classes by code
    encoder: FrameEncoder | None = None  # turns columns of tables into features
    file: FileSettings = field(default_factory=FileSettings)  # the file that it learns from
    inputs: int | None = None  # of arrays: the number of columns, called x0, x1, ...
    rows: int = 0  # rows learned
    class_weights: ClassWeights | None = None
    parameters: dict[str, Any] | None = None  # of its scikit-learn estimator
    reservoir: Reservoir = field(default_factory=Reservoir)  # a sample of the rows learned
    intervals: Intervals | None = None  # of declared coverages
    lock: AbstractContextManager[bool] = field(default_factory=RLock)  # held during each call

    def __post_init__(self) -> None:
        if self.class_weights is not None:
            self.learner.weigh_gradients()

    def __getstate__(self) -> dict[str, object]:
        return vars(self) | {"lock": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state, lock=RLock())  # a copy has its own

    def __repr__(self) -> str:
        kept = f"{self.task}, {self.learner.name}, {self.learner.loss.name} loss"
        return f"<Model: {kept}, {self.rows} rows learned>"

    # Construction

    @classmethod
    def from_first_block(
        cls,
        block: FileBlock,
        *,
        learner: str | Learner = "blend",
        loss: str | None = None,
        task: str = "auto",
        columns: FrameEncoder | None = None,
        target: str | None = None,
        weight: str | None = None,
        ignore: Iterable[str] = (),
        keep: Iterable[str] = (),
        source: str = "",
        identifier_as_feature: bool = False,
        delay: int | None = None,
        intervals: Sequence[float] = (),
    ) -> Self:
        """A fresh model for a stream that begins with this block, which shows task and classes.

        `target`, `weight`, `ignore`, `keep` and `source` are those of its `FileSettings`. Columns
        that look like identifiers are ignored, unless `identifier_as_feature`. Labels arrive
        `delay` rows late, if that is known. `intervals` are coverages.
        """
        kind, labels = file_blocks.task_and_labels(block, target, task)
        made = learner_for_task(learner, kind, loss, len(labels), delay)
        model = cls(kind, made, labels)
        model.intervals = intervals_for(intervals, kind, made)
        model.file = FileSettings(
            target=target, weight=weight, ignore=[*ignore], keep=[*keep], source=source
        )
        file_blocks.take_format(model, block, columns)
        found = file_blocks.take_findings(model, block, identifier_as_feature)
        model.file.decisions = file_decisions(model, block, task, found)
        return model

    @classmethod
    def of(cls, thing: object) -> "Model":
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

    # Intake

    def prepared(
        self,
        X: object,
        y: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        *,
        grow: bool = False,
        unknown: Unknown = "error",
    ) -> Prepared:
        """The record of rows of any kind for the learner; nothing changes before its `commit`.

        With `grow`, new features have columns, which `commit` keeps. `unknown` says what happens
        with names that the model does not have, see `learn`.
        """
        with self.lock:
            return intake.prepared(self, X, y, sample_weight, grow=grow, unknown=unknown)

    def prepared_block(
        self, block: FileBlock, *, grow: bool = False, labelled: bool = True
    ) -> Prepared:
        """A block of a file as a prepared record, with its targets and weights if `labelled`."""
        with self.lock:
            return intake.prepared_block(self, block, grow=grow, labelled=labelled)

    @property
    def classes(self) -> list[Any]:
        """The classes seen so far, by code."""
        return classes(self.labels)

    def add_class(self, label: Any) -> None:
        """Add a class that has not been seen; a learner of two classes has both."""
        add_label(self.labels, label, self.task == "binary")
        if self.task == "multiclass" and len(self.labels) > self.learner.classes:
            self.learner.add_class()

    def pieces(self, prepared: Prepared, cuts: Iterable[int] = ()) -> Iterator[Rows]:
        """The rows in order, cut where a class is new, which is added before its first row."""
        rows, new, _ = prepared
        inner = {*(row for row, _ in new), *cuts}
        ends = sorted(end for end in inner if 0 < end < len(rows))
        for start, stop in pairwise([0, *ends, len(rows)]):
            for row, label in new:
                if row == start:
                    self.add_class(label)
            yield rows[start:stop]

    # Frames, arrays and dicts

    def learn(
        self,
        X: object,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        unknown: Unknown = "error",
    ) -> Float:
        """Learn rows in order; returns the scores made before each target was used.

        If an error is raised, the model is as it was.

        Parameters
        ----------
        X : data frame, array, sparse matrix, list of dicts, or dict (one row)
        y : labels or numbers
            New classes are added as they appear, if the task is "multiclass". With several targets
            one column per target; NaN where a target is not known.
        sample_weight : one weight per row, optional
        unknown : "error" or "ignore"
            Only for models made from a table, to which absent names are missing: whether a name
            in a dict that the table did not have is an error, or is left out. A frame with other
            columns is a warning, unless they are ignored.
        """
        with self.lock:
            prepared = self.prepared(X, y, sample_weight, grow=True, unknown=unknown)
            before = self.learner, self.learner.names, [*self.labels]
            counts = self.rows, self.class_weights, self.reservoir.copy(), self.intervals
            try:
                if prepared.new:  # classes are added on the way, and a later row may be refused
                    self.learner = deepcopy(self.learner)
                    self.intervals = deepcopy(self.intervals)
                parts = [self.learn_rows(piece)[0] for piece in self.pieces(prepared)]
            except BaseException:
                self.learner, self.learner.names, self.labels = before
                self.rows, self.class_weights, self.reservoir, self.intervals = counts
                raise
            prepared.commit()
            if prepared.new and parts[0].ndim == 2:  # a class has the score 0 before it appears
                width = parts[-1].shape[1]
                for k, part in enumerate(parts):
                    parts[k] = np.pad(part, [(0, 0), (0, width - part.shape[1])])
            return np.concatenate(parts)

    def learn_one(
        self, x: Mapping[object, object], y: Any, weight: float = 1.0, *, unknown: Unknown = "error"
    ) -> Any:
        """Learn one dict row; returns the score made before its target was used."""
        with self.lock:
            code = code_of(y, self.task, self.labels)
            row = plain(x)
            if code is None or not self._is_plain_row(x):
                weights = None if weight == 1 else [weight]
                return self.learn([x], [y], weights, unknown=unknown)[0]
            score = self.learner.learn_one(row, code, weight)
            self.rows += 1
            if weight > 0 and (place := self.reservoir.next_place()) is not None:
                self.reservoir.keep(place, row_of_dict(row, self.learner.names.columns))
            return score

    def learn_rows(self, rows: Rows, *, calibrate: bool = True) -> tuple[Float, Float]:
        """Learn rows with coded targets; returns the scores made before each was used.

        They are those with the last label known, and those without recent labels. With `calibrate`,
        declared intervals learn, too: rows that were learned before would make them too narrow.
        """
        with self.lock:
            given = rows
            after = None
            if self.class_weights is not None:
                rows, after = self.class_weights.weighed(rows, self.labels, self.task == "binary")
            scores = self.learner.learn_both(rows)
            if self.intervals is not None and calibrate:
                self.intervals.learn(given, *scores)
            self.reservoir.add(given)
            self.class_weights = after
            self.rows += len(rows)
            return scores

    def predict_rows(self, rows: Rows, *, fresh: bool = False) -> Float:
        """Scores of rows that were prepared for the learner, each as if it were the next one."""
        with self.lock:
            return self.learner.predict(rows, fresh)

    def score_one(self, x: Mapping[Hashable, object], *, fresh: bool = False) -> Any:
        """The score of one dict row of features by name, as if it were the next one."""
        with self.lock:  # the learner has one buffer for the row at hand
            return self.learner.predict_one(plain(x), fresh=fresh)

    def scores(self, X: Any, *, unknown: Unknown = "error", fresh: bool = False) -> Float:
        """Scores of the rows, each as if it were the next one: numbers, or one per class.

        `unknown` says what happens with names that the model does not have, see `learn`. With
        `fresh`, the labels of the rows just before were learned and may be used.
        """
        with self.lock:
            if self._is_plain_row(X):
                return np.array([self.score_one(X, fresh=fresh)])
            return self.predict_rows(self.prepared(X, unknown=unknown).rows, fresh=fresh)

    def _is_plain_row(self, X: Any) -> bool:
        """Whether the learner itself takes X: a dict of its features."""
        if self.class_weights is not None or self.intervals is not None:
            return False
        return type(X) is dict and self.by_name

    def predict(self, X: object, *, unknown: Unknown = "error", fresh: bool = False) -> Any:
        """The class or the number of each row; a dict is one row and gives one value.

        Columns of a frame are found by name, in any order. `unknown` says what happens with names
        that the model does not have, see `learn`. With `fresh`, the labels of the rows just before
        were learned and may be used; without, the answer depends on the row alone.
        """
        found = self.answers(self.scores(X, unknown=unknown, fresh=fresh))
        return found.tolist()[0] if isinstance(X, Mapping) else found

    def predict_proba(self, X: object, *, unknown: Unknown = "error", fresh: bool = False) -> Any:
        """Probabilities, one column per class (or label); for a dict, a dict by class."""
        found = self.probabilities(self.scores(X, unknown=unknown, fresh=fresh))
        if found is None:
            raise ValueError(f"the {self.learner.loss.name} loss gives no probabilities")
        if not isinstance(X, Mapping):
            return found
        if self.task == "multilabel":
            return found[0].tolist()
        return dict(zip(self.classes, found[0].tolist(), strict=True))

    def predict_interval(
        self,
        X: object,
        coverage: float | None = None,
        *,
        unknown: Unknown = "error",
        fresh: bool = False,
    ) -> Float:
        """The interval of each row: (rows, 2) with lower and upper ends; for a dict, (2,).

        Several declared coverages are one more axis, unless one is chosen. They never cross.
        Until two targets are known, intervals are all real numbers. `unknown` and `fresh` are
        those of `predict`.
        """
        if self.task != "regression":
            raise ValueError("intervals are of numbers; for classes, use predict_set")
        return self._interval(X, coverage, unknown, fresh).astype(np.float64, copy=False)

    def predict_set(
        self,
        X: object,
        coverage: float | None = None,
        *,
        unknown: Unknown = "error",
        fresh: bool = False,
    ) -> Bool:
        """Which classes are in the set of each row: (rows, classes), never none of them.

        For a dict, (classes,). Several declared coverages are one more axis, unless one is chosen.
        The set always contains the class that `predict` answers.
        """
        if self.task == "regression":
            raise ValueError("sets are of classes; for numbers, use predict_interval")
        return self._interval(X, coverage, unknown, fresh).astype(np.bool_, copy=False)

    def _interval(
        self, X: object, coverage: float | None, unknown: Unknown, fresh: bool
    ) -> Float | Bool:
        with self.lock:
            self._declared().refuse_undeclared(coverage)
            rows = self.prepared(X, unknown=unknown).rows
            found = self.interval_rows(rows, self.predict_rows(rows, fresh=fresh), fresh=fresh)
            found = self._declared().chosen(found, coverage)
        return found[0] if isinstance(X, Mapping) else found

    def interval_rows(self, rows: Rows, scores: Float, *, fresh: bool = False) -> Float | Bool:
        """The intervals or sets of all declared coverages around the scores of prepared rows."""
        with self.lock:
            return self.of_known_classes(self._declared().predict(rows, scores, fresh))

    def of_known_classes(self, found: Float | Bool) -> Float | Bool:
        """Sets without the classes for which the learner only has room; intervals as they are."""
        if self.task == "regression":
            return found
        if len(self.classes) == 1:
            return np.ones_like(found[:, :1])
        return found[:, : len(self.labels)]

    def _declared(self) -> Intervals:
        if self.intervals is None:
            raise ValueError(
                "no coverage was declared when the model was made: make it with intervals=(0.9,)"
            )
        return self.intervals

    def interval_coverage(self, *, fresh: bool = True) -> list[Coverage]:
        """The coverage of progressive intervals or sets so far, with its certified limits.

        There is one entry per declared coverage. With `fresh`, it is about the answer with the
        last label known, otherwise about the one without recent labels.
        """
        with self.lock:
            return self._declared().coverage(fresh=fresh)

    def answers(self, scores: Float) -> NDArray[Any]:
        """The class of each row, or the number; classes have the type of the labels."""
        if self.task in ("regression", "multioutput"):
            return scores
        if self.task == "multilabel":
            return (scores >= 0).astype(np.int64)
        return as_labels(scores, label_array(self.classes))

    @property
    def _has_probabilities(self) -> bool:
        return self.learner.loss.name in ("logistic", "softmax")

    def log_probabilities(self, scores: Float) -> Float | None:
        """Logarithms of `probabilities`, which are finite: the loss of each class, with a minus."""
        if not self._has_probabilities:
            return None
        loss = self.learner.loss
        codes: Sequence[float] = range(len(self.labels)) if scores.ndim == 2 else (-1.0, 1.0)
        if self.task == "multilabel":
            return -loss.value(1.0, scores)
        if len(self.classes) == 1:
            return np.zeros((len(scores), 1))
        by_class = [-loss.value(np.full(len(scores), code), scores) for code in codes]
        return np.column_stack(by_class)

    def probabilities(self, scores: Float) -> Float | None:
        """One column per class (or label); None for numbers and losses without probabilities."""
        if not self._has_probabilities:
            return None
        p = self.learner.loss.link(scores)
        if self.task == "multilabel":
            return p
        if len(self.classes) == 1:
            return np.ones((len(p), 1))
        if p.ndim == 2:
            return p[:, : len(self.labels)]
        return np.column_stack([1 - p, p])

    # Inspection

    @property
    def by_name(self) -> bool:
        """Whether the names of dict rows, or of VW text, are those of the features."""
        return self.encoder is None and bool(self.learner.names.columns)

    def feature_names(self, count: int | None = None) -> Sequence[str]:
        """Names of the features by column, up to `count`; columns of svmlight are numbers."""
        if self.encoder is not None:
            return self.encoder.names
        if self.by_name:
            return list(map(str, self.learner.names.columns))
        if self.inputs is not None:
            return NumberedNames(self.inputs, "x")
        return NumberedNames(self.file.position.features if count is None else count)

    def explain(self, x: object, *, unknown: Unknown = "error", fresh: bool = False) -> Explanation:
        """What each input column adds to the score of one row; with `(base)` they add up to it.

        The base is the mean score of the rows in the reservoir, a sample of those learned, and the
        parts are Shapley values: mean changes of the score when the columns of such a row are
        replaced by those of x one after another. They are exact if the learner is additive, and
        otherwise have the standard errors in the attribute `errors`. Columns that add nothing are
        left out. Each entry has one number per class, if there are more than two, or per target,
        if there are several. With `fresh`, `(recent targets)` is what the last targets add.
        """
        with self.lock:
            return explained(self, self.prepared(x, unknown=unknown).rows, fresh)

    def input_names(self) -> list[str]:
        """The columns of the input, in the order of `importances`: a category or a date is one."""
        return list(input_columns(self).names)

    def importances(self) -> Float:
        """How far each input column moves the prediction, in the order of the columns.

        It is the mean absolute change of the prediction (for classes, of the probabilities) when
        the value of the column is replaced by that of another row of the reservoir.
        """
        with self.lock:
            self._require_reservoir("importances")
            return importances(self)

    def effects(self, top: int | None = None) -> list[dict[str, Any]]:
        """The effects of the input columns on the prediction, the largest first.

        Each has its `column`, what it `moves` (see `importances`) and, for numbers and categories,
        the `change` of the mean prediction between two values, `from` and `to`, while the other
        columns are as in seen rows. Numbers go from the 10th to the 90th percentile, categories
        from the level with the lowest to that with the highest prediction.

        >>> import numpy as np
        >>> from unitless import OnlineRegressor
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> model = OnlineRegressor("vaw").fit(X, 3 * X[:, 1]).to_model()
        >>> [effect] = model.effects(top=1)
        >>> print(effect["column"], round(effect["change"] / (effect["to"] - effect["from"]), 2))
        x1 2.98
        """
        with self.lock:
            self._require_reservoir("effects")
            return effects(self, top)

    def _require_reservoir(self, what: str) -> None:
        kept = self.reservoir
        if self.rows and not len(kept):
            raise ValueError(
                f"the model keeps none of the rows it learned (reservoir={kept.size}), and "
                f"{what} are computed from them: learn with reservoir=256"
            )

    def rescale(self, factors: Mapping[str, float]) -> None:
        """From now on these columns arrive multiplied by these factors, interactions included."""
        with self.lock:
            by_column = factors_by_column(self, factors)
            self.learner.rescale(by_column)
            if self.intervals is not None:
                self.intervals.rescale(by_column)
            self.reservoir.rescale(by_column)

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
