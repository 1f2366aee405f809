"""Build the matrix of encoded columns: an array if all are numbers, otherwise CSR.

In CSR every number of the frame is stored, also a zero, and a level where it is not zero. So what
is stored in a row, which decides on the last bits of a score, does not depend on the other rows.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from unitless.encoders.encoded_column import EncodedColumn, Ints
from unitless.encoders.namespaces import is_number
from unitless.encoders.typed_column import Float


def matrix_of(
    table: Float, columns: Sequence[EncodedColumn], places: Sequence[Ints], width: int
) -> object:
    """The matrix of the entries; keys placed at `width` or beyond are left out.

    `table` has the columns that were read together; it is not copied if there are no other numbers.
    """
    rows = len(table)
    full: dict[int, Float] = {}
    others = []
    for column, place in zip(columns, places, strict=True):
        if is_number(column.namespace) and len(column.rows) == rows > 0:
            full[int(place[0])] = column.values
        else:
            others.append((column, place))
    kept = sorted(place for place in full if place < width)
    if kept != [*full] or len(kept) != table.shape[1]:
        table = np.empty((rows, len(kept)))
        for k, at in enumerate(kept):
            table[:, k] = full[at]
    if len(kept) == width and not others:
        return table
    entries = _entries(others, rows, width)
    return _csr(table, np.array(kept, dtype=np.int32), entries)


def _entries(columns: Sequence[tuple[EncodedColumn, Ints]], rows: int, width: int) -> object:
    """The entries of columns that are not full numbers, as CSR; zeros of levels are left out.

    Two words of a row that share a hash bucket are added up.
    """
    from scipy.sparse import coo_array

    values = [np.empty(0)]
    of_rows = [np.empty(0, dtype=np.int64)]
    indices = [np.empty(0, dtype=np.int64)]
    for column, places in columns:
        if column.keys:
            place = places[column.codes]
            kept = place < width
            if not is_number(column.namespace):
                kept &= column.values != 0  # NaN is not zero
            values.append(column.values[kept])
            of_rows.append(column.rows[kept])
            indices.append(place[kept])
    at = np.concatenate(of_rows), np.concatenate(indices)
    entries = coo_array((np.concatenate(values), at), shape=(rows, width))
    return entries.tocsr()


def _csr(table: Float, places: Ints, entries: Any) -> object:
    """The entries with the numbers of the table, whose columns are at `places`, among them."""
    from scipy.sparse import csr_array

    starts = entries.indptr + np.arange(len(table) + 1) * len(places)
    values = np.empty(starts[-1])
    indices = np.empty(starts[-1], dtype=np.int32)
    numbers = starts[:-1, None] + np.arange(len(places))  # where they go: first in their row
    others = np.ones(starts[-1], dtype=np.bool_)
    others[numbers] = False
    values[numbers] = table
    indices[numbers] = places
    values[others] = entries.data
    indices[others] = entries.indices
    if len(values) < 2**31:
        starts = starts.astype(np.int32)  # SciPy would convert the indices to 64 bits as well
    matrix = csr_array((values, indices, starts), shape=entries.shape)
    if len(places) and places[-1] >= len(places):  # a number appeared after a level
        matrix.sort_indices()
    return matrix
