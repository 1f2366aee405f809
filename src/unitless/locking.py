"""A lock that survives copying and pickling.

Kernels run without the interpreter's lock and write into the arrays of a learner, so a prediction
in the middle of `learn` would see half a row. Models and estimators hold a `PicklableLock` for the
whole of a call, so a prediction sees the state before or after it. Bare learners have no lock.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    class RLock(AbstractContextManager[bool]):
        """Stub for the type checker."""

        def __exit__(self, *error: object) -> None: ...
        def acquire(self) -> bool: ...
        def release(self) -> None: ...
else:
    from _thread import RLock  # `threading.RLock` is a function that makes one


class PicklableLock(RLock):
    """A reentrant lock; a copy or a pickle of its owner gets a new one.

    >>> import copy
    >>> lock = PicklableLock()
    >>> with lock, lock:
    ...     print(copy.deepcopy(lock) is lock)
    False
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return PicklableLock, ()
