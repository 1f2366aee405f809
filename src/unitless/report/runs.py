"""The page that compares several runs."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from unitless.evaluation import LABELS
from unitless.report.charts import Figure, Results, loss_axis, over_rows, shown, wider
from unitless.report.page import boxes, filled, section, table
from unitless.report.verdict import certainty
from unitless.uncertainty import LossDifference


def unlike(runs: Sequence[Results]) -> str | None:
    """Return why runs cannot be compared: other targets or other rows; None if they can.

    Rows in another order or file are the same rows; their labels have the same best constant.
    """
    first, *others = runs
    for run in others:
        for key in ("task", "target", "labels"):
            if _known(first, key) != _known(run, key):
                return f"other targets ({first['target']}, {run['target']})"
        counts = [each["rows"] - each["unlabelled"] for each in (first, run)]
        if counts[0] != counts[1]:
            return f"other rows ({counts[0]:,} and {counts[1]:,} with a label)"
        constants = [(each["baseline"] or {}).get("loss", 0.0) for each in (first, run)]
        is_same_loss = first["loss"] == run["loss"]
        if is_same_loss and not math.isclose(*constants, rel_tol=1e-6, abs_tol=1e-12):
            return "other rows: their labels differ"
    return None


def _known(run: Results, key: str) -> Any:
    return sorted(run[key]) if key == "labels" else run[key]


def comparison_page(runs: Sequence[Results]) -> str:
    """Return the comparison of several results files as HTML; a ValueError if they are unlike."""
    if reason := unlike(runs):
        raise ValueError(
            f"these runs have {reason}, so their losses cannot be compared; make a report of each"
        )
    names = _names(runs)
    figure = _losses(runs, names)
    figures = [figure] if figure.spec is not None else []
    shared = [name for name in LABELS if all(name in run["metrics"] for run in runs)]
    rows = []
    for name, run in zip(names, runs, strict=True):
        metrics = [run["metrics"][key] for key in shared]
        rows.append((name, run["learner"], str(run["source"]), run["rows"], *metrics))
    headings = ("run", "learner", "file", "rows", *(LABELS[key] for key in shared))
    body = boxes(figures) + section("Runs", table(headings, rows))
    return filled("Comparison of runs", _verdict(runs, names), "", body, figures)


def _names(runs: Sequence[Results]) -> list[str]:
    """Return a name for each run: what tells them apart."""
    for key in ("learner", "source", "loss"):
        names = [str(run[key]) for run in runs]
        if len(set(names)) == len(names):
            return names
    return [f"run {k}" for k in range(1, len(runs) + 1)]


def _verdict(runs: Sequence[Results], names: Sequence[str]) -> list[str]:
    """Say which run has the smallest loss, and whether the difference is certain."""
    sentences = []
    for key, what in (("source", "files"), ("loss", "losses")):
        if len({str(run[key]) for run in runs}) > 1:
            sentences.append(f"The runs have different {what}, which changes the losses, too.")
    found = []
    for name, run in zip(names, runs, strict=True):
        if "loss" in run["metrics"]:
            found.append((run["metrics"]["loss"], name, run))
    if len(found) < 2:
        return ["At most one of the runs has rows with a label.", *sentences]
    (best, first, run), (loss, second, other) = sorted(found, key=lambda each: each[0])[:2]
    less = f" ({100 * (1 - best / loss):.3g} % less)" if loss > 0 else ""
    text = f"{first} has the smallest loss: {shown(best)}, then {second} with {shown(loss)}{less}."
    there = dict(other["curve"])
    windows = [(rows, loss - there[rows]) for rows, loss in run["curve"] if rows in there]
    test = LossDifference()
    test.add(np.array([difference for _, difference in windows]))
    made = test.verdict()
    tested = None
    if made is not None:
        row = None if made.row is None else windows[made.row - 1][0]
        tested = made._replace(row=row)._asdict()
    return [text, f"This is {certainty(tested)}", *sentences]


def _losses(runs: Sequence[Results], names: Sequence[str]) -> Figure:
    records = []
    for name, run in zip(names, runs, strict=True):
        for rows, loss in wider(run["curve"]):
            records.append({"rows": rows, "loss": loss, "run": name})
    text = "Loss per row by window of rows, of predictions made before each label was used."
    y = loss_axis(records, "loss per row", zero=False)
    return Figure("Loss over time", text, over_rows(records, y, "run"), True)
