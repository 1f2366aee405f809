from collections.abc import Sequence

class Vocabulary:
    """Names and their columns."""

    def __init__(self, names: Sequence[str] = ()) -> None: ...
    @property
    def count(self) -> int: ...
    @property
    def slots(self) -> int: ...
