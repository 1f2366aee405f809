"""Eight numbers at once, against one number at a time: the same bits."""

import math

import numba
import numpy as np

from unitless.kernels import arithmetic as numbers
from unitless.kernels import simd
from unitless.kernels.simd import LANES, load, store

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
    store(out, 56, simd.fma(x, y, 0.25))


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
    return simd.fma(a, b, c)


@numba.njit
def comparisons(a, b, out):
    x, y = load(a, 0), load(b, 0)
    store(out, 0, simd.where(x < y, 1.0, 0.0))
    store(out, 8, simd.where(x > y, 1.0, 0.0))
    store(out, 16, simd.where(x == y, x, 0.0))
    store(out, 24, simd.where(x != x, 1.0, 0.0))


def test_comparisons_choose_each_lane_for_itself():
    out = np.empty(32)
    comparisons(A, B, out)
    expected = [A < B, A > B, np.where(A == B, A, 0), np.isnan(A)]
    assert np.array_equal(out, np.concatenate(expected))


@numba.njit
def total(a):
    return simd.total(load(a, 0))


def test_the_total_is_a_lane_sum():
    a = np.array([1e16, 1.0, -1e16, 1.0, 1.0, 1e-3, 1e16, -1e16])
    assert total(a) == numbers.lane_sum(a, 8) != math.fsum(a)


@numba.njit
def exponentials(x, eight, one):
    for k in range(0, x.size, LANES):
        store(eight, k, numbers.bounded_exp(load(x, k)))
    for k in range(x.size):
        one[k] = numbers.bounded_exp(x[k])


def test_exponentials_have_the_same_bits():
    x = np.concatenate([np.linspace(-700, 700, 4000), [0.0, -0.0, 5e-324, 1e-9, 0.5, 1, 2, 3]])
    eight, one = np.empty_like(x), np.empty_like(x)
    exponentials(x, eight, one)
    assert eight.tobytes() == one.tobytes()
