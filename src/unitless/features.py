"""Names -> columns, for rows that come as dicts."""

import math
import struct
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


class Names:
    """The columns of named features, in order of first appearance, and room for one dict row.

    A stream of dicts mostly repeats its keys in one order. `load` remembers the last order, so
    that such a row costs one comparison of keys and one pass over its values.

    >>> names = Names()
    >>> names.load({"height": 1.8, "weight": None}, add=True)
    >>> names.values, names.indices
    (array([1.8, nan]), array([0, 1], dtype=int32))
    """

    def __init__(self, columns: Mapping[Hashable, int] | None = None) -> None:
        self.columns: dict[Hashable, int] = dict(columns or {})
        self.starts = np.zeros(2, dtype=np.int64)
        self._set_order({})

    def __reduce__(self) -> tuple[Any, ...]:
        return Names, (self.columns,)

    def load(self, x: Mapping[Hashable, Any], *, add: bool) -> None:
        """Put the row into `values` and `indices`; unknown names are kept only with `add`.

        Without `add`, an unknown name gets a column beyond the known ones for this row only.
        """
        if list(x) != self.order:
            self._set_order(x)
        try:
            self._pack(self.values, 0, *x.values())
        except struct.error:
            self.values[:] = [_as_number(name, value) for name, value in x.items()]
        if add and self._unknown:
            self.refuse_infinity()
            self.columns.update(self._unknown)
            self._unknown = {}

    def refuse_infinity(self) -> None:
        """An infinite value in the loaded row is an error that names it."""
        for name, value in zip(self.order, self.values, strict=True):
            if math.isinf(value):
                raise ValueError(
                    f"feature {name!r}: {value} is not a number to learn from; leave it out, or "
                    "use None for a missing value"
                )

    def _set_order(self, x: Mapping[Hashable, Any]) -> None:
        new = [name for name in x if name not in self.columns]
        self._unknown = {name: len(self.columns) + k for k, name in enumerate(new)}
        columns = {**self.columns, **self._unknown} if new else self.columns
        self.order = list(x)
        self.values: NDArray[np.float64] = np.empty(len(x))
        self.indices = np.array([columns[name] for name in x], dtype=np.int32)
        self.starts[1] = len(x)
        self._pack = struct.Struct(f"{len(x)}d").pack_into


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
