"""What the classifier and the regressor share: making a learner, feeding it, asking it."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from unitless.encoders import FrameEncoder
from unitless.encoders.dataframes import column_names, opened
from unitless.estimators.making import make_learner
from unitless.learners.base import Learner, Weights
from unitless.locking import PicklableLock
from unitless.rows import Rows, as_rows

if TYPE_CHECKING:
    from unitless.regret import BlendCertificate, Certificate

Float = NDArray[np.float64]


class Online(BaseEstimator):  # type: ignore[misc]
    """Base of `OnlineClassifier` and `OnlineRegressor`; a subclass says what its targets are."""

    learner: str | Learner
    loss: str
    interactions: Sequence[str]
    passes: int
    shuffle: bool
    random_state: Any
    learner_: Learner
    columns_: FrameEncoder

    # Learning

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """What raises an error leaves the model as it was; who predicts waits for the end."""
        with self.learner_._turn if hasattr(self, "learner_") else PicklableLock():
            before = dict(vars(self))
            try:
                yield
            except BaseException:
                self.__dict__.update(before)
                for name in [name for name in vars(self) if name not in before]:
                    delattr(self, name)
                raise

    def _forget(self) -> None:
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def _learn(
        self, X: Any, targets: Float, sample_weight: ArrayLike | None, fit: bool = False
    ) -> Self:
        """Learn the rows; all that can be wrong with them is found before the first."""
        first = not hasattr(self, "learner_")
        columns = self._columns_for(X)
        encoded = None if columns is None else columns.encode(X)
        rows = _rows(X if encoded is None else encoded.X, targets, sample_weight)
        self._check_columns(X, first)
        if first:
            self._refuse_nothing(rows, fit)
        learner = self._made() if first else self.learner_
        for order in self._orders(len(rows)) if fit else [None]:
            scores = learner.learn(rows if order is None else _reordered(rows, order))
            self.progressive_ = scores if order is None else scores[np.argsort(order)]
        if columns is not None and encoded is not None:
            columns.commit(encoded)
            self.columns_ = columns
        self.learner_ = learner
        return self

    def _made(self) -> Learner:
        return make_learner(self.learner, self.loss)

    def _orders(self, rows: int) -> list[NDArray[np.int64] | None]:
        """The order of the rows in each pass of `fit`; None is the order given."""
        if self.passes < 1:
            raise ValueError(f"passes = {self.passes}: at least one is needed")
        generator = check_random_state(self.random_state)
        return [generator.permutation(rows) if self.shuffle else None for _ in range(self.passes)]

    def _columns_for(self, X: Any) -> FrameEncoder | None:
        """The map for a data frame's columns; None for arrays, and for models made with arrays."""
        if not hasattr(self, "learner_"):
            if is_frame(X):
                return _columns(X, self.interactions)
            if len(self.interactions):
                raise ValueError(
                    f"interactions={self.interactions!r} go by name: give a data frame"
                )
        columns = getattr(self, "columns_", None)
        if columns is None or is_frame(X):
            return columns
        if columns.names != [str(name) for name in getattr(self, "feature_names_in_", ())]:
            raise ValueError(
                f"{type(self).__name__} was fitted on a data frame whose columns are not all "
                "numbers: give a data frame with the same columns"
            )
        return None

    def _check_columns(self, X: Any, first: bool = False) -> None:
        """The number and the names of the columns are those of the first block."""
        named = first or hasattr(self, "feature_names_in_")
        if named or type(X) is not np.ndarray or X.shape[1] != self.n_features_in_:
            validate_data(self, X, reset=first, skip_check_array=True)

    def _refuse_nothing(self, rows: Rows, fit: bool) -> None:
        """No model can be made of no rows, no columns or, in `fit`, no weight."""
        shape = len(rows), self.n_features_in_
        for size, what in zip(shape, ("sample(s)", "feature(s)"), strict=True):
            if size == 0:
                raise ValueError(
                    f"Found array with 0 {what} (shape={shape}) while a minimum of 1 is required."
                )
        if fit and rows.weights is not None and not rows.weights.any():
            raise ValueError("Sample weights must contain at least one non-zero number.")

    # Asking

    def _known_rows(self, X: Any) -> Rows:
        check_is_fitted(self, "learner_")
        columns = self._columns_for(X)
        rows = _rows(X if columns is None else columns.encode(X, grow=False).X)
        self._check_columns(X)
        return rows

    def _scores(self, X: Any) -> Float:
        check_is_fitted(self, "learner_")
        with self.learner_._turn:
            return self.learner_.predict(self._known_rows(X))

    @property
    def feature_names_(self) -> list[str]:
        """The features by column, after categories, dates and interactions were spread out."""
        check_is_fitted(self, "learner_")
        if hasattr(self, "columns_"):
            return self.columns_.names
        return [f"x{j}" for j in range(self.n_features_in_)]

    def explain(self, x: Any) -> dict[str, Any]:
        """What each feature contributes to the score of one row; with `(base)` they add up to it.

        x is a row of numbers, or a data frame of one row. Features that contribute nothing are left
        out. With more than two classes each entry has a number a class.
        """
        rows = self._known_rows(_table_of_one(x, hasattr(self, "columns_")))
        if len(rows) != 1:
            raise ValueError(f"explain takes one row, not {len(rows)}")
        base, parts = self.learner_.contributions(rows)
        used = np.flatnonzero(parts if parts.ndim == 1 else parts.any(axis=1))
        names = self.feature_names_
        plain = float if parts.ndim == 1 else np.asarray
        return {"(base)": plain(base)} | {names[j]: plain(parts[j]) for j in used}

    def rescale(self, factors: Mapping[str, float]) -> Self:
        """From now on these columns arrive multiplied by these factors: {"height": 1000} when
        metres become millimetres. The model goes on as if they always had, interactions included.

        Columns of an array are x0, x1, ...
        """
        check_is_fitted(self, "learner_")
        columns = getattr(self, "columns_", None)
        kinds = {} if columns is None else columns.kinds
        sources = columns.sources if columns else [(name,) for name in self.feature_names_]
        known = {*getattr(self, "feature_names_in_", ())}.union(*sources)
        for name in factors:
            if name not in known:
                raise ValueError(f"there is no feature {name!r} to rescale")
            if kinds.get(name, "number") != "number":
                raise ValueError(f"feature {name!r} is a {kinds[name]}, which has no unit")
            if not math.isfinite(factors[name]) or factors[name] == 0:
                raise ValueError(
                    f"feature {name!r}: a unit cannot change by a factor of {factors[name]:g}"
                )
        self.learner_.rescale(
            np.array([math.prod(factors.get(name, 1.0) for name in each) for each in sources])
        )
        return self

    def certificate(self, **options: Any) -> "Certificate | BlendCertificate":
        """What is certain about the regret so far: `unitless.regret.certificate` of the learner.

        The regret is that of the learner's own loss and of the trials it has learned; `options`
        (a comparator `u`, the `rows`, a `ball`) are those of the function.
        """
        from unitless.regret import certificate  # a start does without

        check_is_fitted(self, "learner_")
        return certificate(self.learner_, **options)

    def _linear_weights(self) -> Weights:
        """Of learners whose scores are linear in x."""
        check_is_fitted(self, "learner_")
        if not self.learner_.linear:
            raise AttributeError(
                f"the scores of {self.learner_.name!r} are not linear in x, so it has no coef_; "
                "use explain(x), or learner_.weights() for the slope at the means"
            )
        return self.learner_.weights()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "learner_"):  # joblib hands out arrays one cannot write to
            self.learner_ = deepcopy(self.learner_)


