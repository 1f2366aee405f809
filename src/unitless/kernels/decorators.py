"""The decorators of compiled functions.

Only documented options of Numba are used. No kernel takes an instance of a class of this package:
Numba would store the class in the index of its cache and could not read that index once the class
has another name. Arrays, numbers and plain tuples of them are fine.
"""

from typing import Any, cast

from numba import njit

_COMMON: dict[str, Any] = {"nogil": True, "error_model": "numpy"}

kernel: Any = cast(Any, njit)(cache=True, **_COMMON)
"""A compiled function that Python calls: cached on disk, without the GIL, x / 0 as in NumPy.

(Under Python's rules a division is a branch that may raise, and no loop with one vectorises.)
"""

inlined: Any = cast(Any, njit)(forceinline=True, **_COMMON)
"""A function that kernels call: compiled into each of them, and cached with them."""

shared: Any = cast(Any, njit)(cache=True, forceinline=True, **_COMMON)
"""The same for functions that Python calls as well."""
