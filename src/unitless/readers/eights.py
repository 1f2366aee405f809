"""Eight features at once: most of a sparse row is `name:value name:value`, which vectors can read.

A kernel takes the next sixteen breaks, from b on, for eight colons and eight ends, reads eight
names and values, and keeps those before the first that is not as simple as that (`how_many`); for
this one it has a way of its own. Lanes behind it hold whatever there is, and are read and written
in vain: text and arrays have room for them.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from unitless.lanes import EIGHT_WORDS, LANES, bits, lanes, pointer_to, where, words
from unitless.numerics import inner
from unitless.readers.decimals import DOT, ZEROS, eight_digits, not_digits
from unitless.readers.words import I8, I32, I64, ask_for, trailing_zeros

U = np.uint64
FULL = U(0xFFFFFFFFFFFFFFFF)
NEWLINE, SPACE, PLUS, MINUS, COLON = U(10), U(32), U(43), U(45), U(58)
F64, PAIRS = ir.DoubleType(), ir.VectorType(I32, 2 * LANES)
EIGHT_INTS, EIGHT_CHARS = ir.VectorType(I32, LANES), ir.VectorType(I8, LANES)


def _places(context, builder, kind, breaks, b):
    """breaks[b : b + 16 : 2], one by one."""
    data = context.make_array(kind)(context, builder, breaks).data
    for k in range(LANES):
        place = builder.load(builder.gep(data, [builder.add(b, I64(2 * k))]), align=4)
        yield builder.zext(place, I64)


@intrinsic
def every_other(typingctx, breaks, b):
    """breaks[b : b + 16 : 2]."""

    def codegen(context, builder, sig, args):
        both = builder.load(pointer_to(context, builder, sig.args[0], *args, PAIRS), align=4)
        order = ir.Constant(EIGHT_INTS, [*range(0, 2 * LANES, 2)])
        return builder.zext(builder.shuffle_vector(both, both, order), EIGHT_WORDS)

    return words(breaks, types.int64), codegen


@intrinsic
def moved_on(typingctx, numbers, first):
    """[first, numbers[0], ..., numbers[6]]."""

    def codegen(context, builder, sig, args):
        order = ir.Constant(EIGHT_INTS, [0, *range(LANES - 1)])
        moved = builder.shuffle_vector(args[0], args[0], order)
        return builder.insert_element(moved, args[1], I32(0))

    return words(words, types.uint64), codegen


def _gathered(context, builder, sig, args, kind, vector):
    """What stands in the text `offset` behind every other break."""
    text, breaks, b, offset = args
    made = ir.Constant(vector, ir.Undefined)
    for k, place in enumerate(_places(context, builder, sig.args[1], breaks, b)):
        place = builder.add(place, offset)
        pointer = pointer_to(context, builder, sig.args[0], text, place, kind)
        made = builder.insert_element(made, builder.load(pointer, align=1), I32(k))
    return made


@intrinsic
def load_words(typingctx, text, breaks, b, offset):
    """text[at : at + 8] as one number, for at = breaks[b + 2 k] + offset.

    (Places are numbers, not lanes, where memory is read: taking them out of a vector is slower than
    reading them again.)
    """

    def codegen(context, builder, sig, args):
        # As floats: vectors load these themselves, whole numbers would come by other registers.
        found = _gathered(context, builder, sig, args, F64, ir.VectorType(F64, LANES))
        return builder.bitcast(found, EIGHT_WORDS)

    return words(text, breaks, types.int64, types.int64), codegen


@intrinsic
def load_chars(typingctx, text, breaks, b, offset):
    """text[breaks[b + 2 k] + offset]."""

    def codegen(context, builder, sig, args):
        found = _gathered(context, builder, sig, args, I8, EIGHT_CHARS)
        return builder.zext(found, EIGHT_WORDS)

    return words(text, breaks, types.int64, types.int64), codegen


@intrinsic
def store_words(typingctx, array, i, numbers):
    """array[i : i + 8] = numbers, as many bits of them as its numbers have."""

    def codegen(context, builder, sig, args):
        array, i, numbers = args
        kind = EIGHT_WORDS
        if sig.args[0].dtype.bitwidth == 32:
            kind, numbers = EIGHT_INTS, builder.trunc(numbers, EIGHT_INTS)
        pointer = pointer_to(context, builder, sig.args[0], array, i, kind)
        builder.store(numbers, pointer, align=kind.element.width // 8)
        return context.get_dummy_value()

    return types.void(array, types.int64, words), codegen


@intrinsic
def ask_eight(typingctx, array, numbers, i, mask, step):
    """`words.ask` for the rows (numbers[k] & mask) * step of an array, k = i, ..., i + 7.

    (Numbers that were stored a moment ago: it takes less time to read them again than to take them
    out of a vector.)
    """

    def codegen(context, builder, sig, args):
        array, numbers, i, mask, step = args
        data = context.make_array(sig.args[1])(context, builder, numbers).data
        for k in range(LANES):
            number = builder.load(builder.gep(data, [builder.add(i, I64(k))]), align=8)
            row = builder.mul(builder.and_(number, mask), step)
            ask_for(context, builder, sig.args[0], array, row)
        return context.get_dummy_value()

    return types.void(array, numbers, types.int64, types.uint64, types.uint64), codegen


@intrinsic
def every_word(typingctx, number):
    """Eight times the same number."""

    def codegen(context, builder, sig, args):
        return context.cast(builder, args[0], types.uint64, words)

    return words(types.uint64), codegen


@intrinsic
def _ones(typingctx, numbers):
    """How many bits of each number are set."""

    def codegen(context, builder, sig, args):
        kind = ir.FunctionType(EIGHT_WORDS, [EIGHT_WORDS])
        name = f"llvm.ctpop.v{LANES}i64"
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)

    return words(words), codegen


@intrinsic
def _floats(typingctx, numbers):
    """Numbers below 2^31 as float64."""

    def codegen(context, builder, sig, args):
        small = builder.trunc(args[0], EIGHT_INTS)
        return builder.sitofp(small, ir.VectorType(ir.DoubleType(), LANES))

    return lanes(words), codegen


@intrinsic
def _with_sign(typingctx, values, negative):
    """-values where the lowest bit of `negative` is set."""

    def codegen(context, builder, sig, args):
        sign = builder.shl(args[1], ir.Constant(EIGHT_WORDS, [63] * LANES))
        flipped = builder.xor(builder.bitcast(args[0], EIGHT_WORDS), sign)
        return builder.bitcast(flipped, args[0].type)

    return lanes(lanes, words), codegen


@inner
def how_many(good, last):
    """Lanes before the first that is not good; none behind the first of `last`."""
    through = last & (U(0) - last)  # its lowest bit; what is below and beside it counts as well
    return trailing_zeros(~(good & (through | (through - U(1)))))


@inner
def _tails(text, breaks, b, sizes):
    """The last one to eight characters before each break, less '0' each, behind zeros."""
    spare = ((U(8) - sizes) << U(3)) & U(56)
    return ((load_words(text, breaks, b, -8) ^ ZEROS) >> spare) << spare


@inner
def integers(text, breaks, b):
    """(good, numbers) of eight times one to eight digits, which end at every other break."""
    sizes = every_other(breaks, b) - every_other(breaks, b - 1) - U(1)
    word = _tails(text, breaks, b, sizes)
    return bits((sizes - U(1) < U(8)) & (not_digits(word) == U(0))), eight_digits(word)


@inner
def decimals(text, breaks, b):
    """(good, values) between colons, at every other break, and the breaks that follow them.

    A good lane begins with a colon; its value is that of `decimals.short_decimal`.
    """
    front = load_words(text, breaks, b, 0)
    first = (front >> U(8)) & U(255)
    signs = where((first == MINUS) | (first == PLUS), U(1), U(0))
    sizes = every_other(breaks, b + 1) - every_other(breaks, b) - U(1) - signs
    word = _tails(text, breaks, b + 1, sizes)
    strange = not_digits(word)
    point = (strange & (U(0) - strange)) >> U(7)  # 1 in the byte of the point; 0 without one
    before = where(point == U(0), U(0), point - U(1))
    simple = (strange & (strange - U(1))) == U(0)
    simple = simple & (word & (point * U(255)) == point * DOT)
    word = word ^ (point * DOT)
    word = word + (word & before) * U(255)  # what stood before the point moves up
    places = where(point == U(0), U(0), U(7) - (_ones(before) >> U(3)))
    tens = where(places & U(1) == U(0), 1.0, 10.0) * where(places & U(2) == U(0), 1.0, 100.0)
    tens = tens * where(places & U(4) == U(0), 1.0, 10000.0)
    values = _with_sign(_floats(eight_digits(word)) / tens, where(first == MINUS, U(1), U(0)))
    alone = (sizes == U(1)) & (point != U(0))
    right = (sizes - U(1) < U(8)) & simple & (front & U(255) == COLON)
    return bits(right) & ~bits(alone), values


@inner
def names(text, breaks, b):
    """(good, low, high) of eight names of one to 16 bytes: `names.name_words`, in vectors."""
    sizes = every_other(breaks, b) - every_other(breaks, b - 1) - U(1)
    low, high = load_words(text, breaks, b - 1, 1), load_words(text, breaks, b - 1, 9)
    low = low & (FULL >> where(sizes < U(8), ((U(8) - sizes) << U(3)) & U(56), U(0)))
    high = where(U(8) < sizes, high & (FULL >> (((U(16) - sizes) << U(3)) & U(56))), U(0))
    return bits(sizes - U(1) < U(16)), low, high
