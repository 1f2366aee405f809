"""Base class of OnlineClassifier and OnlineRegressor: scikit-learn's interface to a `Model`."""

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

from unitless.encoders import Encoded, FrameEncoder
from unitless.encoders.dataframes import column_names, opened
from unitless.learners.base import Learner, Weights
from unitless.locking import PicklableLock
from unitless.model import Model
from unitless.model_input import is_dicts, is_frame
from unitless.rows import Rows, as_rows

if TYPE_CHECKING:
    from unitless.regret import BlendCertificate, Certificate

Float = NDArray[np.float64]


class OnlineEstimator(BaseEstimator):  # type: ignore[misc]
    """Base of `OnlineClassifier` and `OnlineRegressor`; a subclass codes its targets."""

    learner: str | Learner
    loss: str
    interactions: Sequence[str]
    passes: int
    shuffle: bool
    random_state: Any
    model_: Model

    # Learning

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """An error leaves the estimator as it was; predictions wait until the end."""
        with self.model_.lock if hasattr(self, "model_") else PicklableLock():
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
        """Learn the rows; all of them are checked before the first is learned."""
        first = not hasattr(self, "model_")
        model = self._new_model(X) if first else self.model_
        encoded = self._encoded(model, X, grow=True)
        rows = _rows(X if encoded is None else encoded.X, targets, sample_weight)
        self._check_columns(X, first)
        if first:
            self._refuse_nothing(rows, fit)
        for order in self._orders(len(rows)) if fit else [None]:
            scores = model.learner.learn(rows if order is None else _reordered(rows, order))
            self.progressive_ = scores if order is None else scores[np.argsort(order)]
        if encoded is not None and model.columns is not None:
            model.columns.commit(encoded)
        model.rows += len(rows)
        self.model_ = model
        return self

    def _new_model(self, X: Any) -> Model:
        raise NotImplementedError

    def _new_encoder(self, X: Any) -> FrameEncoder | None:
        """The encoder for a data frame; None for arrays."""
        if is_frame(X):
            return _encoder_for(X, self.interactions)
        if len(self.interactions):
            raise ValueError(f"interactions={self.interactions!r} go by name: give a data frame")
        return None

    def _orders(self, rows: int) -> list[NDArray[np.int64] | None]:
        """The order of the rows in each pass of `fit`; None is the order given."""
        if self.passes < 1:
            raise ValueError(f"passes = {self.passes}: at least one is needed")
        generator = check_random_state(self.random_state)
        return [generator.permutation(rows) if self.shuffle else None for _ in range(self.passes)]

    def _encoded(self, model: Model, X: Any, grow: bool) -> Encoded | None:
        """A data frame encoded; None for arrays, and for models fitted on arrays."""
        if model.columns is None:
            return None
        if is_frame(X):
            return model.columns.encode(X, grow=grow)
        if model.columns.names != [str(name) for name in getattr(self, "feature_names_in_", ())]:
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
        """Refuse data without rows or columns and, in `fit`, without positive weights."""
        shape = len(rows), self.n_features_in_
        for size, what in zip(shape, ("sample(s)", "feature(s)"), strict=True):
            if size == 0:
                raise ValueError(
                    f"Found array with 0 {what} (shape={shape}) while a minimum of 1 is required."
                )
        if fit and rows.weights is not None and not rows.weights.any():
            raise ValueError("Sample weights must contain at least one non-zero number.")

    # Predicting

    def _known_rows(self, X: Any) -> Rows:
        check_is_fitted(self, "model_")
        encoded = self._encoded(self.model_, X, grow=False)
        rows = _rows(X if encoded is None else encoded.X)
        self._check_columns(X)
        return rows

    def _scores(self, X: Any) -> Float:
        check_is_fitted(self, "model_")
        with self.model_.lock:
            return self.model_.learner.predict(self._known_rows(X))

    # The model

    @property
    def learner_(self) -> Learner:
        """The learner."""
        check_is_fitted(self, "model_")
        return self.model_.learner

    @property
    def feature_names_(self) -> list[str]:
        """The features by column, after categories, dates and interactions were encoded."""
        return list(self.to_model().feature_names())

    def to_model(self) -> Model:
        """The `unitless.Model` of this estimator, which shares its learner."""
        check_is_fitted(self, "model_")
        own = {name: vars(self)[name] for name in vars(self) if name.endswith("_in_")}
        if hasattr(self, "classes_"):
            own["classes_"] = self.classes_
        self.model_.estimator = {
            "kind": type(self).__name__,
            "parameters": self.get_params(deep=False),
            "fitted": own,
        }
        return self.model_

    def explain(self, x: Any) -> dict[str, Any]:
        """What each feature adds to the score of one row; with `(base)` they add up to it.

        x is a row of numbers, or a data frame of one row. Features that add nothing are left out.
        With more than two classes each entry has one number per class.
        """
        check_is_fitted(self, "model_")
        rows = self._known_rows(_table_of_one(x, self.model_.columns is not None))
        return self.to_model().explain(rows)

    def rescale(self, factors: Mapping[str, float]) -> Self:
        """From now on these columns arrive multiplied by these factors: {"height": 1000} when
        metres become millimetres. The model continues as if they always had, interactions included.

        Columns of an array are x0, x1, ...
        """
        self.to_model().rescale(factors)
        return self

    def certificate(self, **options: Any) -> "Certificate | BlendCertificate":
        """Upper bounds on the regret so far: `unitless.regret.certificate` of the learner.

        The regret is that of the learner's own loss and of the trials it has learned; `options`
        (a comparator `u`, the `rows`, a `ball`) are those of the function.
        """
        return self.to_model().certificate(**options)

    def _linear_weights(self) -> Weights:
        """The weights of learners whose scores are linear in x."""
        if not self.learner_.linear:
            raise AttributeError(
                f"the scores of {self.learner_.name!r} are not linear in x, so it has no coef_; "
                "use explain(x), or learner_.weights() for the slope at the means"
            )
        return self.learner_.weights()

    @property
    def feature_importances_(self) -> Float:
        """How much one deviation of each feature moves the score, as shares that add up to 1.

        |weight| times the running standard deviation of the feature (for single learners: the root
        of its mean square), summed over classes. Features that always move together share what
        they explain; an importance says nothing about cause.
        """
        from unitless.evaluation.explanations import deviations  # not needed to start

        typical = deviations(self.learner_)
        if typical is None:
            raise AttributeError(
                f"{self.learner_.name!r} keeps no deviations of the features, so it has no "
                "feature_importances_; use 'blend', 'coordinate' or 'full'"
            )
        weights = np.abs(self.learner_.weights().features)
        moved = weights.reshape(len(weights), -1).sum(axis=1) * typical[: len(weights)]
        total = moved.sum()
        return moved / total if total > 0 else moved

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "model_"):  # joblib gives arrays that cannot be written to
            self.model_ = deepcopy(self.model_)


