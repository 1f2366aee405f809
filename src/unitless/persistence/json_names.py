"""Convert names of features, class labels and weights by class to JSON and back, with their types.

Strings are themselves; anything else is a list of its type and its value, so that 7 is not "7" and
(1, 2) is not [1, 2].
"""

from typing import Any

import numpy as np

TYPES = {"int": int, "bool": bool, "None": type(None)}


def as_json(name: Any) -> Any:
    """A name, or a dict by name, as JSON.

    >>> as_json("height"), as_json(7), as_json((1, "a")), as_json(0.5)
    ('height', ['int', 7], ['tuple', [['int', 1], 'a']], ['float', '0x1.0000000000000p-1'])
    """
    if isinstance(name, str):
        return str(name)
    if isinstance(name, tuple):
        return ["tuple", [as_json(each) for each in name]]
    if isinstance(name, dict):
        return ["dict", [as_json(pair) for pair in name.items()]]
    plain = name.item() if isinstance(name, np.generic) else name
    if isinstance(plain, float):
        return ["float", plain.hex()]
    for kind, each in TYPES.items():
        if type(plain) is each:
            return [kind, plain]
    raise ValueError(
        f"{name!r} is a {type(name).__name__}: names and labels of a model file are strings, "
        "numbers, booleans or tuples of them"
    )


def from_json(plain: Any) -> Any:
    """What `as_json` was given.

    >>> from_json(as_json((1, "a", 0.1, None))), from_json(as_json({7: 2.0}))
    ((1, 'a', 0.1, None), {7: 2.0})
    """
    if isinstance(plain, str):
        return plain
    kind, value = plain
    if kind == "tuple":
        return tuple(from_json(each) for each in value)
    if kind == "dict":
        return dict(from_json(pair) for pair in value)
    if kind == "float":
        return float.fromhex(value)
    if type(value) is not TYPES.get(kind):
        raise ValueError(f"{plain!r} is not a name")
    return value
