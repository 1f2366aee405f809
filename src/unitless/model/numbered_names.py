"""The names of features that have none, without a list of them."""

from collections.abc import Sequence
from typing import Any


class NumberedNames(Sequence[str]):
    """The names "0", "1", ... of columns without names, each created on access.

    >>> names = NumberedNames(1_000_000)
    >>> names[7], len(names), list(names[:2])
    ('7', 1000000, ['0', '1'])
    """

    def __init__(self, count: int, prefix: str = "") -> None:
        self.numbers = range(count)
        self.prefix = prefix

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, which: Any) -> Any:
        found = self.numbers[which]
        if isinstance(found, int):
            return f"{self.prefix}{found}"
        return [f"{self.prefix}{number}" for number in found]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)
