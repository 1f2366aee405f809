"""One thread at a time: whoever predicts while another thread learns waits for its turn.

Kernels run without the interpreter's lock and write into the learner's arrays, so a prediction in
the midst of `learn` would see half a row. Every learner has a `Turn`, which `predict`, `learn` and
their one-row forms take for the whole call: a prediction is that of a moment between two calls, to
the bit. What a turn costs is in docs/reliability.md.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    class RLock(AbstractContextManager[bool]):
        """What the type checker has to know of it."""

        def __exit__(self, *error: object) -> None: ...
        def acquire(self) -> bool: ...
        def release(self) -> None: ...
else:
    from _thread import RLock  # `threading.RLock` is a function that makes one


class Turn(RLock):
    """A lock that a copy or a pickle of a learner makes anew.

    >>> import copy
    >>> turn = Turn()
    >>> with turn, turn:
    ...     print(copy.deepcopy(turn) is turn)
    False
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return Turn, ()
