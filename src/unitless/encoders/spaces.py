"""What features are called.

Features that come from one column in one way form a space, and a key is one of them:

============================ =============== ============= ====================
column                       space           key           name of the feature
============================ =============== ============= ====================
number `age`                 ("age", "")     ""            age
category `colour`            ("colour", "=") "red"         colour=red
... of whole numbers         ("size", "=")   ("int", "7")  size=7
date `day`: days, month ...  ("day",         "Mon"         day.weekday=Mon
                             ".weekday=")
text `mail`                  ("mail", ":")   "offer"       mail:offer
interaction `colour:age`     both spaces     both keys     colour=red:age
============================ =============== ============= ====================

A space with too many keys has buckets too, named `colour#1234`. Spaces and keys are strings and
tuples of strings, so that they survive a trip through JSON.
"""

from typing import Any

Key = str | tuple[Any, ...]
Space = tuple[Any, Any]
"""(column, suffix), or for an interaction a pair of spaces."""


def key_of(level: Any) -> Key:
    """The key of a category's level, which tells 7 from "7" and True from 1.

    >>> key_of("7"), key_of(7), key_of(True)
    ('7', ('int', '7'), ('bool', 'True'))
    """
    return str(level) if isinstance(level, str) else (type(level).__name__, str(level))


def is_pair(space: Space) -> bool:
    """Whether it is the space of an interaction."""
    return not isinstance(space[0], str)


def is_number(space: Space) -> bool:
    """Whether it is one number, or a product of numbers, and so a single feature."""
    return all(map(is_number, space)) if is_pair(space) else not space[1]


def sources_of(space: Space) -> tuple[str, ...]:
    """The columns of the frame that the space comes from."""
    return sum(map(sources_of, space), ()) if is_pair(space) else (space[0],)


def name_of(space: Space, key: Key) -> str:
    """What a person calls the feature.

    >>> name_of((("colour", "="), ("age", "")), ("red", ""))
    'colour=red:age'
    """
    if is_pair(space):
        return f"{name_of(space[0], key[0])}:{name_of(space[1], key[1])}"
    return f"{space[0]}{space[1]}{key if isinstance(key, str) else key[1]}"


def title_of(space: Space) -> str:
    """What a person calls the space.

    >>> title_of(("day", ".weekday="))
    'day.weekday'
    """
    return ":".join(map(title_of, space)) if is_pair(space) else space[0] + space[1].rstrip("=:")


def tuples(plain: Any) -> Any:
    """Spaces and keys as JSON gives them back, lists turned into tuples."""
    return tuple(map(tuples, plain)) if isinstance(plain, list) else plain


def lists(nested: Any) -> Any:
    """Tuples, however deep, as the lists that JSON makes of them."""
    return [lists(each) for each in nested] if isinstance(nested, tuple) else nested
