"""Base class of the coordinate-wise learners, which update each feature independently.

Such a learner keeps a record of a few numbers per feature. Its file has two functions, `predict`
and `update`, and a kernel of three lines in which the loop of `unitless.learners.loop` calls them;
that module explains the functions. The class declares the fields of a record and gives the
parameters. Dense blocks, sparse blocks and single rows go through the same kernel.
"""

import math
from copy import copy
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.arithmetic import grown
from unitless.learners.base import EMPTY, NO_INDICES, Block, Diverged, Field, Float, Learner
from unitless.learners.loop import MAX_TARGET as MAX_TARGET
from unitless.learners.loop import T as T
from unitless.learners.loop import Task
from unitless.learners.loop import loop as loop
from unitless.learners.loop import softmax_slopes as softmax_slopes

NO_ROW: tuple[Any, ...] = (None, None, None, None)
SHORT = 2.0**-300  # added to any sum of a formula, it changes no bit


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
    saved: ClassVar[tuple[Any, ...]] = (
        *Learner.saved,
        Field("_totals", "", "trials and `totals`", ("classes totals",)),
        Field("_records", "", "`fields` of each coordinate", ("coordinates classes fields",)),
    )

    def _parameters(self) -> tuple[float, ...]:
        """The learner's parameters, as `predict` and `update` get them."""
        return ()

    def _prepare(self) -> None:
        """Create the empty state; the last line of a constructor."""
        lipschitz = self.loss.lipschitz
        self._guarded = not self.scale_invariant
        task = Task(
            self.loss.code,
            self.loss.parameter,
            1.0 if math.isinf(lipschitz) else 1 / lipschitz,
            self.intercept,
            self.scales_instance,
            self._guarded,
        )
        parameters = (*self._parameters(), self.loss.code)
        self._settings = np.array(task, dtype=np.float64), np.array(parameters, dtype=np.float64)
        self._one_row = NO_ROW
        self._totals = np.zeros(self.classes * (1 + len(self.totals)))
        self._records = np.zeros(self.classes * len(self.fields))
        self._spare = self._records

    @property
    def trials(self) -> int:
        """Rows learned."""
        return int(self._totals[T])

    def weigh_gradients(self) -> None:
        """See `Learner.weigh_gradients`."""
        if self.scales_instance:
            task, parameters = self._settings
            other = Task(*task)._replace(scales_instance=0.0, scales_gradient=1.0)
            self._settings = np.array(other), parameters

    @property
    def state(self) -> CoordinatewiseState:
        """The state; the arrays are not copies."""
        return CoordinatewiseState(
            self._records.reshape(-1, self.classes, len(self.fields)),
            self._totals.reshape(self.classes, -1),
            self._units,
        )

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_spare": None, "_one_row": NO_ROW}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._spare = self._records  # a copy shares no memory between the two

    def _sizes(self) -> dict[str, int]:
        own = {
            "coordinates": max(1, 1 + self._columns),
            "fields": len(self.fields),
            "totals": 1 + len(self.totals),
        }
        return super()._sizes() | own

    def _loaded(self) -> None:
        self._spare = self._records
        self._one_row = NO_ROW
        if not self.scale_invariant:
            self._units = EMPTY  # files of 0.1.0 had useless ones
        for a, field in enumerate(self.fields):
            field.check(self._records[a :: len(self.fields)])

    @classmethod
    def _documented(cls) -> tuple[Field, ...]:
        if not hasattr(cls, "fields"):
            return ()
        return (*cls.fields, Field("trials", "1", "rows learned"), *cls.totals)

    @property
    def _columns(self) -> int:
        return len(self._records) // (self.classes * len(self.fields)) - 1

    def _reserve(self, columns: int) -> None:
        if columns > self._columns:
            size = (1 + columns) * self.classes * len(self.fields)
            self._spare = grown(self._spare, size)
            self._records = self._spare[:size]

    def _seen(self) -> NDArray[np.bool_]:
        return (self.state.records != 0).any(axis=(1, 2))

    def _learn(self, block: Block, targets: Float, weights: Float, scores: Float) -> Float:
        row = self.kernel(*self.kernel_arguments(block, targets, weights, scores))
        if self._guarded and row < len(scores):
            raise Diverged(self.name, row)
        return scores

    def kernel_arguments(
        self, block: Block, targets: Float, weights: Float, scores: Float
    ) -> tuple[Any, ...]:
        """What the kernel takes to learn a block or, without targets, to score it."""
        known, records, stored, state = self._one_row
        if known is not block or records is not self._records:
            values, columns, starts, width = block
            if not len(starts):
                columns = np.arange(width, dtype=np.int32)
            stored = values, columns, starts
            state = (self._totals.reshape(self.classes, -1), self._records, *self._more_arrays())
            if len(starts) == 2:  # dict rows with the same keys are the same block
                self._one_row = block, self._records, stored, state
        flat = scores if scores.ndim == 1 else scores.reshape(-1)
        return *self._settings, stored, targets, weights, flat, state

    def _before(self, block: Block) -> Any:
        if not self._guarded:
            return None
        records = self.state.records
        touched: Any = slice(1 + block.columns)
        if len(block.starts):
            touched = np.append(0, block.indices + 1)
            touched = touched[touched < len(records)]
        return len(self._records), touched, records[touched].copy(), self._totals.copy()

    def _put_back(self, before: Any) -> None:
        size, touched, records, totals = before
        self._spare = self._records = self._records[:size].copy()
        self.state.records[touched] = records
        self._totals[:] = totals

    def _more_arrays(self) -> tuple[Float, ...]:
        """Arrays of the state that only this learner's kernel uses, after totals and records."""
        return ()

    def add_class(self) -> None:
        """Add one class, whose records are empty."""
        records, totals, _ = self.state
        super().add_class()
        empty = 0 * records[:, :1]
        self._records = np.concatenate([records, empty], axis=1).reshape(-1)
        self._totals = np.concatenate([totals, 0 * totals[:1]]).reshape(-1)
        self._spare = self._records

    def _rescale(self, columns: NDArray[Any], factors: Float) -> None:
        records = self.state.records
        for a, field in enumerate(self.fields):
            own = records[columns + 1, :, a]
            records[columns + 1, :, a] = field.rescaled(own.T, factors).T

    def _coefficients(self) -> Float:
        """The scores of short unit vectors: only `predict` has the formula of the weights."""
        if not self.linear:
            return np.zeros_like(self._room(1 + self._columns))
        d = self._columns
        columns = np.arange(d, dtype=np.int32)
        features = Block(np.full(d, SHORT), columns, np.arange(1 + d), d)
        constant = Block(EMPTY, NO_INDICES, np.zeros(2, dtype=np.int64), d)
        scores = [self._scores(constant, SHORT * self.intercept), self._scores(features, 0.0)]
        with np.errstate(over="ignore"):
            return np.nan_to_num(np.concatenate(scores) / SHORT)

    def _scores(self, block: Block, constant: float) -> Float:
        """Scores with another number in place of the constant 1."""
        probe = copy(self)
        task, parameters = self._settings
        probe._settings = np.array(Task(*task)._replace(intercept=constant)), parameters
        return probe._predict(block, EMPTY, self._room(len(block.starts) - 1))
