"""`unitless evaluate`: one pass over a file; each row is predicted before its label is used."""

from unitless.cli.options import LEARNING, CommandOptions, takes


@takes(LEARNING)
def evaluate(options: CommandOptions) -> None:
    """Learn from a file in one pass, and measure how well it was predicted.

    Each row is predicted before its label is used. Several files are one stream. After a crash, the
    last example continues the run of the example before it.

    Examples:

        unitless evaluate houses.csv --target price
        unitless evaluate january.csv february.csv 'late/*.csv' -t price
        unitless evaluate clicks.vw.gz --learner coordinate --save clicks.unitless
        head mail.tsv | unitless evaluate - --format tsv -t spam --text message
        unitless evaluate long.csv -t y --save m --checkpoint 100000
        unitless evaluate long.csv --resume m --save m
    """
    from unitless.cli.run import EvaluationRun

    EvaluationRun(options, table=True).run()
