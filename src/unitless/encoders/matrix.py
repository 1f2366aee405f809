"""Entries -> a matrix."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.encoders.parts import Part


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

    entries = [
        _entries(part, place, width) for part, place in zip(parts, places, strict=True) if part.keys
    ]
    if not entries:
        return coo_array((rows, width), dtype=np.float64).tocsr()
    values, row, column = (np.concatenate(each) for each in zip(*entries, strict=True))
    return coo_array((values, (row, column)), shape=(rows, width)).tocsr()


def _entries(part: Part, places: NDArray[np.int32], width: int) -> tuple[NDArray[Any], ...]:
    entries = part.values, part.rows.astype(np.int32), places[part.codes]
    there = part.values != 0  # NaN is not zero
    if places.max() >= width:
        there &= entries[2] < width
    return entries if there.all() else tuple(each[there] for each in entries)
