"""Eight numbers at once, against one number at a time: the same bits."""

import math

import numba
import numpy as np
import pytest

from unitless import lanes, numerics
from unitless.lanes import LANES, load, store

A = np.array([1.5, -2.0, 0.0, -0.0, 1e300, 5e-324, np.nan, 3.0])
B = np.array([1.5, 3.0, -1.0, 7.0, 1e-300, 2.0, 1.0, -np.inf])


@numba.njit(error_model="numpy")
def arithmetic(a, b, out):
    x, y = load(a, 0), load(b, 0)
    store(out, 0, x + y)
    store(out, 8, x - y)
    store(out, 16, x * y)
    store(out, 24, x / y)
    store(out, 32, min(x, y))
    store(out, 40, max(x, 2.0))
    store(out, 48, abs(x))
    store(out, 56, numerics.fma(x, y, 0.25))


def test_arithmetic_is_that_of_each_number():
    out = np.empty(64)
    arithmetic(A, B, out)
    with np.errstate(all="ignore"):
        fused = [numerics_fma(a, b, 0.25) for a, b in zip(A, B, strict=True)]
        expected = [
            *(A + B, A - B, A * B, A / B),
            *(np.where(A < B, A, B), np.where(A > 2, A, 2), abs(A), fused),
        ]
    expected = np.concatenate(expected)
    assert np.array_equal(out, expected, equal_nan=True)
    assert np.array_equal(np.signbit(out[:32]), np.signbit(expected[:32]))


@numba.njit
def numerics_fma(a, b, c):
    return numerics.fma(a, b, c)


@numba.njit
def comparisons(a, b, out, found):
    x, y = load(a, 0), load(b, 0)
    store(out, 0, lanes.where(x < y, 1.0, 0.0))
    store(out, 8, lanes.where(x > y, 1.0, 0.0))
    store(out, 16, lanes.where(x == y, x, 0.0))
    store(out, 24, lanes.where(x != x, 1.0, 0.0))
    store(out, 32, lanes.where((x < y) & (y > 2.0), 1.0, 0.0))
    store(out, 40, lanes.where((x < y) | (y > 2.0), 1.0, 0.0))
    for m in range(9):
        store(out, 48 + 8 * m, lanes.where(lanes.before(m), lanes.every(2.0), y))
    found[0], found[1] = lanes.any_lane(x != x), lanes.any_lane(y != y)


def test_comparisons_choose_each_lane_for_itself():
    out, found = np.empty(48 + 72), np.empty(2)
    comparisons(A, B, out, found)
    low = [A < B, A > B, np.where(A == B, A, 0), np.isnan(A)]
    expected = [*low, (A < B) & (B > 2), (A < B) | (B > 2)]
    expected += [np.where(np.arange(8) < m, 2, B) for m in range(9)]
    assert np.array_equal(out, np.concatenate(expected))
    assert list(found) == [1, 0]


@numba.njit
def total(a):
    return lanes.total(load(a, 0))


def test_the_total_is_a_lane_sum():
    a = np.array([1e16, 1.0, -1e16, 1.0, 1.0, 1e-3, 1e16, -1e16])
    assert total(a) == numerics.lane_sum(a, 8) != math.fsum(a)


@numba.njit
def exponentials(x, eight, one):
    for k in range(0, x.size, LANES):
        store(eight, k, numerics.bounded_exp(load(x, k)))
    for k in range(x.size):
        one[k] = numerics.bounded_exp(x[k])


def test_exponentials_have_the_same_bits():
    x = np.concatenate([np.linspace(-700, 700, 4000), [0.0, -0.0, 5e-324, 1e-9, 0.5, 1, 2, 3]])
    eight, one = np.empty_like(x), np.empty_like(x)
    exponentials(x, eight, one)
    assert eight.tobytes() == one.tobytes()


@numba.njit
def tripled(records, places, k):
    a, b = lanes.gather_pairs(records, places, k)
    lanes.scatter_pairs(records, places, k, 3.0 * a, b - a)


def test_pairs_come_from_their_places_and_return_there():
    rng = np.random.default_rng(0)
    records = rng.normal(size=(40, 2))
    before = records.copy()
    places = rng.permutation(40)[:12].astype(np.int32)
    tripled(records.reshape(-1), places, 3)
    chosen = places[3:11]
    before[chosen] = np.column_stack([3 * before[chosen, 0], before[chosen, 1] - before[chosen, 0]])
    assert np.array_equal(records, before)


@numba.njit
def last_places(columns, i, m, places, k):
    lanes.place_last(columns, i, m, 99, places, k)


@pytest.mark.parametrize("m", range(9))
def test_the_places_of_a_row_end(m):
    columns, places = np.arange(100, 120, dtype=np.int32), np.zeros(24, np.int32)
    last_places(columns, 2, m, places, 8)
    expected = [*range(102, 102 + m), *[99] * (8 - m)]
    assert list(places) == [0] * 8 + expected + [0] * 8


@numba.njit
def fetched(records, places):
    lanes.fetch_first(records, places, 0)
    lanes.fetch_middle(records, places, 0)
    lanes.fetch_last(records, places, 0)
    lanes.fetch_stream(records, 10**9)


def test_asking_for_lines_changes_nothing():
    records = np.arange(40.0)
    fetched(records, np.arange(8, dtype=np.int32))
    assert np.array_equal(records, np.arange(40.0))
