"""Estimators with River's interface: one dict at a time, or a data frame as a mini-batch.

Both give bit-for-bit the same results. River is an optional extra: pip install "unitless[river]".

>>> from river import datasets, evaluate, metrics
>>> from unitless.river import UnitlessClassifier
>>> evaluate.progressive_val_score(datasets.Phishing(), UnitlessClassifier(), metrics.Accuracy())
Accuracy: 91.28%
"""

from collections.abc import Hashable, Sequence
from copy import deepcopy
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import base
from river.utils import dataframe, pretty

from unitless.core.learner import Learner
from unitless.core.losses import logistic_probability
from unitless.encoders import FrameEncoder
from unitless.encoders.dict_encoder import plain
from unitless.labels import WrongLabel
from unitless.losses import LOGISTIC
from unitless.model import Model
from unitless.model.explanations import BASE, RECENT
from unitless.model.intake import known_names
from unitless.model.learner_choice import check_loss, make_learner
from unitless.model.model import Task
from unitless.uncertainty import Drift, DriftDetector, intervals_for
from unitless.uncertainty.drift import FALSE_ALARMS

Row = dict[Hashable, object]
Ends = tuple[float, float]
_MAKING = Lock()
"""Held while a River model makes its `Model`, with its first row."""


class _Online:
    """Base class of the classifier and the regressor."""

    learner: str | Learner
    _model: Model | None = None

    def _new_model(self) -> Model:
        raise NotImplementedError

    def to_model(self) -> Model:
        """The `unitless.Model` of this River model, which `unitless.save` saves."""
        if self._model is None:
            with _MAKING:  # two threads with their first rows share one model
                if self._model is None:
                    self._model = self._new_model()
        return self._model

    def learn_one(self, x: Row, y: object, w: float = 1.0) -> None:
        """Learn one row; w is its sample weight."""
        try:
            self.to_model().learn_one(x, y, w)
        except WrongLabel as error:
            raise _in_words(error) from None

    def learn_many(self, X: object, y: Any, w: Any = None) -> None:
        """Learn the rows of a frame, in order; w are their sample weights."""
        try:
            self.to_model().learn(X, y, w)
        except WrongLabel as error:
            raise _in_words(error) from None

    def _score(self, x: Row) -> Any:
        return self.to_model().score_one(x, fresh=True)  # River learns each label at once

    def debug_one(self, x: Row, decimals: int = 5) -> str:
        """What each value of x adds to its score, in a table as River's linear models have it.

        (base) is the mean score of rows learned before, of which the model keeps a sample; all
        contributions add up to the score. With several classes there is one column per class.
        """
        model = self.to_model()
        found = model.explain(plain(x), fresh=True)
        whole = [name for name in (BASE, RECENT) if name in found]
        names = [*whole, *map(str, x)]
        nothing = 0 * found[BASE]
        added = np.array([found.get(name, nothing) for name in names])
        added = added.reshape(len(names), -1)
        headers = ["Name", "Value"]
        columns = [names, [*(" " for _ in whole), *map(str, x.values())]]
        several = model.task == "multiclass" and len(model.labels) > 0
        for c, label in enumerate(model.labels if several else [""]):
            headers.append(f"Contribution {label}".rstrip())
            columns.append(_shown(added[:, c], decimals))
        order = np.argsort(-added[:, 0], kind="stable")
        return pretty.print_table(headers, columns, order=order)


def _in_words(error: WrongLabel) -> ValueError:
    advice = "; use multiclass=True" if "third class" in error.why else ""
    return ValueError(f"{error.why}{advice}")


def _shown(numbers: NDArray[Any], decimals: int) -> list[str]:
    return [f"{number: ,.{decimals}f}" for number in numbers]


