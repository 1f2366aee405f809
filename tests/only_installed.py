"""Block imports of everything that a reader of a page has not been told to install.

Allowed are Unitless with its dependencies, and what the page's lines `$ pip install ...` name; the
environment of the tests holds far more.
"""

import re
import sys
from functools import cache
from importlib.metadata import PackageNotFoundError, packages_distributions, requires

INSTALL = re.compile(r"^\$ pip install (.*?)(?: *#.*)?$", re.MULTILINE)


def named(text):
    """The requirements of the lines `$ pip install ...`; `.` is Unitless."""
    words = " ".join(INSTALL.findall(text)).replace("'", "").replace('"', "").split()
    words = [word for word in words if not word.startswith("-")]
    return [re.sub(r"^\.(?=\[|$)", "unitless", word) for word in words]


def distributions(wanted):
    """The names of the distributions that these requirements install."""
    from packaging.requirements import Requirement

    found, waiting = set(), [Requirement(text) for text in wanted]
    while waiting:
        each = waiting.pop()
        name, extras = normal(each.name), frozenset(each.extras)
        if (name, extras) in found:
            continue
        found.add((name, extras))
        for needed in _required(name):
            marker = needed.marker
            environments = [{"extra": extra} for extra in extras or ("",)]
            if marker is None or any(map(marker.evaluate, environments)):
                waiting.append(needed)
    return {name for name, _ in found}


@cache
def _required(name):
    from packaging.requirements import Requirement

    try:
        return [Requirement(text) for text in requires(name) or ()]
    except PackageNotFoundError:  # needed elsewhere only
        return []


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


@cache
def _owners():
    return packages_distributions()


def blocked_for(page):
    """The top-level modules that a reader of this text may lack."""
    allowed = distributions(["unitless", *named(page)])
    return {module for module, owners in _owners().items() if not allowed & {*map(normal, owners)}}


class Guarded:
    """A finder of modules that does not find the blocked ones, as if they were not installed."""

    def __init__(self, finder, blocked):
        self.finder = finder
        self.blocked = blocked

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, path=None, target=None):
        """Find a module; None if it is blocked."""
        if name.partition(".")[0] in self.blocked:
            return None
        return self.finder.find_spec(name, path, target)


def guard(blocked):
    """Let this process import everything but these modules."""
    sys.meta_path = [Guarded(finder, blocked) for finder in sys.meta_path]


def startup(page):
    """The code of a `sitecustomize.py` that guards each new process for the text of a page."""
    return f"import only_installed\nonly_installed.guard({blocked_for(page)!r})\n"
