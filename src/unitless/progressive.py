"""Learn rows in order and report the loss after 1, 2, 4, 8, ... rows."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.learners.base import Learner
from unitless.rows import Rows


class Progress(NamedTuple):
    """The losses after `rows` rows, of predictions made before each label was used."""

    rows: int
    loss: float
    """Average loss of all rows so far, by sample weight."""
    loss_since: float
    """Average loss of the rows since the last report."""
    target: float
    score: float
    """Target of the last row, and what was predicted for it."""
    scores: NDArray[np.float64]
    """Scores of the rows since the last report."""


def progressive(learner: Learner, rows: Rows) -> Iterator[Progress]:
    """Learn the rows in order, reporting after 1, 2, 4, 8, ... rows and at the end.

    >>> from unitless.learners import Zero
    >>> from unitless.rows import as_rows
    >>> rows = as_rows([[1.0], [2.0], [3.0]], [1, -1, 1])
    >>> [(report.rows, round(report.loss, 3)) for report in progressive(Zero(), rows)]
    [(1, 0.693), (2, 0.693), (3, 0.693)]
    """
    done, loss, weight = 0, 0.0, 0.0
    while done < len(rows):
        block = rows[done : 2 * done or 1]
        scores = learner.learn(block)
        targets = block.targets
        assert targets is not None  # learn has refused rows without
        weights = np.ones(len(block)) if block.weights is None else block.weights
        done, before, weight = done + len(block), weight, weight + float(weights.sum())
        since = _mean(learner.loss.value(targets, scores), weights)
        if weight:  # a running mean, not a sum: losses near the largest float stay finite
            loss += (since - loss) * (1 - before / weight)
        yield Progress(done, loss, since, float(targets[-1]), float(scores[-1]), scores)


def _mean(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    return float(np.sum(values * (weights / weights.sum()))) if weights.any() else 0.0
