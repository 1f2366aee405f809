"""`unitless predict`: the predictions of a saved model for the rows of a file."""

import warnings
from typing import Any

from unitless.cli.options import READING, CommandOptions, takes

PIECE_ROWS = 4096
"""Rows predicted between two checks for signals."""
OUTPUT = """Output
  predictions -o --output FILE: File for the predictions (CSV); - for standard output."""


@takes(f"model data {READING} predictions quiet", OUTPUT, predictions="-")
def predict(options: CommandOptions) -> None:
    """Predict the rows of a file, in order and in constant memory; nothing is learned.

    The output has one line per row: its number, the prediction, and the probability of each class.
    If the file has a target column, it is ignored.

    Examples:

        unitless predict houses.unitless new.csv > prices.csv
        unitless predict houses.unitless january.csv february.csv -o prices.csv
        cat mail.vw | unitless predict mail.unitless - --format vw
    """
    write_predictions(options)


def write_predictions(options: CommandOptions) -> None:
    """Predict all rows; notes say which cells were not used."""
    from unitless.cli.outputs import check_outputs
    from unitless.cli.predictions import Predictions
    from unitless.cli.reading import load_model, odd_cell_notes, open_for_prediction
    from unitless.cli.screen import warnings_as_notes
    from unitless.cli.stopping import Stopper

    output = options.predictions or "-"
    check_outputs({"--output": output}, [*options.data, options.model])
    model = load_model(options.model, data=options.data[0])
    stopper = Stopper()
    with warnings_as_notes(options.quiet), stopper, Predictions(output) as predictions:
        position: dict[str, Any] = {}
        for block in stopper.waiting_for(open_for_prediction(options, model)):
            rows = model.prepared(block, grow=False, labelled=False).rows
            for start in range(0, len(rows), PIECE_ROWS):
                scores = model.learner.predict(rows[start : start + PIECE_ROWS])
                predictions.write(model, scores)
                stopper.check()
            predictions.flush()
            position = block.position
        for note in odd_cell_notes(position):
            warnings.warn(note, stacklevel=1)
