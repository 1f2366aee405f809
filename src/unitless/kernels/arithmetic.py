"""Arithmetic with bit-for-bit the same results whatever the compiler and the array length.

Fused multiply-adds are explicit (`fma`, never fast-math), and sums run in eight explicit
lanes: column j of a row is added to partial sum j % 8.
"""

from typing import Any

import numpy as np
from llvmlite import ir
from numba.extending import intrinsic
from numpy.typing import NDArray

from unitless.kernels.decorators import inlined, shared
from unitless.kernels.simd import LANES, every, fma, load, total

MAX_EXPONENT = 700.0
"""`exp` is clamped to exp(+-700): finite, normal, and far beyond any loss."""

# exp(x) = 2^k exp(r), k = round(x / ln 2), |r| <= ln(2) / 2. Adding 1.5 * 2^52 rounds to the
# nearest integer and leaves it in the low bits, from where it goes into the exponent field.
_ROUND = 1.5 * 2.0**52
_LOG2E = 1.4426950408889634
_LN2_HIGH = float.fromhex("0x1.62e42fefa39efp-1")
_LN2_LOW = float.fromhex("0x1.abc9e3b39803fp-56")
# (exp(r) - 1 - r) / r^2 = _C2 + _C3 r + ... + _C11 r^9 within 2^-56: the Chebyshev fit
# mpmath.chebyfit(f, [-a, a], 10), a = 1.0001 ln(2) / 2, rounded to float64.
_C2 = float.fromhex("0x1.0000000000001p-1")
_C3 = float.fromhex("0x1.5555555555556p-3")
_C4 = float.fromhex("0x1.5555555553d63p-5")
_C5 = float.fromhex("0x1.11111111109b3p-7")
_C6 = float.fromhex("0x1.6c16c1788bd90p-10")
_C7 = float.fromhex("0x1.a01a01a7c41d5p-13")
_C8 = float.fromhex("0x1.a019b90d2ae7ap-16")
_C9 = float.fromhex("0x1.71de0dae63bb3p-19")
_C10 = float.fromhex("0x1.289185613a3d6p-22")
_C11 = float.fromhex("0x1.af38a9b0ec855p-26")


@intrinsic
def _times_power(typingctx, p, shifted):
    """p 2^k, k being the integer in the low bits of `shifted`; of numbers or of lanes."""

    def codegen(context, builder, signature, args):
        number, bits, by = args[0].type, ir.IntType(64), 52
        if isinstance(number, ir.VectorType):
            bits, by = ir.VectorType(bits, LANES), [52] * LANES
        p, k = (builder.bitcast(part, bits) for part in args)
        return builder.bitcast(builder.add(p, builder.shl(k, ir.Constant(bits, by))), number)

    return p(p, p), codegen


@inlined
def clipped(x, limit):
    """x, at most `limit` away from 0; of a number or of lanes."""
    return min(max(x, -limit), limit)


@shared
def exp(x):
    """e**x within 2 ulp for |x| <= 700, clamped beyond; vectorises, unlike math.exp.

    >>> exp(0.0), exp(0.5)
    (1.0, 1.6487212707001282)
    """
    return bounded_exp(clipped(x, MAX_EXPONENT))


@inlined
def bounded_exp(x):
    """`exp` for an x known to lie within +-700; of a number or of lanes."""
    shifted = fma(x, _LOG2E, _ROUND)
    k = shifted - _ROUND
    r = fma(k, -_LN2_HIGH, x)
    r = fma(k, -_LN2_LOW, r)
    # p = 1 + r + r^2 (_C2 + r (_C3 + ...)), in Estrin's order: a third of Horner's latency.
    r2 = r * r
    r4 = r2 * r2
    low = fma(fma(_C5, r, _C4), r2, fma(_C3, r, _C2))
    high = fma(fma(_C9, r, _C8), r2, fma(_C7, r, _C6))
    top = fma(_C11, r, _C10)
    p = 1.0 + fma(fma(top, r4 * r4, fma(high, r4, low)), r2, r)
    return _times_power(p, shifted)


@inlined
def lane_dot(a, first, b, n):
    """a[first] b[0] + ... + a[first + n - 1] b[n - 1], n a multiple of 8, in eight lanes, fused."""
    sums = every(0.0)
    for k in range(0, n, LANES):
        sums = fma(load(a, first + k), load(b, k), sums)
    return total(sums)


@inlined
def dot(a, b):
    """The inner product of two vectors whose length is a multiple of 8."""
    return lane_dot(a, 0, b, a.size)


@shared
def lane_sum(terms, n):
    """terms[0] + ... + terms[n - 1], n a multiple of 8, in eight partial sums and a fixed order."""
    sums = every(0.0)
    for k in range(0, n, LANES):
        sums += load(terms, k)
    return total(sums)


def grown(array: NDArray[Any], size: int, fill: float = 0) -> NDArray[Any]:
    """`array` with at least `size` rows; spare room is a fifth, so growth stays linear."""
    if len(array) >= size:
        return array
    room = size if len(array) == 0 else max(size, len(array) + len(array) // 5)
    bigger = np.empty((room, *array.shape[1:]), dtype=array.dtype)
    bigger[: len(array)] = array
    bigger[len(array) :] = fill
    return bigger


@inlined
def hashed(a, b, c):
    """A number of 64 bits from three others (splitmix64)."""
    z = np.uint64(a) * np.uint64(0x9E3779B97F4A7C15)
    z += np.uint64(b) * np.uint64(0xC2B2AE3D27D4EB4F)
    z += np.uint64(c) * np.uint64(0x165667B19E3779F9)
    z += np.uint64(0x27D4EB2F165667C5)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
