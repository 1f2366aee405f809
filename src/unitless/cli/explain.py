"""`unitless explain`: what made up the score of one row."""

from typing import Annotated

import typer

from unitless.cli import options as o

Row = Annotated[
    list[str],
    typer.Argument(
        metavar="ROW...",
        help="The row: NAME=VALUE for each column, or one JSON object, or - to read a JSON object "
        "from standard input.",
        show_default=False,
    ),
]


def explain(model: o.Model, row: Row, json: o.Json = False, no_color: o.NoColor = False) -> None:
    """Show what each feature of a row adds to its score; together they are the score.

    [dim]Examples:[/dim]

    unitless explain houses.unitless rooms=5 city=Oslo

    unitless explain houses.unitless '{"rooms": 5, "city": "Oslo"}'
    """
    from unitless.cli.loading import load_model
    from unitless.cli.row_parsing import rows_of
    from unitless.cli.screen import console_of, prediction_of
    from unitless.cli.summary import show_audit
    from unitless.evaluation.explanations import taken_apart

    found = load_model(model)
    one = rows_of(found, row)
    score = found.learner.predict(one)[0].tolist()
    parts = taken_apart(found, one)
    if json:
        import json as dump

        print(dump.dumps({"score": score, "parts": parts}, ensure_ascii=False))
        return
    console = console_of(no_color)
    console.print(f"score {score}: {prediction_of(found, score)}")
    show_audit(console, parts)
