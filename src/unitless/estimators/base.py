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
from unitless.model.input_names import NumberedNames
from unitless.model.intake import Prepared, frame_of_array, holds_strings, is_dicts, is_frame
from unitless.model.learner_choice import check_loss, make_learner
from unitless.model.reservoir import SIZE, Reservoir
from unitless.rows import Rows, as_rows
from unitless.suggestions import no_such_column
from unitless.uncertainty import Coverage, intervals_for

if TYPE_CHECKING:
    from unitless.regret import BlendCertificate, Certificate

Float = NDArray[np.float64]
Attributes = dict[str, Any]
"""Attributes of an estimator that `fit` sets."""
Bool = NDArray[np.bool_]


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
        intervals: Sequence[float] = (),
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
        self.intervals = intervals

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

        The attributes change at the end: an error leaves the estimator as it was, and until then it
        predicts with its old model.
        """
        given = self._targets(y)
        first = fit or not hasattr(self, "model_")
        learned: Attributes
        learned = self._new_model(given, classes, fit) if first else {"model_": self.model_}
        model = learned["model_"]
        with model.lock:
            if first:
                model.reservoir = Reservoir(self.reservoir)
                model.intervals = intervals_for(self.intervals, model.task, model.learner)
                model.encoder = self._new_encoder(X)
                if model.encoder is not None:
                    table = opened(frame_of_array(model, X) if holds_strings(X) else X)
                    leave_out_columns(model, table, self.identifier_as_feature)
            prepared = self._prepared(model, X, given, sample_weight, grow=True)
            rows = prepared.rows
            if first:
                learned |= _columns_of(X)
                _refuse_nothing(rows, learned["n_features_in_"], fit)
                model.inputs = learned["n_features_in_"]
                # tables may have more columns than the estimator was fitted on
                model.file.keep = list(map(str, learned.get("feature_names_in_", ())))
            for turn, order in enumerate(self._orders(len(rows)) if fit else [None]):
                taken = rows if order is None else rows.take(order)
                try:
                    both = model.learn_rows(taken, calibrate=turn == 0)
                except ValueError:
                    model.learner.check(rows)  # an error names rows as they were given
                    raise
                place = slice(None) if order is None else np.argsort(order)
                learned["progressive_"] = both[0][place]
                learned["progressive_not_fresh_"] = both[1][place]
                if model.intervals is not None and turn == 0:
                    last = [model.of_known_classes(each)[place] for each in model.intervals.last]
                    learned["progressive_interval_"] = last[0]
                    learned["progressive_interval_not_fresh_"] = last[1]
            prepared.commit()
        stale = [name for name in vars(self) if name.endswith("_") and name not in learned]
        self.__dict__ |= learned
        for name in stale if first else ():
            delattr(self, name)
        self._notice_order(given, fit)
        return self

    def _prepared(
        self, model: Model, X: Any, y: Any = None, weights: Any = None, *, grow: bool = False
    ) -> Prepared:
        """The record of X and y for the model, with the errors that scikit-learn expects."""
        if is_dicts(X):
            raise TypeError(
                "X holds dicts: give pandas.DataFrame(X), or learn them row by row with the models "
                "of unitless.river"
            )
        is_known = model is getattr(self, "model_", None)
        by_position = model.encoder is None and not (model.by_name and is_frame(X))
        table = _as_table(X) if by_position and not issparse(X) else X
        if is_known and model.encoder is None:
            self._check_columns(X if is_frame(X) else table)
        found = model.prepared(table, y, weights, grow=grow, unknown="ignore")
        if is_known and model.encoder is not None:  # its own errors say more
            self._check_columns(X)
        return found

    def _notice_order(self, y: NDArray[Any], fit: bool) -> None:
        """Called after rows were learned in the order in which they were given."""

    def _targets(self, y: Any) -> NDArray[Any]:
        """The targets as an array."""
        return one_or_more_columns(y)

    def _new_model(self, y: NDArray[Any], classes: Any, fit: bool) -> Attributes:
        """The attributes `model_` and, of a classifier, `classes_` for these first targets."""
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

    def _check_columns(self, X: Any) -> None:
        """The number and the names of the columns are those of the first block."""
        if self.model_.by_name and is_frame(X):
            return
        named = hasattr(self, "feature_names_in_")
        if named or type(X) is not np.ndarray or X.shape[1] != self.n_features_in_:
            validate_data(self, X, reset=False, skip_check_array=True)

    def _interval(self, X: object, coverage: float | None, fresh: bool) -> Float | Bool:
        model = self._fitted()
        with model.lock:
            if model.intervals is None:
                raise ValueError(
                    f"no coverage was declared: {type(self).__name__}(intervals=(0.9,)), then fit"
                )
            model.intervals.refuse_undeclared(coverage)
            rows = self._prepared(model, X).rows
            found = model.interval_rows(rows, model.predict_rows(rows, fresh=fresh), fresh=fresh)
            return model.intervals.chosen(found, coverage)

    def interval_coverage(self, *, fresh: bool = True) -> list[Coverage]:
        """The coverage of `progressive_interval_` over all rows so far, by declared coverage.

        Each entry has the share of rows `asked` for, the `share` covered, and its certified limits
        `low` and `high`; see `Model.interval_coverage`.
        """
        return self._fitted().interval_coverage(fresh=fresh)

    def _scores(self, X: Any, fresh: bool = False) -> Float:
        model = self._fitted()
        with model.lock:
            rows = self._prepared(model, X).rows
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
        "intervals": () if model.intervals is None else model.intervals.coverages,
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


def _as_table(X: Any) -> NDArray[Any]:
    """X as an array of two axes, with scikit-learn's errors where it is none."""
    table = np.asarray(X)
    if table.ndim == 1:
        check_array(X, dtype=None)
    if table.dtype == object:
        with suppress(ValueError):  # a TypeError for what is neither number nor string
            table.astype(np.float64)
    return as_rows(table).values if holds_strings(table) else table


def _columns_of(X: Any) -> Attributes:
    """The number of columns and, of a frame, their names, as scikit-learn sees them."""
    seen = BaseEstimator()
    validate_data(seen, X, skip_check_array=True)
    return dict(vars(seen))


def _refuse_nothing(rows: Rows, columns: int, fit: bool) -> None:
    """Refuse data without rows or columns and, in `fit`, without positive weights."""
    if not len(rows) or not columns:
        check_array(np.empty((len(rows), columns)))  # scikit-learn's own error
    if fit and rows.weights is not None and not rows.weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
