"""What a report adds to an evaluation: rows learned again, in other units and by other learners."""

import warnings
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless import learners
from unitless.compare import compare
from unitless.learners.base import Diverged, Learner
from unitless.learners.one_vs_rest import OneVsRest
from unitless.losses import SOFTMAX
from unitless.persistence.parameters import made, spec_of
from unitless.regret.design import matrix
from unitless.report.verdict import SCALED
from unitless.rows import Rows

Float = NDArray[np.float64]
OTHERS = ("coordinate", "ogd")
"""Other learners: Algorithm 1, and plain gradient descent."""
MAX_DENSE = 1000
"""With more columns, the features are not scaled for SGD."""
EXPONENTS = range(-10, 11, 2)
"""Of the slider: a feature is multiplied by these powers of two."""
RATE = 0.01
"""Learning rate of SGD, the default of River."""
SLIDER_ROWS = 400
SHOWN_ROWS = 80


def units_and_comparison(learner: Learner, rows: Rows) -> dict[str, Any]:
    """Return the entries `units` and `comparison` of the results (results-format.md).

    >>> from unitless.learners import Coordinate
    >>> from unitless.rows import as_rows
    >>> rows = as_rows([[1.0, 2.0], [3.0, -4.0], [5.0, 6.0]], [1, -1, 1])
    >>> found = units_and_comparison(Coordinate(), rows)
    >>> found["units"]["trials"][0]["moved"], [each["learner"] for each in found["comparison"]]
    (0.0, ['ogd', 'coordinate', 'SGD on scaled features'])
    """
    new = made(spec_of(learner), 2**40)
    others = [name for name in OTHERS if name != learner.name]
    rng = np.random.default_rng(0)
    powers = np.exp2(rng.integers(-20, 21, rows.columns))
    factors = 10.0 ** rng.uniform(-6, 6, rows.columns)
    table = compare(rows, [new, *others], loss=learner.loss, units=powers, regret=False)
    again = compare(rows, [new], loss=learner.loss, units=factors, regret=False)
    scores = deepcopy(new).learn(rows)
    size = float(np.sqrt(np.mean(scores**2)))
    trials = []
    for name, found in (("2^-20 to 2^20", table), ("1e-6 to 1e6", again)):
        # A learner that refuses the rows in these units has no entry.
        own: list[Any] = [each.elsewhere for each in found.entries if each.learner == learner.name]
        moved = own[0].moved if own else None
        units = f"every feature times {name}"
        trials.append({"units": units, "moved": moved, "scores": size})
    compared = []
    for entry in table.entries:
        there: Any = entry.elsewhere
        compared.append({"learner": entry.learner, "loss": entry.loss, "elsewhere": there.loss})
    if rows.columns <= MAX_DENSE:
        own_units = _scaled_sgd(rows, learner)
        elsewhere = _scaled_sgd(_in_units(rows, powers), learner)
        compared.append({"learner": SCALED, "loss": own_units, "elsewhere": elsewhere})
    return {"units": {"rows": len(rows), "trials": trials}, "comparison": compared}


def _in_units(rows: Rows, factors: Float) -> Rows:
    by_value = factors if rows.indices is None else factors[rows.indices]
    return replace(rows, values=rows.values * by_value)


def _scaled_sgd(rows: Rows, learner: Learner) -> float | None:
    """Return the loss of scikit-learn's SGD on features scaled by their past; None if it diverges.

    Each row is predicted before it is learned.
    """
    from sklearn.linear_model import SGDClassifier, SGDRegressor

    X = matrix(rows)
    X = X.toarray() if rows.indices is not None else X
    count = np.arange(1, len(X) + 1)[:, None]
    mean = np.cumsum(X, axis=0) / count
    spread = np.sqrt(np.maximum(np.cumsum(X**2, axis=0) / count - mean**2, 0))
    Z = np.divide(X - mean, spread, out=np.zeros_like(X), where=spread > 0)
    y = rows.targets
    assert y is not None
    settings = {"learning_rate": "constant", "eta0": RATE, "alpha": 0.0, "random_state": 0}
    if learner.loss.targets == "reals":
        model: Any = SGDRegressor(**settings)
        score = model.predict
        first = {}
    else:
        model = SGDClassifier(loss="log_loss", **settings)
        score = model.decision_function
        first = {"classes": np.unique(y)}
    if len(y) < 2 or len(first.get("classes", (0, 1))) < 2:  # nothing to score, or to learn
        return None
    scores = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.partial_fit(Z[:1], y[:1], **first)
        for k in range(1, len(Z)):
            scores.append(score(Z[k : k + 1])[0])
            try:
                model.partial_fit(Z[k : k + 1], y[k : k + 1])
            except ValueError:  # weights that are not finite
                return None
    targets = y[1:]
    if learner.loss.code == SOFTMAX:  # the classes of these rows, in their order
        targets = np.searchsorted(first["classes"], targets).astype(float)
    found = np.array(scores)
    if learner.loss.code == SOFTMAX and found.ndim == 1:
        found = np.column_stack([np.zeros(len(found)), found])
    loss = float(np.mean(learner.loss.value(targets, found)))
    return loss if np.isfinite(loss) else None


def unit_slider(learner: Learner, rows: Rows, column: int, name: str) -> dict[str, Any]:
    """Return predictions for rows in which a column is multiplied by powers of two.

    Those of a fresh learner of the same kind, and those of gradient descent with rate 0.1, made
    before each label was used: probabilities of the second (or actual) class, or numbers.
    Numbers beyond the range of the targets are moved to its ends.
    """
    rows = rows[:SLIDER_ROWS]
    shown = np.unique(np.linspace(0, len(rows) - 1, SHOWN_ROWS).astype(np.int64))
    new = made(spec_of(learner), 2**40)
    low, high = 0.0, 1.0
    if learner.loss.targets == "reals":
        assert rows.targets is not None
        low = float(rows.targets.min())
        high = float(rows.targets.max())
    trials = []
    for exponent in EXPONENTS:
        factors = np.ones(rows.columns)
        factors[column] = 2.0**exponent
        moved = _in_units(rows, factors)
        trial: dict[str, Any] = {"exponent": exponent}
        for label, kind in (("ours", deepcopy(new)), ("gradient descent", _descent(learner))):
            trial[label] = np.clip(_predictions(kind, moved)[shown], low, high).tolist()
        trials.append(trial)
    rows_shown = (shown + 1).tolist()
    return {"feature": name, "rows": rows_shown, "range": [low, high], "trials": trials}


def _descent(learner: Learner) -> Learner:
    kind: Any = learners.get("ogd")
    if learner.loss.code == SOFTMAX:
        return OneVsRest(kind, classes=learner.classes)
    return kind(learner.loss.name)


def _predictions(learner: Learner, rows: Rows) -> Float:
    """Return predictions in order; after a learner diverged, its last finite one."""
    made: list[float] = []
    for k in range(len(rows)):
        row = rows[k : k + 1]
        try:
            score = learner.learn(row)
        except Diverged:
            made.append(made[-1] if made else 0.0)
            continue
        if learner.loss.code == SOFTMAX:
            assert row.targets is not None
            made.append(float(learner.loss.link(score)[0, int(row.targets[0])]))
        elif learner.loss.name == "logistic":
            made.append(float(learner.loss.link(score)[0]))
        else:
            made.append(float(score[0]))
    return np.nan_to_num(np.array(made))
