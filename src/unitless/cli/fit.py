"""`unitless fit`: learn from a file and save the model."""

from unitless.cli.options import FitOptions, takes


@takes(FitOptions)
def fit(options: FitOptions) -> None:
    """Learn from a file and save the model; like `evaluate`, without the table.

    --shards and --by-key use several processes: docs/distributed.md.

    [dim]Examples:[/dim]

    unitless fit houses.csv --target price --save houses.unitless

    unitless fit ads.svm --passes 3 --holdout 10 --save ads.unitless

    unitless fit 'flights/*.parquet' -t delay -l vaw --shards 16 --save m

    unitless fit flights -t late --by-key carrier --save carriers.unitless
    """
    if not options.save:
        raise ValueError("fit needs --save MODEL, the file for the model")
    if options.shards is not None or options.by_key is not None:
        from unitless.cli.fit_distributed import fit_distributed

        fit_distributed(options)
        return
    if options.address is not None:
        raise ValueError("--address needs --shards or --by-key")
    from unitless.cli.run import EvaluationRun

    EvaluationRun(options, table=False).run()
