"""The arithmetic of the core against exact arithmetic, and with the same bits however it is built.

The header is compiled here, on its own, at several levels of optimisation.
"""

import ctypes
import math
import os
import shutil
import subprocess
import sysconfig
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unitless
from naive.digits import precision

LARGEST = float(np.finfo(np.float64).max)
LANES = 8
COMPILER = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
pytestmark = pytest.mark.skipif(
    shutil.which(COMPILER.split()[0]) is None, reason="there is no C compiler"
)
CODE = """
#include "arithmetic.h"

void exponentials(const double* x, double* out, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) { out[i] = fast_exp(x[i]); }
}
void bounded(const double* x, double* out, ptrdiff_t n) {
    for (ptrdiff_t i = 0; i < n; i++) { out[i] = bounded_exp(x[i]); }
}
double fused_(double a, double b, double c) { return fused(a, b, c); }
double lane_sum_(const double* terms, ptrdiff_t n) { return lane_sum(terms, n); }
double dot_(const double* a, const double* b, ptrdiff_t n) { return dot(a, b, n); }
void extent_(const double* x, ptrdiff_t n, double* out) { extent_of(x, n, out, out + 1); }
uint64_t hashed_(int64_t a, int64_t b, int64_t c) { return hashed(a, b, c); }
void touch(const double* at) { prefetch(at); }
void there_and_back(double* records, ptrdiff_t known, const int* ids, ptrdiff_t n,
                    ptrdiff_t slots, int fields, double* own) {
    gather_records(records, known, ids, n, slots, fields, own);
    scatter_records(records, ids, n, fields, own);
}
"""
BUILDS = {
    "plain": ["-O0"],
    "as the package": ["-O3", "--param=max-completely-peel-times=4"],
    "for this machine": ["-O3", "-march=native"],
}
NUMBERS = ctypes.POINTER(ctypes.c_double)


def pointer(array):
    """The memory of an array of float64."""
    assert array.dtype == np.float64
    return array.ctypes.data_as(NUMBERS)


