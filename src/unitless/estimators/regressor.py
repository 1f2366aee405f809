"""OnlineRegressor: a regressor with scikit-learn's interface."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils.validation import column_or_1d

from unitless.estimators.base import Float, OnlineEstimator
from unitless.learners.base import Learner
from unitless.model import Model
from unitless.model_building import make_learner


class OnlineRegressor(RegressorMixin, OnlineEstimator):  # type: ignore[misc]
    """A regressor that learns in one pass, needs no tuning and does not care about units.

    One thread may predict while another calls `partial_fit`.

    Parameters
    ----------
    learner : str or Learner, default "blend"
        The name of a registered learner, or a learner object, which is copied.
    loss : str, default "squared"
        A loss for numbers: "squared", "absolute", "quantile(tau)" or "huber(delta)".
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
        For the rows of the last call to `fit` or `partial_fit`, in the order given, the predictions
        made before each target was used (in the last pass). With `shuffle` other rows, later ones
        included, were learned before.
    model_ : Model
        The model, which `unitless.save` saves.
    learner_ : Learner
    feature_names_ : list of str
        By column, after categories and dates of a data frame were encoded.
    coef_, intercept_ : array, float
        Of learners linear in x ("vaw", "ridge", "full", ...): the weights at x = 0 with the current
        scales.

    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, scaled=False)
    >>> model = OnlineRegressor(shuffle=False).fit(X, y)
    >>> print(f"{abs(model.progressive_ - y).mean():.1f}")
    45.8
    """

    def __init__(
        self,
        learner: str | Learner = "blend",
        loss: str = "squared",
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
        """Forget everything, then learn the rows: in random order, or as given if not `shuffle`."""
        with self._all_or_nothing():
            self._forget()
            return self._learn(X, self._targets(y), sample_weight, fit=True)

    def partial_fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn more rows."""
        with self._all_or_nothing():
            return self._learn(X, self._targets(y), sample_weight)

    def _new_model(self, X: Any) -> Model:
        columns = self._new_encoder(X)
        return Model("regression", make_learner(self.learner, self.loss), columns=columns)

    def _targets(self, y: ArrayLike) -> Float:
        return np.asarray(column_or_1d(y, warn=True), dtype=np.float64)

    def predict(self, X: Any) -> Float:
        """The score of each row, in the unit of the target."""
        return self._scores(X)

    @property
    def coef_(self) -> Float:
        """The weights by column."""
        return self._linear_weights().features

    @property
    def intercept_(self) -> float:
        """The score at x = 0."""
        return float(self._linear_weights().intercept)
