"""The rivals of a comparison: models of scikit-learn, Vowpal Wabbit and River.

`boosting` and `linear` are batch models that are retrained as the stream grows (`retrained`); the
others learn online. Each is what its users would write, with default parameters; only scikit-
learn's SGD gets the constant learning rate 0.01, because its own schedule begins with steps that
are too large for a single pass. All see the same encoded features, and predict each row before they
learn it. scikit-learn learns in blocks of `ROWS_PER_CALL` rows, because one call per row would take
a hundred times longer; the scores of its first block are 0. A missing value of a table counts as
the mean for scikit-learn, and is left out for the others.
"""

import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from unitless.compare.retrained import LOSSES, retrained_scores
from unitless.losses import Loss
from unitless.regret.design import matrix
from unitless.rows import Rows, as_rows
from unitless.writers import Sparse, write_vw

Float = NDArray[np.float64]
ROWS_PER_CALL = 32
SGD_RATE = 0.01
MAX_DENSE_VALUES = 10**8
"""Values up to which scikit-learn gets a dense matrix, whose columns can be centred."""
RIVALS = {
    "boosting": "sklearn",
    "linear": "sklearn",
    "sklearn": "sklearn",
    "vw": "vowpalwabbit",
    "river": "river",
}
"""The package that each needs."""
TITLES = {
    "boosting": "HistGradientBoosting, retrained (scikit-learn)",
    "linear": "scaled linear model, retrained (scikit-learn)",
    "sklearn": "SGD with scaler (scikit-learn)",
    "vw": "Vowpal Wabbit",
    "river": "SGD with scaler (River)",
}
SGD_LOSSES = {
    "logistic": "log_loss",
    "softmax": "log_loss",
    "hinge": "hinge",
    "squared": "squared_error",
}
VW_LOSSES = {"logistic": "logistic", "softmax": "logistic", "hinge": "hinge", "squared": "squared"}
RIVER_MODELS = {
    "logistic": "LogisticRegression",
    "softmax": "SoftmaxRegression",
    "squared": "LinearRegression",
}
LEAST_PROBABILITY = 1e-12  # the smallest probability of a class


def rival_scores(name: str, rows: Rows, loss: Loss, classes: int, seconds: float) -> Float:
    """Return the progressive scores of a rival, for the rows that it reaches in these seconds.

    It is a ValueError if it is not installed or lacks the loss.
    """
    if find_spec(RIVALS[name]) is None:
        raise ValueError(f"it is not installed: pip install {RIVALS[name]}")
    by_name: dict[str, Collection[str]] = {
        **LOSSES,
        "sklearn": SGD_LOSSES,
        "vw": VW_LOSSES,
        "river": RIVER_MODELS,
    }
    if loss.name not in by_name[name]:
        raise ValueError(f"it has no {loss.name} loss here")
    if name in LOSSES:
        return retrained_scores(name, rows, loss.name, classes, seconds)
    runs = {"sklearn": _sklearn, "vw": _vowpal_wabbit, "river": _river}
    return runs[name](rows, loss.name, classes, seconds)


def _alarm_clock(seconds: float) -> Callable[[], bool]:
    """Return a function that says whether this process has used that many CPU seconds."""
    end = time.process_time() + seconds
    return lambda: time.process_time() > end


def _sklearn(rows: Rows, loss: str, classes: int, seconds: float) -> Float:
    from sklearn.linear_model import SGDClassifier, SGDRegressor
    from sklearn.preprocessing import StandardScaler

    is_over = _alarm_clock(seconds)  # after the imports
    X: Any = rows.values if rows.indices is None else matrix(rows)
    if issparse(X) and len(rows) * rows.columns <= MAX_DENSE_VALUES:
        X = X.toarray()
    elif issparse(X):  # scikit-learn takes indices of 32 bits only
        X = csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), X.shape)
    y = np.asarray(rows.targets)
    kind = SGDRegressor if loss == "squared" else SGDClassifier
    model = kind(loss=SGD_LOSSES[loss], shuffle=False, learning_rate="constant", eta0=SGD_RATE)
    known = {}
    if loss != "squared":
        known["classes"] = np.arange(classes) if classes else [-1, 1]
    scaler = StandardScaler(with_mean=not issparse(X))
    scores = np.zeros((len(y), classes) if classes else len(y))
    for start in range(0, len(y), ROWS_PER_CALL):
        part = slice(start, start + ROWS_PER_CALL)
        if start:
            scores[part] = _sgd_scores(model, _filled(scaler.transform(X[part])), loss)
        scaled = _filled(scaler.partial_fit(X[part]).transform(X[part]))
        weights = None if rows.weights is None else rows.weights[part]
        model.partial_fit(scaled, y[part], sample_weight=weights, **known)
        if is_over():
            return scores[: part.stop]
    return scores


def _sgd_scores(model: Any, X: object, loss: str) -> Any:
    if loss == "softmax":
        return np.log(np.maximum(model.predict_proba(X), LEAST_PROBABILITY))
    return model.predict(X) if loss == "squared" else model.decision_function(X)


def _filled(X: Any) -> object:
    """Scaled values; a missing one is the mean, which is 0."""
    return X if issparse(X) else np.nan_to_num(X)


def _vowpal_wabbit(rows: Rows, loss: str, classes: int, seconds: float) -> Float:
    from vowpalwabbit import Workspace

    is_over = _alarm_clock(seconds)  # after the imports
    labels = np.asarray(rows.targets) + (1 if classes else 0)
    sparse = as_rows(csr_array(matrix(rows)), labels, rows.weights)

    def blocks() -> Iterator[Sparse]:
        for start in range(0, len(rows), 1000):
            yield Sparse(sparse[start : start + 1000], None)
            if is_over():
                return

    kind = f"--oaa {classes} --probabilities" if classes else ""
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "rows")
        made = Path(folder, "predictions")
        with text.open("wb") as file:
            write_vw(blocks(), file)
        words = f"-d {text} -p {made} {kind} --loss_function {VW_LOSSES[loss]} --quiet"
        Workspace(words).finish()
        lines = made.read_text().splitlines()
    if not classes:
        return np.array([float(line.split()[0]) for line in lines])
    shares = [[float(each.split(":")[1]) for each in line.split()[:classes]] for line in lines]
    return np.log(np.maximum(shares, LEAST_PROBABILITY))


def _river(rows: Rows, loss: str, classes: int, seconds: float) -> Float:
    from river import linear_model, preprocessing

    is_over = _alarm_clock(seconds)  # after the imports
    model = preprocessing.StandardScaler() | getattr(linear_model, RIVER_MODELS[loss])()
    X = csr_array(matrix(rows))
    scores = np.zeros((len(rows), classes) if classes else len(rows))
    for row, label in enumerate(np.asarray(rows.targets).tolist()):
        span = slice(X.indptr[row], X.indptr[row + 1])
        x = dict(zip(X.indices[span].tolist(), X.data[span].tolist(), strict=True))
        if classes:
            shares = model.predict_proba_one(x)
            scores[row] = np.log(
                [max(shares.get(k, LEAST_PROBABILITY), LEAST_PROBABILITY) for k in range(classes)]
            )
            label = int(label)
        elif loss == "logistic":
            share = min(
                max(model.predict_proba_one(x).get(True, 0.5), LEAST_PROBABILITY),
                1 - LEAST_PROBABILITY,
            )
            scores[row] = np.log(share / (1 - share))
            label = label > 0
        else:
            scores[row] = model.predict_one(x)
        model.learn_one(x, label)
        if row % 100 == 99 and is_over():
            return scores[: row + 1]
    return scores
