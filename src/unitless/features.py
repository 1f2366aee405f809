"""Names -> columns, for rows that come as dicts."""

import math
import struct
from collections.abc import Callable, Hashable, Mapping
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Names:
    """The columns of named features, in order of first appearance, and room for one dict row.

    A stream of dicts mostly repeats its keys. `load` remembers the last ones, so that such a row
    costs one look-up a value, in whatever order its keys come.

    >>> names = Names()
    >>> names.load({"height": 1.8, "weight": None})
    True
    >>> names.add_unknown()
    >>> names.load({"weight": 70, "height": 1.7})
    False
    >>> names.values, names.indices
    (array([ 1.7, 70. ]), array([0, 1], dtype=int32))
    """

    def __init__(self, columns: Mapping[Hashable, int] | None = None) -> None:
        self.columns: dict[Hashable, int] = dict(columns or {})
        self.unknown: dict[Hashable, int] = {}
        self._set_order({})

    def __reduce__(self) -> tuple[Any, ...]:
        return Names, (self.columns,)

    def load(self, x: Mapping[Hashable, Any]) -> bool:
        """Put the row into `values` and `indices`; True if some of its names are unknown.

        An unknown name gets a column beyond the known ones, which `add_unknown` makes its own.
        """
        try:
            found = self._values_of(x) if len(x) == self._size else self._set_order(x)
        except KeyError:
            found = self._set_order(x)
        try:
            self._pack(self.values, 0, *found)
        except struct.error:
            named = zip(self.order, found, strict=True)
            self.values[:] = [_as_number(name, value) for name, value in named]
        return bool(self.unknown)

    def add_unknown(self) -> None:
        """Keep the names of the loaded row that were unknown."""
        self.columns.update(self.unknown)
        self.unknown = {}

    def refuse_infinity(self) -> None:
        """An infinite value in the loaded row is an error that names it."""
        for name, value in zip(self.order, self.values, strict=True):
            if math.isinf(value):
                raise ValueError(
                    f"feature {name!r}: {value} is not a number to learn from; leave it out, or "
                    "use None for a missing value"
                )

    def _set_order(self, x: Mapping[Hashable, Any]) -> tuple[Any, ...]:
        """Expect these keys from now on; returns the values of x."""
        new = [name for name in x if name not in self.columns]
        self.unknown = {name: len(self.columns) + k for k, name in enumerate(new)}
        columns = {**self.columns, **self.unknown} if new else self.columns
        self.order = list(x)
        self._size = len(x)
        self._values_of: Callable[[Mapping[Hashable, Any]], tuple[Any, ...]]
        self.values: NDArray[np.float64] = np.empty(len(x))
        self.indices = np.array([columns[name] for name in x], dtype=np.int32)
        self._pack: Any = struct.Struct(f"{len(x)}d").pack_into
        if len(x) > 1:
            self._values_of = itemgetter(*x)
        else:  # itemgetter of one key does not give a tuple
            self._values_of = lambda x: tuple(x[name] for name in self.order)
        return tuple(x.values())


def _as_number(name: Hashable, value: Any) -> float:
    if value is None:
        return math.nan
    try:
        if not isinstance(value, str | bytes):
            return float(value)
    except (TypeError, ValueError):
        pass
    raise ValueError(
        f"feature {name!r}: {value!r} is not a number; use None for a missing value, and "
        f"{{'{name}={value}': 1}} for a category"
    )
