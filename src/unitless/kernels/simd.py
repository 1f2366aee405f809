"""Explicit SIMD vectors of eight float64 for kernels.

A compiler that vectorises a loop leaves a scalar remainder and chooses the order of sums. In a
kernel written with `Lanes` both are explicit: `+ - * /`, `min`, `max`, `abs`, `math.sqrt`,
comparisons, `where` and `fma` act on eight numbers, and a float among them stands for eight equal
ones. Each lane is rounded as a scalar would be, so a formula written for both types gives the same
bits for both.

Bounds are not checked: an array must have eight numbers from `i` on.
"""

import math
import operator
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, types  # type: ignore[attr-defined]
from numba.core import cgutils
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

from unitless.kernels.decorators import inlined

LANES = 8
"""Column j of a row goes to lane j % LANES, on every machine."""

_INT32 = ir.IntType(32)
_VECTOR = ir.VectorType(ir.DoubleType(), LANES)
_BITS = ir.VectorType(ir.IntType(1), LANES)


class Lanes(types.Type):
    """The type of eight float64, or of eight booleans."""


lanes = Lanes(name="lanes")
mask = Lanes(name="mask")


@register_model(Lanes)
def _model(manager, kind):
    return models.PrimitiveModel(manager, kind, _VECTOR if kind is lanes else _BITS)


def _vector(builder: ir.IRBuilder, value: ir.Value) -> ir.Value:
    """The value, eight times if it is a number."""
    if isinstance(value.type, ir.VectorType):
        return value
    kind = ir.VectorType(value.type, LANES)
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, _INT32(0))
    zeros = ir.Constant(ir.VectorType(_INT32, LANES), [0] * LANES)
    return builder.shuffle_vector(one, one, zeros)


def _call(builder: ir.IRBuilder, name: str, *args: ir.Value) -> ir.Value:
    """A function of LLVM on eight numbers."""
    kind = ir.FunctionType(_VECTOR, [_VECTOR] * len(args))
    function = cgutils.get_or_insert_function(builder.module, kind, f"{name}.v{LANES}f64")
    return builder.call(function, args)


def _define(python: Any, result: types.Type, emit: Callable[..., Any]) -> None:
    """Define a Python operator or function for vectors, and for vectors and numbers."""
    arity = emit.__code__.co_argcount - 1
    kinds = [kind for kind in product((lanes, types.float64), repeat=arity) if lanes in kind]
    if arity == 1:
        type_callable(python)(lambda context: lambda x: result if x is lanes else None)
    else:
        type_callable(python)(lambda context: lambda x, y: result if (x, y) in kinds else None)

    def lower(context, builder, signature, args):
        return emit(builder, *[_vector(builder, value) for value in args])

    for kind in kinds:
        lower_builtin(python, *kind)(lower)


_define(operator.add, lanes, lambda b, x, y: b.fadd(x, y))
_define(operator.iadd, lanes, lambda b, x, y: b.fadd(x, y))
_define(operator.sub, lanes, lambda b, x, y: b.fsub(x, y))
_define(operator.mul, lanes, lambda b, x, y: b.fmul(x, y))
_define(operator.truediv, lanes, lambda b, x, y: b.fdiv(x, y))
_define(min, lanes, lambda b, x, y: b.select(b.fcmp_ordered("<", x, y), x, y))
_define(max, lanes, lambda b, x, y: b.select(b.fcmp_ordered(">", x, y), x, y))
_define(math.sqrt, lanes, lambda b, x: _call(b, "llvm.sqrt", x))
_define(abs, lanes, lambda b, x: _call(b, "llvm.fabs", x))
_define(operator.lt, mask, lambda b, x, y: b.fcmp_ordered("<", x, y))
_define(operator.gt, mask, lambda b, x, y: b.fcmp_ordered(">", x, y))
_define(operator.eq, mask, lambda b, x, y: b.fcmp_ordered("==", x, y))
_define(operator.ne, mask, lambda b, x, y: b.fcmp_unordered("!=", x, y))