class UnitlessClassifier(_Online, base.MiniBatchClassifier):
    """A classifier for River pipelines, which needs no scaler and no learning rate.

    Rows are dicts, whose keys may come and go. Strings are categories. Labels are any hashable
    values. `learn_many` gives the same bits as `learn_one` row by row.

    Parameters
    ----------
    learner : str or Learner, default "blend"
        The name of a registered learner, or a learner with parameters of its own.
    multiclass : bool, default False
        Whether there may be more than two classes: then the cross-entropy is used from the first
        row on, and a class that appears later starts at score 0.
    delay : int, default 0
        How many rows later than the next row labels arrive. Predictions then use a past that is
        that much older.
    intervals : sequence of float, optional
        Coverages that may be asked for, such as (0.5, 0.9).

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> model = UnitlessClassifier()
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 91.28%
    >>> segments, model = datasets.ImageSegments().take(500), UnitlessClassifier(multiclass=True)
    >>> evaluate.progressive_val_score(segments, model, metrics.Accuracy())
    Accuracy: 85.57%

    Strings are categories, and new labels may appear at any time:

    >>> model = UnitlessClassifier(multiclass=True)
    >>> for animal, skin in [("cat", "fur"), ("bird", "feathers"), ("dog", "fur")] * 9:
    ...     model.learn_one({"skin": skin}, animal)
    >>> {label: round(p, 1) for label, p in model.predict_proba_one({"skin": "fur"}).items()}
    {'cat': 0.6, 'bird': 0.0, 'dog': 0.3}
    """

    def __init__(
        self,
        learner: str | Learner = "blend",
        multiclass: bool = False,
        delay: int = 0,
        intervals: Sequence[float] | None = None,
    ) -> None:
        self.learner = learner
        self.multiclass = multiclass
        self.delay = delay
        self.intervals = intervals

    @property
    def _multiclass(self) -> bool:
        return self.multiclass

    def _new_model(self) -> Model:
        learner = make_learner(
            self.learner, "logistic", classes=int(self.multiclass), delay=self.delay
        )
        task: Task = "multiclass" if self.multiclass else "binary"
        return Model(task, learner, intervals=intervals_for(self.intervals, task, learner))

    def _labels(self) -> list[object]:
        """The labels by code; of two classes False and True until another label is seen."""
        labels = self.to_model().labels
        if self.multiclass or (len(labels) == 2 and labels[0] is not None):
            return labels
        seen = self.to_model().classes
        return [False, True] if {*seen} <= {False, True} else seen

    def predict_proba_one(self, x: Row, **kwargs: object) -> dict[Any, float]:
        """The probability of each class seen so far; of False and True before any is seen."""
        with self.to_model().lock:  # a class may be added by another thread
            scores = self._score(x)
            labels = [*self._labels()]
        if len(labels) == 2 and self.to_model().learner.loss.code == LOGISTIC:  # without arrays
            p: Any = logistic_probability(scores)
            return {labels[0]: 1 - p, labels[1]: p}
        p = self._probabilities(np.asarray(scores)[None])[:, : len(labels)]
        return dict(zip(labels, p[0].tolist(), strict=True))

    def predict_proba_many(self, X: Any) -> Any:
        """The probabilities of each row of a frame: a frame with one column per class."""
        with self.to_model().lock:
            p = self._probabilities(self.to_model().scores(X))
            columns = {label: p[:, c] for c, label in enumerate(self._labels())}
        return dataframe.to_native_frame(columns, like=dataframe.into_frame(X))

    def predict_one(self, x: Row, **kwargs: object) -> Any:
        """The most probable class; None before any is seen."""
        with self.to_model().lock:
            return self._most_probable([self._score(x)])[0]

    def predict_set_one(
        self, x: Row, coverage: float | None = None
    ) -> set[Hashable] | list[set[Hashable]]:
        """The set of labels of one row, never empty once one is known; of several coverages a list.

        It contains the most probable class.
        """
        model = self.to_model()
        with model.lock:
            found = model.predict_set(x, coverage, fresh=True)
            labels = model.classes
        columns = found.reshape(len(found), -1).T
        sets = [{labels[c] for c in np.flatnonzero(column)} for column in columns]
        return sets[0] if found.ndim == 1 else sets

    def predict_many(self, X: Any) -> Any:
        """The most probable class of each row of a frame."""
        with self.to_model().lock:
            best = self._most_probable(self.to_model().scores(X))
        return dataframe.to_native_series(best, name=None, like=dataframe.into_frame(X))

    def _most_probable(self, scores: Any) -> list[object]:
        labels = self._labels() or [None]
        if self.multiclass:
            return [labels[score.argmax()] for score in scores]
        return [labels[-1 if score > 0 else 0] for score in scores]

    def _probabilities(self, scores: Any) -> NDArray[np.float64]:
        """The probabilities, with one column per label."""
        model = self.to_model()
        p = model.probabilities(scores)
        if p is None:
            raise NotImplementedError(f"the {model.learner.loss.name} loss gives no probabilities")
        return p


