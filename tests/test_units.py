"""Units at the door: a block is looked at once, in one function."""

import numpy as np
import pytest
import scipy.sparse as sp

from unitless import rows, units
from unitless.blend import hedge
from unitless.learners import base, get

X = np.random.default_rng(0).normal(size=(60, 5))
Y = np.where(X[:, 0] > 0, 1.0, -1.0)


@pytest.fixture
def looks(monkeypatch):
    """The sizes of all arrays in which somebody looks for infinite and extreme values."""
    found = []

    def extent(values):
        found.append(len(values))
        return rows_extent(values)

    rows_extent = rows.extent
    for module in (rows, units, base, hedge):
        monkeypatch.setattr(module, "extent", extent)
    return found


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("name", ["coordinate", "full", "nag", "newton", "blend", "ogd"])
def test_a_block_is_looked_at_once(name, form, looks):
    """Also if it is predicted first."""
    learner = get(name)()
    block = rows.as_rows(form(X), Y)
    learner.predict(block)
    learner.learn(block)
    assert looks == [X.size]


def test_a_dict_is_looked_at_once(looks):
    get("coordinate")().learn_one({"a": 1.0, "b": 2.0}, 1)
    assert looks == [2]
