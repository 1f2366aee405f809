"""Text, one, eight and sixty-four bytes at a time: the machine operations of the text kernels.

Eight bytes make one number with the first character lowest, as on every machine that Numba
compiles for today. Nothing here looks whether it is still inside the text: texts have room on both
sides (`bytes.PADDING`).
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from unitless.numerics import inner, kernel

I1, I8, I32, I64, I128 = (ir.IntType(bits) for bits in (1, 8, 32, 64, 128))
ZERO, ONE = np.uint64(0), np.uint64(1)
CHARS = ir.VectorType(I8, 64)
GROUP = 16
"""Numbers that `ranks_of` compares at a time."""
LINE = 4
"""Pairs of words in a line of the cache."""


def _load(context, builder, signature, args, kind):
    """What stands at args[0][args[1]], read as `kind`."""
    data = context.make_array(signature.args[0])(context, builder, args[0]).data
    pointer = builder.bitcast(builder.gep(data, [args[1]]), kind.as_pointer())
    return builder.load(pointer, align=1)


def _all(builder, one, kind=CHARS):
    """A vector of that kind, the same everywhere."""
    first = builder.insert_element(ir.Constant(kind, None), one, I32(0))
    return builder.shuffle_vector(first, first, ir.Constant(ir.VectorType(I32, kind.count), None))


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
def store8(typingctx, text, at, word):
    """text[at : at + 8] = the bytes of a number."""

    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        pointer = builder.bitcast(builder.gep(data, [args[1]]), I64.as_pointer())
        builder.store(args[2], pointer, align=1)
        return context.get_dummy_value()

    return types.void(text, types.int64, types.uint64), codegen


@inner
def has_byte(word, char):
    """Whether one of the eight bytes is that character; not 0 if it is."""
    other = word ^ (np.uint64(0x0101010101010101) * np.uint64(char))
    return (other - np.uint64(0x0101010101010101)) & ~other & np.uint64(0x8080808080808080)


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
def ask(typingctx, array, index):
    """Ask the memory for array[index] (first axis), to be read soon.

    (`numerics.prefetch` is for what is to be written: it takes the line away from other cores.)
    """

    def codegen(context, builder, signature, args):
        ary = context.make_array(signature.args[0])(context, builder, args[0])
        step = builder.mul(args[1], builder.extract_value(ary.strides, 0))
        pointer = builder.inttoptr(
            builder.add(builder.ptrtoint(ary.data, I64), step), I8.as_pointer()
        )
        kind = ir.FunctionType(ir.VoidType(), [pointer.type, I32, I32, I32])
        function = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind)
        builder.call(function, [pointer, I32(0), I32(3), I32(1)])
        return context.get_dummy_value()

    return types.void(array, types.int64), codegen


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


@intrinsic
def bits_of_float(typingctx, x):
    """The bits of a float64."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], I64)

    return types.uint64(types.float64), codegen


@intrinsic
def ranks_of(typingctx, keys, at, n, ranks):
    """ranks[k] = how many of keys[:n] are below keys[k], for the `GROUP` k from `at` on (int32)."""

    def codegen(context, builder, signature, args):
        keys, ranks = (
            context.make_array(signature.args[k])(context, builder, args[k]).data for k in (0, 3)
        )
        lanes = ir.VectorType(I32, GROUP)
        own, out = (
            builder.bitcast(builder.gep(data, [args[1]]), lanes.as_pointer())
            for data in (keys, ranks)
        )
        own = builder.load(own, align=4)
        counts = cgutils.alloca_once_value(builder, ir.Constant(lanes, [0] * GROUP))
        with cgutils.for_range(builder, args[2], intp=I64) as loop:
            every = _all(builder, builder.load(builder.gep(keys, [loop.index])), lanes)
            below = builder.sext(builder.icmp_signed("<", every, own), lanes)  # 0 or -1
            builder.store(builder.sub(builder.load(counts), below), counts)
        builder.store(builder.load(counts), out, align=4)
        return context.get_dummy_value()

    return types.void(keys, types.int64, types.int64, ranks), codegen


@intrinsic
def matches(typingctx, table, at, first, second):
    """Bit k: table[at + k] is (first, second), but for the lower half of second; k < `LINE`."""

    def codegen(context, builder, signature, args):
        data = context.make_array(signature.args[0])(context, builder, args[0]).data
        words = ir.VectorType(I64, 2 * LINE)
        start = builder.gep(data, [builder.mul(args[1], I64(2))])
        met = builder.load(builder.bitcast(start, words.as_pointer()), align=8)
        wanted = ir.Constant(words, None)
        for k in range(2 * LINE):
            wanted = builder.insert_element(wanted, args[2 + k % 2], I32(k))
        upper = ir.Constant(words, [2**64 - 1, 2**64 - 2**32] * LINE)
        wrong = builder.and_(builder.xor(met, wanted), upper)
        evens, odds = (
            builder.shuffle_vector(wrong, wrong, ir.Constant(ir.VectorType(I32, LINE), where))
            for where in ([*range(0, 2 * LINE, 2)], [*range(1, 2 * LINE, 2)])
        )
        zero = ir.Constant(ir.VectorType(I64, LINE), [0] * LINE)
        same = builder.icmp_unsigned("==", builder.or_(evens, odds), zero)
        return builder.zext(builder.bitcast(same, ir.IntType(LINE)), I64)

    return types.uint64(table, types.int64, types.uint64, types.uint64), codegen


@kernel
def find_breaks(text, start, stop, extra, places):
    """Fill in the places of all breaks (see `breaks64`) of text[start:stop]: (breaks, newlines).

    Eight places are written at a time, so there is room for eight more behind the last.
    """
    count, lines = 0, 0
    for base in range(start, stop, 64):
        left = breaks64(text, base, extra)
        last = count + ones(left)
        lines += ones(equal64(text, base, np.uint8(10)))
        for k in range(count, last, 8):
            for i in range(8):
                places[np.uint64(k + i)] = base + trailing_zeros(left)
                left &= left - ONE
        count = last
    return count, lines
