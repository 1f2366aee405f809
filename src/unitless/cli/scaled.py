"""`unitless fit --shards` and `--by-key`: what they show and where they save."""

import json
import time
from typing import Any

from unitless.cli.reading import reading_of
from unitless.cli.screen import console_of, number, warnings_as_notes
from unitless.cli.stopping import Stopper
from unitless.distributed import Progress, Source, fit_by_key, fit_sharded
from unitless.encoders import FrameEncoder

ALONE = {
    "passes": 1, "holdout": 0, "resume": None, "checkpoint": 0, "predictions": None,
    "report": None, "results": None, "skip_bad": 0,
}  # fmt: skip
"""Options of one pass in one process, and their defaults."""


def fit_scaled(
    options: dict[str, Any], shards: int | None, by_key: str | None, address: str | None,
    retries: int,
) -> None:  # fmt: skip
    """Do it."""
    if shards is not None and by_key is not None:
        raise ValueError("--shards makes one model and --by-key many: give one of them")
    for name, usual in ALONE.items():
        if options[name] != usual:
            given = "--shards" if by_key is None else "--by-key"
            raise ValueError(f"--{name.replace('_', '-')} does not go with {given}")
    console = console_of(options["no_color"], options["quiet"] or options["json"])
    bar = Bar(console)
    with warnings_as_notes(options["quiet"]), Stopper() as stopper:

        def watch(progress: Progress) -> None:
            stopper.check()
            bar.show(progress)

        how: dict[str, Any] = {"address": address, "retries": retries, "progress": watch}
        try:
            if by_key is None:
                found = _sharded(options, shards or 0, how)
            else:
                found = _keyed(options, by_key, how)
        except ModuleNotFoundError as error:  # it says what to install
            raise ValueError(str(error)) from None
    found["seconds"] = round(bar.seconds(), 3)
    if options["json"]:
        print(json.dumps(found, ensure_ascii=False))
    width = max(32, *(len(name) + 2 for name in found))
    for name, value in found.items():
        shown = number(value) if isinstance(value, float) else f"{value:,}"
        console.print(f"{name:<{width}}{shown}")


def _sharded(options: dict[str, Any], shards: int, how: dict[str, Any]) -> dict[str, Any]:
    made = fit_sharded(options["learner"], source_of(options), shards=shards, **how)
    made.save(options["save"])
    losses = {f"average loss, {name}": loss for name, loss in made.losses.items()}
    return {"rows": made.rows, "shards": made.shards, **losses}


def _keyed(options: dict[str, Any], key: str, how: dict[str, Any]) -> dict[str, Any]:
    made = fit_by_key(options["learner"], source_of(options), key, save=options["save"], **how)
    return {"rows": made.rows, "models": len(made), "average loss": made.loss}


def source_of(options: dict[str, Any]) -> Source:
    """What the options say of the source."""
    loss = options["loss"]
    if options["quantile"] is not None:
        loss = f"quantile({options['quantile']!r})"
    columns = FrameEncoder(
        options["hash_bits"], options["max_levels"], options["interactions"] or (),
        options["text"] or (),
    )  # fmt: skip
    names = ("format", "no_header", "separator", "quote")
    return Source(
        options["data"], target=options["target"], weight=options["weight"],
        ignore=options["ignore"] or (), keep=options["keep"] or (), task=options["task"],
        loss=loss, columns=columns, reading=reading_of(**{name: options[name] for name in names}),
        coerce=options["coerce"],
    )  # fmt: skip


class Bar:
    """Progress over all parts: a line that changes, or lines at 1, 2, 4, ... of them when piped."""

    def __init__(self, console: Any) -> None:
        self.console, self.start = console, time.perf_counter()
        self.since = self.start
        self.shown: Progress | None = None

    def seconds(self) -> float:
        """Since the beginning."""
        return time.perf_counter() - self.start

    def show(self, progress: Progress) -> None:
        """Some parts further, or none."""
        stage, done, of, rows, each = progress
        if progress == self.shown:
            return
        self.shown = progress
        if done == 0:
            self.since = time.perf_counter()
            return
        rate = rows / max(time.perf_counter() - self.since, 1e-9)
        text = f"{stage}: {done} of {of} {each}, {rows:,} rows, {rate:,.0f} rows/s"
        if self.console.is_terminal:
            self.console.print(text, end="\n" if done == of else "\r", style="cyan")
        elif done == of or done & (done - 1) == 0:
            self.console.print(text)
