"""The few machine operations every kernel is built from.

Bits are a promise here, so nothing is left to the compiler's mood: a fused
multiply-add is asked for by name (`fma`, never fast-math), sums run in eight
explicit lanes, and powers of two come from the exponent bits. What takes a
number here takes eight as well where it says so (`unitless.lanes`).
"""

from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.core.registry import CPUDispatcher
from numba.extending import intrinsic
from numpy.typing import NDArray

from unitless.lanes import LANES as LANES
from unitless.lanes import Lanes, fetch, lanes, vector_call

WIDE = 2.0**255
"""A scaled value above this makes its column choose a new scale: squares stay below 2**510."""

EXP_LIMIT = 700.0
"""`exp` is clamped to exp(+-700): finite, normal, and far beyond any loss."""

_COMMON: dict[str, Any] = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
}

kernel: Any = cast(Any, njit)(**_COMMON)
"""The decorator of every compiled function: cached, GIL released, x / 0 as in NumPy.

(Under Python's rules a division is a branch that may raise, and no loop with one vectorises.)
"""

flat: Any = cast(Any, njit)(**_COMMON, _nrt=False)
"""The same for kernels that make no array: their room to work in comes from outside.

They count no references: a slice, a tuple or even an argument would cost two atomic operations,
some 200 ns a row in all.
"""

shared: Any = cast(Any, njit)(**_COMMON, _nrt=False, forceinline=True)
"""The same for functions that kernels call, which are inlined, and that Python calls as well."""


class _Part(CPUDispatcher):
    """A function that only kernels can call."""

    def __call__(self, *arguments: Any) -> Any:
        raise TypeError(
            f"{self.py_func.__name__} is for kernels: decorate it with `shared` to call it"
        )


def inner(function: Any) -> Any:
    """The same as `shared` for functions that Python never calls.

    Without a way in for Python they are compiled in four fifths of the time. (Each is compiled on
    its own before it is inlined, and again for a literal argument: levels cost time at the first
    start.)
    """
    options = {**_COMMON, "no_cpython_wrapper": True, "_nrt": False, "forceinline": True}
    made = cast(Any, njit)(**options)(function)
    made.__class__ = _Part  # Numba's own class would call a wrapper that is not there
    return made


@intrinsic
def fma(typingctx, a, b, c):
    """a * b + c, rounded once; of numbers or of lanes."""

    def codegen(context, builder, signature, args):
        if signature.return_type is types.float64:
            return builder.fma(*args)
        return vector_call(builder, "llvm.fma", *args)

    kind = lanes if any(isinstance(part, Lanes) for part in (a, b, c)) else types.float64
    return kind(kind, kind, kind), codegen


@intrinsic
def _raised(typingctx, p, shifted):
    """p 2^k, k being the integer in the low bits of `shifted`; of numbers or of lanes."""

    def codegen(context, builder, signature, args):
        number, bits = args[0].type, ir.IntType(64)
        if isinstance(number, ir.VectorType):
            bits = ir.VectorType(bits, LANES)
        p, k = (builder.bitcast(part, bits) for part in args)
        by = [52] * LANES if isinstance(number, ir.VectorType) else 52
        return builder.bitcast(builder.add(p, builder.shl(k, ir.Constant(bits, by))), number)

    return p(p, p), codegen


@intrinsic
def lane_dot(typingctx, a, first, b, n):
    """a[first] b[0] + ... + a[first + n - 1] b[n - 1], n a multiple of 8, as `lane_sum` but fused.

    (Written in vectors, which no compiler finds in eight running sums: four times as fast.)
    """

    def codegen(context, builder, signature, args):
        a, b = (context.make_array(signature.args[k])(context, builder, args[k]) for k in (0, 2))
        data = builder.gep(a.data, [args[1]]), b.data
        lanes, i64 = ir.VectorType(ir.DoubleType(), LANES), ir.IntType(64)
        fused = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(lanes, [lanes] * 3), f"llvm.fma.v{LANES}f64"
        )
        sums = cgutils.alloca_once_value(builder, ir.Constant(lanes, [0.0] * LANES))
        with cgutils.for_range_slice(builder, i64(0), args[3], i64(LANES), intp=i64) as (k, _):
            pointers = [builder.bitcast(builder.gep(d, [k]), lanes.as_pointer()) for d in data]
            x, y = (builder.load(pointer, align=8) for pointer in pointers)
            builder.store(builder.call(fused, [x, y, builder.load(sums)]), sums)
        total = builder.load(sums)
        parts = [builder.extract_element(total, ir.IntType(32)(k)) for k in range(LANES)]
        while len(parts) > 1:
            parts = [builder.fadd(*parts[k : k + 2]) for k in range(0, len(parts), 2)]
        return parts[0]

    return types.float64(a, types.int64, b, types.int64), codegen


@intrinsic
def prefetch(typingctx, array, index):
    """Ask for the cache line of array[index] (first axis) before it is needed."""

    def codegen(context, builder, signature, args):
        ary = context.make_array(signature.args[0])(context, builder, args[0])
        stride = builder.extract_value(ary.strides, 0)
        base = builder.ptrtoint(ary.data, ir.IntType(64))
        address = builder.add(base, builder.mul(args[1], stride))
        fetch(builder, builder.inttoptr(address, ir.IntType(8).as_pointer()), True)
        return context.get_dummy_value()

    return types.void(array, types.int64), codegen


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


@shared
def exp(x):
    """e**x within 2 ulp for |x| <= 700, clamped beyond; vectorises, unlike math.exp.

    >>> exp(0.0), exp(0.5)
    (1.0, 1.6487212707001282)
    """
    return bounded_exp(min(max(x, -EXP_LIMIT), EXP_LIMIT))


@shared
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
    return _raised(p, shifted)


@shared
def lane_sum(terms, n):
    """terms[0] + ... + terms[n - 1], n a multiple of 8, in eight partial sums and a fixed order."""
    a = b = c = d = e = f = g = h = 0.0
    for k in range(0, n, LANES):
        a += terms[k]
        b += terms[k + 1]
        c += terms[k + 2]
        d += terms[k + 3]
        e += terms[k + 4]
        f += terms[k + 5]
        g += terms[k + 6]
        h += terms[k + 7]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


def grown(array: NDArray[Any], size: int, fill: float = 0) -> NDArray[Any]:
    """`array` with at least `size` rows; spare room is a fifth, so growth stays linear."""
    if len(array) >= size:
        return array
    room = size if len(array) == 0 else max(size, len(array) + len(array) // 5)
    bigger = np.empty((room, *array.shape[1:]), dtype=array.dtype)
    bigger[: len(array)], bigger[len(array) :] = array, fill  # memory that is new is written once
    return bigger
