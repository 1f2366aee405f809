"""Convert learners, names of features and class labels to JSON, and back.

A learner becomes its name and its parameters. A name or label that is a string stays as it is; any
other becomes a list of its type and its value, so that 7 is not "7" and (1, 2) is not [1, 2].
"""

import math
from typing import Any

import numpy as np

from unitless import learners
from unitless.core.learner import Learner
from unitless.core.parameters import parameters_of
from unitless.learners.multi_output import MultiOutput
from unitless.learners.one_vs_rest import OneVsRest

TYPES = {"int": int, "bool": bool, "None": type(None)}
Spec = dict[str, Any]
"""{"name": ..., "parameters": {...}}, and "each": ... for one learner per class or target."""
INFINITE = {"inf": math.inf, "-inf": -math.inf}
"""Numbers that JSON cannot represent."""


def as_json(name: object) -> object:
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


def spec_of(learner: Learner) -> Spec:
    """What to save so that `made` makes a fresh learner like this one."""
    spec: Spec = {"name": learner.name}
    if isinstance(learner, OneVsRest):
        own = {"classes": learner.classes, "intercept": learner.intercept}
        given = own | learner.settings
        spec["each"] = _registered_name(learner.kind)
    elif isinstance(learner, MultiOutput):
        given = {}
        spec["each"] = [spec_of(each) for each in learner.learners]
    else:
        spec["name"] = _registered_name(type(learner))
        given = parameters_of(learner)
    for name, value in given.items():
        if isinstance(value, float) and math.isinf(value):
            given[name] = str(value)
    return spec | {"parameters": given}


def _registered_name(kind: type[Learner]) -> str:
    """The name by which a file can find the class again."""
    if kind.name not in learners.names() or learners.get(kind.name) is not kind:
        raise ValueError(
            f"{kind.__name__} is not a registered learner: call unitless.learners.register(kind)"
        )
    return kind.name


def made(spec: Spec, size: int) -> Learner:
    """A fresh learner; `size` is the length of the file, which bounds that of parameters."""
    name = str(spec["name"])
    given = {key: INFINITE.get(value, value) for key, value in spec["parameters"].items()}
    if name == MultiOutput.name:
        return MultiOutput([made(each, size) for each in spec["each"]])
    if name != OneVsRest.name or spec["each"] in learners.REGISTRY:
        _refuse_large(name, given, size)
    if name == OneVsRest.name:
        _refuse_large(spec["each"], given, size)
        return OneVsRest(learners.get(spec["each"]), **given)
    return learners.get(name)(**given)


def _refuse_large(name: str, given: dict[str, Any], size: int) -> None:
    """A learner is never larger than the file that holds all of its arrays."""
    at_least = {"blend": 96, "linear_blend": 64, OneVsRest.name: 200}  # bytes per class
    for parameter, bytes_each in (("classes", at_least.get(name, 8)), ("m", 8)):
        count = given.get(parameter, 0)
        times = count if parameter == "m" and name == "fd_son" else 1
        if isinstance(count, float | int) and bytes_each * count * times > size:
            raise ValueError(f"{parameter} = {count} needs a longer file than this one")
