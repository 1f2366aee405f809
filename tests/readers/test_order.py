"""Rows brought into order: short ones by ranks, long ones by digits, as a dict would."""

from itertools import pairwise

import numpy as np
import pytest

from unitless.readers.order import SHORT, SPARE, in_order


def ordered(values, indices):
    """Equal columns added up in their order, zeros left out, columns rising."""
    sums = {}
    for column, value in zip(indices.tolist(), values.tolist(), strict=True):
        sums[column] = sums.get(column, 0.0) + value
    return [(column, sums[column]) for column in sorted(sums) if sums[column] != 0]


@pytest.mark.parametrize("columns", [3, 300, 2**18, 2**31 - 1])
def test_rows_of_all_sizes(columns):
    rng = np.random.default_rng(columns)
    sizes = [0, 1, 2, 15, 16, 17, 55, SHORT - 1, SHORT, SHORT + 1, 1000]
    rows = [rng.integers(0, columns, size).astype(np.int32) for size in sizes]
    rows += [np.unique(row) for row in rows] + [rng.permutation(np.unique(row)) for row in rows]
    indices = np.concatenate(rows)
    values = np.where(rng.random(len(indices)) < 0.01, 0.0, rng.standard_normal(len(indices)))
    starts = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    wanted = [ordered(values[a:b], indices[a:b]) for a, b in pairwise(starts)]
    values, indices = np.pad(values, (0, SPARE)), np.pad(indices, (0, SPARE))
    assert not in_order(values, indices, starts, len(rows)).any()
    found = [
        list(zip(indices[a:b].tolist(), values[a:b].tolist(), strict=True))
        for a, b in pairwise(starts)
    ]
    assert found == wanted
