"""Sparse rows whose leading columns are the same are learned as one by one, to the bit."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from unitless.learners import get
from unitless.learners.one_vs_rest import with_classes
from unitless.rows import as_rows
from unitless.state import remembered

RNG = np.random.default_rng(7)


@pytest.mark.parametrize(
    ("name", "classes"), [("coordinate", 0), ("nag", 0), ("ogd", 0), ("nag", 3)]
)
def test_a_block_of_sparse_rows(name, classes):
    X = RNG.normal(size=(60, 12)) * 0.1
    X[:, 4:] *= RNG.random((60, 8)) < 0.2  # four numbers and levels
    X[20:25, 1] = 0  # and rows without one of the numbers
    y = RNG.integers(0, 3, 60) if classes else RNG.choice([-1, 1], 60)
    weights = RNG.choice([0.0, 1.0, 2.0], 60)
    block, single = (with_classes(get(name), classes) if classes else get(name)() for _ in range(2))
    rows = as_rows(csr_array(X), y, weights)
    scores = block.learn(rows)
    one_by_one = [single.learn(rows[k : k + 1])[0] for k in range(60)]
    assert scores.tobytes() == np.array(one_by_one).tobytes()
    kept, others = remembered(block)[0], remembered(single)[0]
    assert kept.keys() == others.keys()
    for path, array in kept.items():
        assert array.tobytes() == others[path].tobytes(), path
