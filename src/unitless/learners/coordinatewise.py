"""Base class of the coordinate-wise learners, which update each feature independently.

Such a learner keeps a record of a few numbers per feature. Its file has two functions, `predict`
and `update`, and a kernel of three lines in which the loop of `unitless.learners.loop` calls them;
that module explains the functions. The class declares the fields of a record and gives the
parameters. Dense blocks, sparse blocks and single rows go through the same kernel.
"""

import math
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.arithmetic import grown
from unitless.learners.base import EMPTY, Block, Diverged, Field, Float, Learner
from unitless.learners.loop import MAX_TARGET as MAX_TARGET
from unitless.learners.loop import T as T
from unitless.learners.loop import Task
from unitless.learners.loop import loop as loop
from unitless.learners.loop import softmax_slopes as softmax_slopes
from unitless.learners.old_files import upgrade_arrays
from unitless.losses import SOFTMAX


class CoordinatewiseState(NamedTuple):
    """The state of a coordinate-wise learner; coordinate 0 is the constant."""

    records: NDArray[np.float64]
    """(coordinates, classes, fields)"""
    totals: NDArray[np.float64]
    """(classes, trials and totals)"""
    units: NDArray[np.float64]
    """By coordinate (see `unitless.units`); empty while no value was out of range."""


class Coordinatewise(Learner):
    """Base class of learners that keep a record of a few fields per feature."""

    fields: ClassVar[tuple[Field, ...]]
    """The fields of a record: name, unit, meaning."""
    totals: ClassVar[tuple[Field, ...]] = ()
    """The numbers that belong to no feature, after the number of trials."""
    scales_instance: ClassVar[bool] = False
    """Whether a sample weight multiplies the instance (else `update` sees it)."""
    kernel: ClassVar[Any]
    """The compiled loop of this learner."""

    def _parameters(self) -> tuple[float, ...]:
        """The learner's parameters, as `predict` and `update` get them."""
        return ()

    def _prepare(self) -> None:
        """Create the empty state; the last line of a constructor."""
        lipschitz = self.loss.lipschitz
        task = Task(
            self.loss.code,
            self.loss.parameter,
            1.0 if math.isinf(lipschitz) else 1 / lipschitz,
            self.intercept,
            self.scales_instance,
            not self.scale_invariant,
        )
        self._settings = np.array(task, dtype=np.float64), np.array(self._parameters(), dtype=float)
        self._totals = np.zeros(self.classes * (1 + len(self.totals)))
        self._records = np.zeros(self.classes * len(self.fields))
        self._spare = self._records

    @property
    def state(self) -> CoordinatewiseState:
        """The state; the arrays are not copies."""
        return CoordinatewiseState(
            self._records.reshape(-1, self.classes, len(self.fields)),
            self._totals.reshape(self.classes, -1),
            self._units,
        )

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_spare"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._spare = self._records  # a copy shares no memory between the two

    def _upgrade(self, path: str, arrays: dict[str, NDArray[Any]], facts: dict[str, Any]) -> None:
        """Convert the arrays of a 0.1.0 file to the current layout."""
        upgrade_arrays(arrays, path)

    @property
    def _columns(self) -> int:
        return len(self._records) // (self.classes * len(self.fields)) - 1

    def _reserve(self, columns: int) -> None:
        if columns > self._columns:
            size = (1 + columns) * self.classes * len(self.fields)
            self._spare = grown(self._spare, size)
            self._records = self._spare[:size]

    def _forget(self, columns: int) -> None:
        size = (1 + columns) * self.classes * len(self.fields)
        self._spare = self._records = self._records[:size].copy()

    def _seen(self) -> NDArray[np.bool_]:
        return (self.state.records != 0).any(axis=(1, 2))

    def _predict(self, block: Block, weights: Float, scores: Float) -> Float:
        self._run(block, EMPTY, weights, scores)
        return scores

    def _learn(self, block: Block, targets: Float, weights: Float, scores: Float) -> Float:
        if self.scale_invariant:
            self._run(block, targets, weights, scores)
            return scores
        records = self.state.records
        touched: Any = slice(1 + block.columns)
        if len(block.starts):
            touched = np.append(0, block.indices + 1)
        before = self._totals.copy(), records[touched].copy()
        row = self._run(block, targets, weights, scores)
        if row < len(scores):
            self._totals[:], records[touched] = before
            raise Diverged(self.name, row)
        return scores

    def _run(self, block: Block, targets: Float, weights: Float, scores: Float) -> int:
        values, columns, starts, width = block
        if not len(starts):
            columns = np.arange(width, dtype=np.int32)
        stored = values, columns, starts
        totals = self._totals.reshape(self.classes, -1)
        return self.kernel(
            *self._settings, stored, targets, weights, scores.reshape(-1), (totals, self._records)
        )

    def add_class(self) -> None:
        """Add one class, whose records are empty."""
        if self.loss.code != SOFTMAX:
            super().add_class()
        records, totals, _ = self.state
        self.classes += 1
        self._records = np.concatenate([records, 0 * records[:, :1]], axis=1).reshape(-1)
        self._totals = np.concatenate([totals, 0 * totals[:1]]).reshape(-1)
        self._spare = self._records

    def _rescale(self, columns: NDArray[Any], factors: Float) -> None:
        records = self.state.records
        for a, field in enumerate(self.fields):
            records[columns + 1, :, a] = field.rescaled(records[columns + 1, :, a].T, factors).T

    def _coefficients(self) -> Float:
        records, totals, _ = self.state
        each = [self._weights_at(records[:, c].T, totals[c]) for c in range(self.classes)]
        return np.array(each).T if self.loss.code == SOFTMAX else each[0]

    def _weights_at(self, records: NDArray[Any], totals: NDArray[Any]) -> NDArray[Any]:
        """The weights of one class, from its fields and its totals."""
        raise NotImplementedError
