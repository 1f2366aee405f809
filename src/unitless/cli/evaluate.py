"""`unitless evaluate`: one pass over a file; each row is predicted before its label is used."""

from unitless.cli.options import DECIDING, LEARNING, CommandOptions, takes


@takes(*LEARNING, *DECIDING)
def evaluate(options: CommandOptions) -> None:
    """Learn from a file in one pass, and measure how well it was predicted.

    Each row is predicted before its label is used. Several files are one stream. After a crash, the
    last example continues the run of the example before it.

    With --action and --reward the file is a log of decisions: the policy that is learned from it,
    each constant action and the policy of --policy are valued. With --actions, each decision has
    possible actions of its own, with features. With --bandit, classification is played as
    decisions.

    Examples:

        unitless evaluate houses.csv --target price
        unitless evaluate january.csv february.csv 'late/*.csv' -t price
        unitless evaluate clicks.vw.gz --learner coordinate --save clicks.unitless
        head mail.tsv | unitless evaluate - --format tsv -t spam --text message
        unitless evaluate long.csv -t y --save m --checkpoint 100000
        unitless evaluate long.csv --resume m --save m
        unitless evaluate log.csv --action shown --reward clicked --save offers
        unitless evaluate digits.csv -t digit --bandit --report digits.html
    """
    if options.action or options.reward or options.actions or options.bandit:
        from unitless.cli.decision_runs import run_decisions

        run_decisions(options)
        return
    from unitless.cli.run import EvaluationRun

    EvaluationRun(options, table=True).run()
