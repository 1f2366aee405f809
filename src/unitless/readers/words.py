"""Text, one, eight and sixty-four bytes at a time: the machine operations of the text kernels.

Eight bytes make one number with the first character lowest, as on every machine that Numba
compiles for today. Nothing here looks whether it is still inside the text: texts have room on both
sides (`bytes.PADDING`).
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from unitless.numerics import inner

I1, I8, I32, I64, I128 = (ir.IntType(bits) for bits in (1, 8, 32, 64, 128))
ZERO, ONE = np.uint64(0), np.uint64(1)
CHARS = ir.VectorType(I8, 64)


def _load(context, builder, signature, args, kind):
    """What stands at args[0][args[1]], read as `kind`."""
    data = context.make_array(signature.args[0])(context, builder, args[0]).data
    pointer = builder.bitcast(builder.gep(data, [args[1]]), kind.as_pointer())
    return builder.load(pointer, align=1)


def _all(builder, char):
    """The character sixty-four times."""
    first = builder.insert_element(ir.Constant(CHARS, None), char, I32(0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(I32, 64), None))


@intrinsic
def byte(typingctx, text, at):
    """text[at]."""

    def codegen(context, builder, signature, args):
        return builder.zext(_load(context, builder, signature, args, I8), I64)

    return types.int64(text, types.int64), codegen


@intrinsic
def load8(typingctx, text, at):
    """text[at : at + 8] as one number."""

    def codegen(context, builder, signature, args):
        return _load(context, builder, signature, args, I64)

    return types.uint64(text, types.int64), codegen


@intrinsic
def breaks64(typingctx, text, at, extra):
    """Bit k: text[at + k] is at most a space, or a colon, or `extra`."""

    def codegen(context, builder, signature, args):
        chars = _load(context, builder, signature, args[:2], CHARS)
        blank = builder.icmp_unsigned("<=", chars, ir.Constant(CHARS, [32] * 64))
        colon = builder.icmp_unsigned("==", chars, ir.Constant(CHARS, [58] * 64))
        other = builder.icmp_unsigned("==", chars, _all(builder, args[2]))
        return builder.bitcast(builder.or_(builder.or_(blank, colon), other), I64)

    return types.uint64(text, types.int64, types.uint8), codegen


@intrinsic
def equal64(typingctx, text, at, char):
    """Bit k: text[at + k] is that character."""

    def codegen(context, builder, signature, args):
        chars = _load(context, builder, signature, args[:2], CHARS)
        return builder.bitcast(builder.icmp_unsigned("==", chars, _all(builder, args[2])), I64)

    return types.uint64(text, types.int64, types.uint8), codegen


@inner
def any64(text, at, a, b, c):
    """Bit k: text[at + k] is one of three characters."""
    return equal64(text, at, a) | equal64(text, at, b) | equal64(text, at, c)


@intrinsic
def trailing_zeros(typingctx, word):
    """Position of the lowest bit set; 64 if none is."""

    def codegen(context, builder, signature, args):
        return builder.cttz(args[0], I1(0))

    return types.int64(types.uint64), codegen


@intrinsic
def leading_zeros(typingctx, word):
    """Number of zeros above the highest bit set; 64 if none is."""

    def codegen(context, builder, signature, args):
        return builder.ctlz(args[0], I1(0))

    return types.int64(types.uint64), codegen


@intrinsic
def ones(typingctx, word):
    """Number of bits set."""

    def codegen(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.uint64), codegen


@intrinsic
def high_product(typingctx, a, b):
    """The upper half of the 128-bit product."""

    def codegen(context, builder, signature, args):
        product = builder.mul(builder.zext(args[0], I128), builder.zext(args[1], I128))
        return builder.trunc(builder.lshr(product, I128(64)), I64)

    return types.uint64(types.uint64, types.uint64), codegen


@intrinsic
def float_of_bits(typingctx, word):
    """The float64 whose bits these are."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.uint64), codegen


@inner
def next_break(text, base, left, extra):
    """The next break (see `breaks64`): (base, left, place).

    `left` holds the breaks not yet met among the 64 bytes from `base` on.
    """
    while left == ZERO:
        base += 64
        left = breaks64(text, base, extra)
    return base, left & (left - ONE), base + trailing_zeros(left)
