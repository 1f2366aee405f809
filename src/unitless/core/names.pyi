from collections.abc import Hashable, Iterable, Mapping
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

@final
class DictEncoder:
    """The columns of named features, in order of first appearance, and a buffer for one row."""

    @property
    def columns(self) -> dict[Hashable, int]: ...
    @property
    def unknown(self) -> dict[Hashable, int]: ...
    @property
    def order(self) -> list[Hashable]: ...
    @property
    def loaded(self) -> list[Hashable]: ...
    @property
    def n(self) -> int: ...
    @property
    def values(self) -> NDArray[np.float64]:
        """The values of the loaded row, by column."""

    @property
    def indices(self) -> NDArray[np.int32]:
        """The column of each value of the loaded row."""

    @property
    def count(self) -> int:
        """The number of columns with those of the loaded row."""

    def __init__(self, columns: Mapping[Any, int] | None = None) -> None: ...
    def load(self, x: Mapping[Any, Any]) -> bool:
        """Put the row into `values` and `indices`; True if some of its names are unknown."""

    def add_unknown(self) -> None:
        """Keep the names of the loaded row that were unknown."""

    def add(self, names: Iterable[Hashable]) -> None:
        """Give these names, which are unknown, the next columns."""

    def refuse_infinity(self) -> None:
        """An infinite value in the loaded row is an error that names it."""

def no_dict(x: object) -> TypeError:
    """The error for a row that is not a dict."""

def as_number(name: object, value: object) -> float:
    """The number of a cell; NaN for None."""
