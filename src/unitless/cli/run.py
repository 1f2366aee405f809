"""What `evaluate` and `fit` do: read, predict, learn, show, save; and end cleanly in any case."""

import errno
import os
import time
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np

from unitless.cli.predictions import Predictions
from unitless.cli.reading import blocks_of, is_text, reading_of, same_file
from unitless.cli.screen import Screen, console_of, warnings_as_notes
from unitless.cli.stopping import Stopper
from unitless.cli.summary import show_audit, show_start, show_summary
from unitless.encoders import FrameEncoder
from unitless.evaluation import Evaluation, Step, results_of, resumed, write_results
from unitless.model import started
from unitless.readers import ReadError
from unitless.rows import Rows

PROOF_ROWS = 1000
"""Rows that a report's trial in other units learns again."""


@dataclass
class Plan:
    """The options of a run; `options.py` explains each."""

    data: str
    target: str | None = None
    learner: str = "blend"
    task: str = "auto"
    loss: str | None = None
    quantile: float | None = None
    passes: int = 1
    holdout: int = 0
    delay: int = 0
    weight: str | None = None
    ignore: list[str] | None = None
    keep: list[str] | None = None
    text: list[str] | None = None
    interactions: list[str] | None = None
    hash_bits: int = 18
    max_levels: int = 1000
    format: str | None = None
    no_header: bool = False
    separator: str | None = None
    quote: str | None = None
    coerce: bool = False
    skip_bad: int = 0
    save: str | None = None
    resume: str | None = None
    checkpoint: int = 0
    predictions: str | None = None
    report: str | None = None
    results: str | None = None
    audit: int = 0
    top: int = 10
    quiet: bool = False
    json: bool = False
    no_color: bool = False
    table: bool = True
    first_rows: list[Rows] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.quantile is not None:
            if self.loss not in (None, "quantile"):
                raise ValueError(f"--quantile is a loss of its own: leave out --loss {self.loss}")
            self.loss = f"quantile({self.quantile!r})"
        for name in ("passes", "holdout", "delay", "checkpoint", "audit", "skip_bad", "top"):
            least = int(name == "passes")
            if getattr(self, name) < least:
                option = name.replace("_", "-")
                raise ValueError(f"--{option} {getattr(self, name)}: at least {least}")
        if self.holdout == 1:
            raise ValueError("--holdout 1 would hold out every row: use 2 or more")
        if self.passes > 1 and self.data == "-":
            raise ValueError("a pipe can be read once: --passes needs a file")
        if self.checkpoint and not self.save:
            raise ValueError("--checkpoint saves the model: say where with --save MODEL")
        if self.checkpoint and self.delay:
            raise ValueError("--checkpoint and --delay do not go together: rows wait for labels")


def run(plan: Plan) -> None:
    """Do it."""
    silent = plan.quiet or plan.json
    console = console_of(plan.no_color, silent, error=plan.predictions == "-")
    start = time.perf_counter()
    with warnings_as_notes(silent), Stopper() as stopper:
        evaluation, blocks, frame = _opened(plan, stopper)
        done = evaluation.rows if evaluation.passes == 0 else 0
        with Predictions(plan.predictions, done) as written:
            try:
                if plan.table:
                    show_start(console, evaluation.model, frame)
                with Screen(_table_console(console, plan), evaluation.model) as screen:
                    _all_passes(plan, evaluation, blocks, stopper, screen, written)
            finally:  # whatever happened, the model is that of the last finished piece
                if plan.save:
                    _save(plan.save, evaluation, written)
    found = _results(plan, evaluation, time.perf_counter() - start)
    _write(plan, found)
    if plan.json:
        import json

        print(json.dumps(found, ensure_ascii=False))
    if evaluation.audited is not None:
        show_audit(console, evaluation.audited, plan.audit)
    elif plan.audit:
        read = f"{evaluation.rows:,} were read"
        console.print(f"\nThere is no row {plan.audit} to take apart: {read}")
    show_summary(console, found, plan.top)


def _save(path: str, evaluation: Evaluation, written: Predictions) -> None:
    """Save the model, on a disk that is full at the cost of predictions: they can be made anew."""
    size, left = 1 << 16, None
    while True:
        try:
            evaluation.save(path)
            break
        except OSError as error:
            fewer = written.give_back(size) if error.errno == errno.ENOSPC else None
            if fewer is None:
                raise
            size, left = 2 * size, fewer
    if left is not None:
        why = f"{os.strerror(errno.ENOSPC)}; cut behind row {left:,}, to make room for the model"
        raise OSError(errno.ENOSPC, why, written.path)


def _table_console(console: Any, plan: Plan) -> Any:
    return console if plan.table else console_of(quiet=True)


