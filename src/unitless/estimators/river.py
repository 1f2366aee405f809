"""Estimators with River's interface: one dict at a time, or a data frame as a mini-batch.

Both give bit-for-bit the same results. River is an optional extra: pip install "unitless[river]".

>>> from river import datasets, evaluate, metrics
>>> from unitless.estimators.river import Classifier
>>> evaluate.progressive_val_score(datasets.Phishing(), Classifier(), metrics.Accuracy())
Accuracy: 90.56%
"""

from collections.abc import Hashable, Iterable, Mapping
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from river import base
from river.utils import dataframe, pretty

from unitless.encoders import DictEncoder
from unitless.encoders.dict_rows import plain, rows_of_frame
from unitless.labels import SeenLabels
from unitless.learners.base import Learner
from unitless.losses import LOGISTIC, sigmoid
from unitless.model import Model
from unitless.model_building import make_learner
from unitless.rows import Rows, as_rows

Row = dict[Hashable, Any]


class _Online:
    """Base class of the classifier and the regressor."""

    learner: str | Learner
    _model: Learner | None = None
    _words = False

    def _made(self) -> Learner:
        raise NotImplementedError

    def _score(self, x: Row, w: float = 1.0) -> Any:
        """The learner's score; rows are searched for strings only after the first error."""
        model = self._model or self._made()
        try:
            return model.predict_one(plain(x) if self._words else x, w)
        except ValueError:
            return model.predict_one(self._with_words(x), w)

    def _learn(self, x: Row, y: float, w: float) -> None:
        model = self._model or self._made()
        try:
            model.learn_one(plain(x) if self._words else x, y, w)
        except ValueError:
            model.learn_one(self._with_words(x), y, w)

    def _with_words(self, x: Row) -> Mapping[Hashable, Any]:
        """The row with its strings encoded; re-raises the error if they are not its cause."""
        if self._words or (row := plain(x)) is x:
            raise
        self._words = True
        return row

    def _scores(self, X: Any) -> NDArray[np.float64]:
        model = self._made()
        return model.predict(rows_of_frame(X, model.names)[0])

    def _labels_of_scores(self) -> list[str]:
        return [""]

    def to_model(self) -> Model:
        """The `unitless.Model` with this learner, which `unitless.save` saves."""
        return Model.of(self._made())

    def debug_one(self, x: Row, decimals: int = 5) -> str:
        """What each feature adds to the score of x, in a table as River's linear models have it.

        The value times the weight is the contribution. (base) is the part of the score that no
        feature contributes.
        """
        model, row = self._made(), plain(x)
        base, parts = model.contributions(_rows_of_one(model, row))
        values = np.array([1.0, *_numbers(row.values())])
        own = np.zeros((len(row), *parts.shape[1:]))
        for k, name in enumerate(row):
            column = model.names.columns.get(name, len(parts))
            own[k] = parts[column] if column < len(parts) else 0.0
        added = np.concatenate([[base], own]).reshape(len(values), -1)
        return _table(["(base)", *map(str, row)], values, added, self._labels_of_scores(), decimals)


def _numbers(values: Iterable[Any]) -> list[float]:
    return [np.nan if value is None else float(value) for value in values]


def _rows_of_one(model: Learner, row: Mapping[Hashable, Any]) -> Rows:
    """One dict row in the columns of the names a learner knows."""
    table = np.zeros((1, len(model.names.columns)))
    for name, value in zip(row, _numbers(row.values()), strict=True):
        if name in model.names.columns:
            table[0, model.names.columns[name]] = value
    return as_rows(table)


def _table(
    names: list[str], values: NDArray[Any], added: NDArray[Any], labels: list[str], decimals: int
) -> str:
    """Name, value, and for each class weight and contribution; the largest come first."""

    def shown(numbers: Iterable[float]) -> list[str]:
        return [f"{number: ,.{decimals}f}" for number in numbers]

    headers, columns = ["Name", "Value"], [names, shown(values)]
    with np.errstate(divide="ignore", invalid="ignore"):
        weights = np.nan_to_num((added.T / values).T, posinf=0.0, neginf=0.0)
    for c, label in enumerate(labels):
        headers += [f"Weight {label}".rstrip(), f"Contribution {label}".rstrip()]
        columns += [shown(weights[:, c]), shown(added[:, c])]
    return pretty.print_table(headers, columns, order=np.argsort(-added[:, 0], kind="stable"))


