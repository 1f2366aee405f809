"""A stream of rows, and parameters and best weights computed from it in hindsight."""

import math
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, hstack

from unitless import losses
from unitless.baselines.trajectory import Trajectory
from unitless.learners.base import Learner
from unitless.losses import SOFTMAX, Loss
from unitless.regret import Comparator, best_comparator
from unitless.regret.design import matrix, predictions
from unitless.rows import Rows

Float = NDArray[np.float64]
LARGEST = float(np.finfo(np.float64).max)


class Stream:
    """Rows, a loss, and quantities in hindsight, which are computed when first used."""

    def __init__(
        self,
        rows: Rows,
        loss: Loss,
        intercept: bool,
        best: Comparator | None = None,
        search: bool = True,
    ) -> None:
        if rows.targets is None:
            raise ValueError("a comparison needs targets: as_rows(X, targets)")
        if not len(rows):
            raise ValueError("a comparison needs rows, and there is none")
        self.rows, self.loss, self.intercept = rows, loss, intercept
        self.targets = rows.targets
        self.classes = int(rows.targets.max()) + 1 if loss.code == SOFTMAX else 0
        losses.check_targets(loss, rows.targets, self.classes)
        self.weights = np.ones(len(rows)) if rows.weights is None else rows.weights
        self._best, self._search = best, search and loss.code != SOFTMAX

    @cached_property
    def best(self) -> Comparator | None:
        """The best fixed weights; not known for several classes, and where no solver finds them."""
        if self._best is not None or not self._search:
            return self._best
        try:
            return best_comparator(self.loss, self.rows, intercept=self.intercept)
        except RuntimeError:
            return None

    def in_units(self, factors: Float) -> "Stream":
        """The same with each column multiplied by its factor; the best weights move along."""
        rows, best = self.rows, self.best
        by_value = factors if rows.indices is None else factors[rows.indices]
        with np.errstate(over="ignore"):
            moved = replace(rows, values=rows.values * by_value)
        beyond = np.isinf(moved.values).reshape(-1)
        if beyond.any():
            first = int(np.argmax(beyond))
            column = first % rows.columns if rows.indices is None else int(rows.indices[first])
            raise ValueError(
                f"units: column {column} times {factors[column]:g} leaves the range of float64; "
                "give other factors, or leave out units"
            )
        if best is not None:
            u = best.weights
            best = best._replace(weights=u._replace(features=u.features / factors))
        return Stream(moved, self.loss, self.intercept, best, search=False)

    @cached_property
    def X(self) -> Any:
        """The values with their constant, sparse; rows without weight left out."""
        constant = np.full((len(self.rows), 1), float(self.intercept))
        full = hstack([csr_array(constant), csr_array(matrix(self.rows))], format="csr")
        return full[self.weights > 0]

    def average(self, scores: Float) -> float:
        """The average loss; like a loss, it saturates at the largest float."""
        share = self.weights / self.weights.sum() if self.weights.any() else self.weights
        with np.errstate(over="ignore"):
            return min(float(np.sum(share * self.loss.value(self.targets, scores))), LARGEST)

    def total(self, scores: Float) -> float:
        """The sum of losses; it saturates at the largest float, too."""
        with np.errstate(over="ignore"):
            paid = np.sum(self.weights * self.loss.value(self.targets, scores))
        return min(float(paid), LARGEST)

    def trajectory(self, scores: Float, u: Comparator) -> Trajectory:
        """The run, for a regret bound."""
        scale = 1.0 if math.isinf(self.loss.lipschitz) else self.loss.lipschitz
        g = self.weights * self.loss.derivative(self.targets, scores) / scale
        return Trajectory(
            self.X, g[self.weights > 0], np.append(u.weights.intercept, u.weights.features)
        )


def needed(kind: type[Learner], stream: Stream) -> dict[str, float]:
    """The parameters that a method must know beforehand."""
    return {
        name: value
        for name in getattr(kind, "needs", ())
        if (value := _hindsight(name, kind, stream)) is not None
    }


def _hindsight(need: str, kind: Any, stream: Stream) -> float | None:
    """One of these parameters; None if it is not known in hindsight and the default is used."""
    if need == "horizon":
        return max(int((stream.weights > 0).sum()), 1)
    if need == "bound":
        slopes = Trajectory(stream.X, stream.weights[stream.weights > 0], np.empty(0))
        with np.errstate(over="ignore"):
            largest = float(slopes.gradient_sizes(kind.bound_is_euclidean).max(initial=0))
        return min(largest, LARGEST) or 1.0
    best = stream.best
    if best is None or not best.attained:
        return None
    u = best.weights
    if need == "radius":
        return float(np.abs(u.features).sum() + abs(u.intercept)) or 1.0
    return float(np.abs(predictions(stream.rows, u)).max()) or 1.0  # C
