"""Rows: the data structure that every learner takes.

A block of rows is dense (n x d, C order) or CSR, float64, with optional targets and sample
weights. Sparse indices strictly increase within a row. NaN is a missing value. Absent (a sparse
entry not stored) is zero. An infinite value is refused by
the model, or by a learner without one; `extent` finds it.
"""

import math
import sys
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless.core.row import extent

__all__ = ["Block", "Rows", "as_rows"]


def __dir__() -> list[str]:
    return sorted(__all__)


Float = NDArray[np.float64]
EMPTY = np.empty(0)
NO_INDICES = np.empty(0, dtype=np.int32)
NO_STARTS = np.empty(0, dtype=np.int64)
MIN_WEIGHT = 2.0**-200
MAX_WEIGHT = 2.0**200
"""Sample weights between these leave every square and product within float64."""


class Block(NamedTuple):
    """The values of a block as flat arrays, so that dense and sparse rows have the same types."""

    values: Float
    """Dense: row after row; CSR: the stored values."""
    indices: NDArray[np.int32]
    """CSR: the column of each stored value; dense: empty."""
    starts: NDArray[np.int64]
    """CSR: row r owns values[starts[r] : starts[r + 1]]; dense: empty."""
    columns: int

    def positions(self) -> tuple[NDArray[np.int64], NDArray[Any]]:
        """The row and the column of each value."""
        if len(self.starts):
            rows = np.arange(len(self.starts) - 1)
            return np.repeat(rows, np.diff(self.starts)), self.indices
        return np.divmod(np.arange(len(self.values)), max(self.columns, 1))

    def cut(self, first: int, last: int) -> "Block":
        """Rows first to last - 1, without copying values."""
        if len(self.starts) == 0:
            return self._replace(values=self.values[first * self.columns : last * self.columns])
        if first == 0 and last == len(self.starts) - 1:
            return self
        starts = self.starts[first : last + 1]
        run = slice(starts[0], starts[-1])
        return Block(self.values[run], self.indices[run], starts - starts[0], self.columns)


class InfiniteValue(ValueError):
    """A block has an infinite value, which is neither a number to learn from nor a missing value.

    `row` is its row in the block, and `columns` are all columns in which this row has such a value;
    `value` is that of the first one. The model says the same in the names of its input.
    """

    def __init__(self, row: int, columns: list[int], value: float) -> None:
        super().__init__(row, columns, value)
        self.row = row
        self.columns = columns
        self.value = value

    @property
    def why(self) -> str:
        """What is wrong with the value."""
        return f"{self.value} is not a number to learn from"

    def __str__(self) -> str:
        return f"row {self.row}, column {self.columns[0]}: {self.why}; drop the row, or use NaN"


@dataclass(frozen=True, slots=True)
class Rows:
    """A block of rows; make one with `as_rows`."""

    values: Float
    """Dense: (n, columns); CSR: the stored values, row after row."""
    indices: NDArray[np.int32] | None
    """CSR: the column of each stored value; dense: None."""
    starts: NDArray[np.int64] | None
    """CSR: row i owns values[starts[i] : starts[i + 1]]; dense: None."""
    columns: int
    targets: Float | None
    weights: Float | None
    """The importance of each row, >= 0; None: all 1."""
    _extent: tuple[float, float] | None = field(default=None, init=False, compare=False, repr=False)

    @property
    def block(self) -> Block:
        """The values as flat arrays."""
        if self.indices is None or self.starts is None:
            return Block(self.values.reshape(-1), NO_INDICES, NO_STARTS, self.columns)
        return Block(self.values, self.indices, self.starts, self.columns)

    @property
    def parts(self) -> tuple[Any, Any, Any, int]:
        """Values, indices, starts and columns, as they are given to `Rows`."""
        return self.values, self.indices, self.starts, self.columns

    @property
    def extent(self) -> tuple[float, float]:
        """Sizes between which all values are; 0 and NaN do not count.

        They are those of the smallest and the largest value, or of rows of which these are a part.
        Values are looked at once.
        """
        if self._extent is None:
            self._take_extent(extent(self.values.reshape(-1)))
        return self._extent  # type: ignore[return-value]

    def _take_extent(self, known: tuple[float, float] | None) -> None:
        object.__setattr__(self, "_extent", known)

    def refuse_infinity(self) -> None:
        """An `InfiniteValue` for the first value that is infinite, if one is."""
        if self.extent[1] < math.inf:
            return
        block = self.block
        found = np.flatnonzero(np.isinf(block.values))
        rows, columns = (places[found] for places in block.positions())
        own = columns[rows == rows[0]].tolist()
        raise InfiniteValue(int(rows[0]), own, float(block.values[found[0]]))

    def with_targets(self, targets: ArrayLike) -> "Rows":
        """The same rows with these targets: one per row, or one line of them per row."""
        given = np.ascontiguousarray(targets, dtype=np.float64)
        if len(given) != len(self):
            raise ValueError(
                f"Found input variables with inconsistent numbers of samples: {len(self)} rows "
                f"and {len(given)} targets"
            )
        made = Rows(*self.parts, given, self.weights)
        made._take_extent(self._extent)  # the same values
        return made

    def take(self, order: NDArray[np.int64]) -> "Rows":
        """The rows with these numbers, in this order."""
        targets = None if self.targets is None else self.targets[order]
        weights = None if self.weights is None else self.weights[order]
        if self.starts is None:
            return Rows(self.values[order], None, None, self.columns, targets, weights)
        lengths = np.diff(self.starts)[order]
        starts = np.append(0, np.cumsum(lengths)).astype(np.int64)
        places = np.repeat(self.starts[order] - starts[:-1], lengths) + np.arange(starts[-1])
        assert self.indices is not None
        parts = self.values[places], self.indices[places], starts
        return Rows(*parts, self.columns, targets, weights)

    def __len__(self) -> int:
        return len(self.values) if self.starts is None else len(self.starts) - 1

    def __getitem__(self, span: slice) -> "Rows":
        """A run of consecutive rows, without copying."""
        start, stop, step = span.indices(len(self))
        if step != 1:
            raise ValueError("Rows are cut into runs of consecutive rows; use a step of 1")
        cut = slice(start, max(start, stop))
        targets = None if self.targets is None else self.targets[cut]
        weights = None if self.weights is None else self.weights[cut]
        if self.starts is None:
            made = Rows(self.values[cut], None, None, self.columns, targets, weights)
        else:
            made = Rows(*self.block.cut(cut.start, cut.stop), targets, weights)
        if self._extent is not None and self._extent[1] < math.inf:
            made._take_extent(self._extent)
        return made


