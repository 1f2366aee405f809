"""Scaling by powers of two, which keeps values within the range of float64.

Learners square values, divide by sums of squares and take ratios. All of this fits into float64
while values lie between 2^-255 and 2^255. `Learner.predict` and `Learner.learn` check every block
once (`Rows.extent`):

- A block in range goes to the learner as it is.
- Once a value is out of range, each column gets a *unit*, a power of two by which its values are
  multiplied on arrival. A column that was seen before keeps its values (unit 1); a new column gets
  the unit that brings its first value near 1. When a column outgrows its unit, it gets another one
  and the learner's state follows (`Learner._rescale`).

A scale-invariant learner does not notice: powers of two change no bit of its scores. Learners that
depend on units get their values as they are; for them only infinite values are refused.

The units of a learner are the array `learner._units`, by coordinate (0 is the constant, column j is
j + 1): empty while all values were in range, 0 for a column that has not been nonzero yet.
"""

import math
from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless.kernels.decorators import kernel, shared
from unitless.rows import EMPTY, Block, extent, row_span

MAX_VALUE = 2.0**255
MIN_VALUE = 2.0**-255
MAX_EXPONENT = 1000
"""Units stay between 2^-1000 and 2^1000, so that they are normal numbers."""

Float = NDArray[np.float64]


def covers(sizes: tuple[float, float]) -> bool:
    """Whether the nonzero values, from the smallest to the largest in size, are in range."""
    smallest, largest = sizes
    return largest <= MAX_VALUE and smallest >= MIN_VALUE


@shared
def unit_of(x):
    """The power of two that brings |x| near 1, for any finite x except 0."""
    _, exponent = math.frexp(x)
    return math.ldexp(1.0, min(max(-exponent, -MAX_EXPONENT), MAX_EXPONENT))


@kernel
def _to_units(block, weights, units, first, rows, learns, out):
    """Write the values from row `first` on, times their units, into `out`.

    Returns the first row with a value that has outgrown its unit, or the number of rows. With
    `learns`, columns that are nonzero for the first time are given a unit.
    """
    values, indices, starts, _ = block
    sparse = starts.size > 0
    for r in range(first, rows):
        start, stop = row_span(block, r)
        keeps = learns and (weights.size == 0 or weights[r] > 0)
        outgrown = False
        for k in range(start, stop):
            i = (indices[k] if sparse else k - start) + 1
            unit = units[i] if i < units.size else 0.0
            value = values[k]
            if unit == 0 and value == value and value != 0:
                unit = unit_of(value)
                if keeps:
                    units[i] = unit
            out[k] = value * unit if value != 0 else 0.0
            outgrown |= abs(out[k]) > MAX_VALUE
        if outgrown:
            return r
    return rows


def _with_units(learner: Any) -> Any:
    """The learner, or a copy that has units if it has none."""
    if not len(learner._units):
        learner = deepcopy(learner)
        learner._units = _first_units(learner)
    return learner


def predict(learner: Any, block: Block, weights: Float, scores: Float) -> Float:
    """Score a block in units; the learner does not change."""
    learner = _with_units(learner)
    scaled = np.empty(len(block.values))
    data = tuple(block)
    first = 0
    while first < len(scores):
        row = _to_units(data, weights, learner._units, first, len(scores), False, scaled)
        part = block._replace(values=scaled).cut(first, row)
        learner._predict(part, weights[first:row], scores[first:row])
        if row < len(scores):  # outgrown: scored by a copy in other units
            other, part = row_in_units(learner, block.cut(row, row + 1))
            other._predict(part, weights[row : row + 1], scores[row : row + 1])
        first = row + 1
    return scores


def row_in_units(learner: Any, row: Block) -> tuple[Any, Block]:
    """(learner, row) in the units in which the row would be predicted; perhaps a copy of both."""
    if not len(learner._units) and covers(extent(row.values)):
        return learner, row
    learner = _with_units(learner)
    scaled = np.empty(len(row.values))
    data = tuple(row)
    if _to_units(data, EMPTY, learner._units, 0, 1, False, scaled) == 0:
        learner = deepcopy(learner)
        _reserve(learner, row.columns)
        _grow_units(learner, row)
        _to_units(data, EMPTY, learner._units, 0, 1, False, scaled)
    return learner, row._replace(values=scaled)


