"""`unitless evaluate`: one pass over a file, each row predicted before its label is used."""

from unitless.cli import options as o


def evaluate(
    data: o.Data,
    target: o.Target = None,
    learner: o.Learner = "blend",
    task: o.Task = "auto",
    loss: o.Loss = None,
    quantile: o.Quantile = None,
    passes: o.Passes = 1,
    holdout: o.Holdout = 0,
    delay: o.Delay = 0,
    weight: o.Weight = None,
    ignore: o.Ignore = None,
    keep: o.Keep = None,
    text: o.Text = None,
    interactions: o.Interactions = None,
    hash_bits: o.HashBits = 18,
    max_levels: o.MaxLevels = 1000,
    format: o.Format = None,
    no_header: o.NoHeader = False,
    separator: o.Separator = None,
    quote: o.Quote = None,
    coerce: o.Coerce = False,
    skip_bad: o.SkipBad = 0,
    save: o.Save = None,
    resume: o.Resume = None,
    checkpoint: o.Checkpoint = 0,
    predictions: o.Predictions = None,
    report: o.Report = None,
    results: o.Results = None,
    audit: o.Audit = 0,
    top: o.Top = 10,
    quiet: o.Quiet = False,
    json: o.Json = False,
    no_color: o.NoColor = False,
) -> None:
    """Learn a file in one pass and say how well every row was predicted before its label was used.

    [dim]Examples:[/dim]

    unitless evaluate houses.csv --target price

    unitless evaluate clicks.vw.gz --learner coordinate --save clicks.unitless

    head -1000 mail.tsv | unitless evaluate - --format tsv --target spam --text message

    unitless evaluate long.csv -t y --save m --checkpoint 100000

    unitless evaluate long.csv --save m --checkpoint 100000 --resume m [dim](after a crash)[/dim]
    """
    options = dict(locals())
    from unitless.cli.run import Plan, run

    run(Plan(**options))
