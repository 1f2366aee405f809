"""River's interface: one dict at a time, or a data frame of them, with the same result.

The only file that imports River, an optional extra: pip install "unitless[river]".

>>> from river import datasets, evaluate, metrics
>>> from unitless.estimators import river as unitless_river
>>> model = unitless_river.Classifier()
>>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
"""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from river import base

from unitless import learners
from unitless.learners.one_a_class import OneAClass
from unitless.learners.protocol import Learner
from unitless.losses import get
from unitless.rows import as_rows


class _Online:
    """What the classifier and the regressor share."""

    learner: str
    loss: str
    _model: Learner | None

    def _made(self) -> Learner:
        if self._model is None:
            self._model = learners.get(self.learner)(self.loss)
        return self._model

    def _score(self, x: Mapping[Hashable, Any]) -> Any:
        return self._made().predict_one(plain(x))

    def _rows(self, X: Any, known: bool, targets: Any = None, weights: Any = None) -> Any:
        """A frame's rows, in the columns that the learner's names have."""
        names = self._made().names
        columns = dict(names.columns)
        for name in X.columns:
            columns.setdefault(name, len(columns))
        if not known:
            names.columns.update(columns)
        values = np.asarray(X, dtype=np.float64)
        order = np.array([columns[name] for name in X.columns], dtype=np.int64)
        if np.array_equal(order, np.arange(len(order))):
            return as_rows(values, targets, weights)
        table = np.zeros((len(values), len(columns)))
        table[:, order] = values
        return as_rows(table, targets, weights)

    def debug_one(self, x: Mapping[Hashable, Any], decimals: int = 5) -> str:
        """What each feature contributes to the score of x, and what they add up to."""
        model = self._made()
        row = plain(x)
        names = {**model.names.columns}
        for name in row:
            names.setdefault(name, len(names))
        values = np.zeros((1, len(names)))
        values[0, [names[name] for name in row]] = [
            np.nan if value is None else value for value in row.values()
        ]
        base, parts = model.contributions(as_rows(values))
        parts = np.resize(parts, (len(names), *parts.shape[1:]))
        lines = [("(base)", "", base)]
        lines += [(str(name), f"{row[name]}", parts[names[name]]) for name in row]
        lines.append(("score", "", base + parts.sum(axis=0)))
        return "\n".join(
            f"{name:<20} {value:>14} {np.round(part, decimals)!s:>12}"
            for name, value, part in lines
        )


def plain(x: Mapping[Hashable, Any]) -> Mapping[Hashable, Any]:
    """The row with strings and booleans as features: {"colour": "red"} is {"colour=red": 1}."""
    if not any(isinstance(value, str) for value in x.values()):
        return x
    return {
        (f"{name}={value}" if isinstance(value, str) else name): (
            1.0 if isinstance(value, str) else value
        )
        for name, value in x.items()
    }


