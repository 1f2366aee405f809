"""OnlineClassifier: a classifier with scikit-learn's interface."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from unitless.core.learner import Learner
from unitless.estimators.base import Attributes, Float, OnlineEstimator
from unitless.estimators.order_warning import LabelOrder
from unitless.labels import ClassWeights, New, WrongLabel, as_labels
from unitless.model import Model
from unitless.model.intake import Prepared
from unitless.model.learner_choice import make_learner
from unitless.model.reservoir import SIZE


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
        Seed of the random order; None gives a new order with each call.
    identifier_as_feature : bool, default False
        Whether columns of strings that are different in every row of the first data frame are
        features; by default they are left out, with a warning.
    reservoir : int, default 256
        How many of the rows learned, a uniform sample, the model keeps for `feature_importances_`
        and `explain`. They are part of a saved model; 0 keeps none.
    delay : int, optional
        How many rows later than the next row labels arrive. Predictions with `fresh=True` and
        progressive scores then use a past that is that much older.
    intervals : sequence of float, default ()
        Coverages that `predict_set` may be asked for, such as (0.5, 0.9).
    class_weight : dict, "balanced" or None, default None
        {class: weight}, 1 for classes left out; a class that does not exist is an error.
        "balanced" is n / n_c, for the n rows so far, n_c of them of the class. The weight
        multiplies the derivative of the loss and is divided by the largest weight so far, so that
        no gradient becomes larger.

    Attributes
    ----------
    progressive_ : array
        Scores of the rows of the last call, each made before its label was used. They are in the
        order of the rows given; `fit` shuffles, so later rows may have been learned first.
    progressive_not_fresh_ : array
        The same without recent labels, as `predict` answers.
    progressive_interval_, progressive_interval_not_fresh_ : arrays
        The sets of classes of these rows, made before each label was used, if `intervals` are
        declared; in the shape of `predict_set`.
    model_ : Model
        The model, which `unitless.save` saves.
    coef_, intercept_ : arrays
        The weights, for learners whose scores are linear in x ("coordinate", "full", ...); one row
        per class, or one row for two classes.

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
        identifier_as_feature: bool = False,
        class_weight: Any = None,
        reservoir: int = SIZE,
        delay: int | None = None,
        intervals: Sequence[float] = (),
    ) -> None:
        super().__init__(
            learner,
            loss,
            interactions=interactions,
            passes=passes,
            shuffle=shuffle,
            random_state=random_state,
            identifier_as_feature=identifier_as_feature,
            reservoir=reservoir,
            delay=delay,
            intervals=intervals,
        )
        self.class_weight = class_weight

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
        if classes is not None and hasattr(self, "classes_") and not _same(classes, self.classes_):
            raise ValueError(
                f"`classes={classes!r}` is not the same as on last call to partial_fit, was: "
                f"{self.classes_!r}"
            )
        return self._learn(X, y, sample_weight, classes=classes)

    def _notice_order(self, y: NDArray[Any], fit: bool) -> None:
        if y.ndim == 1 and not (fit and self.shuffle):
            if not hasattr(self, "_order_"):
                self._order_ = LabelOrder(len(self.classes_))
            self._order_.add(y)

    def _new_model(self, y: NDArray[Any], classes: Any, fit: bool) -> Attributes:
        if y.ndim == 2:
            if self.class_weight is not None:
                raise ValueError("class_weight is for one column of labels, not for several")
            learners = self._new_learners("multilabel", y.shape[1])
            model = Model("multilabel", learners, [0, 1])
            return {"model_": model, "classes_": np.arange(y.shape[1])}
        check_classification_targets(y)
        known = np.unique(column_or_1d(y if classes is None else classes))
        labels: list[Any] = known.tolist()
        if not labels:
            raise ValueError("Found array with 0 sample(s), so there are no classes to learn")
        if len(labels) == 1:
            if not fit and classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            labels = [None, *labels]  # its scores are positive
        several = len(labels) if len(labels) > 2 else 0
        if several and isinstance(self.learner, str) and self.loss != "logistic":
            raise ValueError(
                f"the {self.loss} loss is for two classes, and there are {several}; they have the "
                "cross-entropy: leave loss at 'logistic'"
            )
        weights = None if self.class_weight is None else ClassWeights(self.class_weight)
        if weights is not None:
            weights.refuse_others(known.tolist())
        task: Any = "multiclass" if several else "binary"
        if several:
            learner = make_learner(self.learner, self.loss, several, delay=self.delay)
        else:
            learner = self._new_learner(task)
        model = Model(task, learner, labels, class_weights=weights)
        return {"model_": model, "classes_": known}

    def _prepared(
        self, model: Model, X: Any, y: Any = None, weights: Any = None, *, grow: bool = False
    ) -> Prepared:
        new: New
        try:
            found = super()._prepared(model, X, y, weights, grow=grow)
            new = found.new
        except WrongLabel as error:
            new = [(error.row, y.tolist()[error.row])]
        for row, label in new:
            raise ValueError(
                f"row {row}: y contains a previously unseen label: {label!r} is not one of the "
                f"classes {model.classes}; give all of them as `classes` with the first rows"
            )
        return found

    def decision_function(self, X: Any, *, fresh: bool = False) -> Float:
        """The score of each row: positive for the second class, or one column per class."""
        return self._scores(X, fresh)

    def predict(self, X: Any, *, fresh: bool = False) -> NDArray[Any]:
        """The most probable class of each row (multilabel: 1 or 0 for each label)."""
        scores = self._scores(X, fresh)
        if self.model_.task == "multilabel":
            return self.model_.answers(scores)
        return as_labels(scores, self.classes_)

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, *, fresh: bool = False) -> Float:
        """Probabilities, one column per class or label; not available with the hinge loss."""
        scores = self._scores(X, fresh)
        p: Any = self.model_.probabilities(scores)
        return p

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any, *, fresh: bool = False) -> Float:
        """Logarithms of the probabilities; they are finite where a probability rounds to 0."""
        scores = self._scores(X, fresh)
        logarithms: Any = self.model_.log_probabilities(scores)
        return logarithms

    def predict_set(
        self, X: object, coverage: float | None = None, *, fresh: bool = False
    ) -> NDArray[np.bool_]:
        """Which classes are in the set of each row: a boolean array (rows, classes).

        No set is empty: it always contains the predicted class. With several declared coverages
        the shape is (rows, classes, coverages), unless one of them is chosen; sets of larger
        coverages contain those of smaller ones.

        >>> from sklearn.datasets import load_breast_cancer
        >>> X, y = load_breast_cancer(return_X_y=True)
        >>> model = OnlineClassifier(intervals=(0.99,)).fit(X, y)
        >>> print(model.predict_set(X).sum(axis=1).mean().round(2))
        1.01
        """
        return self._interval(X, coverage, fresh).astype(np.bool_, copy=False)

    @property
    def coef_(self) -> Float:
        """The weights by column: one row per class, or one row for two classes."""
        return np.atleast_2d(self._linear_weights().features.T)

    @property
    def intercept_(self) -> Float:
        """The score at x = 0: one number per class, or one for two classes."""
        return np.atleast_1d(self._linear_weights().intercept)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _same(classes: ArrayLike, known: NDArray[Any]) -> bool:
    """Whether these are the known classes, perhaps in another order."""
    return np.array_equal(classes, known) or np.array_equal(np.unique(classes), known)
