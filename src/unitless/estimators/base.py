"""Base class of OnlineClassifier and OnlineRegressor: scikit-learn's interface to a `Model`."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_random_state
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from unitless.core.learner import Learner, Weights
from unitless.encoders import FrameEncoder
from unitless.encoders.dataframes import opened
from unitless.estimators.column_warning import leave_out_columns
from unitless.learners.multi_output import MultiOutput
from unitless.model import Model
from unitless.model.explanations import Explanation
from unitless.model.input_rows import (
    Commit,
    NumberedNames,
    frame_of_array,
    holds_strings,
    is_dicts,
    is_frame,
    rows_of,
)
from unitless.model.learner_choice import check_loss, make_learner
from unitless.model.reservoir import SIZE, Reservoir
from unitless.rows import Rows, as_rows, checked_weights
from unitless.suggestions import no_such_column

if TYPE_CHECKING:
    from unitless.regret import BlendCertificate, Certificate

Float = NDArray[np.float64]


class OnlineEstimator(BaseEstimator):  # type: ignore[misc]
    """Base of `OnlineClassifier` and `OnlineRegressor`."""

    model_: Model

    def __init__(
        self,
        learner: str | Learner = "blend",
        loss: str = "squared",
        *,
        interactions: Sequence[str] = (),
        passes: int = 1,
        shuffle: bool = True,
        random_state: Any = 0,
        identifier_as_feature: bool = False,
        reservoir: int = SIZE,
        delay: int | None = None,
    ) -> None:
        self.learner = learner
        self.loss = loss
        self.interactions = interactions
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.identifier_as_feature = identifier_as_feature
        self.reservoir = reservoir
        self.delay = delay

    # Learning

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Start from scratch and learn the rows, in random order unless `shuffle` is False.

        If y has several columns, there is one learner per column; NaN means that a target is not
        known.
        """
        return self._learn(X, y, sample_weight, fit=True)

    def _learn(
        self, X: Any, y: Any, sample_weight: Any, fit: bool = False, classes: Any = None
    ) -> Self:
        """Learn the rows; all of them are checked before the first is learned.

        A new model is learned by another estimator, whose attributes this one takes at the end: an
        error leaves it as it was, and until then it predicts with its old model.
        """
        given = one_or_more_columns(y)
        first = fit or not hasattr(self, "model_")
        own = type(self)(**self.get_params(deep=False)) if first else self
        model = own._new_model(given, classes, fit) if first else self.model_
        with model.lock:
            if first:
                model.reservoir = Reservoir(self.reservoir)
                model.encoder = self._new_encoder(X)
                if model.encoder is not None:
                    table = opened(frame_of_array(model, X) if holds_strings(X) else X)
                    leave_out_columns(model, table, self.identifier_as_feature)
            rows, commit = _rows(model, X, True, sample_weight)
            rows = rows.with_targets(own._codes(model, given))
            own._check_columns(X, first)
            if first:
                own._refuse_nothing(rows, fit)
                model.inputs = own.n_features_in_
                # tables may have more columns than the estimator was fitted on
                model.file.keep = list(map(str, getattr(own, "feature_names_in_", ())))
            if fit and self.shuffle:  # errors name rows as they were given
                rows.refuse_infinity()
                model.learner._check_targets(np.asarray(rows.targets), checked_weights(rows))
            for order in self._orders(len(rows)) if fit else [None]:
                scores, not_fresh = model.learn_both(rows if order is None else rows.take(order))
                place = slice(None) if order is None else np.argsort(order)
                own.progressive_ = scores[place]
                own.progressive_not_fresh_ = not_fresh[place]
            commit()
        own.model_ = model
        kept = {name: value for name, value in vars(self).items() if not name.endswith("_")}
        self.__dict__ = kept | vars(own)
        return self

    def _new_model(self, y: NDArray[Any], classes: Any, fit: bool) -> Model:
        raise NotImplementedError

    def _codes(self, model: Model, y: NDArray[Any]) -> Float:
        raise NotImplementedError

    def _new_learner(self, task: str) -> Learner:
        """A learner of one score per row; a loss that does not fit the task is an error."""
        made = make_learner(self.learner, self.loss, delay=self.delay)
        check_loss(made, task)
        return made

    def _new_learners(self, task: str, outputs: int) -> Learner:
        """One learner per target."""
        return MultiOutput([self._new_learner(task) for _ in range(outputs)])

    def _new_encoder(self, X: Any) -> FrameEncoder | None:
        """The encoder for a data frame or an array with strings; None for other arrays."""
        encoder = FrameEncoder(interactions=self.interactions)
        names: Sequence[str] = ()
        if is_frame(X):
            names = opened(X).columns
        elif holds_strings(X) and X.ndim == 2:
            names = NumberedNames(X.shape[1], "x")
        for name in filter(None, chain(*encoder.interactions)):
            if names and name not in names:
                raise ValueError(no_such_column(name, names))
        if is_frame(X) or names:
            return encoder
        if encoder.interactions:
            raise ValueError(f"interactions={self.interactions!r} go by name: give a data frame")
        return None

    def _orders(self, rows: int) -> list[NDArray[np.int64] | None]:
        """The order of the rows in each pass of `fit`."""
        if self.passes < 1:
            raise ValueError(f"passes = {self.passes}: at least one is needed")
        generator = check_random_state(self.random_state)
        return [generator.permutation(rows) if self.shuffle else None for _ in range(self.passes)]

    def _check_columns(self, X: Any, first: bool = False) -> None:
        """The number and the names of the columns are those of the first block."""
        if not first and self.model_.by_name and is_frame(X):
            return
        named = first or hasattr(self, "feature_names_in_")
        if named or type(X) is not np.ndarray or X.shape[1] != self.n_features_in_:
            validate_data(self, X, reset=first, skip_check_array=True)

    def _refuse_nothing(self, rows: Rows, fit: bool) -> None:
        """Refuse data without rows or columns and, in `fit`, without positive weights."""
        if not len(rows) or not self.n_features_in_:
            check_array(np.empty((len(rows), self.n_features_in_)))  # scikit-learn's own error
        if fit and rows.weights is not None and not rows.weights.any():
            raise ValueError("Sample weights must contain at least one non-zero number.")

    def _scores(self, X: Any, fresh: bool = False) -> Float:
        model = self._fitted()
        with model.lock:
            rows, _ = _rows(model, X, False)
            self._check_columns(X)
            return model.predict_rows(rows, fresh=fresh)

    # The model

    def _fitted(self) -> Model:
        if "model_" not in self.__dict__:  # scikit-learn's check takes longer than a prediction
            check_is_fitted(self, "model_")
        return self.model_

    @property
    def learner_(self) -> Learner:
        """The learner inside the model."""
        return self._fitted().learner

    @property
    def feature_names_(self) -> list[str]:
        """Names of the features: columns, levels of categories, parts of dates, interactions."""
        return list(self._fitted().feature_names())

    def to_model(self) -> Model:
        """The `unitless.Model` of this estimator, which shares its learner."""
        self._fitted().parameters = self.get_params(deep=False)
        return self.model_

    def explain(self, x: Any, *, fresh: bool = False) -> Explanation:
        """What each input column adds to the score of one row, a data frame or an array.

        See `Model.explain`.
        """
        return self._fitted().explain(x, fresh=fresh)

    def rescale(self, factors: Mapping[str, float]) -> Self:
        """Change units: from now on, values of these columns are multiplied by these factors.

        {"height": 1000} if metres become millimetres. The columns of an array are x0, x1, ...
        """
        self._fitted().rescale(factors)
        return self

    def certificate(self, **options: Any) -> "Certificate | BlendCertificate":
        """Upper bounds on the regret so far; see `Model.certificate`."""
        return self._fitted().certificate(**options)

    def _linear_weights(self) -> Weights:
        """The weights of learners whose scores are linear in x."""
        if not self.learner_.linear:
            raise AttributeError(
                f"the scores of {self.learner_.name!r} are not linear in x, so it has no coef_; "
                "use explain(x), or to_model().effects()"
            )
        return self.learner_.weights()

    @property
    def feature_importances_(self) -> Float:
        """How far each input column moves the prediction, as shares that add up to 1.

        Each is the mean absolute change of the prediction when the value of the column is replaced
        by that of another row in the reservoir. A category, a text or a date is one column.
        """
        if not self._fitted().reservoir.size:
            raise AttributeError(
                "reservoir=0: the model keeps no rows from which feature_importances_ could be "
                "computed; fit with reservoir=256"
            )
        moved = self.model_.importances()[: self.n_features_in_]
        total = moved.sum()
        return moved / (total if total > 0 else 1)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.target_tags.multi_output = True
        return tags

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if hasattr(self, "model_"):  # joblib gives arrays that cannot be written to
            self.model_ = deepcopy(self.model_)


