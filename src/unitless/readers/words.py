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

from unitless.lanes import LANES, fetch
from unitless.numerics import inner, kernel

I1, I8, I32, I64, I128 = (ir.IntType(bits) for bits in (1, 8, 32, 64, 128))
ZERO, ONE = np.uint64(0), np.uint64(1)
CHARS = ir.VectorType(I8, 64)
GROUP = 64
"""Numbers that `ranks_of` compares at a time: several vectors, for none of which another waits."""
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


def ask_for(context, builder, kind, array, index):
    """Ask the memory for array[index] (first axis)."""
    ary = context.make_array(kind)(context, builder, array)
    step = builder.mul(index, builder.extract_value(ary.strides, 0))
    pointer = builder.inttoptr(builder.add(builder.ptrtoint(ary.data, I64), step), I8.as_pointer())
    fetch(builder, pointer, False)


@intrinsic
def ask(typingctx, array, index):
    """Ask the memory for array[index] (first axis), to be read soon.

    (`numerics.prefetch` is for what is to be written: it takes the line away from other cores.)
    """

    def codegen(context, builder, signature, args):
        ask_for(context, builder, signature.args[0], *args)
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
def ranks_of(typingctx, keys, begin, at, n, copy, ranks):
    """ranks[k] = how many of the n keys from `begin` on are below key k, for `GROUP` k from `at`.

    Returns the sum of these ranks, or -1 if a key is negative; keys are copied to `copy`. All are
    int32, and whatever lies behind the last key is read, written and not counted.

    Vectors have eight keys: a comparison of eight is a vector again, one of sixteen would take a
    detour by mask registers.
    """

    def codegen(context, builder, signature, args):
        keys, copy, ranks = (
            context.make_array(signature.args[k])(context, builder, args[k]).data for k in (0, 4, 5)
        )
        _, begin, at, n, *_ = args
        eight = ir.VectorType(I32, LANES)
        zero, keys = ir.Constant(eight, [0] * LANES), builder.gep(keys, [begin])

        def place(data, k):
            index = builder.add(at, I64(k))
            return builder.bitcast(builder.gep(data, [index]), eight.as_pointer())

        own = [builder.load(place(keys, k), align=4) for k in range(0, GROUP, LANES)]
        counts = [cgutils.alloca_once_value(builder, zero) for _ in own]
        with cgutils.for_range(builder, n, intp=I64) as loop:
            every = _all(builder, builder.load(builder.gep(keys, [loop.index])), eight)
            for part, count in zip(own, counts, strict=True):
                below = builder.sext(builder.icmp_signed("<", every, part), eight)
                builder.store(builder.sub(builder.load(count), below), count)
        left = _all(builder, builder.trunc(builder.sub(n, at), I32), eight)
        total, signs = zero, zero
        for k, part, count in zip(range(0, GROUP, LANES), own, counts, strict=True):
            found = builder.load(count)
            builder.store(found, place(ranks, k), align=4)
            builder.store(part, place(copy, k), align=4)
            inside = builder.icmp_signed("<", ir.Constant(eight, [*range(k, k + LANES)]), left)
            total = builder.add(total, builder.select(inside, found, zero))
            signs = builder.or_(signs, builder.select(inside, part, zero))
        negative = builder.bitcast(builder.icmp_signed("<", signs, zero), ir.IntType(LANES))
        adding = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(I32, [eight]), f"llvm.vector.reduce.add.v{LANES}i32"
        )
        total = builder.zext(builder.call(adding, [total]), I64)
        return builder.select(
            builder.icmp_unsigned("!=", negative, negative.type(0)), I64(-1), total
        )

    number = types.int64
    return number(keys, number, number, number, copy, ranks), codegen


@intrinsic
def matches(typingctx, table, at, first, second):
    """Bit 2 k: table[at + k] is (first, second), but for the lower half of second; k < `LINE`."""

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
        same = builder.icmp_unsigned("==", wrong, ir.Constant(words, [0] * 2 * LINE))
        words_met = builder.zext(builder.bitcast(same, ir.IntType(2 * LINE)), I64)
        both = builder.and_(words_met, builder.lshr(words_met, I64(1)))
        return builder.and_(both, I64(0x55))

    return types.uint64(table, types.int64, types.uint64, types.uint64), codegen


@kernel
def find_breaks(text, start, stop, extra, places):
    """Fill in the places of all breaks (see `breaks64`) of text[start:stop]: (breaks, newlines).

    Eight places are written at a time, and sixteen behind the last are the text's end: there is
    room for these.
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
    while count > 0 and places[count - 1] >= stop:  # of another chunk
        count -= 1
    for i in range(count, count + 16):
        places[i] = stop
    return count, lines