def _opened(plan: Plan, stopper: Stopper) -> tuple[Evaluation, Any, Any]:
    """A fresh or a resumed evaluation, the blocks of its pass, the table it begins with."""
    reading = reading_of(plan.format, plan.no_header, plan.separator, plan.quote)
    how: dict[str, Any] = {"coerce": plan.coerce, "skip_bad": plan.skip_bad}
    if plan.resume:
        return *_resumed(plan, reading, how, stopper), None
    how |= {"target": plan.target, "weight": plan.weight}
    if is_text(plan.data, reading):  # a class, and what is ignored, may look like anything
        classes = [plan.target] if plan.target and plan.task in ("binary", "multiclass") else []
        reading["types"] = dict.fromkeys([*classes, *(plan.ignore or ())], "string")
    blocks = stopper.waiting_for(blocks_of(plan.data, reading, task=plan.task, **how))
    first = next(blocks)
    columns = FrameEncoder(
        plan.hash_bits, plan.max_levels, plan.interactions or (), plan.text or ()
    )
    model = started(
        first, target=plan.target, learner=plan.learner, loss=plan.loss, task=plan.task,
        weight=plan.weight, ignore=plan.ignore or (), keep=plan.keep or (), columns=columns,
        source=plan.data,
    )  # fmt: skip
    model.reading = reading
    return Evaluation(model), chain([first], blocks), first.frame


def _resumed(plan: Plan, reading: Any, how: Any, stopper: Stopper) -> tuple[Evaluation, Any]:
    assert plan.resume is not None
    evaluation = resumed(plan.resume)
    model = evaluation.model
    on = same_file(plan.data, model.source)
    if plan.target not in (None, model.target):
        raise ValueError(
            f"the model's target is {model.target!r}: leave out --target {plan.target}"
        )
    if on:
        model.reading |= reading
        if evaluation.passes >= plan.passes:  # rows behind those it has seen
            evaluation.passes = 0
    else:
        evaluation, watch = Evaluation(model), evaluation.watch
        evaluation.watch = watch  # another file may have other units
        model.source, model.reading = plan.data, {**model.reading, **reading}
        if reading.get("format") is None:
            model.reading.pop("format", None)
    how |= {"target": model.target, "weight": model.weight}
    blocks = blocks_of(plan.data, model.reading, model=model, resume=on, **how)
    if not on:
        model.position = {}
    return evaluation, stopper.waiting_for(blocks)


def _all_passes(
    plan: Plan, evaluation: Evaluation, blocks: Any, stopper: Stopper, screen: Any, written: Any
) -> None:
    options: dict[str, Any] = {
        "holdout": plan.holdout,
        "delay": plan.delay,
        "every": plan.checkpoint,
    }
    while True:
        first = evaluation.passes == 0
        try:
            for step in evaluation.over(blocks, audit=plan.audit if first else 0, **options):
                _after(plan, evaluation, step, screen, written if first else None)
                stopper.check()
        except ReadError as error:
            raise _with_advice(error, plan) from None
        if evaluation.passes >= plan.passes:
            return
        model = evaluation.model
        model.position = {}
        again = blocks_of(
            plan.data, model.reading, model=model, target=model.target, weight=model.weight,
            coerce=plan.coerce, skip_bad=plan.skip_bad,
        )  # fmt: skip
        blocks = stopper.waiting_for(again)


def _with_advice(error: ReadError, plan: Plan) -> ReadError:
    """A label that is no number, after numbers: the task may be another."""
    unread = error.text is not None and plan.target is not None and error.column == plan.target
    if unread and plan.task == "auto":
        error.args = (f"{error}; if it is a class, give --task binary or --task multiclass",)
    return error


def _after(plan: Plan, evaluation: Evaluation, step: Step, screen: Any, written: Any) -> None:
    """What follows a step: show, write, save."""
    screen.show(step)
    if written is not None:
        written.write(evaluation.model, step.scores)
    if plan.report and sum(map(len, plan.first_rows)) < PROOF_ROWS:
        plan.first_rows.append(step.rows)
    place = evaluation.model.position
    at = place.get("rows", 0) + place.get("skip", 0)
    if plan.checkpoint and at % plan.checkpoint == 0:
        if written is not None:
            written.flush()
        assert plan.save is not None
        evaluation.save(plan.save)


def _results(plan: Plan, evaluation: Evaluation, seconds: float) -> dict[str, Any]:
    more: dict[str, Any] = {"seconds": round(seconds, 3)}
    rows = evaluation.model.position.get("rows")
    if plan.report:
        more |= _proof(plan, evaluation)
    return results_of(evaluation, file_rows=rows, **more)


def _proof(plan: Plan, evaluation: Evaluation) -> dict[str, Any]:
    """Some of the first rows again, in other units and by other learners."""
    from unitless.evaluation.units import compared, other_units

    parts = [rows for rows in plan.first_rows if rows.targets is not None]
    width = max((rows.columns for rows in parts), default=0)
    parts = [rows for rows in parts if rows.columns == width and _labelled(rows)]
    if not parts:
        return {}
    longest = max(parts, key=len)[:PROOF_ROWS]
    learner = evaluation.model.learner
    units = {"rows": len(longest), "trials": other_units(learner, longest)}
    return {"units": units, "comparison": compared(learner, longest)}


def _labelled(rows: Rows) -> bool:
    return rows.targets is not None and not np.isnan(rows.targets).any()


def _write(plan: Plan, found: dict[str, Any]) -> None:
    """The results file and the page made from it."""
    path = plan.results
    if plan.report and not path:
        path = os.path.splitext(plan.report)[0] + ".json"
    if path:
        write_results(path, found)
    if plan.report:
        from unitless.evaluation import read_results
        from unitless.report import write_page

        assert path is not None
        write_page(plan.report, read_results(path))