class Classifier(_Online, base.Classifier):
    """A classifier for River pipelines.

    Parameters
    ----------
    learner : str, default "blend"
        The name of a registered learner.
    multiclass : bool, default False
        Whether there may be more than two classes: then the cross-entropy is used from the first
        row on, and a class that appears later starts at score 0.
    """

    def __init__(self, learner: str = "blend", multiclass: bool = False) -> None:
        self.learner = learner
        self.multiclass = multiclass
        self.loss = "logistic"
        self._model = None
        self._labels: list[Any] = []

    @property
    def _multiclass(self) -> bool:
        return self.multiclass

    def _made(self) -> Learner:
        if self._model is None:
            kind = learners.get(self.learner)
            if not self.multiclass:
                self._model = kind(self.loss)
            else:
                try:
                    self._model = kind("softmax", classes=1)
                except TypeError:
                    self._model = OneAClass(kind, classes=1)
        return self._model

    def _target(self, y: Any) -> float:
        """The number of a label; a new one is added."""
        labels = self._labels
        if not self.multiclass and not labels and isinstance(y, bool | np.bool_):
            labels += [False, True]
        if y not in labels:
            if not self.multiclass and len(labels) == 2:
                raise ValueError(
                    f"{y!r} is a third class after {labels[0]!r} and {labels[1]!r}; use "
                    "Classifier(multiclass=True)"
                )
            if self.multiclass and labels:
                self._made().add_class()
            labels.append(y)
        number = labels.index(y)
        return float(number) if self.multiclass else 2.0 * number - 1.0

    def learn_one(self, x: dict[Hashable, Any], y: Any, w: float = 1.0) -> None:
        """Learn one row."""
        row, model = plain(x), self._made()
        target = self._target(y)
        model.learn_one(row, target, w)

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learn a frame of rows: the same as one after another."""
        if any(dtype == object for dtype in X.dtypes):
            weights = np.ones(len(X)) if w is None else np.asarray(w)
            for x, label, weight in zip(X.to_dict("records"), y, weights, strict=True):
                self.learn_one(x, label, float(weight))
            return
        y = list(y)
        start = 0
        while start < len(y):  # a new class changes the model: it starts a stretch of its own
            stop = start + 1
            while stop < len(y) and (
                not self.multiclass or y[stop] in self._labels or y[stop] in y[start:stop]
            ):
                stop += 1
            targets = [self._target(label) for label in y[start:stop]]
            weights = None if w is None else np.asarray(w, dtype=np.float64)[start:stop]
            self._made().learn(self._rows(X.iloc[start:stop], False, targets, weights))
            start = stop

    def predict_proba_one(self, x: dict[Hashable, Any], **kwargs: Any) -> dict[Any, float]:
        """The probability of each class seen so far."""
        labels = self._labels
        if not labels:
            if self.multiclass:
                return {}
            labels = [False, True]
        return dict(zip(labels, self._probabilities(self._score(x)), strict=False))

    def predict_proba_many(self, X: Any) -> Any:
        """The same for a frame, a column a class."""
        import pandas

        model = self._made()
        scores = model.predict(self._rows(X, True))
        probabilities = [self._probabilities(score) for score in scores]
        return pandas.DataFrame(
            [row[: len(self._labels)] for row in probabilities], columns=self._labels, index=X.index
        )

    def predict_many(self, X: Any) -> Any:
        """The most probable class of each row of a frame."""
        import pandas

        if not self._labels:
            return pandas.Series([None] * len(X), index=X.index, dtype="object")
        return self.predict_proba_many(X).idxmax(axis="columns")

    def _probabilities(self, score: Any) -> list[float]:
        if self.multiclass:
            return get("softmax").link(np.atleast_2d(score))[0].tolist()
        p = float(get("logistic").link(score))
        return [1 - p, p]


class Regressor(_Online, base.Regressor):
    """A regressor for River pipelines.

    Parameters
    ----------
    learner : str, default "blend"
        The name of a registered learner.
    loss : str, default "squared"
        "squared", "absolute", "quantile(tau)" or "huber(delta)".
    """

    def __init__(self, learner: str = "blend", loss: str = "squared") -> None:
        self.learner = learner
        self.loss = loss
        self._model = None

    def learn_one(self, x: dict[Hashable, Any], y: float, w: float = 1.0) -> None:
        """Learn one row."""
        self._made().learn_one(plain(x), y, w)

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learn a frame of rows: the same as one after another."""
        weights = None if w is None else np.asarray(w, dtype=np.float64)
        if any(dtype == object for dtype in X.dtypes):
            each = np.ones(len(X)) if weights is None else weights
            for x, target, weight in zip(X.to_dict("records"), y, each, strict=True):
                self.learn_one(x, float(target), float(weight))
            return
        targets = np.asarray(y, dtype=np.float64)
        self._made().learn(self._rows(X, False, targets, weights))

    def predict_one(self, x: dict[Hashable, Any]) -> float:
        """The prediction for one row."""
        return self._score(x)

    def predict_many(self, X: Any) -> Any:
        """The prediction for each row of a frame."""
        import pandas

        scores = self._made().predict(self._rows(X, True))
        return pandas.Series(scores, index=X.index)
