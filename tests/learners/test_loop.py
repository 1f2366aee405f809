"""The loop: rows whose leading columns are the same are learned as one by one, to the bit."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from unitless import learners
from unitless.rows import as_rows

RNG = np.random.default_rng(7)


SOFTMAX = {"loss": "softmax", "classes": 3}


@pytest.mark.parametrize(
    ("name", "options"), [("coordinate", {}), ("nag", {}), ("ogd", {}), ("nag", SOFTMAX)]
)
def test_fields_that_stay_in_place(name, options):
    X = RNG.normal(size=(60, 12)) * 0.1
    X[:, 4:] *= RNG.random((60, 8)) < 0.2  # four numbers and levels
    X[20:25, 1] = 0  # and rows without one of the numbers
    y = RNG.integers(0, 3, 60) if options else RNG.choice([-1, 1], 60)
    weights = RNG.choice([0.0, 1.0, 2.0], 60)
    block, single = (learners.get(name)(**options) for _ in range(2))
    rows = as_rows(csr_array(X), y, weights)
    scores = block.learn(rows)
    one_by_one = [single.learn(rows[k : k + 1])[0] for k in range(60)]
    assert scores.tobytes() == np.array(one_by_one).tobytes()
    assert block.state.records.tobytes() == single.state.records.tobytes()
    assert block.state.totals.tobytes() == single.state.totals.tobytes()
