"""What the classifier and the regressor share: making a learner, feeding it, asking it."""

from copy import deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from unitless import learners, regret
from unitless.learners.protocol import Learner
from unitless.regret import Certificate
from unitless.rows import Rows, as_rows

Float = NDArray[np.float64]


class Online(BaseEstimator):  # type: ignore[misc]
    """Base of `OnlineClassifier` and `OnlineRegressor`; a subclass says what its targets are."""

    learner: str | Learner
    loss: str
    learner_: Learner

    def _make_learner(self) -> Learner:
        if isinstance(self.learner, Learner):
            return deepcopy(self.learner)
        made: Learner = learners.get(self.learner)(self.loss)
        return made

    def _rows(self, X: Any, *, reset: bool, **per_row: ArrayLike | None) -> Rows:
        rows = as_rows(X, **per_row)
        validate_data(self, X, reset=reset, skip_check_array=True)  # number and names of columns
        return rows

    def _learn(self, X: Any, targets: Float, sample_weight: ArrayLike | None) -> Self:
        first = not hasattr(self, "learner_")
        rows = self._rows(X, reset=first, targets=targets, weights=sample_weight)
        learner = self._make_learner() if first else self.learner_
        self.progressive_ = learner.learn(rows)
        self.learner_ = learner
        return self

    def _scores(self, X: Any) -> Float:
        check_is_fitted(self, "learner_")
        return self.learner_.predict(self._rows(X, reset=False))

    def certificate(self, **options: Any) -> Certificate:
        """What is certain about the regret so far: `unitless.regret.certificate` of the learner.

        The regret is that of the learner's own loss and of the trials it has learned; `options`
        (a comparator `u`, the `rows`, a `ball`) are those of the function.
        """
        check_is_fitted(self, "learner_")
        return regret.certificate(self.learner_, **options)

    def _forget(self) -> None:
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
