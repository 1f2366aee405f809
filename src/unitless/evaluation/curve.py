"""The learning curve: average loss by window, at most `MOST` windows however long the stream."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]
MOST = 512


class LearningCurve:
    """Losses summed over windows of equal numbers of rows, which double when there are too many.

    >>> curve = LearningCurve()
    >>> curve.add(np.ones(1000), None)
    >>> curve.width, curve.points()[:2]
    (2, [[2, 1.0], [4, 1.0]])
    """

    def __init__(self) -> None:
        self.sums = np.zeros((MOST, 2))
        """Weight and loss of each window."""
        self.places = np.array([0, 1])
        """Rows so far, and rows in a window."""

    @property
    def width(self) -> int:
        """Rows per window."""
        return int(self.places[1])

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All that is remembered."""
        return {"sums": self.sums, "places": self.places}

    def add(self, losses: Float, weights: Float | None) -> None:
        """Count rows."""
        v = np.ones(len(losses)) if weights is None else weights
        done = int(self.places[0])
        self.places[0] += len(losses)
        while self.places[0] > MOST * self.places[1]:
            self.sums = np.concatenate([self.sums[::2] + self.sums[1::2], np.zeros((MOST // 2, 2))])
            self.places[1] *= 2
        window = (done + np.arange(len(losses))) // self.places[1]
        for k, values in enumerate((v, v * losses)):
            self.sums[:, k] += np.bincount(window, values, MOST)

    def points(self) -> list[list[float]]:
        """[rows at the end of the window, average loss in it], for windows with any weight."""
        rows, width = self.places.tolist()
        ends = np.minimum(width * (1 + np.arange(MOST)), rows).tolist()
        return [
            [end, float(loss / weight)]
            for end, (weight, loss) in zip(ends, self.sums, strict=True)
            if weight > 0
        ]