class Built:
    """The functions of the header, compiled with these flags."""

    def __init__(self, folder, name, flags):
        source, library = folder / "door.c", folder / f"{name.replace(' ', '_')}.so"
        source.write_text(CODE)
        header = Path(unitless.__file__).parent / "core"
        own = [f"-I{header}", "-shared", "-fPIC", "-std=gnu11", "-ffp-contract=off"]
        command = [*COMPILER.split(), *own, *flags, str(source), "-o", str(library), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            pytest.skip(f"{COMPILER} does not compile it: {done.stderr[:200]}")
        self.library = ctypes.CDLL(str(library))
        for name in ("fused_", "lane_sum_", "dot_"):
            getattr(self.library, name).restype = ctypes.c_double
        self.library.fused_.argtypes = [ctypes.c_double] * 3
        self.library.hashed_.restype = ctypes.c_uint64
        self.library.hashed_.argtypes = [ctypes.c_int64] * 3

    def exp(self, xs, function="exponentials"):
        """fast_exp of each number."""
        xs = np.ascontiguousarray(xs, dtype=np.float64)
        out = np.empty_like(xs)
        getattr(self.library, function)(pointer(xs), pointer(out), ctypes.c_ssize_t(len(xs)))
        return out

    def fused(self, a, b, c):
        """a b + c, rounded once."""
        return self.library.fused_(a, b, c)

    def lane_sum(self, terms):
        """The sum of all terms."""
        return self.library.lane_sum_(pointer(terms), ctypes.c_ssize_t(len(terms)))

    def dot(self, a, b):
        """a.b"""
        return self.library.dot_(pointer(a), pointer(b), ctypes.c_ssize_t(len(a)))

    def extent(self, values):
        """The smallest and the largest size."""
        out = np.empty(2)
        self.library.extent_(pointer(values), ctypes.c_ssize_t(len(values)), pointer(out))
        return tuple(out.tolist())


@pytest.fixture(scope="module")
def builds(tmp_path_factory):
    """Every build."""
    folder = tmp_path_factory.mktemp("arithmetic")
    return [Built(folder, name, flags) for name, flags in BUILDS.items()]


@pytest.fixture(scope="module")
def built(builds):
    """The build that is like the package's."""
    return builds[1]


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


def test_exp_within_2_ulp(built):
    """Measured: 1.02 ulp."""
    xs = arguments()
    found = built.exp(xs)
    with precision(30):
        ulps = [
            float(abs(Decimal(e) - Decimal(x).exp()) / Decimal(math.ulp(e)))
            for x, e in zip(xs.tolist(), found.tolist(), strict=True)
        ]
    assert max(ulps) <= 2


@pytest.mark.parametrize("size", [1, 3, 8, 1000, 1001])
def test_exp_in_a_loop_is_exp_alone(builds, size):
    """To the bit, however the compiler vectorises the loop and whatever is left at its end."""
    xs = np.random.default_rng(size).uniform(-710, 710, size)
    for built in builds:
        alone = np.concatenate([built.exp(xs[k : k + 1]) for k in range(size)])
        assert built.exp(xs).tobytes() == alone.tobytes() == builds[0].exp(xs).tobytes()


def test_bounded_exp_is_exp_within_the_bounds(built):
    xs = arguments()
    assert built.exp(xs, "bounded").tobytes() == built.exp(xs).tobytes()


def test_exp_is_clamped(built):
    """Finite and normal beyond the range."""
    top, bottom = built.exp([700.0, -700.0])
    assert top == pytest.approx(math.exp(700), rel=1e-15)
    assert bottom == pytest.approx(math.exp(-700), rel=1e-15)
    beyond = np.array([math.nextafter(700, 800), 701.0, 1e5, LARGEST, math.inf])
    assert set(built.exp(beyond)) == {top}
    assert set(built.exp(-beyond)) == {bottom}
    assert built.exp([0.0, -0.0, 5e-324]).tolist() == [1.0] * 3


def test_the_package_has_these_bits(built):
    """Probabilities of the logistic loss are 1 / (1 + e^-p)."""
    from unitless import losses

    p = np.abs(arguments())
    e = built.exp(-p)
    assert (1.0 / (1.0 + e)).tobytes() == losses.get("logistic").link(p).tobytes()
    below = p > 0
    assert (e / (1.0 + e))[below].tobytes() == losses.get("logistic").link(-p)[below].tobytes()


def test_fused_rounds_once(builds):
    """(1 + 2^-30)^2 = 1 + 2^-29 + 2^-60, and the last term is lost by a product of its own."""
    a = 1 + 2.0**-30
    assert a * a - (1 + 2.0**-29) == 0
    for built in builds:
        assert built.fused(a, a, -(1 + 2.0**-29)) == 2.0**-60


@given(*[st.floats(-1e100, 1e100, allow_subnormal=False)] * 2, st.floats(-1e200, 1e200))
def test_fused_is_the_exact_result_rounded(built, a, b, c):
    exact = float(Fraction(a) * Fraction(b) + Fraction(c))  # a fraction rounds correctly
    assert built.fused(a, b, c) == exact


def total(lanes):
    """Neighbours, then pairs of pairs."""
    a, b, c, d, e, f, g, h = lanes
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


def test_sums_have_one_order(builds):
    """Slot j in lane j % 8; then neighbours, pairs of pairs: an order the result depends on."""
    rng = np.random.default_rng(0)
    for n in (0, 8, 16, 800):
        terms = rng.normal(size=n) * 10.0 ** rng.integers(0, 16, n)
        others = rng.normal(size=n)
        lanes, products = [0.0] * LANES, [0.0] * LANES
        for j in range(n):
            lanes[j % LANES] += terms[j]
            products[j % LANES] = builds[0].fused(terms[j], others[j], products[j % LANES])
        for built in builds:
            assert built.lane_sum(terms) == total(lanes)
            assert built.dot(terms, others) == total(products)
    assert total(lanes) != sum(terms)


def test_prefetch_reads_and_writes_nothing(built):
    array = np.arange(6.0)
    for offset in (0, 2, 1_000_000):  # beyond the end is allowed: it is a hint
        built.library.touch(ctypes.c_void_p(array.ctypes.data + 8 * offset))
    assert array.tolist() == [0, 1, 2, 3, 4, 5]


def test_hashes_are_those_of_the_formula(built):
    mask = 2**64 - 1
    rng = np.random.default_rng(0)
    for a, b, c in rng.integers(-(2**62), 2**62, (50, 3)).tolist():
        z = a * 0x9E3779B97F4A7C15 + b * 0xC2B2AE3D27D4EB4F + c * 0x165667B19E3779F9
        z = (z + 0x27D4EB2F165667C5) & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        assert built.library.hashed_(a, b, c) == z ^ (z >> 31)


EXTENTS = {
    (): (1.0, 0.0),
    (0.0, -0.0, math.nan): (1.0, 0.0),
    (0.0, -3.0, math.nan, 0.5): (0.5, 3.0),
    (5e-324, -LARGEST): (5e-324, LARGEST),
    (1.0, -math.inf): (1.0, math.inf),
}


@pytest.mark.parametrize("place", [0, 3, 7, 8, 11, 20])
def test_extents_at_any_place(builds, place):
    """Within whole lanes, and in what is left behind them."""
    for values, expected in EXTENTS.items():
        given_values = np.zeros(25)
        given_values[place : place + len(values)] = values
        for built in builds:
            assert built.extent(given_values) == expected


@pytest.mark.parametrize("fields", [1, 2, 3, 4, 5, 7])
@pytest.mark.parametrize("sparse", [False, True])
def test_records_are_gathered_and_written_back(built, fields, sparse):
    """Slot by slot in groups of eight; columns that are not known yet are zeros."""
    rng = np.random.default_rng(fields)
    known, groups = 20, 4
    records = rng.normal(size=(groups, fields, LANES))
    columns = np.array([3, 4, 11, 18, 25], dtype=np.int32) if sparse else np.arange(20)
    n = len(columns)
    slots = (n + 8) // 8 * 8
    own = np.empty((slots // 8, fields, LANES))
    before = records.copy()
    built.library.there_and_back(
        pointer(records),
        ctypes.c_ssize_t(known),
        columns.ctypes.data_as(ctypes.POINTER(ctypes.c_int)) if sparse else None,
        ctypes.c_ssize_t(n),
        ctypes.c_ssize_t(slots),
        ctypes.c_int(fields),
        pointer(own),
    )
    by_coordinate = before.transpose(0, 2, 1).reshape(-1, fields)
    coordinates = np.append(0, 1 + columns)
    expected = np.zeros((slots, fields))
    expected[: n + 1] = np.where((coordinates < known)[:, None], by_coordinate[coordinates], 0.0)
    np.testing.assert_array_equal(own.transpose(0, 2, 1).reshape(-1, fields), expected)
    after = records.transpose(0, 2, 1).reshape(-1, fields)
    np.testing.assert_array_equal(after[coordinates], expected[: n + 1])
    others = np.setdiff1d(np.arange(8 * groups), coordinates)
    np.testing.assert_array_equal(after[others], by_coordinate[others])
