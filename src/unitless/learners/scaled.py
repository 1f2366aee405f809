"""Learners that see each feature in a unit of its own: a power of two that brings its first value
near 1.

For a learner that no unit can move this changes nothing, not one bit, and it makes room: features
of 1e-300 and of 1e300 have squares, and a column may still grow 2^255 times before its unit must
change.
"""

import math
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless.learners.base import Weights
from unitless.learners.transitional import OldLearner, cut, powers_of_two, rescaled_units
from unitless.numerics import WIDE, flat, grown
from unitless.units import factors_by_column as unit_factors
from unitless.units import unit_of


@flat
def in_units(values, indices, starts, width, weights, units, first, commit, out):
    """out = the values from row `first` on, in their units; the row whose values are too wide for
    theirs, or the number of rows. With `commit`, features met for the first time get a unit.
    """
    rows = starts.size - 1 if starts.size else (values.size // width if width else 0)
    for r in range(first, rows):
        start = starts[r] if starts.size else r * width
        stop = starts[r + 1] if starts.size else start + width
        keep = commit and (weights.size == 0 or weights[r] > 0)
        wide = False
        for k in range(start, stop):
            i = (indices[k] if starts.size else k - start) + 1
            unit = units[i] if i < units.size else 0.0
            value = values[k]
            if unit == 0 and value == value and value != 0:
                unit = unit_of(value)
                if keep:
                    units[i] = unit
            out[k] = value * unit if value != 0 else 0.0
            wide |= abs(out[k]) > WIDE
        if wide:
            return r
    return rows


class Scaled(OldLearner):
    """A learner whose kernels see tame numbers only; subclasses fill in `_..._scaled`."""

    _units: NDArray[np.float64]
    _room_for_units: NDArray[np.float64] | None = None

    @property
    def in_any_unit(self) -> bool:
        """Whether a unit may be chosen: it is not for learners that depend on units."""
        return self.invariance in ("unit", "affine", "linear")

    def _reserve(self, columns: int) -> None:
        if 1 + columns > len(self._units):
            room = self._room_for_units
            if room is None or self._units.base is not room:  # a copy has room of its own
                room = self._units
            assert room is not None
            self._room_for_units = grown(room, 1 + columns)
            self._units = self._room_for_units[: 1 + columns]

    def _predict_one(self, values, indices, weight):
        if np.isinf(values).any():
            return math.nan
        return super()._predict_one(values, indices, weight)

    def _learn_one(self, values, indices, y, weight):
        if np.isinf(values).any():
            return math.nan
        return super()._learn_one(values, indices, y, weight)

    def _predict(self, values, indices, starts, columns, weights, scores):
        block = values, indices, starts, columns
        if not self.in_any_unit:
            return self._predict_scaled(*block, weights, scores)
        out, first, rows = np.empty(len(values)), 0, len(scores)
        while first < rows:
            row = in_units(*block, weights, self._units, first, False, out)
            row = row if columns or len(starts) else rows
            self._predict_scaled(*cut(out, *block[1:], weights, first, row), scores[first:row])
            if row < rows:  # too wide for its unit: what if it had another?
                part = cut(*block, weights, row, row + 1)
                other = deepcopy(self)
                other._reserve(max(columns, int(np.max(part[1], initial=-1)) + 1))
                other._widen(*part[:2])
                other._predict(*part, scores[row : row + 1])
            first = row + 1
        return scores

    def _learn(self, values, indices, starts, columns, targets, weights, scores):
        block = values, indices, starts, columns
        if not self.in_any_unit:
            return self._learn_scaled(*block, targets, weights, scores)
        out, first, rows = np.empty(len(values)), 0, len(scores)
        while first < rows:
            row = in_units(*block, weights, self._units, first, True, out)
            row = row if columns or len(starts) else rows
            part = cut(out, *block[1:], weights, first, row)
            self._learn_scaled(*part[:4], targets[first:row], part[4], scores[first:row])
            if row < rows:
                if len(weights) and weights[row] == 0:  # scored as if it counted, and left out
                    part = cut(*block, weights, row, row + 1)
                    self._predict(*part, scores[row : row + 1])
                    row += 1
                else:
                    self._widen(*cut(*block, weights, row, row + 1)[:2])
            first = row
        return scores

    def _widen(self, values: NDArray[Any], indices: NDArray[Any]) -> None:
        """Choose units in which this row's values are no longer wide."""
        places = (indices if len(indices) else np.arange(len(values))) + 1
        units = self._units[places]
        with np.errstate(over="ignore"):
            wide = (np.abs(values * units) > WIDE) & (units > 0)
        exponents = np.frexp(values[wide])[1] + np.frexp(units[wide])[1] - 1
        exponents = np.minimum(exponents, np.frexp(units[wide])[1] + 1000)
        self._units[places[wide]] = np.ldexp(units[wide], -exponents)
        self._rescale_scaled(places[wide], np.ldexp(1.0, -np.minimum(exponents, 1000)))

    def rescale(self, factors: ArrayLike | Mapping[Any, float]) -> Self:
        """From now on column i arrives multiplied by factors[i]; to the bit for powers of two."""
        factors = unit_factors(factors, self.names.columns, len(self._units) - 1)
        if not self.in_any_unit:
            raise ValueError(
                f"{self.name} depends on units: it has no state that it would have in others; "
                "start a fresh one, or use a learner that does not depend on units"
            )
        mantissas, exponents = powers_of_two(factors)
        seen = np.flatnonzero(self._units[1:])
        units = rescaled_units(self._units[1:][seen], exponents[seen], seen)
        self._units[1:][seen] = units
        self._rescale_scaled(seen + 1, mantissas[seen])
        return self

    def weights(self) -> Weights:
        """The coefficients at x = 0, by column."""
        w = self._weights_scaled()
        if not self.in_any_unit:
            return Weights(w[0], w[1:])
        with np.errstate(over="ignore"):  # of a feature near 5e-324 it may exceed the largest float
            return Weights(w[0], w[1:] * self._units[1:].reshape(-1, *[1] * (w.ndim - 1)))

    # What each learner fills in; coordinate 0 is the constant, column j is j + 1

    def _predict_scaled(self, values, indices, starts, columns, weights, scores):
        raise NotImplementedError

    def _learn_scaled(self, values, indices, starts, columns, targets, weights, scores):
        raise NotImplementedError

    def _rescale_scaled(self, coordinates: NDArray[Any], factors: NDArray[Any]) -> None:
        raise NotImplementedError

    def _weights_scaled(self) -> NDArray[np.float64]:
        raise NotImplementedError