class UnitlessRegressor(_Online, base.MiniBatchRegressor):
    """A regressor for River pipelines, which needs no scaler and no learning rate.

    Parameters
    ----------
    learner : str or Learner, default "blend"
        The name of a registered learner, or a learner with parameters of its own.
    loss : str, default "squared"
        "squared", "absolute", "quantile(tau)" or "huber(delta)".
    delay : int, default 0
        How many rows later than the next row labels arrive. Predictions then use a past that is
        that much older.
    intervals : sequence of float, optional
        Coverages that may be asked for, such as (0.5, 0.9).

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> model = UnitlessRegressor()
    >>> score = evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    >>> print(f"{score.get():.3f}")
    0.203
    """

    def __init__(
        self,
        learner: str | Learner = "blend",
        loss: str = "squared",
        delay: int = 0,
        intervals: Sequence[float] | None = None,
    ) -> None:
        self.learner = learner
        self.loss = loss
        self.delay = delay
        self.intervals = intervals

    def _new_model(self) -> Model:
        learner = make_learner(self.learner, self.loss, delay=self.delay)
        check_loss(learner, "regression")
        declared = intervals_for(self.intervals, "regression", learner)
        return Model("regression", learner, intervals=declared)

    def predict_one(self, x: Row) -> float:
        """The prediction for one row; 0.0 before the first target is known."""
        return self._score(x)

    def predict_interval_one(self, x: Row, coverage: float | None = None) -> Ends | list[Ends]:
        """The interval (low, high) of one row; of several coverages a list of them.

        Until two targets are known, it is all real numbers.
        """
        ends = self.to_model().predict_interval(x, coverage, fresh=True)
        pairs = [(low, high) for low, high in ends.reshape(2, -1).T.tolist()]
        return pairs[0] if ends.ndim == 1 else pairs

    def predict_many(self, X: Any) -> Any:
        """The prediction for each row of a frame."""
        scores = self.to_model().scores(X)
        return dataframe.to_native_series(scores, name=None, like=dataframe.into_frame(X))


class LossDriftDetector(base.DriftDetector):
    """River's interface to the alarms of drift: `update` with each loss or error.

    `drift_detected` is True after the loss at which a rise of the mean was noticed, and `drift`
    tells where it began and by how much it rose. There is nothing to set but how many false alarms
    are acceptable.

    Parameters
    ----------
    false_alarms : float, default 1e-5
        The largest expected number of false alarms per loss.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> detector = LossDriftDetector()
    >>> for error in (rng.random(4000) < np.repeat([0.1, 0.3], 2000)).astype(float).tolist():
    ...     detector.update(error)
    ...     if detector.drift_detected:
    ...         print(detector.drift)
    from about row 1,985 on, the mean loss is 0.325 instead of 0.1043 (noticed at row 2,064)
    """

    def __init__(self, false_alarms: float = FALSE_ALARMS) -> None:
        super().__init__()
        self.false_alarms = false_alarms
        self._detector = DriftDetector(false_alarms)
        self.drift: Drift | None = None

    def update(self, x: float) -> None:
        """Take in the loss or the error of one row."""
        found = self._detector.add(np.array([x], dtype=float))
        self._drift_detected = bool(found)
        self.drift = found[-1] if found else self.drift


Classifier = UnitlessClassifier
Regressor = UnitlessRegressor
"""Their names in version 0.1.0."""


def from_model(model: Model) -> UnitlessClassifier | UnitlessRegressor:
    """The River model with a copy of a model, whose features are named."""
    if model.task in ("multilabel", "multioutput"):
        raise ValueError("the model has several targets, and River models have one")
    columns = FrameEncoder() if model.encoder is None else model.encoder
    has_dates = "date" in columns.kinds.values()
    if columns.interactions or columns.text or has_dates or columns.overfull():
        raise ValueError(
            "the model has dates, texts, interactions or hashed levels, which dict rows do not "
            "encode: use the model itself, whose predict takes dicts"
        )
    own = deepcopy(model)
    intervals = own.intervals
    own = Model(own.task, own.learner, own.labels, rows=own.rows, class_weights=own.class_weights)
    own.intervals = intervals
    own.learner.names = deepcopy(known_names(model))
    declared = None if own.intervals is None else own.intervals.coverages
    made: UnitlessClassifier | UnitlessRegressor
    if model.task == "regression":
        made = UnitlessRegressor(own.learner.name, own.learner.loss.name, intervals=declared)
    else:
        several = model.task == "multiclass"
        made = UnitlessClassifier(own.learner.name, multiclass=several, intervals=declared)
    made._model = own
    return made
