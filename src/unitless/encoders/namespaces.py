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
list `tags`                  ("tags", "=")   "red"         tags=red
interaction `colour:age`     both namespaces both keys     colour=red:age
============================ =============== ============= ====================

A namespace with too many keys has hash buckets as well, named `colour#1234`. Namespaces and keys
are strings and tuples of strings, so that JSON can store them.
"""

import json
import warnings
from collections.abc import Iterable
from hashlib import blake2b
from typing import Any

Key = str | tuple[Any, ...]
Namespace = tuple[Any, Any]
"""(column, suffix), or a pair of namespaces for an interaction."""
Feature = tuple[Namespace, Key | int]
"""A namespace, and in it a key or the number of a hash bucket."""


class ManyLevels(UserWarning):
    """A column has more than `max_levels` levels: new ones are hashed from now on."""


def key_of(level: object) -> Key:
    """The key of a category's level; it distinguishes 7 from "7" and True from 1."""
    if isinstance(level, str):
        return str(level)
    return type(level).__name__, str(level)


def bucket_of(key: Key, bits: int) -> int:
    """The hash bucket of a key, between 0 and 2**bits - 1; the same in all processes and versions.

    >>> [bucket_of(level, 18) for level in ("red", "green", "blue")]
    [256269, 192076, 228754]
    """
    text = key if isinstance(key, str) else json.dumps(key)
    digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") % 2**bits


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


def feature_name(namespace: Namespace, key: Any) -> str:
    """The name of a feature."""
    if isinstance(key, int):
        return f"{namespace_name(namespace)}#{key}"
    if is_interaction(namespace):
        return ":".join(map(feature_name, namespace, key))
    column, suffix = namespace
    return f"{column}{suffix}{key if isinstance(key, str) else key[1]}"


def namespace_name(namespace: Namespace) -> str:
    """The name of a namespace, for messages and hash buckets: `day.weekday`."""
    if is_interaction(namespace):
        return ":".join(map(namespace_name, namespace))
    column, suffix = namespace
    return f"{column}{suffix.rstrip('=:')}"


def new_names(features: Iterable[Feature], taken: Iterable[str]) -> list[str]:
    """A name for each feature; a name that is taken gets a prime, so that all are different."""
    used = {*taken}
    names = []
    for feature in features:
        name = feature_name(*feature)
        while name in used:
            name += "'"
        used.add(name)
        names.append(name)
    return names


def warn_of_buckets(namespace: Namespace, max_levels: int, bits: int) -> None:
    """Warn that new keys of a namespace are hashed from now on."""
    is_text = namespace[1] == ":"
    what = "words" if is_text else "levels"
    advice = "" if is_text else "; drop it if it only numbers the rows"
    warnings.warn(
        f"column {namespace_name(namespace)!r} has more than {max_levels} {what}: new ones are "
        f"hashed into 2**{bits} features from now on{advice}",
        ManyLevels,
        stacklevel=4,
    )
