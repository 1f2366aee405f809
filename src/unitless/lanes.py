"""Eight numbers at once: vectors that a kernel asks for, rather than hopes for.

A compiler that vectorises a loop leaves a scalar rest, tests at run time whether arrays overlap,
and loads a record of two numbers one by one. A kernel written in `lanes` does what it says:
`+ - * /`, `min`, `max`, `abs`, comparisons, `where` and `numerics.fma` act on all eight numbers,
and a float among them stands for eight equal ones. Each lane is rounded as a scalar would be, so a
formula written for both types gives both the same bits. `words` are eight uint64, for text.

Nothing here looks at the ends of an array: there must be eight numbers from `i` on.
"""

import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typeconv.castgraph import Conversion
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, lower_cast, models, register_model

LANES = 8
"""How many: column j of a row goes to lane j % LANES, on every machine."""

_I32, _I64 = ir.IntType(32), ir.IntType(64)
_EIGHT = ir.VectorType(ir.DoubleType(), LANES)
_PAIR = ir.VectorType(ir.DoubleType(), 2)
EIGHT_WORDS = ir.VectorType(_I64, LANES)


class Lanes(types.Type):
    """The type of eight float64."""

    def can_convert_from(self, typingctx: Any, other: types.Type) -> Any:
        """A float stands for eight of it."""
        return Conversion.safe if other is types.float64 else None


class Words(types.Type):
    """The type of eight uint64."""

    def can_convert_from(self, typingctx: Any, other: types.Type) -> Any:
        """A number stands for eight of it."""
        return Conversion.safe if other is types.uint64 else None


class Mask(types.Type):
    """The type of eight answers."""


lanes, words, mask = Lanes(name="lanes"), Words(name="words"), Mask(name="mask")
_SCALARS = {lanes: types.float64, words: types.uint64}
_STORED = {Lanes: _EIGHT, Words: EIGHT_WORDS, Mask: ir.VectorType(ir.IntType(1), LANES)}
for _kind, _vector in _STORED.items():

    @register_model(_kind)
    class _Model(models.PrimitiveModel):
        def __init__(self, dmm: Any, fe_type: Any) -> None:
            super().__init__(dmm, fe_type, _STORED[type(fe_type)])


@lower_cast(types.float64, Lanes)
@lower_cast(types.uint64, Words)
def _repeated(context, builder, fromty, toty, value):
    return _all(builder, value)


def _all(builder, value):
    kind = ir.VectorType(value.type, LANES)
    one = builder.insert_element(ir.Constant(kind, ir.Undefined), value, _I32(0))
    return builder.shuffle_vector(one, one, _choice([0] * LANES))


def _choice(chosen: Iterable[int]) -> ir.Constant:
    numbers = list(chosen)
    return ir.Constant(ir.VectorType(_I32, len(numbers)), numbers)


def _operate(
    python: Any, result: types.Type, operands: types.Type, emit: Callable[..., Any]
) -> None:
    """Give a Python operator a meaning for lanes or masks."""

    class Typed(AbstractTemplate):
        def generic(self, args, kws):
            allowed = operands, _SCALARS.get(operands)
            if operands in args and all(kind in allowed for kind in args):
                return signature(result, *[operands] * len(args))
            return None

    infer_global(python)(Typed)
    arity = emit.__code__.co_argcount - 1
    lower_builtin(python, *[operands] * arity)(
        lambda context, builder, sig, args: emit(builder, *args)
    )


