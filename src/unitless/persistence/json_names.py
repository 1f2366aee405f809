"""Convert names of features and class labels to JSON and back, with their types.

Strings are themselves; anything else is a list of its type and its value, so that 7 is not "7" and
(1, 2) is not [1, 2].
"""

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

TYPES = {"int": int, "float": float, "bool": bool}
KINDS = "biufUO"
"""NumPy kinds of labels: booleans, integers, floats, strings, and objects of these types."""


def as_json(name: Any) -> Any:
    """A name as JSON.

    >>> as_json("height"), as_json(7), as_json((1, "a")), as_json(0.5)
    ('height', ['int', 7], ['tuple', [['int', 1], 'a']], ['float', '0x1.0000000000000p-1'])
    """
    if isinstance(name, str):
        return str(name)
    if isinstance(name, tuple):
        return ["tuple", [as_json(each) for each in name]]
    if name is None:
        return ["None", None]
    plain = name.item() if isinstance(name, np.generic) else name
    if type(plain).__name__ not in TYPES:
        raise ValueError(
            f"{name!r} is a {type(name).__name__}: names and labels of a model file are strings, "
            "numbers, booleans or tuples of them"
        )
    return [type(plain).__name__, plain.hex() if isinstance(plain, float) else plain]


def from_json(plain: Any) -> Hashable:
    """The name that `as_json` was given.

    >>> from_json(as_json((1, "a", 0.1, None)))
    (1, 'a', 0.1, None)
    """
    if isinstance(plain, str):
        return plain
    kind, value = plain
    if kind == "tuple":
        return tuple(from_json(each) for each in value)
    if kind == "None":
        return None
    if kind == "float":
        return float.fromhex(value)
    if kind not in TYPES or type(value) is not TYPES[kind]:
        raise ValueError(f"{plain!r} is not a name")
    return TYPES[kind](value)


def labels_as_json(labels: NDArray[Any]) -> dict[str, Any]:
    """An array of class labels with its type.

    >>> labels_as_json(np.array(["no", "yes"]))
    {'dtype': '<U3', 'labels': ['no', 'yes']}
    """
    if labels.dtype.kind not in KINDS:
        raise ValueError(f"labels of {labels.dtype} cannot be stored in a model file: use strings")
    return {"dtype": labels.dtype.str, "labels": [as_json(label) for label in labels.tolist()]}


def labels_from_json(plain: dict[str, Any]) -> NDArray[Any]:
    """The array that `labels_as_json` was given."""
    dtype, labels = np.dtype(plain["dtype"]), [from_json(label) for label in plain["labels"]]
    if dtype.kind not in KINDS or dtype.itemsize > 4 * max(map(_size, labels), default=0) + 8:
        raise ValueError(f"{dtype} is not a type of labels")
    array = np.empty(len(labels), dtype=dtype)
    array[:] = labels
    return array


def _size(label: Any) -> int:
    return len(label) if isinstance(label, str) else 4
