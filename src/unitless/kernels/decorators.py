"""Numba decorators for compiled functions, and the folder of their cache.

Only documented options of Numba are used. No kernel takes an instance of a class of this package:
Numba would store the class in the index of its cache and could not read that index once the class
has another name. Arrays, numbers and plain tuples of them are fine.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numba
from numba import config as _config
from numba import njit

from unitless import __version__

config: Any = _config
_COMMON: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


def _user_cache() -> Path:
    """The folder in which the operating system keeps caches of this user."""
    if os.environ.get("XDG_CACHE_HOME"):
        return Path(os.environ["XDG_CACHE_HOME"])
    if sys.platform == "win32" and os.environ.get("LOCALAPPDATA"):
        return Path(os.environ["LOCALAPPDATA"])
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")


def cache_folder() -> str:
    """The folder of compiled kernels: one per version of this package and of Numba.

    A kernel is compiled again when its own file changes, but not when a function changes that it
    inlines from another file. With a folder per version no kernel of another version is ever
    found. It is in NUMBA_CACHE_DIR, if that is set, or in the user's cache. Where neither can be
    written, the result is empty: then Numba chooses.
    """
    try:
        root = Path(config.CACHE_DIR) if config.CACHE_DIR else _user_cache()
        folder = root / f"unitless-{__version__}-numba-{numba.__version__}"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):  # read-only, or no home folder
        return ""
    return str(folder) if os.access(folder, os.W_OK) else ""


def _cached(**options: Any) -> Callable[[Any], Any]:
    """A decorator that compiles and keeps the result in the folder of this version."""

    def decorate(function: Any) -> Any:
        before = config.CACHE_DIR
        config.CACHE_DIR = cache_folder() or before  # read by Numba when it decorates
        try:
            return cast(Any, njit)(cache=True, **_COMMON, **options)(function)
        finally:
            config.CACHE_DIR = before

    return decorate


kernel: Any = _cached()
"""A compiled function that Python calls: cached on disk, without the GIL, x / 0 as in NumPy.

(Under Python's rules a division is a branch that may raise, and no loop with one vectorises.)
"""

inlined: Any = cast(Any, njit)(forceinline=True, **_COMMON)
"""A function that kernels call: compiled into each of them, and cached with them."""

pasted: Any = cast(Any, njit)(inline="always", **_COMMON)
"""The same, pasted into the source of its caller, so that it is not compiled on its own as well.

For functions that take functions: they are compiled for every caller.
"""

subroutine: Any = cast(Any, njit)(**_COMMON)
"""A function that kernels call, and that is compiled once for all calls in a kernel."""

shared: Any = _cached(forceinline=True)
"""The same for functions that Python calls as well."""
