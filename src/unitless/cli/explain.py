"""`unitless explain`: what made up the score of one row."""

import os
from datetime import date, datetime
from typing import Any

from unitless.cli.options import CommandOptions, takes

MISSING = (None, "", "NA", "N/A", "NaN", "nan", "null")


@takes("model words row json no_color")
def explain(options: CommandOptions) -> None:
    """Show what each feature of a row adds to its score.

    The parts add up to the score. Give the row itself, or a file and the number of a row.

    Examples:

        unitless explain houses.unitless rooms=5 city=Oslo
        unitless explain houses.unitless '{"rooms": 5, "city": "Oslo"}'
        unitless explain houses.unitless houses.csv --row 17
    """
    import json

    from unitless.cli.reading import load_model
    from unitless.cli.screen import console_of, number, prediction_of, score_meaning, show_audit
    from unitless.model.explanations import contributions

    if options.row is None:
        found = load_model(options.model)
        rows = _rows(found, _parsed(options.words))
    else:
        found = load_model(options.model, data=options.words[0])
        rows = _row_of_file(found, options.words, options.row)
    score = found.learner.predict(rows)[0].tolist()
    parts = contributions(found, rows)
    if options.json:
        print(json.dumps({"score": score, "parts": parts}, ensure_ascii=False))
        return
    console = console_of(options.no_color)
    shown = prediction_of(found, score)
    if found.task != "regression":
        numbers = [score] if isinstance(score, float) else score
        shown = f"{' '.join(map(number, numbers))} ({shown})"
    console.print(f"{score_meaning(found)}: {shown}")
    show_audit(console, parts)


def _row_of_file(model: Any, files: list[str], number: int) -> Any:
    """Return one row of a file, as `predict` would read it."""
    from unitless.cli.reading import open_for_prediction

    if number < 1:
        raise ValueError(f"--row {number}: rows are counted from 1")
    seen = 0
    for block in open_for_prediction(CommandOptions(data=files), model):
        if number <= seen + len(block):
            rows = model.prepared(block, grow=False, labelled=False).rows
            return rows[number - 1 - seen : number - seen]
        seen += len(block)
    raise ValueError(f"--row {number}: the file has {seen:,} rows")


def _parsed(words: list[str]) -> dict[str, Any]:
    """Return the row that the words describe.

    >>> _parsed(["rooms=5", "city=Oslo"]), _parsed(['{"rooms": 5}'])
    ({'rooms': '5', 'city': 'Oslo'}, {'rooms': 5})
    """
    import json
    import sys

    text = sys.stdin.read() if words == ["-"] else words[0]
    if text.lstrip().startswith("{"):
        try:
            return dict(json.loads(text))
        except ValueError as error:
            raise ValueError(f"the row is not a JSON object: {error}") from None
    row = {}
    for word in words:
        name, equals, row[name] = word.partition("=")
        if not equals or not name:
            hint = "; to explain a row of a file, add --row N" if os.path.exists(name) else ""
            raise ValueError(f"{name!r}: write NAME=VALUE, or the row as one JSON object{hint}")
    return row


def _rows(model: Any, given: dict[str, Any]) -> Any:
    """Return a row of named values for the learner; numbers that are not given are missing."""
    from unitless.model.input_rows import rows_of
    from unitless.suggestions import suggestion

    if model.columns is None:
        names = model.feature_names(len(model.learner.weights().features))
        kinds = dict.fromkeys(names, "number")
        known = {*kinds}
        row = {}
    else:
        kinds = model.columns.kinds
        read = model.position.get("columns") or ()
        known = {*kinds, *read, *model.ignore, model.target, model.weight} - {None}
        row = {name: float("nan") for name, kind in kinds.items() if kind == "number"}
    for name, value in given.items():
        if name not in known:
            hint = suggestion(name, known) or f"; it has {', '.join(map(repr, kinds))}"
            raise ValueError(f"the model has no column {name!r}{hint}")
        if name in kinds:
            row[name] = _fitted(name, value, kinds[name])
    return rows_of(model, row)[0]


def _fitted(name: str, value: Any, kind: str) -> Any:
    """Return a value as the type of its column."""
    try:
        if kind == "date" and isinstance(value, str):
            expected = "a date was expected, such as 2024-01-31 or 2024-01-31T10:15"
            parse = date if len(value) <= len("2024-01-31") else datetime
            return parse.fromisoformat(value)
        if kind == "number":
            expected = "a number was expected"
            return float("nan") if value in MISSING else float(value)
    except ValueError:
        raise ValueError(f"{name}={value}: {expected}") from None
    return str(value) if kind == "category" and value is not None else value