@intrinsic
def fma(typingctx, a, b, c):
    """a * b + c, rounded once; of numbers or of lanes."""

    def codegen(context, builder, signature, args):
        if signature.return_type is types.float64:
            return builder.fma(*args)
        return _call(builder, "llvm.fma", *[_vector(builder, value) for value in args])

    kinds = [lanes if kind is lanes else types.float64 for kind in (a, b, c)]
    return (lanes if lanes in kinds else types.float64)(*kinds), codegen


@intrinsic
def where(typingctx, condition, a, b):
    """a in the lanes where the condition holds, b in the others."""

    def codegen(context, builder, signature, args):
        condition, *values = args
        return builder.select(condition, *[_vector(builder, value) for value in values])

    kinds = [lanes if kind is lanes else types.float64 for kind in (a, b)]
    return lanes(mask, *kinds), codegen


@intrinsic
def every(typingctx, number):
    """Eight times the same number."""

    def codegen(context, builder, signature, args):
        return _vector(builder, args[0])

    return lanes(types.float64), codegen


@intrinsic
def total(typingctx, v):
    """((v0 + v1) + (v2 + v3)) + ((v4 + v5) + (v6 + v7))."""

    def codegen(context, builder, signature, args):
        parts = [builder.extract_element(args[0], _INT32(k)) for k in range(LANES)]
        while len(parts) > 1:
            parts = [builder.fadd(*parts[k : k + 2]) for k in range(0, len(parts), 2)]
        return parts[0]

    return types.float64(lanes), codegen


def _element(context, builder, kind, array, index):
    """A pointer to array[index]."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.gep(data, [index])


def _address(context, builder, *place):
    """A pointer to eight numbers from there on."""
    return builder.bitcast(_element(context, builder, *place), _VECTOR.as_pointer())


@intrinsic
def pointer(typingctx, array, i):
    """The address of array[i], for `numba.carray`."""

    def codegen(context, builder, signature, args):
        return _element(context, builder, signature.args[0], *args)

    return types.CPointer(array.dtype)(array, types.int64), codegen


@intrinsic
def _cast(typingctx, address, dtype):
    """A pointer to numbers of a type, from an address."""
    kind = types.CPointer(dtype.dtype)

    def codegen(context, builder, signature, args):
        return builder.inttoptr(args[0], context.get_value_type(kind))

    return kind(types.int64, dtype), codegen


@inlined
def array_at(table, k, dtype):
    """The array of row k of a table of (address, size).

    Numba takes long for every array that Python passes, so that some kernels get a table.
    """
    return carray(_cast(table[k, 0], dtype), (table[k, 1],))


@inlined
def floats_at(table, k):
    return array_at(table, k, np.float64)


@intrinsic
def load(typingctx, array, i):
    """array[i : i + 8]."""

    def codegen(context, builder, signature, args):
        return builder.load(_address(context, builder, signature.args[0], *args), align=8)

    return lanes(array, types.int64), codegen


@intrinsic
def store(typingctx, array, i, v):
    """array[i : i + 8] = v."""

    def codegen(context, builder, signature, args):
        array, i, v = args
        builder.store(v, _address(context, builder, signature.args[0], array, i), align=8)
        return context.get_dummy_value()

    return types.void(array, types.int64, lanes), codegen


@intrinsic
def prefetch(typingctx, array, i):
    """Ask for the cache line of array[i] before it is needed."""

    def codegen(context, builder, signature, args):
        address = _address(context, builder, signature.args[0], *args)
        pointer = builder.bitcast(address, ir.IntType(8).as_pointer())
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, _INT32, _INT32, _INT32])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind)
        builder.call(function, [pointer, _INT32(0), _INT32(3), _INT32(1)])  # to be read, kept
        return context.get_dummy_value()

    return types.void(array, types.int64), codegen
