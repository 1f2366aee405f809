"""What a report adds to an evaluation: rows learned again, in other units and by other learners."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unitless.compare import compare
from unitless.compare.comparing import Stream
from unitless.core.learner import Diverged, Learner
from unitless.evaluation.metrics import Facts
from unitless.losses import SOFTMAX
from unitless.persistence.as_json import made, spec_of
from unitless.regret.design import matrix
from unitless.rows import Rows

Float = NDArray[np.float64]
OTHERS = ("boosting", "linear")
"""HistGradientBoosting and a scaled linear model, both retrained on all past rows as these grow."""
EXPONENTS = range(-10, 11, 2)  # of the slider: a feature is multiplied by these powers of two
MAX_SECONDS = 60
"""Seconds after which a rival that is not done is left out."""
SLIDER_ROWS = 400
NEAREST = 5
NEIGHBOURS = f"{NEAREST} nearest neighbours"
PROBABILITIES = ("logistic", "softmax")  # losses of which predictions are probabilities
SHOWN_ROWS = 80


def units_and_comparison(learner: Learner, rows: Rows) -> Facts:
    """Return the entries `units` and `comparison` of the results (results-format.md).

    >>> from unitless.learners import Coordinate
    >>> from unitless.rows import as_rows
    >>> rows = as_rows([[1.0, 2.0], [3.0, -4.0], [5.0, 6.0]], [1, -1, 1])
    >>> found = units_and_comparison(Coordinate(), rows)
    >>> found["units"]["trials"][0]["moved"], [each["learner"] for each in found["comparison"]]
    (0.0, ['coordinate', 'boosting', 'linear'])
    """
    new = _untrained(learner)
    others = [name for name in OTHERS if name != learner.name]
    powers = np.exp2(np.random.default_rng(0).integers(-20, 21, rows.columns))
    table = compare(rows, [new], loss=learner.loss, units=powers, regret=False)
    rivals = compare(rows, others, loss=learner.loss, regret=False, patience=MAX_SECONDS)
    size = float(np.sqrt(np.mean(new.learn(rows) ** 2)))
    moved = None  # a learner that refuses the rows in these units has no entry
    compared = []
    for entry in table.entries:
        there: Any = entry.elsewhere
        compared.append({"learner": entry.learner, "loss": entry.loss, "elsewhere": there.loss})
        moved = there.moved
    for entry in rivals.entries:
        if entry.rows == len(rows) and math.isfinite(entry.loss):
            compared.append({"learner": entry.learner, "loss": entry.loss, "elsewhere": None})
    trial = {"units": "every feature times 2^-20 to 2^20", "moved": moved, "scores": size}
    return {"units": {"rows": len(rows), "trials": [trial]}, "comparison": compared}


def _untrained(learner: Learner) -> Learner:
    return made(spec_of(learner), 2**40)


def unit_slider(learner: Learner, rows: Rows, column: int, name: str) -> Facts:
    """Return predictions for rows in which a column is multiplied by powers of two.

    Those of a fresh learner of the same kind, and those of the nearest neighbours, which depend on
    units, made before each label was used: probabilities of the second (or actual) class, or
    scores. Scores beyond the range of the targets are moved to its ends.
    """
    stream = Stream(rows[:SLIDER_ROWS], learner.loss, intercept=True)
    if stream.classes:  # these rows may lack some
        stream.classes = learner.classes
    shown = np.unique(np.linspace(0, len(stream.rows) - 1, SHOWN_ROWS).astype(np.int64))
    low, high = 0.0, 1.0
    if learner.loss.name not in PROBABILITIES:
        low = float(stream.targets.min())
        high = float(stream.targets.max())
    trials = []
    for exponent in EXPONENTS:
        factors = np.ones(rows.columns)
        factors[column] = 2.0**exponent
        moved = stream.in_units(factors)
        found = {
            "ours": _predictions(_untrained(learner), moved),
            NEIGHBOURS: neighbours(moved, is_numeric=learner.loss.name not in PROBABILITIES),
        }
        trial: Facts = {"exponent": exponent}
        for label, predictions in found.items():
            trial[label] = np.clip(predictions[shown], low, high).tolist()
        trials.append(trial)
    rows_shown = (shown + 1).tolist()
    return {"feature": name, "rows": rows_shown, "range": [low, high], "trials": trials}


def neighbours(stream: Stream, is_numeric: bool) -> Float:
    """Return the mean target of the nearest rows before, or their share of the second class.

    For several classes it is the share of the actual one. A missing value counts as zero.
    """
    X = csr_array(matrix(stream.rows))
    X.data = np.nan_to_num(X.data)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
        distances = squares[:, None] + squares - 2 * (X @ X.T).toarray()
    targets = stream.targets
    made = np.full(len(targets), targets.mean() if is_numeric else 0.5)
    for row in range(1, len(targets)):
        nearest = targets[np.argsort(distances[row, :row], kind="stable")[:NEAREST]]
        if is_numeric:
            made[row] = nearest.mean()
        else:
            made[row] = np.mean(nearest == targets[row] if stream.classes else nearest > 0)
    return made


def _predictions(learner: Learner, stream: Stream) -> Float:
    """Return predictions, made in order; for several classes, the probability of the actual one."""
    scores = _scores(learner, stream.rows)
    if learner.loss.code == SOFTMAX:
        scores = learner.loss.link(scores)[np.arange(len(scores)), stream.targets.astype(np.int64)]
    elif learner.loss.name == "logistic":
        scores = learner.loss.link(scores)
    return np.nan_to_num(scores)


def _scores(learner: Learner, rows: Rows) -> Float:
    """Learn the rows; those that would make the learner diverge are only predicted."""
    try:
        return learner.learn(rows)
    except Diverged:  # nothing of these rows was learned
        if len(rows) == 1:
            return learner.predict(rows)
        half = len(rows) // 2
        return np.concatenate([_scores(learner, rows[:half]), _scores(learner, rows[half:])])
