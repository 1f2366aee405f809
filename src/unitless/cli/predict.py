"""`unitless predict`: the predictions of a saved model for the rows of a file."""

from dataclasses import dataclass

from unitless.cli.options import (
    OUTPUT,
    Model,
    Quiet,
    ReadingOptions,
    data_argument,
    option,
    takes,
)

PIECE_ROWS = 4096
"""Rows predicted between two checks for signals."""


@dataclass(kw_only=True)
class PredictOptions(ReadingOptions):
    """The options of `predict`."""

    model: Model
    data: str = data_argument()
    output: str = option(
        OUTPUT, "-", "FILE", "File for the predictions (CSV); - for standard output."
    )
    quiet: Quiet = False


@takes(PredictOptions)
def predict(options: PredictOptions) -> None:
    """Predict the rows of a file, in their order and in constant memory; nothing is learned.

    The output has one line per row: its number, the prediction, and the probability of each class.
    If the file has a target column, it is ignored.

    [dim]Examples:[/dim]

    unitless predict houses.unitless new.csv > prices.csv

    cat mail.vw | unitless predict mail.unitless - --format vw
    """
    from unitless.cli.loading import load_model
    from unitless.cli.outputs import check_outputs
    from unitless.cli.predictions import Predictions
    from unitless.cli.reading import model_blocks
    from unitless.cli.screen import warnings_as_notes
    from unitless.cli.stopping import Stopper

    check_outputs({"--output": options.output}, [options.data, options.model])
    model = load_model(options.model, data=options.data)
    if options.format is None:  # files have extensions; a pipe has the format of the training data
        learned_format = model.position.get("format")
        model.reading["format"] = learned_format if options.data == "-" else None
    reading = {**model.reading, **options.reading()}
    with (
        warnings_as_notes(options.quiet),
        Stopper() as stopper,
        Predictions(options.output) as predictions,
    ):
        blocks = model_blocks(options.data, reading, options, model, labelled=False)
        for block in stopper.waiting_for(blocks):
            rows = model.prepared(block, grow=False, labelled=False).rows
            for start in range(0, len(rows), PIECE_ROWS):
                scores = model.learner.predict(rows[start : start + PIECE_ROWS])
                predictions.write(model, scores)
                stopper.check()
            predictions.flush()
