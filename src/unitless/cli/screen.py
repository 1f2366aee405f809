"""What commands print: the table of a run, its progress bar, and formats of numbers and labels."""

import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from unitless.escaping import escaped
from unitless.evaluation import Step
from unitless.labels import text_of
from unitless.learners.one_vs_rest import OneVsRest
from unitless.model import Model
from unitless.model.decision_sentences import sentences
from unitless.model.explanations import BASE, RECENT, what_scores_are
from unitless.model.file_decisions import ChosenTask

WIDTHS = (9, 13, 11, 11, 11, 11, 14)


class SafeConsole(Console):
    """A console on which text from files cannot send commands to the terminal."""

    def print(self, *objects: object, **settings: Any) -> None:
        """Print; characters that cannot be seen are escaped, except ends of lines."""
        texts = [escaped(each, keep="\n") if isinstance(each, str) else each for each in objects]
        super().print(*texts, **settings)


def console_of(no_color: bool = False, quiet: bool = False, error: bool = False) -> Console:
    return SafeConsole(
        highlight=False,
        color_system=None if no_color else "auto",
        quiet=quiet,
        stderr=error,
        soft_wrap=True,
        markup=False,
    )


@contextmanager
def warnings_as_notes(quiet: bool) -> Iterator[None]:
    """Print warnings of the library as notes on the error stream."""

    def show(message: object, *_: object, **__: object) -> None:
        if not quiet:
            print(f"note: {escaped(str(message))}", file=sys.stderr, flush=True)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield


def progress_bar(console: Console, *columns: Any) -> Progress:
    """Return a bar that is shown on a terminal only, and removed at its end."""
    hidden = console.quiet or not console.is_terminal
    return Progress(*columns, console=console, transient=True, disable=hidden)


class Screen:
    """The table and the progress bar of a run."""

    def __init__(self, console: Console, model: Model) -> None:
        self.console = console
        self.model = model
        self.rows = 0
        self.start = time.perf_counter()
        share, text = TaskProgressColumn(), TextColumn("{task.description}")
        self.bar = progress_bar(console, BarColumn(30), share, text, TimeRemainingColumn())
        self.task = self.bar.add_task("", total=None)

    def __enter__(self) -> "Screen":
        losses = ("average loss", "since last", "constant", last_name(self.model.task))
        self._print("rows", *losses, "label", "predicted", style="bold")
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def _print(self, *cells: str, style: str = "") -> None:
        aligned = [f"{cell:>{width}}" for cell, width in zip(cells, WIDTHS, strict=True)]
        self.console.print(escaped("".join(aligned)), style=style)

    def show(self, step: Step) -> None:
        """Show the rows of a step."""
        self.rows += len(step.rows)
        if line := step.line:
            losses = [number(line[key]) for key in ("loss", "since", "baseline", "last")]
            label = label_of(self.model, line["target"])
            prediction = prediction_of(self.model, line["score"])
            self._print(f"{line['rows']:,}", *losses, label, prediction)
        speed = self.rows / max(time.perf_counter() - self.start, 1e-9)
        text = f"{self.rows:,} rows, {speed:,.0f} rows/s"
        total = None if step.done is None else 1.0
        self.bar.update(self.task, description=text, completed=step.done or 0.0, total=total)


def last_name(task: str, delay: int | None = None) -> str:
    """Return the name of the baseline that predicts the last label known.

    >>> last_name("regression"), last_name("binary", delay=24)
    ('last value', 'class 25 rows before')
    """
    what = "value" if task == "regression" else "class"
    return f"{what} {delay + 1} rows before" if delay else f"last {what}"


def number(value: float | None) -> str:
    """Format a number for a table.

    >>> number(0.12345), number(123456.7), number(3e9), number(-0.0), number(None)
    ('0.1235', '123,456.7', '3e+09', '0.0000', '-')
    """
    if value is None:
        return "-"
    value += 0.0  # 0 has no sign
    if value == 0 or 1e-3 <= abs(value) < 1e3:
        return f"{value:.4f}"
    return f"{value:,.1f}" if 1e3 <= abs(value) < 1e6 else f"{value:.4g}"


def sum_of_losses(value: float) -> str:
    """Format a sum of losses for a sentence.

    >>> sum_of_losses(0.54321), sum_of_losses(1485123.4), sum_of_losses(3e20)
    ('0.5432', '1,485,123', '3e+20')
    """
    return f"{value:,.0f}" if 1e3 <= abs(value) < 1e15 else f"{value:.4g}"


def label_of(model: Model, target: float | None) -> str:
    """Return a target as it is in the file."""
    if target is None:
        return "unknown"
    if model.task == "regression":
        return f"{target:.6g}"
    code = int(target > 0) if model.task == "binary" else int(target)
    return plain(model.labels[code], 10)


def prediction_of(model: Model, score: object) -> str:
    """Return the prediction of a score: the number, or the class and its probability."""
    if model.task == "regression":
        return f"{score:.6g}"
    if not model.classes:
        return "unknown"
    scores = np.array([score])
    answer = plain(model.answers(scores)[0], 8)
    p = model.probabilities(scores)
    return answer if p is None else f"{answer} {p[0].max():.0%}"


def score_meaning(model: Model) -> str:
    """Return what the score of a model is, in words."""
    labels = [text_of(label) for label in model.labels]
    facts = {"task": model.task, "loss": model.learner.loss.name, "target": model.file.target}
    return what_scores_are({**facts, "labels": labels})


def plain(label: Any, width: int) -> str:
    """Return a label without quotes, shortened."""
    text = escaped(text_of(label))
    return text if len(text) <= width else text[: width - 1] + "…"


def counted(n: int, what: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "invalid line"), counted(2000, "invalid line")
    ('1 invalid line', '2,000 invalid lines')
    """
    return f"{n:,} {what}{'' if n == 1 else 's'}"


# Before and after a run


def show_start(console: Console, model: Model, *, of_learner: bool = True) -> None:
    """Show what was decided about the file, the learner and the loss."""
    for text in sentences(model.file.decisions):
        console.print(escaped(text))
    facts = [f"loss: {model.learner.loss.name}"]
    if of_learner:
        name = model.learner.name
        if isinstance(model.learner, OneVsRest):
            name = f"{model.learner.kind.name}, one per class"
        facts.insert(0, f"learner: {name}")
    if not any(isinstance(decision, ChosenTask) for decision in model.file.decisions):
        facts.insert(0, f"task: {model.task}")
    console.print("; ".join(facts))


def show_audit(console: Console, parts: list[dict[str, Any]], row: int | None = None) -> None:
    """Show what each column adds to a score."""
    of = "" if row is None else f" of row {row}"
    console.print(f"\nContributions to the score{of}", style="bold")
    console.print(f"{'adds':>14}{'error':>10}  column")
    for part in parts:
        adds, errors = (
            [part[key]] if isinstance(part[key], float) else part[key] for key in ("adds", "error")
        )
        shown = " ".join(map(number, adds))
        error = number(max(errors)) if any(errors) else ""
        value = part["value"]
        value = f" = {value:.6g}" if isinstance(value, float) else f" = {value or '(missing)'}"
        if part["column"] in (BASE, RECENT):
            value = ""
        console.print(f"{shown:>14}{error:>10}  {plain(part['column'] + value, 60)}")
