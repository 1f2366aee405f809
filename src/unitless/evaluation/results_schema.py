"""Schema of results files (docs/results-format.md), and the check against it.

A schema is a type, a list with the schema of its items, a dict with the schema of each key (a
trailing `?` marks a key that may be missing, "*" any key), or a tuple of alternatives.
"""

from typing import Any

from unitless.evaluation.metrics import LABELS

Schema = Any
NUMBER = (int, float)
NUMBER_OR_NONE = (int, float, None)

MEMBER = {"loss": NUMBER, "overhead": NUMBER, "rows": int}
BOUND = {
    "against": str,
    "certified": NUMBER_OR_NONE,
    "sharp": NUMBER_OR_NONE,
    "promised": NUMBER_OR_NONE,
    "theorem": (str, None),
    "rows": int,
    "by?": (str, None),
}
CERTIFICATE = {
    "loss?": NUMBER_OR_NONE,
    "rows": int,
    "members": {"*": MEMBER},
    "claims": [BOUND],
}
LINE = {
    "rows": int,
    "loss": NUMBER_OR_NONE,
    "since?": NUMBER_OR_NONE,
    "target?": NUMBER_OR_NONE,
    "score?": (int, float, None, [NUMBER_OR_NONE]),
    "features?": int,
    "baseline": NUMBER_OR_NONE,
    "total?": NUMBER_OR_NONE,
    "certified?": (None, CERTIFICATE),
    "blend?": (None, {"*": NUMBER_OR_NONE}),
}
WEIGHT = {
    "feature": str,
    "class?": str,
    "per_unit": NUMBER_OR_NONE,
    "deviation?": NUMBER_OR_NONE,
    "per_deviation?": NUMBER_OR_NONE,
}
ALARM = {
    "feature": (str, int),
    "row": int,
    "before": NUMBER_OR_NONE,
    "now": NUMBER_OR_NONE,
    "factor": NUMBER_OR_NONE,
}
TRIAL = {"units": str, "moved": NUMBER_OR_NONE, "scores": NUMBER}
COMPARED = {"learner": str, "loss": NUMBER_OR_NONE, "elsewhere": NUMBER_OR_NONE}
RESULTS = {
    "results": int,
    "package": str,
    "source": (str, None),
    "task": str,
    "target": (str, None),
    "learner": str,
    "loss": str,
    "labels": [str],
    "rows": int,
    "learned": int,
    "unlabelled": int,
    "held_out": int,
    "holdouts": [NUMBER_OR_NONE],
    "passes": int,
    "skipped": int,
    "coerced": int,
    "features": int,
    "metrics": {f"{name}?": NUMBER for name in LABELS},
    "baseline": (None, {"score": (int, float, None, [NUMBER_OR_NONE]), "loss": NUMBER}),
    "certificate": (None, CERTIFICATE),
    "lines": [LINE],
    "curve": [[NUMBER_OR_NONE]],
    "calibration": [[NUMBER_OR_NONE]],
    "weights": [WEIGHT],
    "blend": (None, {"*": NUMBER_OR_NONE}),
    "alarms": [ALARM],
    "file_rows?": (int, None),
    "seconds?": NUMBER_OR_NONE,
    "units?": (None, {"rows": int, "trials": [TRIAL]}),
    "comparison?": (None, [COMPARED]),
    "*": None,
}
LENGTHS = {"curve": 2, "calibration": 3}
"""Numbers of each point."""


def problem(found: Any, schema: Schema, where: str = "") -> str | None:
    """What does not fit a schema, in words; None if everything does.

    >>> problem({"rows": "3"}, {"rows": int})
    "rows is '3'"
    >>> problem([1, None], [(int, None)]) is None
    True
    """
    if isinstance(schema, tuple):
        fits = any(problem(found, each, where) is None for each in schema)
        return None if fits else _wrong(found, where)
    if isinstance(schema, list):
        if not isinstance(found, list):
            return _wrong(found, where)
        problems = (problem(each, schema[0], f"{where}[{k}]") for k, each in enumerate(found))
        return next(filter(None, problems), None)
    if isinstance(schema, dict):
        return _problem_of_object(found, schema, where)
    if schema is None:
        return None if found is None else _wrong(found, where)
    is_number_as_bool = isinstance(found, bool) and schema is not bool
    return None if isinstance(found, schema) and not is_number_as_bool else _wrong(found, where)


def _problem_of_object(found: Any, schema: dict[str, Schema], where: str) -> str | None:
    if not isinstance(found, dict):
        return _wrong(found, where)
    for key, each in schema.items():
        name = key.removesuffix("?")
        if key == "*":
            continue
        if name not in found and key == name:
            return f"{_path(where, name)} is missing"
        if name in found and (wrong := problem(found[name], each, _path(where, name))):
            return wrong
    known = {key.removesuffix("?") for key in schema}
    others = {name: value for name, value in found.items() if name not in known}
    if schema.get("*") is not None:
        problems = (problem(value, schema["*"], _path(where, k)) for k, value in others.items())
        return next(filter(None, problems), None)
    return None if "*" in schema or not others else f"{_path(where, next(iter(others)))} is unknown"


def _path(where: str, name: str) -> str:
    return f"{where}.{name}" if where else name


def _wrong(found: Any, where: str) -> str:
    text = repr(found)
    return f"{where or 'it'} is {text if len(text) <= 40 else text[:40] + '...'}"
