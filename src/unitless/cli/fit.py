"""`unitless fit`: learn from a file and save the model, also in several processes."""

from typing import Any

from unitless.cli.options import FIELDS, LEARNING, PROCESSES, CommandOptions, spelt, takes

ONE_PROCESS = (
    *("passes", "holdout", "delay", "interval", "shuffle", "test", "test_share", "resume"),
    *("checkpoint", "predictions", "report", "results", "audit", "skip_bad"),
)
"""Options that need one pass in one process."""


@takes(*LEARNING, *PROCESSES)
def fit(options: CommandOptions) -> None:
    """Learn from a file and save the model; like `evaluate`, without the table.

    --by-key uses several processes: docs/how-to/distributed.md.

    Examples:

        unitless fit houses.csv --target price --save houses.unitless
        unitless fit ads.svm --passes 3 --holdout 10 --save ads.unitless
        unitless fit flights -t late --by-key carrier --save carriers.unitless
    """
    if not options.save:
        raise ValueError("fit needs --save MODEL, the file for the model")
    if options.by_key is not None:
        _fit_by_key(options)
        return
    if options.address is not None:
        raise ValueError("--address needs --by-key")
    from unitless.cli.run import EvaluationRun

    EvaluationRun(options, table=False).run()


def _fit_by_key(options: CommandOptions) -> None:
    """Learn in several processes, show progress, and save."""
    import time

    from unitless.cli import screen
    from unitless.cli.learners import check_learner
    from unitless.cli.outputs import check_outputs
    from unitless.cli.stopping import Stopper
    from unitless.escaping import escaped, json_line

    for name in ONE_PROCESS:
        if getattr(options, name) != FIELDS[name].default:
            raise ValueError(f"{spelt(name)} cannot be combined with --by-key")
    check_learner(options.learner)
    check_outputs({"--save": options.save}, options.data)
    console = screen.console_of(options.no_color, options.quiet or options.json)

    def show(progress: Any) -> None:
        """Print lines after 1, 2, 4, ... parts; on a terminal, one line that is updated."""
        stage, done, total, rows, unit = progress
        text = f"{stage}: {done} of {total} {unit}, {rows:,} rows"
        if done and console.is_terminal:
            console.print(text, end="\n" if done == total else "\r", style="cyan")
        elif done and (done == total or done & (done - 1) == 0):
            console.print(text)

    start = time.perf_counter()
    with screen.warnings_as_notes(options.quiet), Stopper() as stopper:
        stopper.waits = True  # workers do the work, so a signal may interrupt at any time
        try:
            decisions, found = _fit(options, show)
        except ModuleNotFoundError as error:  # its message says what to install
            raise ValueError(str(error)) from None
    found["seconds"] = round(time.perf_counter() - start, 3)
    if options.json:
        print(json_line(found | {"decisions": decisions}))
    for decision in decisions:
        console.print(escaped(decision))
    for name, value in found.items():
        shown = screen.number(value) if isinstance(value, float) else f"{value:,}"
        console.print(f"{name:<32}{shown}")
    console.print(f"\nwrote {options.save}")


def _fit(options: CommandOptions, show: Any) -> tuple[list[str], dict[str, Any]]:
    """Save the models; return what was decided about the files, and figures."""
    from unitless.distributed import PartitionedData, fit_by_key
    from unitless.model.decision_sentences import sentences

    source = PartitionedData(
        options.data, reading=options.reading(), coerce=options.coerce, **options.meaning()
    )
    settings: Any = {
        name: getattr(options, name) for name in ("address", "retries", "workers", "reservoir")
    }
    models = fit_by_key(
        options.learner, source, options.by_key or "", save=options.save, progress=show, **settings
    )
    figures = {"rows": models.rows, "models": len(models), "average loss": models.loss}
    return sentences(models.decisions), figures
