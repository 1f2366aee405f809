"""`unitless predict`: the predictions of a saved model for the rows of a file."""

import os
import sys
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING

from unitless.cli.options import READING, CommandOptions, Option, takes

if TYPE_CHECKING:
    from unitless.model import Model
    from unitless.readers.blocks import Bad, FileBlock
    from unitless.rows import Rows

PIECE_ROWS = 4096
"""Rows predicted between two checks for signals."""
CHANGED = {
    "interval": Option(
        "Also write the interval (of classes, the set) of this coverage, which was declared when "
        "the model was made (may be repeated).",
        "COVERAGE",
    ),
    "predictions": Option(
        "File for the predictions (CSV); - for standard output.", "FILE", ("-o", "--output")
    ),
    "json": Option("Write one JSON object per row instead of CSV."),
    "strict": Option(
        "End at an invalid line of a pipe, too, and at a cell that does not fit its column of "
        "numbers, dates or booleans; such a cell counts as missing otherwise."
    ),
}


@takes(
    *("model", "data", *READING, "interval", "predictions", "json", "safe_csv", "quiet"),
    changed=CHANGED,
    predictions="-",
)
def predict(options: CommandOptions) -> None:
    """Predict the rows of a file, in order and in constant memory; nothing is learned.

    The output has one line per row: its number, the prediction, and the probability of each class.
    If the file has a target column, it is ignored.

    Rows of a pipe are answered one by one, as they arrive. There, an invalid line counts as a row:
    with --json its answer is an object with an error, otherwise the error goes to the error stream.

    Examples:

        unitless predict houses.unitless new.csv > prices.csv
        unitless predict houses.unitless january.csv february.csv -o prices.csv
        cat mail.vw | unitless predict mail.unitless - --format vw
        cat rows.jsonl | unitless predict houses.unitless - --format jsonl --json
    """
    write_predictions(options)


def write_predictions(options: CommandOptions) -> None:
    """Predict all rows; notes say which cells were not used."""
    from unitless.cli.outputs import check_outputs
    from unitless.cli.predictions import Predictions
    from unitless.cli.reading import load_model, odd_cell_notes, open_for_prediction
    from unitless.cli.screen import warnings_as_notes
    from unitless.cli.stopping import Stopper
    from unitless.readers.blocks import Bad, Position

    output = options.predictions or "-"
    check_outputs({"--output": output}, [*options.data, options.model])
    model = load_model(options.model, data=options.data[0])
    for coverage in options.interval:
        declared = () if model.intervals is None else model.intervals.coverages
        if coverage not in declared:
            raise ValueError(
                f"--interval {coverage:g}: {options.model} was made without it; make a model with "
                f"`unitless evaluate ... --interval {coverage:g} --save`"
            )
    is_served = not options.strict and not os.path.isfile(options.data[0])
    more = {"tell_bad": True, "skip_bad": options.skip_bad or sys.maxsize} if is_served else {}
    stopper = Stopper()
    writer = Predictions(output, as_json=options.json, safe_csv=options.safe_csv)
    writer.coverages = options.interval
    with warnings_as_notes(options.quiet), stopper, writer as predictions:
        position = Position()
        for block in stopper.waiting_for(open_for_prediction(options, model, **more)):
            for part in answered(model, block) if is_served else [prepared(model, block)]:
                if isinstance(part, Bad):
                    predictions.write_error(part.line, part.error(block.file))
                    continue
                for start in range(0, len(part), PIECE_ROWS):
                    piece = part[start : start + PIECE_ROWS]
                    scores = model.predict_rows(piece)
                    found = model.interval_rows(piece, scores) if options.interval else None
                    pair = None if found is None else (found, found)
                    predictions.write(model, scores, None, pair)
                    stopper.check()
            predictions.flush()
            position = block.position
        for note in odd_cell_notes(position, is_new=False):
            warnings.warn(note, stacklevel=1)


def prepared(model: "Model", block: "FileBlock") -> "Rows":
    """Return the rows of a block, without labels."""
    return model.prepared_block(block, labelled=False).rows


def answered(model: "Model", block: "FileBlock") -> "Iterator[Rows | Bad]":
    """Yield the rows of a block in order, with bad lines and rows that are refused between them."""
    from unitless.readers.blocks import Bad

    try:
        whole = prepared(model, block) if len(block) else None
    except ValueError:
        whole = None  # one by one
    bad = [*block.bad]
    start = 0
    for row, line in enumerate(block.lines.tolist()):
        has_bad = bool(bad) and bad[0].line < line
        if has_bad and whole is not None and row > start:
            yield whole[start:row]
            start = row
        while bad and bad[0].line < line:
            yield bad.pop(0)
        if whole is None:
            try:
                yield prepared(model, block.single(row))
            except ValueError as error:
                yield Bad(line, None, None, str(error).removeprefix("row 0, "))
    if whole is not None:
        yield whole[start:]
    yield from bad
