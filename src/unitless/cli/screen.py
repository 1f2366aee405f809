"""What commands print: the table of a run, its progress bar, its summary, and weights."""

import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numba.core import event
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

from unitless.evaluation import LABELS, Step
from unitless.evaluation.certified import telling
from unitless.labels import text_of
from unitless.learners.one_vs_rest import OneVsRest
from unitless.model import Model
from unitless.model.explanations import what_scores_are

WIDTHS = (9, 13, 11, 11, 11, 11, 14)
COMPILING = (
    "compiling for up to a minute, only the first time (`unitless compile` does it in advance)"
)
COMPARATORS = {
    "u = 0": "a model whose weights are all 0",
    "the best constant": "the best constant",
}


def console_of(no_color: bool = False, quiet: bool = False, error: bool = False) -> Console:
    return Console(
        highlight=False,
        color_system=None if no_color else "auto",
        quiet=quiet,
        stderr=error,
        soft_wrap=True,
        markup=False,
    )


@contextmanager
def warnings_as_notes(quiet: bool) -> Iterator[None]:
    """Print warnings of the library as notes on the error stream.

    On a terminal, also say when kernels are compiled that are not in the cache.
    """

    def show(message: Any, *_: Any, **__: Any) -> None:
        if not quiet:
            print(f"note: {message}", file=sys.stderr, flush=True)

    class Compiling(event.Listener):
        told = False

        def on_start(self, event: Any) -> None:
            if not self.told and sys.stderr.isatty():
                self.told = True
                show(COMPILING)

        def on_end(self, event: Any) -> None:
            pass

    with warnings.catch_warnings(), event.install_listener("numba:compile", Compiling()):
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
        self.console.print("".join(aligned), style=style)

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


def last_name(task: str) -> str:
    """Return the name of the baseline that predicts the label of the row before."""
    return "last value" if task == "regression" else "last class"


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


def prediction_of(model: Model, score: Any) -> str:
    """Return the prediction of a score: the number, or the class and its probability."""
    if model.task == "regression":
        return f"{score:.6g}"
    scores = np.array([score])
    answer = plain(model.answers(scores)[0], 8)
    p = model.probabilities(scores)
    return answer if p is None else f"{answer} {p[0].max():.0%}"


def score_meaning(model: Model) -> str:
    """Return what the score of a model is, in words."""
    labels = [text_of(label) for label in model.labels]
    facts = {"task": model.task, "loss": model.learner.loss.name, "target": model.target}
    return what_scores_are({**facts, "labels": labels})


def plain(label: Any, width: int) -> str:
    """Return a label without quotes, shortened."""
    text = text_of(label)
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
    for decision in model.decisions:
        console.print(decision)
    facts = [f"loss: {model.learner.loss.name}"]
    if of_learner:
        name = model.learner.name
        if isinstance(model.learner, OneVsRest):
            name = f"{model.learner.kind.name}, one per class"
        facts.insert(0, f"learner: {name}")
    if not any(decision.startswith("task: ") for decision in model.decisions):
        facts.insert(0, f"task: {model.task}")
    console.print("; ".join(facts))


