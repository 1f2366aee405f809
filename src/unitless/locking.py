"""A lock that survives copying and pickling.

Kernels run without the interpreter's lock and write into the arrays of a learner, so a prediction
in the middle of `learn` would see half a row. Models and estimators hold a `PicklableLock` for the
whole of a call, so a prediction sees the state before or after it. Bare learners have no lock.
"""

from threading import RLock
from typing import Any


class PicklableLock:
    """A reentrant lock; a copy or a pickle of its owner gets a new one."""

    def __init__(self) -> None:
        self._lock = RLock()

    def __enter__(self) -> bool:
        return self._lock.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._lock.__exit__(*error)

    def __reduce__(self) -> tuple[Any, ...]:
        return PicklableLock, ()
