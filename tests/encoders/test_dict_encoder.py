"""Names -> columns."""

import copy
import math
import pickle
from collections import OrderedDict
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitless.encoders import DictEncoder

HUGE = pytest.param(10**400, id="beyond float64")


def loaded(names, row, add=True):
    """(column -> value) after loading the row; its new names are kept with `add`."""
    known = set(names.columns)
    assert names.load(row) == bool(set(row) - known)
    if add:
        names.add_unknown()
    return dict(zip(names.indices.tolist(), names.values.tolist(), strict=True))


def test_columns_follow_the_first_appearance_and_the_name():
    names = DictEncoder()
    assert loaded(names, {"d": 1.0, "b": 2.0}) == {0: 2.0, 1: 1.0}
    assert loaded(names, {"c": 3.0, "b": 4.0, "a": 5.0}) == {3: 3.0, 0: 4.0, 2: 5.0}
    assert names.columns == {"b": 0, "d": 1, "a": 2, "c": 3}


def test_the_order_of_keys_does_not_matter():
    row = {"b": 1.0, "a": 2.0, 10: 3.0, 9: 4.0, 2.5: 5.0}
    one, two = DictEncoder(), DictEncoder()
    loaded(one, row)
    loaded(two, dict(reversed(row.items())))
    assert one.columns == two.columns == {2.5: 0, 9: 1, 10: 2, "a": 3, "b": 4}
    assert one.indices.tolist() == two.indices.tolist() == [0, 1, 2, 3, 4]
    assert one.values.tolist() == two.values.tolist() == [5.0, 4.0, 3.0, 2.0, 1.0]


def test_the_remembered_order_is_only_a_short_cut():
    names = DictEncoder()
    loaded(names, {"a": 1.0, "b": 2.0})
    assert loaded(names, {"a": 3.0, "b": 4.0}) == {0: 3.0, 1: 4.0}
    assert loaded(names, {"b": 5.0, "a": 6.0}) == {1: 5.0, 0: 6.0}
    assert loaded(names, {"a": 7.0}) == {0: 7.0}
    assert loaded(names, {}) == {}


def test_unknown_names_get_a_column_for_the_row_only():
    names = DictEncoder()
    loaded(names, {"a": 1.0})
    assert loaded(names, {"x": 5.0, "a": 1.0, "y": 6.0}, add=False) == {1: 5.0, 0: 1.0, 2: 6.0}
    assert names.columns == {"a": 0}
    assert loaded(names, {"y": 1.0}) == {1: 1.0}
    assert names.columns == {"a": 0, "y": 1}


def test_looking_first_and_adding_then():
    """The same row twice: the order is remembered, the names are new both times."""
    names = DictEncoder()
    loaded(names, {"a": 1.0, "b": 2.0}, add=False)
    loaded(names, {"a": 1.0, "b": 2.0})
    loaded(names, {"c": 2.0}, add=False)
    assert loaded(names, {"c": 2.0}) == {2: 2.0}
    assert names.columns == {"a": 0, "b": 1, "c": 2}


@given(
    st.lists(
        st.tuples(st.dictionaries(st.sampled_from("abcdef"), st.integers(0, 9)), st.booleans())
    )
)
def test_columns_never_change(rows):
    """Whatever was looked at or added in between, known names keep their columns."""
    names, expected = DictEncoder(), {}
    for row, add in rows:
        values = loaded(names, row, add)
        if add:
            for name in sorted(row):
                expected.setdefault(name, len(expected))
        assert names.columns == expected
        known = {expected[name]: value for name, value in row.items() if name in expected}
        assert {column: values[column] for column in known} == known
        unknown = set(values) - set(known)
        assert unknown == set(range(len(expected), len(expected) + len(row) - len(known)))


@pytest.mark.parametrize(
    "value", [3, True, np.float32(2.5), np.int64(3), Decimal("2.5"), Fraction(5, 2), np.bool_(True)]
)
def test_numbers_of_any_type(value):
    assert loaded(DictEncoder(), {"a": value, "b": 1.0}) == {0: float(value), 1: 1.0}


@pytest.mark.parametrize("value", [None, math.nan, np.nan, np.float64("nan"), Decimal("nan")])
def test_missing_values(value):
    assert math.isnan(loaded(DictEncoder(), {"a": value})[0])


@pytest.mark.parametrize("value", ["red", b"red", "1", 1j, [1.0], {"a": 1.0}, HUGE])
def test_what_is_no_number(value):
    names = DictEncoder()
    loaded(names, {"a": 1.0})
    with pytest.raises(ValueError, match=r"feature 'new': .*None for a missing value"):
        names.load({"a": 1.0, "new": value})
    assert names.columns == {"a": 0}
    assert loaded(names, {"a": 2.0}) == {0: 2.0}


@pytest.mark.parametrize("value", [math.inf, -math.inf, np.float32(np.inf), Decimal("inf")])
def test_infinity(value):
    names = DictEncoder()
    names.load({"a": 1.0, "new": value})
    with pytest.raises(ValueError, match=r"feature 'new': -?inf .*None for a missing value"):
        names.refuse_infinity()
    assert names.columns == {}
    assert loaded(names, {"a": 2.0}) == {0: 2.0}


def test_any_hashable_name():
    row = {"a": 1.0, 7: 2.0, ("a", 7): 3.0, None: 4.0, frozenset([1]): 5.0}
    assert sorted(loaded(DictEncoder(), row).values()) == [1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize("kind", [OrderedDict, MappingProxyType])
def test_any_mapping(kind):
    assert loaded(DictEncoder(), kind({"a": 1.0, "b": None}))[0] == 1.0


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda names: pickle.loads(pickle.dumps(names))])
def test_copies(copied):
    names = DictEncoder()
    loaded(names, {"b": 1.0, "a": 2.0})
    twin = copied(names)
    assert loaded(twin, {"c": 3.0, "a": 4.0}) == {2: 3.0, 0: 4.0}
    assert names.columns == {"a": 0, "b": 1}