_operate(operator.add, lanes, lanes, lambda b, x, y: b.fadd(x, y))
_operate(operator.iadd, lanes, lanes, lambda b, x, y: b.fadd(x, y))
_operate(operator.sub, lanes, lanes, lambda b, x, y: b.fsub(x, y))
_operate(operator.mul, lanes, lanes, lambda b, x, y: b.fmul(x, y))
_operate(operator.truediv, lanes, lanes, lambda b, x, y: b.fdiv(x, y))
_operate(min, lanes, lanes, lambda b, x, y: b.select(b.fcmp_ordered("<", x, y), x, y))
_operate(max, lanes, lanes, lambda b, x, y: b.select(b.fcmp_ordered(">", x, y), x, y))
_operate(math.sqrt, lanes, lanes, lambda b, x: vector_call(b, "llvm.sqrt", x))
_operate(abs, lanes, lanes, lambda b, x: vector_call(b, "llvm.fabs", x))
_operate(operator.lt, mask, lanes, lambda b, x, y: b.fcmp_ordered("<", x, y))
_operate(operator.gt, mask, lanes, lambda b, x, y: b.fcmp_ordered(">", x, y))
_operate(operator.eq, mask, lanes, lambda b, x, y: b.fcmp_ordered("==", x, y))
_operate(operator.ne, mask, lanes, lambda b, x, y: b.fcmp_unordered("!=", x, y))
_operate(operator.add, words, words, lambda b, x, y: b.add(x, y))
_operate(operator.sub, words, words, lambda b, x, y: b.sub(x, y))
_operate(operator.mul, words, words, lambda b, x, y: b.mul(x, y))
_operate(operator.and_, words, words, lambda b, x, y: b.and_(x, y))
_operate(operator.or_, words, words, lambda b, x, y: b.or_(x, y))
_operate(operator.xor, words, words, lambda b, x, y: b.xor(x, y))
_operate(operator.lshift, words, words, lambda b, x, y: b.shl(x, y))
_operate(operator.rshift, words, words, lambda b, x, y: b.lshr(x, y))
_operate(operator.lt, mask, words, lambda b, x, y: b.icmp_unsigned("<", x, y))
_operate(operator.eq, mask, words, lambda b, x, y: b.icmp_unsigned("==", x, y))
_operate(operator.ne, mask, words, lambda b, x, y: b.icmp_unsigned("!=", x, y))
_operate(operator.and_, mask, mask, lambda b, x, y: b.and_(x, y))
_operate(operator.or_, mask, mask, lambda b, x, y: b.or_(x, y))


def vector_call(builder: ir.IRBuilder, name: str, *args: ir.Value) -> ir.Value:
    """A function of the machine's, of eight numbers each."""
    kind = ir.FunctionType(_EIGHT, [_EIGHT] * len(args))
    function = cgutils.get_or_insert_function(builder.module, kind, f"{name}.v{LANES}f64")
    return builder.call(function, args)


@intrinsic
def where(typingctx, condition, a, b):
    """a in the lanes where the condition holds, b in the others."""

    def codegen(context, builder, sig, args):
        return builder.select(*args)

    kind = words if words in (a, b) or types.uint64 in (a, b) else lanes
    return kind(mask, kind, kind), codegen


@intrinsic
def bits(typingctx, condition):
    """Bit k: the condition holds in lane k."""

    def codegen(context, builder, sig, args):
        return builder.zext(builder.bitcast(args[0], ir.IntType(LANES)), _I64)

    return types.uint64(mask), codegen


@intrinsic
def any_lane(typingctx, condition):
    """Whether the condition holds in a lane."""

    def codegen(context, builder, sig, args):
        bits = ir.IntType(LANES)
        return builder.icmp_unsigned("!=", builder.bitcast(args[0], bits), bits(0))

    return types.boolean(mask), codegen


@intrinsic
def every(typingctx, number):
    """Eight times the same number."""

    def codegen(context, builder, sig, args):
        return _all(builder, args[0])

    return lanes(types.float64), codegen


def _before(builder, m):
    return builder.icmp_signed("<", _choice(range(LANES)), _all(builder, builder.trunc(m, _I32)))


@intrinsic
def before(typingctx, m):
    """The lanes 0 ... m - 1."""

    def codegen(context, builder, sig, args):
        return _before(builder, args[0])

    return mask(types.int64), codegen


@intrinsic
def total(typingctx, v):
    """((v0 + v1) + (v2 + v3)) + ((v4 + v5) + (v6 + v7))."""

    def codegen(context, builder, sig, args):
        parts = [builder.extract_element(args[0], _I32(k)) for k in range(LANES)]
        while len(parts) > 1:
            parts = [builder.fadd(*parts[k : k + 2]) for k in range(0, len(parts), 2)]
        return parts[0]

    return types.float64(lanes), codegen


def pointer_to(context, builder, kind, array, index, to):
    """array[index], read as `to`."""
    data = context.make_array(kind)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), to.as_pointer())


@intrinsic
def load(typingctx, array, i):
    """array[i : i + 8]."""

    def codegen(context, builder, sig, args):
        return builder.load(pointer_to(context, builder, sig.args[0], *args, _EIGHT), align=8)

    return lanes(array, types.int64), codegen


@intrinsic
def store(typingctx, array, i, v):
    """array[i : i + 8] = v."""

    def codegen(context, builder, sig, args):
        array, i, v = args
        builder.store(v, pointer_to(context, builder, sig.args[0], array, i, _EIGHT), align=8)
        return context.get_dummy_value()

    return types.void(array, types.int64, lanes), codegen