def is_frame(X: Any) -> bool:
    """Whether X is a data frame: a table that knows the names of its columns.

    >>> import pandas
    >>> is_frame(pandas.DataFrame({"height": [1.8]})), is_frame(np.array([[1.8]]))
    (True, False)
    """
    return hasattr(type(X), "columns") or hasattr(type(X), "column_names")


def _columns(frame: Any, interactions: Sequence[str]) -> FrameEncoder:
    """A map for the frame's columns; an interaction with another is a slip of the pen."""
    columns = FrameEncoder(interactions=interactions)
    names = column_names(opened(frame))
    for name in chain(*columns.interactions):
        if name is not None and name not in names:
            raise ValueError(
                f"interactions={interactions!r}: there is no column {name!r}; "
                f"the columns are {', '.join(names)}"
            )
    return columns


def _rows(X: Any, targets: Float | None = None, weights: ArrayLike | None = None) -> Rows:
    """`as_rows`, with the errors that scikit-learn has for them."""
    first = X[0] if isinstance(X, list) and X else X
    if isinstance(first, Mapping) and not issparse(X):  # a sparse DOK array is a dict, too
        raise TypeError(
            "X holds dicts: give pandas.DataFrame(X), or learn them row by row with the models "
            "of unitless.estimators.river"
        )
    try:
        return as_rows(X, targets, weights)
    except ValueError as error:
        table = X if issparse(X) else np.asarray(X)
        if table.ndim == 1:
            raise ValueError(f"Reshape your data: {error}") from None
        if table.dtype == object and not issparse(X):
            with suppress(ValueError):  # but a TypeError for what is neither a number nor a string
                table.astype(np.float64)
        raise


def _reordered(rows: Rows, order: NDArray[np.int64]) -> Rows:
    """The rows in another order."""
    targets = None if rows.targets is None else rows.targets[order]
    weights = None if rows.weights is None else rows.weights[order]
    if rows.starts is None:
        return as_rows(rows.values[order], targets, weights)
    parts = rows.values, rows.indices, rows.starts
    return as_rows(csr_array(parts, shape=(len(rows), rows.columns))[order], targets, weights)


def _table_of_one(x: Any, named: bool) -> Any:
    """One row as a table: a list, an array or, where columns have names, a pandas Series."""
    if is_frame(x) or issparse(x) or np.ndim(x) == 2:
        return x
    if named and hasattr(x, "to_frame"):
        return x.to_frame().T
    return np.reshape(x, (1, -1))
