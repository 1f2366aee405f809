"""Units at the door: a block is looked at once, and values far from 1 get a unit."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from unitless import rows
from unitless.learners import get
from unitless.rows import as_rows

X = np.random.default_rng(0).normal(size=(60, 5))
Y = np.where(X[:, 0] > 0, 1.0, -1.0)


@pytest.fixture
def looks(monkeypatch):
    """The sizes of all arrays in which somebody looks for infinite and extreme values."""
    found = []
    extent = rows.extent
    monkeypatch.setattr(rows, "extent", lambda values: found.append(len(values)) or extent(values))
    return found


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("name", ["coordinate", "full", "nag", "newton", "blend", "ogd"])
def test_a_block_is_looked_at_once(name, form, looks):
    """Also if it is predicted first."""
    learner = get(name)()
    block = as_rows(form(X), Y)
    learner.predict(block)
    learner.learn(block)
    assert looks == [X.size]


def unit_of(x):
    """The unit that a column gets whose first value is x, beside one that needs a unit."""
    learner = get("coordinate")()
    learner.learn(as_rows([[1e-300, x]], [1.0]))
    return float(np.array(learner.units)[2])


@given(st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x != 0))
def test_the_unit_of_a_first_value(x):
    """A power of two within 2^+-1000, the same for -x, that brings |x| into [1/2, 1)."""
    unit = unit_of(x)
    mantissa, exponent = math.frexp(unit)
    assert mantissa == 0.5
    assert -1000 <= exponent - 1 <= 1000
    assert unit_of(-x) == unit
    if 2.0**-1000 <= abs(x) < 2.0**1000:
        assert 0.5 <= abs(x) * unit < 1
    else:
        assert unit == (2.0**1000 if abs(x) < 1 else 2.0**-1000)


@pytest.mark.parametrize("exponent", [-400, -1, 1, 400])
def test_a_unit_follows_the_unit_of_its_column(exponent):
    """The scaled value keeps its bits when the column's unit changes by a power of two."""
    factor = 2.0**exponent
    for x in (0.3, 1.0, -77.7, 1e100, 1e-100):
        assert unit_of(x * factor) * factor == unit_of(x)


def test_ordinary_values_have_no_units():
    learner = get("coordinate")()
    learner.learn(as_rows([[2.0**255, 2.0**-255]], [1.0]))
    assert len(learner.units) == 0
    learner.learn(as_rows([[2.0**256, 1.0]], [1.0]))
    assert len(learner.units) == 3