def learn(learner: Any, block: Block, targets: Float, weights: Float, scores: Float) -> Float:
    """Score and learn a block in units."""
    first = 0
    if not len(learner._units):  # rows before the first that is out of range need none
        first = _first_out_of_range(block)
        part = block.cut(0, first)
        learner._learn(part, targets[:first], weights[:first], scores[:first])
        learner._units = _first_units(learner)
    _reserve(learner, block.columns)
    scaled = np.empty(len(block.values))
    data = tuple(block)
    while first < len(scores):
        row = _to_units(data, weights, learner._units, first, len(scores), True, scaled)
        part = block._replace(values=scaled).cut(first, row)
        learner._learn(part, targets[first:row], weights[first:row], scores[first:row])
        if row < len(scores):
            part = block.cut(row, row + 1)
            if len(weights) and weights[row] == 0:  # scored as if it counted, and not learned
                predict(learner, part, weights[row : row + 1], scores[row : row + 1])
                row += 1
            else:
                _grow_units(learner, part)
        first = row
    return scores


def _first_out_of_range(block: Block) -> int:
    """The first row with a value out of range; there is one."""
    sizes = np.abs(block.values)
    outside = (sizes > MAX_VALUE) | ((sizes < MIN_VALUE) & (sizes > 0))
    rows, _ = block.positions()
    return int(rows[np.argmax(outside)])


def _first_units(learner: Any) -> Float:
    """The units of a learner that had none: 1 for every column it has seen."""
    units = np.where(learner._seen(), 1.0, 0.0)
    units[0] = 1.0
    return units


def _reserve(learner: Any, columns: int) -> None:
    """Make room for the units of that many columns."""
    if 1 + columns > len(learner._units):
        units = np.zeros(1 + columns)
        units[: len(learner._units)] = learner._units
        learner._units = units


def _grow_units(learner: Any, row: Block) -> None:
    """Choose units in which the values of this row are no longer out of range."""
    _, columns = row.positions()
    units = learner._units[columns + 1]
    with np.errstate(over="ignore"):
        outgrown = (np.abs(row.values * units) > MAX_VALUE) & (units > 0)
    columns = columns[outgrown]
    own = np.frexp(units[outgrown])[1]
    exponents = np.frexp(row.values[outgrown])[1] + own - 1
    exponents = np.minimum(exponents, own + MAX_EXPONENT)
    learner._units[columns + 1] = np.ldexp(units[outgrown], -exponents)
    learner._rescale(columns, np.ldexp(1.0, -np.minimum(exponents, MAX_EXPONENT)))


def rescale(learner: Any, factors: Float) -> None:
    """From now on column j arrives multiplied by factors[j].

    Powers of two go into the units, so that they change no bit; the rest goes into the state.
    """
    mantissas, exponents = np.frexp(factors)
    mantissas *= 2  # 1 <= |mantissa| < 2
    exponents -= 1
    if not len(learner._units) and not exponents.any():
        columns = np.flatnonzero(mantissas != 1)
        learner._rescale(columns, mantissas[columns])
        return
    units = learner._units.copy() if len(learner._units) else _first_units(learner)
    seen = np.flatnonzero(units[1:])
    _, own = np.frexp(units[1:][seen])
    beyond = np.abs(own - exponents[seen]) > MAX_EXPONENT + 10
    if beyond.any():
        column = int(seen[np.argmax(beyond)])
        raise ValueError(f"column {column}: in that unit its values leave the range of float64")
    units[1:][seen] = np.ldexp(units[1:][seen], -exponents[seen])
    learner._units = units
    new = units[1:] == 0  # without a size yet, but with a sign, which some learners care about
    mantissas[new] = np.sign(mantissas[new])
    changed = seen if learner.symmetric else np.flatnonzero(~new | (mantissas < 0))
    learner._rescale(changed, mantissas[changed])


def in_own_unit(learner: Any, coefficients: Float) -> Float:
    """Coefficients by coordinate, as multipliers of the values that callers pass.

    One that float64 cannot hold is the largest number there is.
    """
    units = learner._units
    if not len(units):
        return coefficients
    with np.errstate(over="ignore"):
        scaled = (coefficients[: len(units)].T * units[: len(coefficients)]).T
    largest = np.finfo(np.float64).max
    return np.clip(scaled, -largest, largest)


def factors_by_column(
    factors: ArrayLike | Mapping[Any, float], names: Mapping[Any, int], columns: int
) -> Float:
    """The factor of each column, from an array or from {name or column: factor}."""
    if isinstance(factors, Mapping):
        full = np.ones(columns)
        for name, factor in factors.items():
            column = names.get(name, name if not names and isinstance(name, int) else None)
            if column is None or not 0 <= column < columns:
                raise ValueError(f"there is no feature {name!r} to rescale")
            full[column] = factor
    else:
        full = np.asarray(factors, dtype=np.float64)
        if full.shape != (columns,):
            raise ValueError(f"{columns} columns need {columns} factors, got shape {full.shape}")
    good = np.isfinite(full) & (full != 0)
    if not good.all():
        column = int(np.argmin(good))
        raise ValueError(f"column {column}: a unit cannot change by a factor of {full[column]:g}")
    return full