@intrinsic
def place_last(typingctx, columns, i, m, beyond, places, k):
    """places[k : k + 8] = columns[i : i + m], beyond, ..., beyond; of int32."""

    def codegen(context, builder, sig, args):
        columns, i, m, beyond, places, k = args
        four_bytes = ir.VectorType(_I32, LANES)
        source = pointer_to(context, builder, sig.args[0], columns, i, four_bytes)
        target = pointer_to(context, builder, sig.args[4], places, k, four_bytes)
        rest = _all(builder, builder.trunc(beyond, _I32))
        stored = builder.load(source, align=4)
        builder.store(builder.select(_before(builder, m), stored, rest), target, align=4)
        return context.get_dummy_value()

    number = types.int64
    return types.void(columns, number, number, number, places, number), codegen


# Records of two numbers lie side by side, so that one cache line brings both. Four of them are
# turned into two vectors of four in registers, which costs half of what loads one by one do.


def _records(context, builder, sig, records, places, k, chosen=range(LANES)):
    """Pointers to records[2 i : 2 i + 2] for i in places[k : k + 8]."""
    data = context.make_array(sig.args[0])(context, builder, records).data
    order = context.make_array(sig.args[1])(context, builder, places).data
    found = []
    for lane in chosen:
        place = builder.load(builder.gep(order, [builder.add(k, _I64(lane))]), align=4)
        offset = builder.shl(builder.sext(place, _I64), _I64(1))
        found.append(builder.bitcast(builder.gep(data, [offset]), _PAIR.as_pointer()))
    return found


@intrinsic
def gather_pairs(typingctx, records, places, k):
    """(a, b) with a, b = records[2 i], records[2 i + 1] for i in places[k : k + 8]."""

    def codegen(context, builder, sig, args):
        pairs = [builder.load(p, align=8) for p in _records(context, builder, sig, *args)]
        shuffle, halves = builder.shuffle_vector, []
        for p, q, r, s in (pairs[:4], pairs[4:]):
            pr, qs = shuffle(p, r, _choice(range(4))), shuffle(q, s, _choice(range(4)))
            halves += [
                shuffle(pr, qs, _choice([0, 4, 2, 6])),
                shuffle(pr, qs, _choice([1, 5, 3, 7])),
            ]
        whole = [shuffle(halves[j], halves[j + 2], _choice(range(LANES))) for j in (0, 1)]
        return context.make_tuple(builder, sig.return_type, whole)

    return types.UniTuple(lanes, 2)(records, places, types.int64), codegen


@intrinsic
def scatter_pairs(typingctx, records, places, k, a, b):
    """records[2 i], records[2 i + 1] = a, b for i in places[k : k + 8]."""

    def codegen(context, builder, sig, args):
        *where_to, a, b = args
        pointers, shuffle = _records(context, builder, sig, *where_to), builder.shuffle_vector
        for j in (0, 4):
            even = shuffle(a, b, _choice([j, j + 8, j + 2, j + 10]))
            odd = shuffle(a, b, _choice([j + 1, j + 9, j + 3, j + 11]))
            order = (even, [0, 1]), (odd, [0, 1]), (even, [2, 3]), (odd, [2, 3])
            for pointer, (four, two) in zip(pointers[j : j + 4], order, strict=True):
                builder.store(shuffle(four, four, _choice(two)), pointer, align=8)
        return context.get_dummy_value()

    return types.void(records, places, types.int64, lanes, lanes), codegen


def fetch(builder: ir.IRBuilder, pointer: ir.Value, write: bool) -> None:
    """Ask for the cache line of a pointer before it is needed."""
    pointer = builder.bitcast(pointer, ir.IntType(8).as_pointer())
    kind = ir.FunctionType(ir.VoidType(), [pointer.type, _I32, _I32, _I32])
    function = builder.module.declare_intrinsic("llvm.prefetch", [pointer.type], kind)
    builder.call(function, [pointer, _I32(int(write)), _I32(3), _I32(1)])


def _third(chosen: range) -> Any:
    @intrinsic
    def fetch_pairs(typingctx, records, places, k):
        def codegen(context, builder, sig, args):
            for pointer in _records(context, builder, sig, *args, chosen):
                fetch(builder, pointer, True)
            return context.get_dummy_value()

        return types.void(records, places, types.int64), codegen

    return fetch_pairs


fetch_first, fetch_middle, fetch_last = _third(range(3)), _third(range(3, 6)), _third(range(6, 8))
"""Ask for the records of places[k : k + 8], a third each: a core waits for some twenty lines at a
time, and asked for by all loops over a row, they wait in none.
"""


@intrinsic
def fetch_stream(typingctx, array, i):
    """Ask for array[i], which is going to be read; any i will do."""

    def codegen(context, builder, sig, args):
        fetch(builder, pointer_to(context, builder, sig.args[0], *args, _I32), False)
        return context.get_dummy_value()

    return types.void(array, types.int64), codegen
