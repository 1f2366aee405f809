"""The proof by trial: the same rows in other units, and how far any score moved."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.learners.protocol import Learner
from unitless.learners.rowwise import Diverged
from unitless.models.parameters import made, spec_of
from unitless.rows import Rows

Float = NDArray[np.float64]
TRIALS = {
    "every feature times 2^-20 to 2^20": lambda rng, d: 2.0 ** rng.integers(-20, 21, d),
    "every feature times 1e-6 to 1e6": lambda rng, d: 10.0 ** rng.uniform(-6, 6, d),
}


def other_units(learner: Learner, rows: Rows) -> list[dict[str, Any]]:
    """Learn the rows afresh, in their units and in others; the largest change of a score.

    `moved` is None where the learner broke down in other units; `scores` is their size (root mean
    square), to compare it with.

    >>> from unitless.learners import Coordinate
    >>> from unitless.rows import as_rows
    >>> rows = as_rows([[1.0, 2.0], [3.0, -4.0], [5.0, 6.0]], [1, -1, 1])
    >>> first, second = other_units(Coordinate(), rows)
    >>> first["units"], first["moved"]
    ('every feature times 2^-20 to 2^20', 0.0)
    >>> second["moved"] < 1e-12
    True
    """
    fresh = spec_of(learner)
    scores = made(fresh, 2**40).learn(rows)
    rng = np.random.default_rng(0)
    found = []
    for name, factors in TRIALS.items():
        try:
            again = made(fresh, 2**40).learn(_scaled(rows, factors(rng, rows.columns)))
            moved = float(np.abs(again - scores).max(initial=0))
        except (Diverged, ValueError):
            moved = None
        size = float(np.sqrt(np.mean(scores**2)))
        found.append({"units": name, "moved": moved, "scores": size})
    return found


def _scaled(rows: Rows, factors: Float) -> Rows:
    values = rows.values * (factors if rows.indices is None else factors[rows.indices])
    return Rows(values, rows.indices, rows.starts, rows.columns, rows.targets, rows.weights)