def as_rows(X: object, targets: ArrayLike | None = None, weights: ArrayLike | None = None) -> Rows:
    """Rows from a 2-d array or a SciPy sparse matrix, without copying where types allow.

    Repeated indices of a sparse row are added up; unsorted ones are sorted (in a copy).

    >>> rows = as_rows([[1.0, 2.0], [3.0, float("nan")]], targets=[1, -1])
    >>> len(rows), rows.columns
    (2, 2)
    >>> as_rows([[1.0, float("inf")]]).refuse_infinity()  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    unitless.rows.InfiniteValue: row 0, column 1: inf is not a number to learn from; ...
    """
    values, indices, starts, columns = _sparse(X) if hasattr(X, "tocsr") else _dense(X)
    n = len(values) if starts is None else len(starts) - 1
    y = _per_row("targets", targets, n)
    v = _per_row("weights", weights, n)
    if v is not None:
        check_weights(v, math.ulp(0.0), sys.float_info.max)
    return Rows(values, indices, starts, columns, y, v)


def _dense(X: object) -> tuple[Float, None, None, int]:
    values = _as_float(X)
    if values.ndim != 2:
        raise ValueError(
            f"expected a table of rows and columns, got an array of shape {values.shape}; "
            "use X.reshape(1, -1) for one row or X.reshape(-1, 1) for one column"
        )
    return values, None, None, values.shape[1]


def _sparse(X: Any) -> tuple[Float, NDArray[np.int32], NDArray[np.int64], int]:
    if len(X.shape) != 2:
        raise ValueError(
            f"expected a table of rows and columns, got a sparse array of shape {X.shape}"
        )
    matrix = X.tocsr()
    columns = matrix.shape[1]
    if columns >= 2**31:
        raise ValueError(f"{columns} columns; at most 2**31 - 1 are possible: hash them into fewer")
    starts = np.ascontiguousarray(matrix.indptr, dtype=np.int64)
    stored = matrix.indices[: starts[-1]]  # SciPy allows unused entries after the last value
    if len(stored) and not 0 <= stored.min() <= stored.max() < columns:
        raise ValueError(f"a sparse index lies outside the {columns} columns of the matrix")
    values = _as_float(matrix.data[: starts[-1]])
    indices = np.ascontiguousarray(stored, dtype=np.int32)
    # as float64, in which 100 + 100 fits, and without flags of the matrix, which may be wrong
    parts = type(matrix)((values, stored, matrix.indptr), shape=matrix.shape)
    if not parts.has_canonical_format:
        # inf - inf is NaN, which would pass for a missing value
        Rows(values, indices, starts, columns, None, None).refuse_infinity()
        summed = parts.copy()
        summed.sum_duplicates()
        return _sparse(summed)
    return values, indices, starts, columns


def _as_float(X: object) -> Float:
    array = np.asarray(X)
    if array.dtype.kind == "c":
        raise ValueError("complex numbers are not supported; give their parts as two columns")
    if array.dtype.kind in "USmM":
        raise ValueError(
            f"expected numbers, got an array of {array.dtype}; "
            "give categories and dates as a data frame to OnlineClassifier or OnlineRegressor"
        )
    if array.dtype.kind == "O":
        _refuse_non_numbers(array)
    return np.ascontiguousarray(array, dtype=np.float64)


def _refuse_non_numbers(array: NDArray[Any]) -> None:
    for place, cell in np.ndenumerate(array):
        try:
            if cell is None or (not isinstance(cell, str | bytes) and float(cell) is not None):
                continue
        except (TypeError, ValueError):
            pass
        where = ", ".join(f"{axis} {k}" for axis, k in zip(("row", "column"), place, strict=False))
        raise ValueError(f"{where}: {cell!r} is not a number; use NaN for a missing value")


def _per_row(name: str, given: ArrayLike | None, n: int) -> Float | None:
    if given is None:
        return None
    array = _as_float(given)
    if array.shape != (n,):
        raise ValueError(
            f"{name} has shape {array.shape}, but there are {n} rows: give one per row"
        )
    return array


def checked_weights(rows: Rows) -> Float:
    """The sample weights of a block, empty if all are 1."""
    if not isinstance(rows, Rows):
        raise TypeError(f"expected Rows, got {type(rows).__name__}: use as_rows(X, targets)")
    return EMPTY if rows.weights is None else check_weights(rows.weights)


def check_weights(weights: Float, least: float = MIN_WEIGHT, most: float = MAX_WEIGHT) -> Float:
    """The weights; refuse those that are neither 0 nor within bounds."""
    good = (weights == 0) | ((weights >= least) & (weights <= most))
    if not good.all():
        row = int(np.argmin(good))
        raise ValueError(
            f"row {row}: weight {weights[row]:g} is neither 0 nor between {least:.0e} and "
            f"{most:.0e}; use 0 to leave a row out"
        )
    return weights