def show_summary(console: Console, results: dict[str, Any], top: int) -> None:
    """Show the results of a run."""
    lines = [("rows", f"{results['rows']:,} in {results['seconds']:.1f} s")]
    for key, what, why in (
        ("unlabelled", "row", "without a label (predicted, not learned)"),
        ("held_out", "row", "held out"),
        ("skipped", "invalid line", "skipped"),
    ):
        if results[key]:
            lines.append(("", f"{counted(results[key], what)} {why}"))
    lines.append(("features", f"{results['features']:,}"))
    lines += _metrics(results)
    for name, key in (("the best constant", "baseline"), (last_name(results["task"]), "last")):
        if results[key] is not None:
            lines.append((f"loss of {name}", number(results[key]["loss"])))
    test = results["test"]
    if test is None or test["source"]:  # those of --test-share are scored at the end
        for k, held in enumerate(results["holdouts"], start=1):
            lines.append((f"loss of held-out rows, pass {k}", number(held)))
    console.print()
    _show_facts(console, lines)
    if test is not None:
        where = f" ({test['source']})" if test["source"] else ""
        heading = f"{counted(test['rows'], 'row')} that were never learned{where}"
        console.print(f"\n{heading}", style="bold")
        if test["unknown"]:
            unknown = counted(test["unknown"], "more row")
            console.print(f"{unknown} with a class that was not learned")
        _show_facts(console, _metrics(test))
    for note in results["notes"]:
        console.print(f"note: {note}")
    total = results["metrics"].get("loss", 0) * (results["rows"] - results["unlabelled"])
    show_certificate(console, telling(results["certificate"], total))
    show_weights(console, results["weights"][:top], what_scores_are(results))


def _metrics(results: dict[str, Any]) -> list[tuple[str, str]]:
    return [(LABELS[name], number(value)) for name, value in results["metrics"].items()]


def _show_facts(console: Console, facts: list[tuple[str, str]]) -> None:
    for name, value in facts:
        console.print(f"{name:<32}{value}")


def show_certificate(console: Console, certificate: dict[str, Any] | None) -> None:
    """Show the regret certificate in sentences."""
    if certificate is None:
        return
    total = f" of {sum_of_losses(certificate['loss'])}" if certificate["members"] else ""
    heading = f"The total loss{total} is guaranteed, without assumptions about the data, to be"
    console.print(f"\n{heading}", style="bold")
    members = sorted(certificate["members"].items(), key=lambda each: each[1]["loss"])
    staying = [each for each in members if each[1]["rows"] == certificate["rows"]]
    for name, kept in staying[:3]:
        more = sum_of_losses(kept["overhead"])
        its_loss = sum_of_losses(kept["loss"])
        console.print(f"  at most {more} more than the {its_loss} of its member {name}")
    if certificate.get("clipped"):
        console.print(f"  (predictions of members are {certificate['clipped']})")
    for against, what in COMPARATORS.items():
        claims = [c for c in certificate["claims"] if c["against"] == against]
        if not claims:
            continue
        claim = min(claims, key=lambda c: c["certified"])
        bound = claim["certified"]
        size = sum_of_losses(abs(bound))
        text = f"at most {size} more" if bound >= 0 else f"at least {size} less"
        text += f" than {what}"
        if claim["promised"] is not None:
            text += f" (bound of {claim['theorem']}: {sum_of_losses(claim['sharp'])} more)"
        console.print(f"  {text}")


def show_weights(console: Console, weights: list[dict[str, Any]], scores: str) -> None:
    """Show the largest weights by name."""
    if not weights:
        return
    console.print(f"\nLargest weights: the effect of a feature on {scores}", style="bold")
    console.print(f"{'per deviation':>16}{'per unit':>14}{'deviation':>14}  feature")
    for row in weights:
        name = row["feature"] + (f" -> {row['class']}" if "class" in row else "")
        per_deviation = number(row.get("per_deviation"))
        per_unit = number(row["per_unit"])
        deviation = number(row.get("deviation"))
        console.print(f"{per_deviation:>16}{per_unit:>14}{deviation:>14}  {plain(name, 60)}")


def show_audit(console: Console, parts: list[dict[str, Any]], row: int | None = None) -> None:
    """Show what each feature adds to a score."""
    of = "" if row is None else f" of row {row}"
    console.print(f"\nContributions to the score{of}", style="bold")
    console.print(f"{'adds':>14}{'value':>14}  feature")
    for part in parts:
        adds = part["adds"]
        shown = number(adds) if isinstance(adds, float) else " ".join(map(number, adds))
        value = "" if part["value"] is None else number(part["value"])
        console.print(f"{shown:>14}{value:>14}  {plain(part['feature'], 60)}")
