"""`unitless fit --shards` and `--by-key`: learning in several processes."""

import json
import time
from typing import Any

from unitless.cli.options import FitOptions
from unitless.cli.outputs import check_outputs
from unitless.cli.screen import console_of, number, warnings_as_notes
from unitless.cli.stopping import Stopper
from unitless.distributed import PartitionedData, TaskProgress, fit_by_key, fit_sharded

NOT_DISTRIBUTED = {
    "passes": 1,
    "holdout": 0,
    "resume": None,
    "checkpoint": 0,
    "predictions": None,
    "report": None,
    "results": None,
    "skip_bad": 0,
}
"""Options that need one pass in one process, and their defaults."""


def fit_distributed(options: FitOptions) -> None:
    """Learn in several processes, show progress, and save."""
    if options.shards is not None and options.by_key is not None:
        raise ValueError("--shards makes one model and --by-key makes many: use one of them")
    for name, default in NOT_DISTRIBUTED.items():
        if getattr(options, name) != default:
            other = "--shards" if options.by_key is None else "--by-key"
            raise ValueError(f"--{name.replace('_', '-')} cannot be combined with {other}")
    source = _source(options)
    check_outputs({"--save": options.save}, source.files())
    console = console_of(options.no_color, options.quiet or options.json)
    bar = ProgressLine(console)
    with warnings_as_notes(options.quiet), Stopper() as stopper:
        stopper.waits = True  # workers do the work, so a signal may interrupt at any time
        try:
            found = _fit(options, source, bar)
        except ModuleNotFoundError as error:  # its message says what to install
            raise ValueError(str(error)) from None
    found["seconds"] = round(bar.seconds(), 3)
    if options.json:
        print(json.dumps(found, ensure_ascii=False))
    width = max(32, *(len(name) + 2 for name in found))
    for name, value in found.items():
        shown = number(value) if isinstance(value, float) else f"{value:,}"
        console.print(f"{name:<{width}}{shown}")


def _fit(options: FitOptions, source: PartitionedData, bar: "ProgressLine") -> dict[str, Any]:
    assert options.save is not None
    settings: dict[str, Any] = {
        "address": options.address,
        "retries": options.retries,
        "workers": options.workers,
        "progress": bar.show,
    }
    if options.by_key is not None:
        models = fit_by_key(options.learner, source, options.by_key, save=options.save, **settings)
        return {"rows": models.rows, "models": len(models), "average loss": models.loss}
    made = fit_sharded(options.learner, source, shards=options.shards or 0, **settings)
    made.save(options.save)
    losses = {f"average loss, {name}": loss for name, loss in made.losses.items()}
    return {"rows": made.rows, "shards": made.shards, **losses}


def _source(options: FitOptions) -> PartitionedData:
    return PartitionedData(
        options.data,
        target=options.target,
        weight=options.weight,
        ignore=options.ignore or (),
        keep=options.keep or (),
        task=options.task,
        loss=options.loss,
        columns=options.columns(),
        reading=options.reading(),
        coerce=options.coerce,
    )


class ProgressLine:
    """One line that is updated on a terminal; lines at 1, 2, 4, ... parts elsewhere."""

    def __init__(self, console: Any) -> None:
        self.console = console
        self.start = time.perf_counter()
        self.stage_start = self.start

    def seconds(self) -> float:
        """Return the time since the beginning."""
        return time.perf_counter() - self.start

    def show(self, progress: TaskProgress) -> None:
        """Show how far the fit is."""
        stage, done, total, rows, unit = progress
        if done == 0:
            self.stage_start = time.perf_counter()
            return
        rate = rows / max(time.perf_counter() - self.stage_start, 1e-9)
        text = f"{stage}: {done} of {total} {unit}, {rows:,} rows, {rate:,.0f} rows/s"
        if self.console.is_terminal:
            self.console.print(text, end="\n" if done == total else "\r", style="cyan")
        elif done == total or done & (done - 1) == 0:
            self.console.print(text)
