"""A directed search for the worst numbers: streams that bring a learner close to overflow.

A stream is told by genes: of each column its exponent, how far it spreads and drifts, its sign,
zeros and gaps; of targets and weights likewise, and whether labels go against the predictions. A
hill climb changes a few genes at a time and keeps what takes the largest number among predictions
and state further up. A number that is not finite ends it: that is the bug looked for.
"""

import numpy as np

from laws.streams import CLASSES, NEAR_TARGETS, in_any_unit, make
from laws.streams import PAIRS as EVERY_PAIR
from unitless.core.learner import Diverged
from unitless.losses import HUBER
from unitless.rows import as_rows
from unitless.state import remembered

PAIRS = [(name, loss) for name, loss in EVERY_PAIR if in_any_unit(name)]
"""Scale-invariant learners, with each loss they take."""
COLUMNS, BLOCK, BLOCKS = 4, 25, 8
LARGEST = np.finfo(float).max
LOW, HIGH = -1074.0, 1024.0
FARTHEST, FAR = 900.0, 240.0
"""Exponents of targets, and how far they spread, for learners that refuse those far apart."""
PROBES = np.array([[1.0] * COLUMNS, [LARGEST] * COLUMNS, [5e-324] * COLUMNS, [-LARGEST, 1, 0, 1]])
AGAINST, WITH, RANDOM = range(3)

RANGES = {
    "middle": (LOW, HIGH, COLUMNS), "spread": (0.0, 1100.0, COLUMNS),
    "drift": (-20.0, 20.0, COLUMNS),
    "minus": (0.0, 1.0, COLUMNS), "zeros": (0.0, 1.0, COLUMNS), "gaps": (0.0, 0.5, COLUMNS),
    "twins": (0.0, 1.0, COLUMNS), "label": (0.0, 3.0, 1), "y_middle": (LOW, HIGH, 1),
    "y_spread": (0.0, 1100.0, 1), "v_middle": (-200.0, 200.0, 1), "v_spread": (0.0, 200.0, 1),
    "unweighted": (0.0, 1.0, 1),
}  # fmt: skip
"""Of each gene the least, the most and how many."""


def drawn(rng):
    """Genes at random."""
    return {name: rng.uniform(low, high, n) for name, (low, high, n) in RANGES.items()}


def mutated(genes, rng):
    """The genes with a few of them moved, set to an end of their range or drawn anew."""
    genes = {name: values.copy() for name, values in genes.items()}
    for name in rng.choice([*RANGES], rng.integers(1, 4)):
        low, high, n = RANGES[name]
        moved = genes[name] + rng.normal(0, (high - low) / 20, n)
        choice = [moved, rng.uniform(low, high, n), rng.choice([low, high, 0.0], n)]
        which = rng.random(n) < 0.5
        genes[name][which] = np.clip(choice[rng.integers(3)], low, high)[which]
    return genes


def powers(exponents):
    """2^exponents, within float64."""
    with np.errstate(over="ignore", under="ignore"):
        return np.clip(np.exp2(np.clip(exponents, LOW, HIGH)), 5e-324, LARGEST)


def block(genes, rng, t):
    """The next rows of a stream, and their weights."""
    shape = BLOCK, COLUMNS
    rows = t + np.arange(BLOCK)[:, None]
    wide = genes["spread"] * rng.uniform(-0.5, 0.5, shape)
    X = powers(genes["middle"] + wide + genes["drift"] * rows)
    X = np.where(rng.random(shape) < genes["minus"], -X, X)
    X[:, 1:] = np.where(genes["twins"][1:] > 0.7, X[:, :1], X[:, 1:])
    X = np.where(rng.random(shape) < genes["zeros"] - 0.3, 0.0, X)
    X = np.where(rng.random(shape) < genes["gaps"] - 0.3, np.nan, X)
    wide = genes["v_spread"] * rng.uniform(-0.5, 0.5, BLOCK)
    v = np.exp2(np.clip(genes["v_middle"] + wide, -200, 200))
    return X, None if genes["unweighted"][0] > 0.5 else v


def labels(learner, genes, rng, scores):
    """Targets against the scores at hand, with them, or at random."""
    loss, way = learner.loss, int(min(genes["label"][0], RANDOM))
    if loss.targets == "classes":
        chosen = {AGAINST: scores.argmin(axis=1), WITH: scores.argmax(axis=1)}
        return np.asarray(chosen.get(way, rng.integers(0, CLASSES, BLOCK)), dtype=float)
    signs = {AGAINST: np.where(scores >= 0, -1.0, 1.0), WITH: np.where(scores >= 0, 1.0, -1.0)}
    sign = signs.get(way, rng.choice([-1.0, 1.0], BLOCK))
    if loss.targets != "reals":
        return -sign if loss.targets == "slopes" else sign
    middle, spread = genes["y_middle"], genes["y_spread"]
    if learner.name in NEAR_TARGETS:
        farthest = FARTHEST if loss.code != HUBER else 0.0  # whose delta is a unit
        middle, spread = np.clip(middle, LOW, farthest), np.clip(spread, 0, FAR)
    return sign * powers(middle + spread * rng.uniform(-0.5, 0.5, BLOCK))


def height(arrays):
    """The exponent of the largest number; inf if one is not finite."""
    top = LOW
    for array in arrays:
        if not np.isfinite(array).all():
            return np.inf
        top = max(top, float(np.frexp(np.abs(array).max(initial=5e-324))[1]))
    return top


def numbers_of(learner):
    """The arrays of a state. Units are at the ends of the range by design, in the history of a
    Blend inf stands for what has not been, and in trees NaN and inf for what is still open. NaN is
    a missing value of a stored row."""
    found = remembered(learner)[0].items()
    open_ended = ("nodes.threshold", "candidates.threshold", "first.value")
    return [
        array[~np.isnan(array)] if path.rpartition(".")[2] == "rows" else array
        for path, array in found
        if "unit" not in path and "history" not in path and not path.endswith(open_ended)
    ]


def tried(name, loss, genes, seed):
    """(height, rows learned) of a fresh learner on the stream."""
    learner, rng, top = make(name, loss), np.random.default_rng(seed), LOW
    try:
        for t in range(BLOCKS):
            X, v = block(genes, rng, BLOCK * t)
            y = labels(learner, genes, rng, learner.predict(as_rows(X)))
            scores = learner.learn(as_rows(X, y, v))
            top = max(top, height([scores, learner.predict(as_rows(PROBES))]))
    except (Diverged, RuntimeWarning):  # no learner that units do not move may
        return np.inf, BLOCKS * BLOCK
    return max(top, height(numbers_of(learner))), BLOCKS * BLOCK


def climbed(name, loss, streams, seed=0, restart=40):
    """{"rows", "highest", "bad": genes that broke it}; a new start after so many streams."""
    rng, found = np.random.default_rng(seed), {"rows": 0, "highest": LOW, "bad": []}
    best, genes = -np.inf, None
    for k in range(streams):
        if k % restart == 0:
            best, genes = -np.inf, drawn(rng)
        child = mutated(genes, rng)
        top, rows = tried(name, loss, child, k)
        found["rows"] += rows
        if top == np.inf:
            found["bad"].append({"seed": k, **{key: list(g) for key, g in child.items()}})
        elif top >= best:
            best, genes = top, child
        found["highest"] = max(found["highest"], top)
    return found
