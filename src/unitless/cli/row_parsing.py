"""A row given on the command line."""

import json
import sys
from typing import Any

import numpy as np
import polars
from scipy.sparse import csr_array

from unitless.model import Model
from unitless.rows import Rows, as_rows
from unitless.suggestions import suggestion


def rows_of(model: Model, words: list[str]) -> Rows:
    """Return a row of named values for the learner; numbers that are not given are missing."""
    given = parsed(words)
    if model.columns is not None:
        known = model.columns.kinds
        _refuse_unknown(model, given)
        given = dict.fromkeys(k for k, kind in known.items() if kind == "number") | given
        frame = polars.DataFrame({k: [_fitted(k, v, known.get(k))] for k, v in given.items()})
        frame = frame.drop([c for c in (model.target, model.weight) if c in frame.columns])
        return as_rows(model.columns.encode(frame, grow=False).X)
    width = len(model.learner.weights().features)
    places = {name: j for j, name in enumerate(model.feature_names(width))}
    unknown = [name for name in given if name not in places]
    if unknown:
        raise ValueError(f"the model has no feature {unknown[0]!r}{suggestion(unknown[0], places)}")
    columns = [places[name] for name in given]
    values = [float(_fitted(name, value, "number")) for name, value in given.items()]
    return as_rows(csr_array((values, (np.zeros(len(values), int), columns)), shape=(1, width)))


def _refuse_unknown(model: Model, given: dict[str, Any]) -> None:
    """Refuse a name that was not a column of the file: it may be a typing error."""
    assert model.columns is not None
    read = model.position.get("columns")
    known = {*model.columns.kinds, *(read or ()), *model.ignore, model.target, model.weight}
    for name in given:
        if name not in known:
            names = ", ".join(map(repr, model.columns.kinds))
            hint = suggestion(name, filter(None, known)) or f"; it has {names}"
            raise ValueError(f"the model has no column {name!r}{hint}")


def parsed(words: list[str]) -> dict[str, Any]:
    """Return the row that the words describe.

    >>> parsed(["rooms=5", "city=Oslo"])
    {'rooms': '5', 'city': 'Oslo'}
    >>> parsed(['{"rooms": 5}'])
    {'rooms': 5}
    """
    text = sys.stdin.read() if words == ["-"] else words[0]
    if text.lstrip().startswith("{"):
        try:
            found = json.loads(text)
        except ValueError as error:
            raise ValueError(f"the row is not a JSON object: {error}") from None
        return dict(found)
    pairs = [word.partition("=") for word in words]
    for name, equals, _ in pairs:
        if not equals or not name:
            raise ValueError(f"{name!r}: write NAME=VALUE, or the row as one JSON object")
    return {name: value for name, _, value in pairs}


def _fitted(name: str, value: Any, kind: str | None) -> Any:
    """Return a value as the type of its column."""
    if kind == "number" and isinstance(value, str):
        if value in ("", "NA", "N/A", "NaN", "nan", "null"):
            return float("nan")
        try:
            return float(value)
        except ValueError:
            raise ValueError(f"{name}={value}: a number was expected") from None
    if kind == "number" and value is None:
        return float("nan")
    return str(value) if kind == "category" and value is not None else value
