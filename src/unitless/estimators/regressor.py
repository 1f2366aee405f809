"""OnlineRegressor: a regressor with scikit-learn's interface."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin

from unitless.estimators.base import Attributes, Float, OnlineEstimator
from unitless.labels import codes_of
from unitless.model import Model


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
        Coverages that `predict_interval` may be asked for, such as (0.5, 0.9).

    Attributes
    ----------
    progressive_ : array
        Predictions for the rows of the last call, each made before its target was used. They are in
        the order of the rows given; after `fit`, which shuffles, later rows may have been learned
        first.
    progressive_not_fresh_ : array
        The same without recent labels, as `predict` answers.
    progressive_interval_, progressive_interval_not_fresh_ : arrays
        The intervals around these predictions, made before each target was used, if `intervals`
        are declared; in the shape of `predict_interval`.
    model_ : Model
        The model, which `unitless.save` saves.
    coef_, intercept_ : array, float (arrays, with several targets)
        The weights, for learners whose scores are linear in x ("vaw", "ridge", "full", ...).

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, scaled=False)
    >>> model = OnlineRegressor(shuffle=False).fit(X, y)
    >>> print(f"{abs(model.progressive_ - y).mean():.1f}")
    45.7
    """

    def partial_fit(self, X: object, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn more rows of a stream, in order."""
        return self._learn(X, y, sample_weight)

    def _new_model(self, y: NDArray[Any], classes: object, fit: bool) -> Attributes:
        if y.ndim == 2:
            learners = self._new_learners("multioutput", y.shape[1])
            return {"model_": Model("multioutput", learners)}
        return {"model_": Model("regression", self._new_learner("regression"))}

    def _targets(self, y: object) -> NDArray[Any]:
        given = super()._targets(y)
        try:
            return codes_of(given, "regression" if given.ndim == 1 else "multioutput", [])[0]
        except ValueError as error:
            raise ValueError(
                f"Unknown label type: {error}; a regressor needs continuous targets, and "
                "OnlineClassifier takes classes"
            ) from None

    def predict(self, X: object, *, fresh: bool = False) -> Float:
        """The prediction for each row, in the unit of the target."""
        return self._scores(X, fresh)

    def predict_interval(
        self, X: object, coverage: float | None = None, *, fresh: bool = False
    ) -> Float:
        """The interval of each row: an array (rows, 2) of lower and upper ends.

        They belong to the predictions of `predict` with the same `fresh`. With several declared
        coverages the shape is (rows, 2, coverages), unless one of them is chosen; intervals of
        different coverages never cross. Until two targets are known, an interval is all reals.

        >>> from sklearn.datasets import load_diabetes
        >>> X, y = load_diabetes(return_X_y=True, scaled=False)
        >>> model = OnlineRegressor(intervals=(0.9,)).fit(X, y)
        >>> print(model.predict_interval(X[:1]).round())
        [[125. 328.]]
        """
        return self._interval(X, coverage, fresh).astype(np.float64, copy=False)

    @property
    def coef_(self) -> Float:
        """The weights by column; with several targets one row per target."""
        return self._linear_weights().features.T

    @property
    def intercept_(self) -> float | Float:
        """The score at x = 0."""
        found = self._linear_weights().intercept
        return found if np.ndim(found) else float(found)