def from_model(model: Model) -> Any:
    """The estimator with a model: the one it was made by, or one with default parameters."""
    import unitless

    known = model.estimator or {}
    kind = "OnlineRegressor" if model.task == "regression" else "OnlineClassifier"
    parameters = known.get("parameters")
    if parameters is None:
        loss = "logistic" if model.learner.loss.name == "softmax" else model.learner.loss.name
        parameters = {"learner": model.learner.name, "loss": loss}
        if model.columns is not None:
            parameters["interactions"] = list(model.columns.interactions)
    made = getattr(unitless, kind)(**parameters)
    made.model_ = model
    for name, value in (known.get("fitted") or _fitted_of(model)).items():
        setattr(made, name, value)
    return made


def _fitted_of(model: Model) -> dict[str, Any]:
    """The fitted attributes of scikit-learn, for a model that no estimator made."""
    fitted: dict[str, Any] = {}
    if model.columns is None:
        fitted["n_features_in_"] = len(model.learner.weights().features)
    else:
        fitted["feature_names_in_"] = np.array(list(model.columns.kinds), dtype=object)
        fitted["n_features_in_"] = len(model.columns.kinds)
    if model.task != "regression":
        fitted["classes_"] = np.array(model.labels)
    return fitted


def _encoder_for(frame: Any, interactions: Sequence[str]) -> FrameEncoder:
    """A fresh encoder for the frame; an interaction with a column it lacks is an error."""
    encoder = FrameEncoder(interactions=interactions)
    names = column_names(opened(frame))
    for name in chain(*encoder.interactions):
        if name is not None and name not in names:
            raise ValueError(
                f"interactions={interactions!r}: there is no column {name!r}; "
                f"the columns are {', '.join(names)}"
            )
    return encoder


def _rows(X: Any, targets: Float | None = None, weights: ArrayLike | None = None) -> Rows:
    """`as_rows`, with the errors that scikit-learn expects."""
    if is_dicts(X):
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
            with suppress(ValueError):  # but a TypeError for what is neither number nor string
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
