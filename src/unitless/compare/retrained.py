"""Batch models of scikit-learn in a stream: retrained on all past rows as these grow by half.

This is what many people do instead of online learning. Between two trainings, rows are predicted by
the last model. The first `ROWS_OF_FIRST_FIT` rows are predicted without a model: by the mean of the
past targets, or by equal scores of all classes. So are later rows until there are two classes.
"""

import time
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from unitless.regret.design import matrix
from unitless.rows import Rows

Float = NDArray[np.float64]
ROWS_OF_FIRST_FIT = 32
ROWS_PER_FIT = 1.5
MAX_DENSE_COLUMNS = 2000
"""Columns up to which boosted trees, which need a dense table, are given sparse rows."""
LEAST_PROBABILITY = 1e-12  # the smallest probability of a class
LOSSES = {
    "boosting": {"logistic", "softmax", "squared", "absolute"},
    "linear": {"logistic", "softmax", "squared"},
}
"""Losses that each kind of model can be trained for."""


def retrained_scores(kind: str, rows: Rows, loss: str, classes: int, seconds: float) -> Float:
    """Return the progressive scores of a kind of model, for the rows it reaches in this time."""
    from threadpoolctl import threadpool_limits  # of scikit-learn

    with threadpool_limits(limits=1):  # small trainings are slower in several threads
        return _scores_in_one_thread(kind, rows, loss, classes, seconds)


def _scores_in_one_thread(kind: str, rows: Rows, loss: str, classes: int, seconds: float) -> Float:
    end = time.process_time() + seconds
    X = _features(kind, rows)
    y = np.asarray(rows.targets)
    weights = np.ones(len(y)) if rows.weights is None else rows.weights
    scores = _first_scores(y, weights, classes, loss)
    trained = ROWS_OF_FIRST_FIT
    while trained < len(y):
        until = max(int(trained * ROWS_PER_FIT), trained + 1)
        past, part = slice(0, trained), slice(trained, until)
        model = _trained(kind, loss, X[past], y[past], weights[past])
        if model is not None:
            scores[part] = _scores(model, X[part], loss, classes)
        trained = until
        if time.process_time() > end:
            return scores[:until]
    return scores


def _features(kind: str, rows: Rows) -> Any:
    X: Any = rows.values if rows.indices is None else matrix(rows)
    if not issparse(X):
        return X
    if rows.columns <= MAX_DENSE_COLUMNS:
        return X.toarray()
    if kind == "boosting":
        raise ValueError(f"it needs a dense table, and there are {rows.columns:,} sparse columns")
    return csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)


def _first_scores(y: Float, weights: Float, classes: int, loss: str) -> Float:
    """Return the scores of rows without a model; the mean of the targets before, for numbers."""
    if classes or loss == "logistic":
        return np.zeros((len(y), classes) if classes else len(y))
    total = np.append(0.0, np.cumsum(weights)[:-1])
    sums = np.append(0.0, np.cumsum(weights * y)[:-1])
    means = np.divide(sums, total, out=np.zeros(len(y)), where=total > 0)
    means[ROWS_OF_FIRST_FIT:] = means[min(ROWS_OF_FIRST_FIT, len(y) - 1)] if len(y) else 0.0
    return means


def _trained(kind: str, loss: str, X: Any, y: Float, weights: Float) -> object:
    """Return a model of these rows; None if they have too few classes to train one."""
    used = weights > 0
    if not used.any() or (loss in ("logistic", "softmax") and len(np.unique(y[used])) < 2):
        return None
    model = _boosting(loss) if kind == "boosting" else _linear(loss, X)
    step = "sample_weight" if kind == "boosting" else f"{model.steps[-1][0]}__sample_weight"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a solver has not converged yet
        return model.fit(X[used], y[used], **{step: weights[used]})


def _boosting(loss: str) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    if loss in ("logistic", "softmax"):
        return HistGradientBoostingClassifier(random_state=0)
    name = {"squared": "squared_error", "absolute": "absolute_error"}[loss]
    return HistGradientBoostingRegressor(loss=name, random_state=0)


def _linear(loss: str, X: object) -> Any:
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import LogisticRegression, Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    last = Ridge() if loss == "squared" else LogisticRegression(max_iter=1000)
    filled = SimpleImputer(keep_empty_features=True)
    return make_pipeline(filled, StandardScaler(with_mean=not issparse(X)), last)


def _scores(model: Any, X: Any, loss: str, classes: int) -> Any:
    if loss == "softmax":
        made = np.full((X.shape[0], classes), np.log(LEAST_PROBABILITY))
        known = model.classes_.astype(np.int64)
        made[:, known] = np.log(np.maximum(model.predict_proba(X), LEAST_PROBABILITY))
        return made
    return model.decision_function(X) if loss == "logistic" else model.predict(X)
