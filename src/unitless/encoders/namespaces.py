"""Names of features.

All features that one column gives in one way form a namespace; a key is one of them:

============================ =============== ============= ====================
column                       namespace       key           name of the feature
============================ =============== ============= ====================
number `age`                 ("age", "")     ""            age
category `colour`            ("colour", "=") "red"         colour=red
category of integers         ("size", "=")   ("int", "7")  size=7
date `day`: weekday          ("day",         "Mon"         day.weekday=Mon
                             ".weekday=")
text `mail`                  ("mail", ":")   "offer"       mail:offer
interaction `colour:age`     both namespaces both keys     colour=red:age
============================ =============== ============= ====================

A namespace with too many keys has hash buckets as well, named `colour#1234`. Namespaces and keys
are strings and tuples of strings, so that JSON can store them.
"""

from typing import Any

Key = str | tuple[Any, ...]
Namespace = tuple[Any, Any]
"""(column, suffix), or a pair of namespaces for an interaction."""


def key_of(level: Any) -> Key:
    """The key of a category's level; it distinguishes 7 from "7" and True from 1.

    >>> key_of("7"), key_of(7), key_of(True)
    ('7', ('int', '7'), ('bool', 'True'))
    """
    if isinstance(level, str):
        return str(level)
    return type(level).__name__, str(level)


def is_interaction(namespace: Namespace) -> bool:
    """Whether the namespace belongs to a product of two columns."""
    return not isinstance(namespace[0], str)


def is_number(namespace: Namespace) -> bool:
    """Whether it holds a single feature: a number, or a product of numbers."""
    if is_interaction(namespace):
        return all(map(is_number, namespace))
    return not namespace[1]


def source_columns(namespace: Namespace) -> tuple[str, ...]:
    """The columns of the frame that the namespace comes from."""
    if is_interaction(namespace):
        return sum(map(source_columns, namespace), ())
    return (namespace[0],)


def feature_name(namespace: Namespace, key: Key) -> str:
    """The name of a feature.

    >>> feature_name((("colour", "="), ("age", "")), ("red", ""))
    'colour=red:age'
    """
    if is_interaction(namespace):
        first, second = namespace
        return f"{feature_name(first, key[0])}:{feature_name(second, key[1])}"
    column, suffix = namespace
    return f"{column}{suffix}{key if isinstance(key, str) else key[1]}"


def namespace_name(namespace: Namespace) -> str:
    """The name of a namespace, for messages and hash buckets.

    >>> namespace_name(("day", ".weekday="))
    'day.weekday'
    """
    if is_interaction(namespace):
        return ":".join(map(namespace_name, namespace))
    column, suffix = namespace
    return f"{column}{suffix.rstrip('=:')}"


def to_lists(nested: Any) -> Any:
    """Nested tuples as lists, as JSON stores them."""
    return [to_lists(each) for each in nested] if isinstance(nested, tuple) else nested


def to_tuples(plain: Any) -> Any:
    """Nested lists, as JSON returns them, as tuples."""
    return tuple(map(to_tuples, plain)) if isinstance(plain, list) else plain
