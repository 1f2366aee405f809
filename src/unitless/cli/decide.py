"""`unitless decide`: the actions that a saved bandit chooses for the contexts of a file."""

from unitless.cli.options import READING, CommandOptions, Option, takes

CHANGED = {
    "predictions": Option(
        "File for the decisions (CSV); - for standard output.", "FILE", ("-o", "--output")
    ),
    "json": Option("Write one JSON object per row instead of CSV, with the estimated rewards."),
}


@takes("model", "data", *READING, "predictions", "json", "quiet", changed=CHANGED, predictions="-")
def decide(options: CommandOptions) -> None:
    """Choose an action for each row of a file, by a bandit that was saved.

    The output has one line per row: its number, the action, and the probability with which it was
    drawn. The model file stays as it is, so the same file gives the same decisions again.

    Examples:

        unitless decide offers.unitless visitors.csv
        unitless decide offers.unitless visitors.csv -o decisions.csv
    """
    from unitless.cli.decision_runs import write_decisions

    write_decisions(options)
