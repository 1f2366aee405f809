"""Learn the first rows again, in other units and with other learners.

The scores of a scale-invariant learner do not change at all if units change by powers of two, and
by rounding only if they change by other factors.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.learners import get
from unitless.learners.base import Learner
from unitless.learners.one_vs_rest import with_classes
from unitless.persistence.parameters import made, spec_of
from unitless.rows import Rows

Float = NDArray[np.float64]
TRIALS: dict[str, Callable[[np.random.Generator, int], Float]] = {
    "every feature times 2^-20 to 2^20": lambda rng, d: np.exp2(rng.integers(-20, 21, d)),
    "every feature times 1e-6 to 1e6": lambda rng, d: 10.0 ** rng.uniform(-6, 6, d),
}
OTHERS = ("coordinate", "nag", "adagrad", "ogd")
"""The other learners: two scale-invariant ones, two scale-dependent ones."""


def other_units(learner: Learner, rows: Rows) -> list[dict[str, Any]]:
    """Learn the rows afresh, in their units and in others; the largest change of a score.

    `moved` is None if the learner diverged in other units; `scores` is the root mean square of the
    scores, for comparison.

    >>> from unitless.learners import Coordinate
    >>> from unitless.rows import as_rows
    >>> rows = as_rows([[1.0, 2.0], [3.0, -4.0], [5.0, 6.0]], [1, -1, 1])
    >>> first, second = other_units(Coordinate(), rows)
    >>> first["units"], first["moved"]
    ('every feature times 2^-20 to 2^20', 0.0)
    >>> second["moved"] < 1e-12
    True
    """
    spec, rng, found = spec_of(learner), np.random.default_rng(0), []
    scores = made(spec, 2**40).learn(rows)
    for name, factors in TRIALS.items():
        again = _learned(made(spec, 2**40), scaled(rows, factors(rng, rows.columns)))
        moved = None if again is None else float(np.abs(again - scores).max(initial=0))
        size = float(np.sqrt(np.mean(scores**2)))
        found.append({"units": name, "moved": moved, "scores": size})
    return found


def compared(learner: Learner, rows: Rows) -> list[dict[str, Any]]:
    """Average loss of the rows for this learner and others, in their units and in random ones.

    None where a learner diverged.
    """
    spec, rng = spec_of(learner), np.random.default_rng(0)
    elsewhere = scaled(rows, np.exp2(rng.integers(-20, 21, rows.columns)))
    fresh: dict[str, Callable[[], Learner]] = {learner.name: lambda: made(spec, 2**40)}
    for name in OTHERS:
        fresh.setdefault(name, partial(_like, learner, name))
    found = []
    for name, make in fresh.items():
        try:
            losses = [_average(make(), each) for each in (rows, elsewhere)]
        except ValueError:  # it does not support the loss
            continue
        found.append({"learner": name, "loss": losses[0], "elsewhere": losses[1]})
    return found


def _like(learner: Learner, name: str) -> Learner:
    if learner.loss.name == "softmax":
        return with_classes(get(name), learner.classes)
    return get(name)(learner.loss)


def _average(learner: Learner, rows: Rows) -> float | None:
    scores = _learned(learner, rows)
    if scores is None:
        return None
    assert rows.targets is not None
    weights = np.ones(len(rows)) if rows.weights is None else rows.weights
    loss = float(np.sum(learner.loss.value(rows.targets, scores) * weights))
    return loss / float(weights.sum() or 1.0)


def _learned(learner: Learner, rows: Rows) -> Float | None:
    """The scores; None if the learner diverged."""
    try:
        return learner.learn(rows)
    except ArithmeticError:
        return None


def scaled(rows: Rows, factors: Float) -> Rows:
    """The rows with each column multiplied by its factor."""
    values = rows.values * (factors if rows.indices is None else factors[rows.indices])
    return Rows(values, rows.indices, rows.starts, rows.columns, rows.targets, rows.weights)
