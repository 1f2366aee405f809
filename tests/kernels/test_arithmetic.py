"""The machine operations, against exact arithmetic."""

import math
import os
from decimal import Decimal
from fractions import Fraction

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive.digits import precision
from unitless.kernels import simd
from unitless.kernels.arithmetic import bounded_exp, exp, grown, lane_sum
from unitless.units import unit_of

LARGEST = float(np.finfo(np.float64).max)


def test_the_cache_of_kernels_is_the_one_conftest_chose():
    assert os.environ["NUMBA_CACHE_DIR"] == numba.config.CACHE_DIR


@numba.njit
def exps(xs, out):
    for i in range(xs.size):
        out[i] = exp(xs[i])


@numba.njit
def fma(a, b, c):
    return simd.fma(a, b, c)


@numba.njit
def touch(array, index):
    simd.prefetch(array, index)


def arguments():
    """Over the whole range: evenly, at random, near 0, and where the reduction is at its limit."""
    rng = np.random.default_rng(0)
    halves = (np.arange(-1009, 1009) + 0.5) * math.log(2)
    small = 10.0 ** rng.uniform(-320, 0, 500)
    xs = [
        np.linspace(-700, 700, 14_001), rng.uniform(-700, 700, 10_000), rng.uniform(-1, 1, 5_000),
        halves, np.nextafter(halves, 0), np.nextafter(halves, 1e9), small, -small, [0.0, -0.0],
    ]  # fmt: skip
    return np.concatenate(xs)


def test_exp_within_2_ulp():
    """Measured: 1.02 ulp."""
    xs = arguments()
    found = np.empty_like(xs)
    exps(xs, found)
    with precision(30):
        ulps = [
            float(abs(Decimal(e) - Decimal(x).exp()) / Decimal(math.ulp(e)))
            for x, e in zip(xs.tolist(), found.tolist(), strict=True)
        ]
    assert max(ulps) <= 2


@pytest.mark.parametrize("size", [1, 3, 8, 1000, 1001])
def test_exp_in_a_loop_is_exp_alone(size):
    """To the bit, however the compiler vectorises the loop and whatever is left at its end."""
    xs = np.random.default_rng(size).uniform(-710, 710, size)
    found = np.empty_like(xs)
    exps(xs, found)
    alone = np.array([exp(x) for x in xs.tolist()])
    np.testing.assert_array_equal(found.view(np.int64), alone.view(np.int64))


@pytest.mark.parametrize("x", [-700.0, -0.3, 0.0, 1e-300, 33.3, 700.0])
def test_bounded_exp_is_exp_within_the_bounds(x):
    assert bounded_exp(x) == exp(x)


def test_exp_is_clamped():
    """Finite and normal beyond the range, and where math.exp would raise."""
    top, bottom = exp(700.0), exp(-700.0)
    assert top == pytest.approx(math.exp(700), rel=1e-15)
    assert bottom == pytest.approx(math.exp(-700), rel=1e-15)
    for x in (math.nextafter(700, 800), 701.0, 1e5, LARGEST, math.inf):
        assert exp(x) == top
        assert exp(-x) == bottom
    assert exp(0.0) == exp(-0.0) == exp(5e-324) == 1.0


def test_fma_rounds_once():
    """(1 + 2^-30)^2 = 1 + 2^-29 + 2^-60, and the last term is lost by a product of its own."""
    a = 1 + 2.0**-30
    assert a * a - (1 + 2.0**-29) == 0
    assert fma(a, a, -(1 + 2.0**-29)) == 2.0**-60


@given(*[st.floats(-1e100, 1e100, allow_subnormal=False)] * 2, st.floats(-1e200, 1e200))
def test_fma_is_the_exact_result_rounded(a, b, c):
    exact = float(Fraction(a) * Fraction(b) + Fraction(c))  # a fraction rounds correctly
    assert fma(a, b, c) == exact


def test_prefetch_reads_and_writes_nothing():
    array = np.arange(6.0).reshape(3, 2)
    for index in (0, 2, 1_000_000):  # beyond the end is allowed: it is a hint
        touch(array, index)
    assert array.tolist() == [[0, 1], [2, 3], [4, 5]]


@given(st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x != 0))
def test_unit_of(x):
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
def test_unit_of_follows_the_unit(exponent):
    """The scaled value keeps its bits when the column's unit changes by a power of two."""
    factor = 2.0**exponent
    for x in (0.3, 1.0, -77.7, 1e100, 1e-100):
        assert unit_of(x * factor) * factor == unit_of(x)


def test_lane_sum_has_one_order():
    """Column j in lane j % 8; then neighbours, pairs of pairs: an order the result depends on."""
    rng = np.random.default_rng(0)
    for n in (0, 8, 16, 800):
        terms = rng.normal(size=n + 8) * 10.0 ** rng.integers(0, 16, n + 8)
        lanes = [0.0] * simd.LANES
        for j in range(n):
            lanes[j % simd.LANES] += terms[j]
        a, b, c, d, e, f, g, h = lanes
        assert lane_sum(terms, n) == ((a + b) + (c + d)) + ((e + f) + (g + h))
    assert lane_sum(terms, n) != sum(terms[:n])


def test_grown_keeps_what_is_there():
    array = np.arange(6, dtype=np.int32).reshape(3, 2)
    bigger = grown(array, 10, fill=7)
    assert len(bigger) >= 10
    assert bigger.dtype == array.dtype
    assert bigger[:3].tolist() == array.tolist()
    assert (bigger[3:] == 7).all()
    assert grown(array, 3) is array
    assert grown(array, 0) is array
    assert not grown(array, 10)[3:].any()


def test_grown_gives_the_first_block_no_spare_room():
    """The columns of the first block are most often all there will be."""
    assert len(grown(np.empty((0, 3)), 10)) == 10


def test_growing_one_by_one_stays_linear():
    """A fifth of spare room: the copies add up to 1 + 5 times the final size, not its square."""
    array, copied = np.empty(0), 0
    for size in range(1, 20_001):
        bigger = grown(array, size)
        copied += len(array) if bigger is not array else 0
        array = bigger
    assert copied < 6 * 20_000
    assert len(array) <= 1.2 * 20_000
