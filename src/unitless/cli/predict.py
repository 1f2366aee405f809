"""`unitless predict`: what a saved model says about the rows of a file."""

from typing import Annotated

import typer

from unitless.cli import options as o

Output = Annotated[
    str,
    typer.Option(
        "-o", "--output", metavar="FILE", help="Where the CSV goes, - for standard output.",
        rich_help_panel=o.OUTPUT,
    ),
]  # fmt: skip


def predict(
    model: o.Model,
    data: o.Data,
    output: Output = "-",
    format: o.Format = None,
    no_header: o.NoHeader = False,
    separator: o.Separator = None,
    quote: o.Quote = None,
    coerce: o.Coerce = False,
    skip_bad: o.SkipBad = 0,
    quiet: o.Quiet = False,
) -> None:
    """Predict the rows of a file, in their order, in constant memory; nothing is learned.

    The output has a line a row: its number, the prediction and the probability of each class. A
    target column is ignored if there is one.

    [dim]Examples:[/dim]

    unitless predict houses.unitless new.csv > prices.csv

    cat mail.vw | unitless predict mail.unitless - --format vw
    """
    from unitless.cli.loading import stream_model
    from unitless.cli.predictions import Predictions
    from unitless.cli.reading import blocks_of, reading_of
    from unitless.cli.screen import warnings_as_notes
    from unitless.cli.stopping import Stopper

    found = stream_model(model)
    reading = reading_of(format, no_header, separator, quote)
    if format is None:  # a file's name tells it, a pipe is like what was learned
        found.reading["format"] = found.position.get("format") if data == "-" else None
    how = {**found.reading, **reading}
    with warnings_as_notes(quiet), Stopper() as stopper, Predictions(output) as written:
        blocks = blocks_of(data, how, model=found, coerce=coerce, skip_bad=skip_bad)
        for block in stopper.waiting_for(blocks):
            rows = found.prepared(block, grow=False, labelled=False).rows
            for start in range(0, len(rows), PIECE):
                written.write(found, found.learner.predict(rows[start : start + PIECE]))
                stopper.check()
            written.flush()


PIECE = 4096
