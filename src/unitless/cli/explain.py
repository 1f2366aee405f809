"""`unitless explain`: what made up the score of one row."""

import os
from collections.abc import Sequence
from datetime import date, datetime
from typing import Any

from unitless.cli.options import CommandOptions, takes


@takes("model", "words", "row", "json", "no_color")
def explain(options: CommandOptions) -> None:
    """Show what each column of a row adds to its score.

    The parts add up to the score. (base) is the mean score of rows that were learned, of which the
    model keeps a sample; the part of a column is the change of the score when it gets the value of
    this row, on average over such rows and over orders of the columns. Give the row itself, or a
    file and the number of a row.

    Examples:

        unitless explain houses.unitless rooms=5 city=Oslo
        unitless explain houses.unitless '{"rooms": 5, "city": "Oslo"}'
        unitless explain houses.unitless houses.csv --row 17
    """
    from unitless.cli.reading import load_model
    from unitless.cli.screen import (
        console_of,
        number,
        prediction_of,
        score_meaning,
        show_audit,
        warnings_as_notes,
    )
    from unitless.escaping import escaped, json_line
    from unitless.model.explanations import contributions

    if options.row is None:
        found = load_model(options.model)
        rows = _rows(found, _parsed(options.words))
    else:
        found = load_model(options.model, data=options.words[0])
        with warnings_as_notes(quiet=options.json):
            rows = _row_of_file(found, options.words, options.row)
    score = found.predict_rows(rows)[0].tolist()
    parts = contributions(found, rows)
    if options.json:
        print(json_line({"score": score, "parts": parts}))
        return
    console = console_of(options.no_color)
    shown = prediction_of(found, score)
    if found.task != "regression":
        numbers = [score] if isinstance(score, float) else score
        shown = f"{' '.join(map(number, numbers))} ({shown})"
    console.print(escaped(f"{score_meaning(found)}: {shown}"))
    show_audit(console, parts)


def _row_of_file(model: Any, files: Sequence[str], number: int) -> object:
    """Return one row of a file, as `predict` would read it."""
    from unitless.cli.reading import open_for_prediction

    if number < 1:
        raise ValueError(f"--row {number}: rows are counted from 1")
    seen = 0
    for block in open_for_prediction(CommandOptions(data=files), model):
        if number <= seen + len(block):
            rows = model.prepared_block(block, labelled=False).rows
            return rows[number - 1 - seen : number - seen]
        seen += len(block)
    raise ValueError(f"--row {number}: the file has {seen:,} rows")


def _parsed(words: Sequence[str]) -> dict[str, Any]:
    """Return the row that the words describe.

    >>> _parsed(["rooms=5", "city=Oslo"]), _parsed(['{"rooms": 5}'])
    ({'rooms': '5', 'city': 'Oslo'}, {'rooms': 5})
    """
    import json
    import sys

    text = sys.stdin.read() if [*words] == ["-"] else words[0]
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


def _rows(model: Any, given: dict[str, object]) -> Any:
    """Return a row of named values for the learner; what is not given is missing."""
    from unitless.model.input_names import no_such_feature, unknown_names

    if model.encoder is None:
        kinds = dict.fromkeys(model.feature_names(len(model.learner.weights().features)), "number")
        unknown = [name for name in given if name not in kinds]
        read = None
    else:
        kinds = model.encoder.kinds
        unknown = unknown_names(model, given)
        read = model.file.position.columns
    for name in unknown:
        raise ValueError(no_such_feature(model, name))
    written = read or {}
    row = {
        name: _fitted(name, value, kinds[name], written.get(name) or "")
        for name, value in given.items()
        if name in kinds
    }
    return model.prepared(row).rows


def _fitted(name: str, value: Any, kind: str, written: str) -> object:
    """Return a value as the type of its column; `written` is how the model's file wrote it."""
    if written.startswith("date ") and isinstance(value, str):
        found = _date_as_written(value, written)
        if found is not None:
            return found
    from unitless.readers.missing_cells import MISSING

    try:
        if kind == "date" and isinstance(value, str):
            expected = "a date was expected, such as 2024-01-31 or 2024-01-31T10:15"
            parse = date if len(value) <= len("2024-01-31") else datetime
            return parse.fromisoformat(value)
        if kind == "number":
            expected = "a number was expected"
            return float("nan") if value is None or value in MISSING else float(value)
    except ValueError:
        raise ValueError(f"{name}={value}: {expected}") from None
    return str(value) if kind == "category" and value is not None else value


def _date_as_written(value: str, kind: str) -> object:
    """Return a date in the format of the model's file, None if it is none."""
    import polars

    from unitless.encoders.column_kinds import converted

    return converted(polars.Series([value]), kind)[0][0]