class Classifier(_Online, base.MiniBatchClassifier):
    """A classifier for River pipelines, which needs no scaler and no learning rate.

    Rows are dicts whose keys come and go; strings are categories. Labels are of any hashable kind.
    `learn_many` does to the bit what `learn_one` does row by row.

    Parameters
    ----------
    learner : str or Learner, default "blend"
        The name of a registered learner, or a learner with parameters of its own.
    multiclass : bool, default False
        Whether there may be more than two classes: then the cross-entropy is used from the first
        row on, and a class that appears later starts at score 0.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> evaluate.progressive_val_score(datasets.Phishing(), Classifier(), metrics.Accuracy())
    Accuracy: 90.56%
    >>> segments, model = datasets.ImageSegments().take(500), Classifier(multiclass=True)
    >>> evaluate.progressive_val_score(segments, model, metrics.Accuracy())
    Accuracy: 82.77%

    Strings are categories, and new labels may appear at any time:

    >>> model = Classifier(multiclass=True)
    >>> for animal, skin in [("cat", "fur"), ("bird", "feathers"), ("dog", "fur")] * 9:
    ...     model.learn_one({"skin": skin}, animal)
    >>> {label: round(p, 1) for label, p in model.predict_proba_one({"skin": "fur"}).items()}
    {'cat': 0.5, 'bird': 0.0, 'dog': 0.5}
    """

    def __init__(self, learner: str | Learner = "blend", multiclass: bool = False) -> None:
        self.learner = learner
        self.multiclass = multiclass
        self._labels = SeenLabels(several=multiclass)

    @property
    def _multiclass(self) -> bool:
        return self.multiclass

    def _made(self) -> Learner:
        if self._model is None:
            self._model = make_learner(self.learner, "logistic", classes=int(self.multiclass))
        return self._model

    def _labels_of_scores(self) -> list[str]:
        return list(map(str, self._labels.shown)) or [""] if self.multiclass else [""]

    def to_model(self) -> Model:
        """The `unitless.Model` with this learner, which `unitless.save` saves."""
        task: Any = "multiclass" if self.multiclass else "binary"
        return Model(task, self._made(), list(self._labels.shown))

    def learn_one(self, x: Row, y: Any, w: float = 1.0) -> None:
        """Learn one row; w is its weight."""
        code = self._labels.codes.get(y)
        if code is None:
            self._learn_new(x, y, w)
        else:
            self._learn(x, code, w)

    def _learn_new(self, x: Row, y: Any, w: float) -> None:
        """Learn the first row of a label, which is kept if the row is."""
        model, code = self._made(), self._labels.code(y)
        if self.multiclass and code >= model.classes:
            self._score(x, w)  # refuses a row that is not to be learned
            model.add_class()
        self._learn(x, code, w)
        self._labels.keep(y)

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learn a frame of rows, of weights w: the same as one after another."""
        model, labels = self._made(), deepcopy(self._labels)
        codes = np.array([labels.keep(label) for label in _listed(y)])
        rows, names = rows_of_frame(X, model.names, codes, w)
        ends = np.append(_first_rows(codes, model.classes) if self.multiclass else [], len(rows))
        if len(ends) > 1:  # classes are added on the way, and a later row may be refused
            model = deepcopy(model)
        start = 0
        for end in ends.astype(int):
            model.learn(rows[start:end])
            if end < len(rows):
                model.add_class()
            start = end
        self._model, self._labels, model.names = model, labels, names

    def predict_proba_one(self, x: Row, **kwargs: Any) -> dict[Any, float]:
        """The probability of each class seen so far; of False and True before any is seen."""
        scores, labels = self._score(x), self._labels.shown
        if len(labels) == 2 and self._made().loss.code == LOGISTIC:  # the same, without arrays
            p = sigmoid(scores)
            return {labels[0]: 1 - p, labels[1]: p}
        return dict(zip(labels, self._probabilities(scores)[0].tolist(), strict=False))

    def predict_proba_many(self, X: Any) -> Any:
        """The same for a frame: a frame with one column per class."""
        p = self._probabilities(self._scores(X))
        columns = {label: p[:, c] for c, label in enumerate(self._labels.shown)}
        return dataframe.to_native_frame(columns, like=dataframe.into_frame(X))

    def predict_one(self, x: Row, **kwargs: Any) -> Any:
        """The most probable class; None before any is seen."""
        return self._best(self._score(x))[0]

    def predict_many(self, X: Any) -> Any:
        """The most probable class of each row of a frame."""
        best = self._best(self._scores(X))
        return dataframe.to_native_series(best, name=None, like=dataframe.into_frame(X))

    def _best(self, scores: Any) -> list[Any]:
        """The label of each row."""
        labels = self._labels.shown or [None]
        if self.multiclass:
            return [labels[c] for c in np.atleast_2d(scores).argmax(axis=1)]
        return [labels[-1] if score > 0 else labels[0] for score in np.atleast_1d(scores)]

    def _probabilities(self, scores: Any) -> NDArray[np.float64]:
        """The probabilities, with one column per label."""
        loss = self._made().loss
        if loss.name not in ("logistic", "softmax"):
            raise NotImplementedError(f"the {loss.name} loss gives no probabilities")
        if self.multiclass:
            return loss.link(np.atleast_2d(scores))
        p = np.atleast_1d(loss.link(scores))
        alone = len(self._labels.shown) == 1
        return np.ones((len(p), 1)) if alone else np.column_stack([1 - p, p])


def _listed(y: Any) -> list[Any]:
    return y.to_list() if hasattr(y, "to_list") else list(y)


def _first_rows(codes: NDArray[np.float64], classes: int) -> NDArray[np.int64]:
    """The rows in which classes that the model does not know yet appear first."""
    seen, first = np.unique(codes, return_index=True)
    return np.sort(first[seen >= classes])


class Regressor(_Online, base.MiniBatchRegressor):
    """A regressor for River pipelines, which needs no scaler and no learning rate.

    Rows are dicts whose keys come and go; strings are categories. `learn_many` does to the bit what
    `learn_one` does row by row.

    Parameters
    ----------
    learner : str or Learner, default "blend"
        The name of a registered learner, or a learner with parameters of its own.
    loss : str, default "squared"
        "squared", "absolute", "quantile(tau)" or "huber(delta)".

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> score = evaluate.progressive_val_score(datasets.TrumpApproval(), Regressor(), metrics.MAE())
    >>> print(f"{score.get():.3f}")
    0.205
    """

    def __init__(self, learner: str | Learner = "blend", loss: str = "squared") -> None:
        self.learner = learner
        self.loss = loss

    def _made(self) -> Learner:
        if self._model is None:
            self._model = make_learner(self.learner, self.loss)
        return self._model

    def learn_one(self, x: Row, y: float, w: float = 1.0) -> None:
        """Learn one row; w is its weight."""
        self._learn(x, y, w)

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learn a frame of rows, of weights w: the same as one after another."""
        model = self._made()
        rows, names = rows_of_frame(X, model.names, np.asarray(y), w)
        model.learn(rows)
        model.names = names

    def predict_one(self, x: Row) -> float:
        """The prediction for one row."""
        return self._score(x)

    def predict_many(self, X: Any) -> Any:
        """The prediction for each row of a frame."""
        return dataframe.to_native_series(self._scores(X), name=None, like=dataframe.into_frame(X))


def from_model(model: Model) -> Classifier | Regressor:
    """The River model with a copy of a model's learner, whose features are named."""
    learner = deepcopy(model.learner)
    if not learner.names.columns:
        learner.names = DictEncoder({name: j for j, name in enumerate(_dict_names(model))})
    if model.task == "regression":
        regressor = Regressor(learner.name, learner.loss.name)
        regressor._model = learner
        return regressor
    classifier = Classifier(learner.name, multiclass=model.task == "multiclass")
    classifier._model = learner
    for k, label in enumerate(model.labels):
        classifier._labels.codes[label] = float(k) if classifier.multiclass else 2.0 * k - 1
    classifier._labels.shown = list(model.labels)
    return classifier


def _dict_names(model: Model) -> list[str]:
    """The names of a model's features as dict rows have them: numbers and `column=level`."""
    columns = model.columns
    if columns is not None:
        made_otherwise = columns.interactions or columns.text or "date" in columns.kinds.values()
        if made_otherwise or columns.overfull():
            raise ValueError(
                "the model has dates, texts, interactions or hashed levels, which dict rows do not "
                "encode: use the model itself, whose predict takes dicts"
            )
    return list(model.feature_names(len(model.learner.weights().features)))
