"""Build a matrix from encoded columns: an array where rows are mostly full, otherwise CSR.

A learner sums the features of a row in another order if absent ones are not stored, so that the
form of a row decides on the last bits of its score. Therefore the form is chosen row by row: it
depends on the features known when the row arrives, and not on the other rows of its block. If the
choice changes within a block, the block is CSR, and rows of the first form store their zeros:
learners treat such a row exactly like one of an array.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.encoders.encoded_column import EncodedColumn

Float = NDArray[np.float64]
Int = NDArray[np.int64]


def is_dense(features: Any, numbers: Any) -> Any:
    """Whether rows with `features` features, of which `numbers` are numbers, are stored in full.

    At least half of the features must be numbers: the row of an array is then learned at least as
    fast as the stored values of a CSR row.

    >>> is_dense(60, 50), is_dense(101, 50), is_dense(1, 0)
    (True, False, False)
    """
    return features <= 2 * numbers


def matrix_of(
    columns: Sequence[EncodedColumn],
    places: Sequence[NDArray[np.int32]],
    stored: Int,
    width: int,
) -> Any:
    """The matrix of the entries; keys placed at `width` or beyond are left out.

    Parameters
    ----------
    columns, places
        The encoded columns, and the column of the matrix for each of their keys.
    stored
        For each row how many leading columns are stored, zeros included; 0 stores only what is not
        zero.
    width
        Columns of the matrix.
    """
    n = len(stored)
    full, other = [], []
    for column, place in zip(columns, places, strict=True):
        if not column.is_full(n):
            other.append((column, place))
        elif place[0] < width:
            full.append((int(place[0]), column.values))
    full.sort(key=lambda pair: pair[0])
    values, rows, indices = _entries(other, width)
    if width and stored.all():
        return _array(full, values, rows, indices, (n, width))
    return _csr(full, values, rows, indices, stored, width)


def _entries(
    columns: Sequence[tuple[EncodedColumn, NDArray[np.int32]]], width: int
) -> tuple[Float, Int, Int]:
    """Values, rows and columns of all entries within the width that are not zero."""
    found = []
    for column, places in columns:
        if column.keys:
            indices = places[column.codes].astype(np.int64)
            kept = (column.values != 0) & (indices < width)  # NaN is not zero
            found.append((column.values[kept], column.rows[kept], indices[kept]))
    if not found:
        none = np.empty(0, dtype=np.int64)
        return np.empty(0), none, none
    values, rows, indices = (np.concatenate(each) for each in zip(*found, strict=True))
    return values, rows, indices


def _array(
    full: list[tuple[int, Float]], values: Float, rows: Int, indices: Int, shape: tuple[int, int]
) -> Float:
    made = np.zeros(shape)
    for place, column in full:
        made[:, place] = column
    np.add.at(made, (rows, indices), values)  # two words of a row may share a bucket
    return made


def _csr(
    full: list[tuple[int, Float]], values: Float, rows: Int, indices: Int, stored: Int, width: int
) -> Any:
    from scipy.sparse import coo_array, csr_array

    from unitless.encoders.csr_kernel import merge

    n = len(stored)
    other = coo_array((values, (rows, indices)), shape=(n, width)).tocsr()
    if not full and not stored.any():
        return other
    table = np.empty((n, len(full)))
    for k, (_, column) in enumerate(full):
        table[:, k] = column
    places = np.array([place for place, _ in full], dtype=np.int32)
    starts = other.indptr.astype(np.int64)
    room = int(np.sum(np.maximum(stored, len(full) + np.diff(starts))))
    made = np.empty(room), np.empty(room, dtype=np.int32), np.zeros(n + 1, dtype=np.int64)
    merge((table, places), (other.data, other.indices.astype(np.int32), starts), stored, made)
    used = int(made[2][-1])
    return csr_array((made[0][:used], made[1][:used], made[2]), shape=(n, width))
