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


def no_such_column(name: str, columns: Collection[str]) -> str:
    """Return the message that a column does not exist, with a similar one or all there are."""
    hint = suggestion(name, columns)
    if not hint:
        more = len(columns) - MAX_LISTED
        hint = "; there are " + ", ".join(map(repr, [*columns][:MAX_LISTED]))
        hint += f" and {more} more" if more > 0 else ""
    return f"there is no column {name!r}{hint}"
