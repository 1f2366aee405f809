"""DictEncoder: assign columns to the feature names of dict rows.

A block of dicts is in the order of `learn_one`. So a learner learns bit-for-bit the same from a
block and from its rows one by one.
"""

import math
import struct
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter, methodcaller
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless.rows import Block, Rows, as_rows

NUMBERS = {float, int, bool, type(None)}


class DictEncoder:
    """The columns of named features, in order of first appearance, and a buffer for one row.

    New names of a row get their columns in sorted order, and a row is loaded by column, so that
    the order of the keys of a dict does not matter.

    A stream of dicts mostly repeats its keys. `load` remembers the last ones, so that such a row
    costs one comparison of its keys and one pass over its values.

    >>> encoder = DictEncoder()
    >>> encoder.load({"height": 1.8, "weight": None})
    True
    >>> encoder.add_unknown()
    >>> encoder.load({"weight": 70, "height": 1.7})
    False
    >>> encoder.values, encoder.indices
    (array([ 1.7, 70. ]), array([0, 1], dtype=int32))
    """

    def __init__(self, columns: Mapping[Hashable, int] | None = None) -> None:
        self.columns: dict[Hashable, int] = dict(columns or {})
        self.unknown: dict[Hashable, int] = {}
        self._set_order({})

    def __reduce__(self) -> tuple[Any, ...]:
        return DictEncoder, (self.columns,)

    def load(self, x: Mapping[Hashable, Any]) -> bool:
        """Put the row into `values` and `indices`; True if some of its names are unknown.

        An unknown name gets a column beyond the known ones, which `add_unknown` makes permanent.
        """
        if not hasattr(x, "items"):
            raise no_dict(x)
        if [*x] != self.order:
            self._set_order(x)
        try:
            self._pack(*self._values_of(x))
        except (struct.error, OverflowError):
            self.values[:] = [_as_number(name, x[name]) for name in self.loaded]
        return bool(self.unknown)

    def add_unknown(self) -> None:
        """Keep the names of the loaded row that were unknown."""
        self.columns.update(self.unknown)
        self.unknown = {}

    def add(self, names: Iterable[Hashable]) -> None:
        """Give these names, which are unknown, the next columns."""
        for name in names:
            self.columns[name] = len(self.columns)
        self._set_order({})

    def refuse_infinity(self) -> None:
        """An infinite value in the loaded row is an error that names it."""
        for name, value in zip(self.loaded, self.values, strict=True):
            if math.isinf(value):
                raise ValueError(
                    f"feature {name!r}: {value} is not a number to learn from; leave it out, or "
                    "use None for a missing value"
                )

    def _set_order(self, x: Mapping[Hashable, Any]) -> None:
        """Expect these keys, in this order, from now on."""
        new = sorted((name for name in x if name not in self.columns), key=_by_name)
        self.unknown = {name: len(self.columns) + k for k, name in enumerate(new)}
        columns = {**self.columns, **self.unknown} if new else self.columns
        self.order = list(x)
        self.loaded: list[Any] = sorted(x, key=columns.__getitem__)
        ordered = self.loaded == self.order
        self._values_of: Any = methodcaller("values") if ordered else itemgetter(*self.loaded)
        room = bytearray(8 * len(x))  # filled faster than an array
        self.values: NDArray[np.float64] = np.frombuffer(room)
        self.indices = np.array([columns[name] for name in self.loaded], dtype=np.int32)
        starts = np.array([0, len(x)])
        self.block = Block(self.values, self.indices, starts, len(columns))
        self._pack: Any = partial(struct.Struct(f"{len(x)}d").pack_into, room, 0)


def _by_name(name: Hashable) -> tuple[str, Any]:
    """Sorts names of any type: those of a type together, numbers by size."""
    return type(name).__name__, name if isinstance(name, str | int | float) else str(name)


def no_dict(x: Any) -> TypeError:
    """The error for a row that is no dict."""
    return TypeError(
        f"a row is a dict, {{feature: value}}, and not a {type(x).__name__}: "
        "dict(zip(names, x)) makes one of a list"
    )


def _as_number(name: Hashable, value: Any) -> float:
    if value is None:
        return math.nan
    try:
        if not isinstance(value, str | bytes):
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(
        f"feature {name!r}: {value!r} is not a number; use None for a missing value, and "
        f"{{'{name}={value}': 1}} for a category"
    )


def plain(x: Mapping[Hashable, Any]) -> Mapping[Hashable, Any]:
    """The row with strings as features: {"colour": "red"} is {"colour=red": 1}.

    >>> plain({"height": 1.8, "colour": "red"})
    {'height': 1.8, 'colour=red': 1.0}
    """
    if not hasattr(x, "items"):
        raise no_dict(x)
    if {*map(type, x.values())} <= NUMBERS:  # the usual case, for which this is quick
        return x
    texts = {name for name, value in x.items() if isinstance(value, str)}
    if not texts:
        return x
    return {
        f"{name}={value}" if name in texts else name: 1.0 if name in texts else value
        for name, value in x.items()
    }


def rows_of_dicts(
    records: Sequence[Mapping[Hashable, Any]],
    names: DictEncoder,
    weights: ArrayLike | None = None,
) -> tuple[Rows, DictEncoder]:
    """The rows of dicts, and the encoder with the names that are new in them."""
    encoder = DictEncoder(names.columns)
    values: list[float] = []
    indices: list[int] = []
    starts = [0]
    for row, x in enumerate(records):
        try:
            encoder.load(plain(x))
            encoder.refuse_infinity()
        except ValueError as error:
            raise ValueError(f"row {row}, {error}") from None
        encoder.add_unknown()
        values += encoder.values.tolist()
        indices += encoder.indices.tolist()
        starts.append(len(values))
    rows = replace(
        as_rows(np.empty((len(records), 0)), None, weights),
        values=np.array(values, dtype=np.float64),
        indices=np.array(indices, dtype=np.int32),
        starts=np.array(starts),
        columns=len(encoder.columns),
    )
    return rows, encoder
