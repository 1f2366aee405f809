"""Suggestions for names that do not exist."""

from collections.abc import Iterable
from difflib import get_close_matches


def suggestion(name: str, known: Iterable[str]) -> str:
    """Return the end of an error message that suggests a similar name, or nothing.

    >>> suggestion("prise", ["price", "rooms"]), suggestion("x", ["price"])
    ("; did you mean 'price'?", '')
    """
    by_lower = {each.lower(): each for each in known}
    found = get_close_matches(name.lower(), by_lower, n=1)
    return f"; did you mean {by_lower[found[0]]!r}?" if found else ""


def check_learner(name: str) -> None:
    """Refuse the name of a learner that does not exist, with a suggestion."""
    from unitless.learners import REGISTRY

    if name not in REGISTRY:
        hint = suggestion(name, REGISTRY) or "; `unitless learners --all` lists them"
        raise ValueError(f"there is no learner {name!r}{hint}")
