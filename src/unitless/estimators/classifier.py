"""OnlineClassifier: a classifier with scikit-learn's interface."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from unitless.estimators.base import Float, OnlineEstimator, one_or_more_columns
from unitless.estimators.order_warning import LabelOrder
from unitless.labels import ClassWeights, as_labels, as_numbers, as_signs
from unitless.learners.base import Learner
from unitless.learners.learner_group import MultiOutput
from unitless.model import Model
from unitless.model.learner_choice import make_learner


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
        Whether `fit` learns the rows in random order; `partial_fit` always keeps the order.
    random_state : int, RandomState or None, default 0
        The random order; None is a new order with each call.
    class_weight : dict, "balanced" or None, default None
        {class: weight}, 1 for classes left out; "balanced" is n / n_c from the rows so far. It
        multiplies the derivative of the loss, divided by the largest weight so far: the gradient of
        a row becomes smaller, never larger. A sample weight instead counts a row several times.

    Attributes
    ----------
    progressive_ : array
        For the rows of the last call, in the order given, the decision scores made before each
        label was used. With `shuffle` other rows, later ones included, were learned before.
    model_ : Model
        The model, which `unitless.save` saves.
    coef_, intercept_ : arrays
        Of learners linear in x ("coordinate", "full", ...): the weights at x = 0 with the current
        scales; one row per class, or one row for two classes.

    Examples
    --------
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
        class_weight: Any = None,
    ) -> None:
        self.learner = learner
        self.loss = loss
        self.interactions = interactions
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.class_weight = class_weight

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Forget everything, then learn the rows: in random order, or as given if not `shuffle`.

        Columns, levels and `classes_` do not depend on the random order. With several columns in y
        (multilabel: 0, 1, or NaN where a label is not known) there is one learner per column.
        """
        with self._all_or_nothing(forget=True):
            labels = self._set_classes(y, None)
            self._learn(X, self._coded(labels), sample_weight, fit=True)
            if not self.shuffle:
                self._watch_order(labels)
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
            labels = self._set_classes(y, classes)
            if not hasattr(self, "model_") and classes is None and len(self.classes_) == 1:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            self._learn(X, self._coded(labels), sample_weight)
            self._watch_order(labels)
            return self

    def _watch_order(self, labels: NDArray[Any]) -> None:
        """Warn of rows that are sorted by class."""
        if labels.ndim == 1:
            if not hasattr(self, "_order"):
                self._order = LabelOrder(len(self.classes_))
            self._order.add(labels)

    def _set_classes(self, y: Any, classes: ArrayLike | None) -> NDArray[Any]:
        """Find out the classes in the first call, and compare them later; returns y as an array."""
        labels = one_or_more_columns(y)
        if not hasattr(self, "classes_"):
            if labels.ndim == 2:
                self.classes_ = np.arange(labels.shape[1])
                return labels
            check_classification_targets(labels)
            self.classes_ = np.unique(column_or_1d(labels if classes is None else classes))
            if len(self.classes_) == 0:
                raise ValueError("Found array with 0 sample(s), so there are no classes to learn")
        elif classes is not None and not _same(classes, self.classes_):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: "
                f"{self.classes_!r}"
            )
        return labels

    def _coded(self, labels: NDArray[Any]) -> Float:
        if labels.ndim == 2:
            return _signs_by_column(labels)
        return (as_numbers if len(self.classes_) > 2 else as_signs)(labels, self.classes_)

    def _new_model(self, targets: Float) -> Model:
        if targets.ndim == 2:
            if self.class_weight is not None:
                raise ValueError("class_weight is for one column of labels, not for several")
            return Model("multilabel", self._new_learner(targets.shape[1]), [0, 1])
        several = len(self.classes_) if len(self.classes_) > 2 else 0
        if several and isinstance(self.learner, str) and self.loss != "logistic":
            raise ValueError(
                f"the {self.loss} loss is for two classes, and there are {several}; they have the "
                "cross-entropy: leave loss at 'logistic'"
            )
        labels = self.classes_.tolist()
        same = np.array(labels).dtype == self.classes_.dtype
        weights = None if self.class_weight is None else ClassWeights(self.class_weight)
        return Model(
            "multiclass" if several else "binary",
            make_learner(self.learner, self.loss, several),
            labels,
            class_weights=weights,
            label_type="" if same or self.classes_.dtype.kind == "U" else self.classes_.dtype.name,
        )

    def _take_classes(self, model: Model) -> None:
        """Have the classes of a model."""
        dtype = np.dtype(model.label_type) if model.label_type else None
        if dtype is not None and dtype.itemsize > 16:
            raise ValueError(f"{dtype} is not a type of labels")
        self.classes_ = np.array(model.labels, dtype=dtype)
        if isinstance(model.learner, MultiOutput):
            self.classes_ = np.arange(len(model.learner.learners))

    def decision_function(self, X: Any) -> Float:
        """Scores: positive for the second of two classes, otherwise one column per class."""
        return self._scores(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row; multilabel: 1 or 0 for each label."""
        scores = self._scores(X)
        if self.model_.task == "multilabel":
            return self.model_.answers(scores)
        return as_labels(scores, self.classes_)

    @available_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Float:
        """Probabilities, one column per class, or per label; the hinge loss has none."""
        scores = self._scores(X)
        p = self.model_.probabilities(scores)
        assert p is not None
        return p

    @property
    def coef_(self) -> Float:
        """(1 or classes, columns)."""
        return np.atleast_2d(self._linear_weights().features.T)

    @property
    def intercept_(self) -> Float:
        """(1 or classes,)."""
        return np.atleast_1d(self._linear_weights().intercept)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _same(classes: ArrayLike, known: NDArray[Any]) -> bool:
    """Whether these are the known classes, perhaps in another order."""
    return np.array_equal(classes, known) or np.array_equal(np.unique(classes), known)


def _signs_by_column(labels: NDArray[Any]) -> Float:
    """-1 for 0 and +1 for 1; NaN stays."""
    try:
        numbers = labels.astype(np.float64)
    except (TypeError, ValueError):
        numbers = np.full(labels.shape, 2.0)
    for k, column in enumerate(numbers.T):
        known = column[~np.isnan(column)]
        if not np.isin(known, (0, 1)).all():
            raise ValueError(
                f"Unknown label type: column {k} of y holds more than 0 and 1. Several columns are "
                "labels that are there or not (multilabel-indicator); multiclass-multioutput is "
                "not supported: fit one classifier per column"
            )
    return 2 * numbers - 1
