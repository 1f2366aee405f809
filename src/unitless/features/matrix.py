"""Entries -> a matrix."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.features.parts import Part


def dense(values: NDArray[np.float64], places: Sequence[int], width: int) -> NDArray[np.float64]:
    """The table with its columns at their places (beyond the width: nowhere), zero elsewhere.

    >>> dense(np.array([[1.0, 2.0, 3.0]]), [2, 0, 7], width=4)
    array([[2., 0., 1., 0.]])
    """
    if list(places) == list(range(width)):
        return values
    inside = [k for k, place in enumerate(places) if place < width]
    made = np.zeros((len(values), width))
    made[:, [places[k] for k in inside]] = values[:, inside]
    return made


def sparse(
    parts: Sequence[Part], places: Sequence[NDArray[np.int32]], rows: int, width: int
) -> Any:
    """A CSR array of the parts' entries; zeros, and keys placed beyond the width, are left out.

    Entries that share a place (two words in one bucket) are added up.
    """
    from scipy.sparse import coo_array

    kept = []
    for part, place in zip(parts, places, strict=True):
        columns = place[part.codes]
        there = (part.values != 0) & (columns < width)  # NaN is not zero
        kept.append((part.values[there], part.rows[there].astype(np.int32), columns[there]))
    values, row, column = (
        (np.concatenate(each) for each in zip(*kept, strict=True)) if kept else 3 * ([],)
    )
    return coo_array((values, (row, column)), shape=(rows, width), dtype=np.float64).tocsr()