def from_model(model: Model) -> Any:
    """The estimator with a model: the one it was made by, or one with default parameters."""
    import unitless

    is_regressor = model.task in ("regression", "multioutput")
    kind: Any = unitless.OnlineRegressor if is_regressor else unitless.OnlineClassifier
    columns = FrameEncoder() if model.encoder is None else model.encoder
    loss = model.learner.loss.name.replace("softmax", "logistic")
    default: dict[str, Any] = {
        "learner": model.learner.name,
        "loss": loss,
        "interactions": columns.interactions,
        "reservoir": model.reservoir.size,
    }
    made = kind(**(default if model.parameters is None else model.parameters))
    names = model.file.keep or (list(columns.kinds) if model.inputs is None else [])
    made.n_features_in_ = model.learner.columns if model.inputs is None else model.inputs
    if names:
        made.n_features_in_ = len(names)
        made.feature_names_in_ = np.array(names, dtype=object)
    if not is_regressor:
        made.classes_ = np.array(model.classes)
        if isinstance(model.learner, MultiOutput):
            made.classes_ = np.arange(len(model.learner.learners))
    made.model_ = model
    return made


def one_or_more_columns(y: Any) -> NDArray[Any]:
    """Targets as an array: one per row, or of several columns one line per row."""
    if y is None:
        raise ValueError("fit requires y to be passed, but the target y is None")
    if type(y) is not np.ndarray:
        y = np.asarray(y)
    if y.dtype.kind == "c":
        raise ValueError("Complex data not supported: give real targets")
    if y.ndim == 1:
        return y
    return y if y.ndim == 2 and y.shape[1] > 1 else column_or_1d(y, warn=True)


def _rows(
    model: Model, X: Any, grow: bool, weights: ArrayLike | None = None
) -> tuple[Rows, Commit]:
    """The rows of X, with the errors that scikit-learn expects."""
    if is_dicts(X):
        raise TypeError(
            "X holds dicts: give pandas.DataFrame(X), or learn them row by row with the models "
            "of unitless.river"
        )
    if model.encoder is not None or (model.by_name and is_frame(X)):
        return rows_of(model, X, grow, weights, unknown="ignore")  # scikit-learn has its own check
    try:
        return as_rows(X, None, weights), lambda: None
    except ValueError:
        if np.ndim(X) == 1:
            check_array(X, dtype=None)  # scikit-learn's own error
        if not issparse(X):
            with suppress(ValueError):  # but a TypeError for what is neither number nor string
                np.asarray(X).astype(np.float64)
        raise
