"""OnlineClassifier: a classifier with scikit-learn's interface."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from unitless.estimators.base import Float, OnlineEstimator
from unitless.estimators.order_warning import LabelOrder
from unitless.labels import as_labels, as_numbers, as_signs
from unitless.learners.base import Learner
from unitless.model import Model
from unitless.model_building import make_learner


def _has_probabilities(model: "OnlineClassifier") -> bool:
    """Whether the scores are log-odds, which is known before anything is learned."""
    learner = model.model_.learner if hasattr(model, "model_") else model.learner
    loss = learner.loss.name if isinstance(learner, Learner) else model.loss
    if loss not in ("logistic", "softmax"):
        raise AttributeError(f"the {loss} loss gives no probabilities; use 'logistic'")
    return True


class OnlineClassifier(ClassifierMixin, OnlineEstimator):  # type: ignore[misc]
    """A classifier that learns in one pass, needs no tuning and does not care about units.

    One thread may predict while another calls `partial_fit`.

    Parameters
    ----------
    learner : str or Learner, default "blend"
        The name of a registered learner, or a learner object, which is copied.
    loss : str, default "logistic"
        A loss for two classes: "logistic" or "hinge". More classes use the cross-entropy.
    interactions : sequence of str
        Products of columns of a data frame: "a:b", or "::" for all pairs.
    passes : int, default 1
        How often `fit` goes through the rows.
    shuffle : bool, default True
        Whether `fit` learns the rows in random order. Use False for rows whose order matters;
        `partial_fit` always keeps the order.
    random_state : int, RandomState or None, default 0
        The random order; None is a new order with each call.

    Attributes
    ----------
    progressive_ : array
        For the rows of the last call to `fit` or `partial_fit`, in the order given, the decision
        scores made before each label was used (in the last pass). With `shuffle` other rows, later
        ones included, were learned before.
    model_ : Model
        The model, which `unitless.save` saves.
    learner_ : Learner
    classes_ : array
    feature_names_ : list of str
        By column, after categories and dates of a data frame were encoded.
    coef_, intercept_ : arrays
        Of learners linear in x ("coordinate", "full", ...): the weights at x = 0 with the current
        scales; one row per class, or one row for two classes.

    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = OnlineClassifier(shuffle=False).fit(X, y)
    >>> right = (model.progressive_ >= 0) == y
    >>> print(f"{right.mean():.3f}")
    0.946
    """

    def __init__(
        self,
        learner: str | Learner = "blend",
        loss: str = "logistic",
        *,
        interactions: Sequence[str] = (),
        passes: int = 1,
        shuffle: bool = True,
        random_state: Any = 0,
    ) -> None:
        self.learner = learner
        self.loss = loss
        self.interactions = interactions
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Forget everything, then learn the rows: in random order, or as given if not `shuffle`.

        Columns, levels and `classes_` do not depend on the random order.
        """
        with self._all_or_nothing():
            self._forget()
            self._set_classes(y, None)
            self._learn(X, self._targets(y), sample_weight, fit=True)
            if not self.shuffle:
                self._watch_order(y)
            return self

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn more rows of a stream, in order.

        Give all `classes` with the first call; without them, the classes in its `y` are used.
        """
        with self._all_or_nothing():
            self._set_classes(y, classes)
            if not hasattr(self, "model_") and classes is None and len(self.classes_) == 1:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            self._learn(X, self._targets(y), sample_weight)
            self._watch_order(y)
            return self

    def _watch_order(self, y: ArrayLike) -> None:
        """Warn of rows that are sorted by class."""
        if not hasattr(self, "_order"):
            self._order = LabelOrder()
        self._order.add(self._targets(y))
        self._order.warn()

    def _set_classes(self, y: ArrayLike, classes: ArrayLike | None) -> None:
        if not hasattr(self, "classes_"):
            check_classification_targets(y)
            self.classes_ = np.unique(column_or_1d(y if classes is None else classes, warn=True))
            if len(self.classes_) == 0:
                raise ValueError("Found array with 0 sample(s), so there are no classes to learn")
        elif classes is not None and not self._are_classes(classes):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: "
                f"{self.classes_!r}"
            )

    def _are_classes(self, given: ArrayLike) -> bool:
        """Whether these are the known classes, in any order."""
        same = np.array_equal(np.asarray(given), self.classes_)
        return same or np.array_equal(np.unique(np.asarray(given)), self.classes_)

    def _targets(self, y: ArrayLike) -> Float:
        code = as_numbers if len(self.classes_) > 2 else as_signs
        plain = type(y) is np.ndarray and y.ndim == 1  # and needs no conversion
        return code(y if plain else column_or_1d(y), self.classes_)

    def _new_model(self, X: Any) -> Model:
        several = len(self.classes_) if len(self.classes_) > 2 else 0
        if several and isinstance(self.learner, str) and self.loss != "logistic":
            raise ValueError(
                f"the {self.loss} loss is for two classes, and there are {several}; they have the "
                "cross-entropy: leave loss at 'logistic'"
            )
        columns = self._new_encoder(X)
        learner = make_learner(self.learner, self.loss, several)
        task: Any = "multiclass" if several else "binary"
        return Model(task, learner, self.classes_.tolist(), columns=columns)

    def decision_function(self, X: Any) -> Float:
        """Scores: positive for the second of two classes, otherwise one column per class."""
        return self._scores(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        return as_labels(self._scores(X), self.classes_)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Float:
        """Probabilities, one column per class; the hinge loss has none."""
        scores = self._scores(X)
        p = self.learner_.loss.link(scores)
        return p if p.ndim == 2 else np.column_stack([1 - p, p])[:, -len(self.classes_) :]

    @property
    def coef_(self) -> Float:
        """(1 or classes, columns)."""
        return np.atleast_2d(self._linear_weights().features.T)

    @property
    def intercept_(self) -> Float:
        """(1 or classes,)."""
        return np.atleast_1d(self._linear_weights().intercept)
