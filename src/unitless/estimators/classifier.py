"""OnlineClassifier: class labels in, labels and probabilities out."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin

from unitless.estimators.online import Float, Online
from unitless.learners.protocol import Learner
from unitless.targets import as_labels, as_signs


class OnlineClassifier(ClassifierMixin, Online):  # type: ignore[misc]
    """A linear classifier that learns in one pass and does not care about units.

    Parameters
    ----------
    learner : str or Learner, default "coordinate"
        The name of a registered learner, or a learner with parameters of its own.
    loss : str, default "logistic"
        A loss for classes: "logistic", "hinge" or "smoothed_hinge".

    Attributes
    ----------
    progressive_ : array
        For the rows of the last call to `fit` or `partial_fit`, the decision scores made before
        each label was used.
    learner_ : Learner
    classes_ : array

    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = OnlineClassifier(learner="full").fit(X, y)
    >>> right = (model.progressive_ >= 0) == y
    >>> print(f"{right.mean():.3f}")
    0.902
    """

    def __init__(self, learner: str | Learner = "coordinate", loss: str = "logistic") -> None:
        self.learner = learner
        self.loss = loss

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Forget everything, then learn the rows in one pass, in the order given."""
        self._forget()
        return self.partial_fit(X, y, sample_weight=sample_weight)

    def partial_fit(
        self,
        X: Any,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Learn more rows. The classes are those of the first call, or `classes` given there."""
        known = getattr(self, "classes_", None)
        if known is None:
            known = np.unique(np.asarray(y if classes is None else classes))
            if len(known) > 2:
                raise ValueError(f"{len(known)} classes; only two are supported so far")
        self._learn(X, as_signs(y, known), sample_weight)
        self.classes_ = known
        return self

    def decision_function(self, X: Any) -> Float:
        """Scores, positive for the second class."""
        return self._scores(X)

    def predict(self, X: Any) -> NDArray[Any]:
        """The more probable class of each row."""
        return as_labels(self._scores(X), self.classes_)

    def predict_proba(self, X: Any) -> Float:
        """Probabilities, a column a class; for the logistic loss only."""
        scores = self._scores(X)
        loss = self.learner_.loss
        if loss.name != "logistic":
            raise AttributeError(f"the {loss.name} loss gives no probabilities; use 'logistic'")
        p = loss.link(scores)
        return np.column_stack([1 - p, p])[:, -len(self.classes_) :]
