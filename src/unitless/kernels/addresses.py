"""Arrays from a table of (address, size): Numba takes long for every array that Python passes."""

import numpy as np
from numba import carray, types  # type: ignore[attr-defined]
from numba.extending import intrinsic

from unitless.kernels.decorators import inlined


@intrinsic
def _pointer(typingctx, address, dtype):
    """A pointer to numbers of a type, from an address."""
    pointer = types.CPointer(dtype.dtype)

    def codegen(context, builder, signature, args):
        return builder.inttoptr(args[0], context.get_value_type(pointer))

    return pointer(types.int64, dtype), codegen


@inlined
def array_at(table, k, dtype):
    """The array of row k of the table."""
    return carray(_pointer(table[k, 0], dtype), (table[k, 1],))


@inlined
def floats_at(table, k):
    return array_at(table, k, np.float64)
