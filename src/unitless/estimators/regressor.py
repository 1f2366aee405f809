"""OnlineRegressor: numbers in, numbers out."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin

from unitless.estimators.online import Float, Online
from unitless.learners.protocol import Learner


class OnlineRegressor(RegressorMixin, Online):  # type: ignore[misc]
    """A linear regressor that learns in one pass and does not care about units.

    Parameters
    ----------
    learner : str or Learner, default "coordinate"
        The name of a registered learner, or a learner with parameters of its own.
    loss : str, default "absolute"
        A loss for numbers: "absolute", "quantile(tau)" or "huber(delta)".

    Attributes
    ----------
    progressive_ : array
        For the rows of the last call to `fit` or `partial_fit`, the predictions made before each
        target was used.
    learner_ : Learner

    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, scaled=False)
    >>> model = OnlineRegressor(learner="full").fit(X, y)
    >>> print(f"{abs(model.progressive_ - y).mean():.1f}")
    77.4
    """

    def __init__(self, learner: str | Learner = "coordinate", loss: str = "absolute") -> None:
        self.learner = learner
        self.loss = loss

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Forget everything, then learn the rows in one pass, in the order given."""
        self._forget()
        return self.partial_fit(X, y, sample_weight=sample_weight)

    def partial_fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn more rows."""
        return self._learn(X, np.asarray(y, dtype=np.float64), sample_weight)

    def predict(self, X: Any) -> Float:
        """The score of each row, in the unit of the target."""
        return self._scores(X)
