"""Suggestions for names that do not exist, for error messages."""

from collections.abc import Collection, Iterable
from difflib import get_close_matches

MAX_LISTED = 20


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return the end of an error message that suggests a similar name, or nothing.

    >>> suggestion("prise", ["price", "rooms"]), suggestion("x", ["price"])
    ("; did you mean 'price'?", '')
    """
    by_lower = {each.lower(): each for each in known}
    found = get_close_matches(name.lower(), by_lower, n=1)
    return f"; did you mean {by_lower[found[0]]!r}?" if found else ""


def listed(names: Iterable[str], most: int = MAX_LISTED, count: int | None = None) -> str:
    """The first names, and how many more there are of all; `count`, if not all are given.

    >>> listed("abcdefg", most=5)
    'a, b, c, d, e and 2 more'
    """
    all_names = list(names)
    first = all_names[:most]
    more = (len(all_names) if count is None else count) - len(first)
    return ", ".join(first) + (f" and {more} more" if more > 0 else "")


def no_such_column(name: str, columns: Collection[str]) -> str:
    """Return the message that a column does not exist, with a similar one or all there are."""
    hint = suggestion(name, columns) or f"; there are {listed(map(repr, columns))}"
    return f"there is no column {name!r}{hint}"
