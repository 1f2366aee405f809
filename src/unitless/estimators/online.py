"""What the classifier and the regressor share: making a learner, feeding it, asking it."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from unitless import learners, regret
from unitless.features import Columns
from unitless.learners.one_a_class import OneAClass
from unitless.learners.protocol import Learner
from unitless.regret import Certificate
from unitless.rows import Rows, as_rows

Float = NDArray[np.float64]


def is_frame(X: Any) -> bool:
    """Whether X is a data frame: a table that knows the names of its columns."""
    return hasattr(X, "columns") or hasattr(X, "column_names")


class Online(BaseEstimator):  # type: ignore[misc]
    """Base of `OnlineClassifier` and `OnlineRegressor`; a subclass says what its targets are."""

    learner: str | Learner
    loss: str
    interactions: Sequence[str]
    passes: int
    shuffle: bool
    random_state: Any
    learner_: Learner

    # Learning

    def _make_learner(self, classes: int = 0) -> Learner:
        if isinstance(self.learner, Learner):
            return deepcopy(self.learner)
        kind = learners.get(self.learner)
        if classes <= 2:
            return kind(self.loss)
        try:
            return kind("softmax", classes=classes)
        except TypeError:  # it has one score a row
            return OneAClass(kind, classes=classes)

    def _fit(self, X: Any, targets: Float, sample_weight: ArrayLike | None) -> Self:
        """One pass in the order given, unless more or another was asked for."""
        if self.passes < 1:
            raise ValueError(f"passes = {self.passes}: at least one is needed")
        generator = check_random_state(self.random_state)
        for _ in range(self.passes):
            self._learn(X, targets, sample_weight, generator if self.shuffle else None)
        return self

    def _learn(
        self, X: Any, targets: Float, sample_weight: ArrayLike | None, generator: Any = None
    ) -> Self:
        first = not hasattr(self, "learner_")
        columns = None
        if is_frame(X):
            columns = Columns(interactions=self.interactions) if first else self.columns_
            encoded = columns.encode(X)
        data = X if columns is None else encoded.X
        rows = as_rows(data, targets, sample_weight)
        validate_data(self, X, reset=first, skip_check_array=True)  # number and names of columns
        if first:
            self._check_width(rows)
        learner = self._make_learner(len(getattr(self, "classes_", ()))) if first else self.learner_
        if generator is None:
            scores = learner.learn(rows)
        else:
            order = generator.permutation(len(rows))
            weights = None if rows.weights is None else rows.weights[order]
            shuffled = as_rows(_taken(data, order), rows.targets[order], weights)
            scores = np.empty_like(found := learner.learn(shuffled))
            scores[order] = found
        if columns is not None:
            columns.commit(encoded)
            self.columns_ = columns
        self.progressive_, self.learner_ = scores, learner
        return self

    def _check_width(self, rows: Rows) -> None:
        if rows.columns == 0:
            raise ValueError(
                f"Found array with 0 feature(s) (shape=({len(rows)}, 0)) while a minimum of 1 is "
                "required."
            )

    def _forget(self) -> None:
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    # Asking

    def _rows(self, X: Any) -> Rows:
        check_is_fitted(self, "learner_")
        validate_data(self, X, reset=False, skip_check_array=True)
        if is_frame(X) and hasattr(self, "columns_"):
            return as_rows(self.columns_.encode(X, grow=False).X)
        return as_rows(X)

    def _scores(self, X: Any) -> Float:
        return self.learner_.predict(self._rows(X))

    @property
    def feature_names_(self) -> list[str]:
        """The features by column, after categories, dates and interactions were spread out."""
        check_is_fitted(self, "learner_")
        if hasattr(self, "columns_"):
            return list(self.columns_.names)
        return [str(name) for name in getattr(self, "feature_names_in_", self._numbered())]

    def _numbered(self) -> list[str]:
        return [f"x{j}" for j in range(self.n_features_in_)]

    def explain(self, x: Any) -> dict[str, Any]:
        """What each feature contributes to the score of one row; with `(base)` they add up to it.

        x is a row of numbers, or a data frame of one row. Features that contribute nothing are left
        out. With more than two classes each entry has a number a class.
        """
        table = x if is_frame(x) or issparse(x) or np.ndim(x) == 2 else np.reshape(x, (1, -1))
        rows = self._rows(table)
        if len(rows) != 1:
            raise ValueError(f"explain takes one row, not {len(rows)}")
        base, parts = self.learner_.contributions(rows)
        used = np.flatnonzero(parts if parts.ndim == 1 else parts.any(axis=1))
        names = self.feature_names_
        plain = float if parts.ndim == 1 else np.asarray
        return {"(base)": plain(base)} | {names[j]: plain(parts[j]) for j in used}

    def rescale(self, factors: Mapping[str, float]) -> Self:
        """From now on these features arrive multiplied by these factors: {"height": 1000} when
        metres become millimetres. The model goes on as if they always had.
        """
        check_is_fitted(self, "learner_")
        names = {name: column for column, name in enumerate(self.feature_names_)}
        unknown = [name for name in factors if name not in names]
        if unknown:
            raise ValueError(f"there is no feature {unknown[0]!r} to rescale")
        every = np.ones(len(names))
        for name, factor in factors.items():
            every[names[name]] = factor
        self.learner_.rescale(every)
        return self

    def certificate(self, **options: Any) -> Certificate:
        """What is certain about the regret so far: `unitless.regret.certificate` of the learner.

        The regret is that of the learner's own loss and of the trials it has learned; `options`
        (a comparator `u`, the `rows`, a `ball`) are those of the function.
        """
        check_is_fitted(self, "learner_")
        return regret.certificate(self.learner_, **options)

    def _linear_weights(self) -> tuple[Any, Float]:
        """(intercept, by column), for learners whose scores are linear in x."""
        check_is_fitted(self, "learner_")
        if not self.learner_.linear:
            raise AttributeError(
                f"the scores of {self.learner_.name!r} are not linear in x, so it has no coef_; use "
                "explain(x), or learner_.weights() for the slope at the means"
            )
        return self.learner_.weights()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags


def _taken(X: Any, order: NDArray[np.int64]) -> Any:
    return X.tocsr()[order] if issparse(X) else np.asarray(X)[order]
