"""What a run noticed about the order of its rows and about its target, as sentences."""

import math

import numpy as np

from unitless.evaluation.baselines import DIFFERENCE
from unitless.evaluation.evaluation import Evaluation
from unitless.evaluation.metrics import LOSS, RIGHT, ROWS, SQUARE
from unitless.labels import alike, may_be_classes, text_of
from unitless.regret import Information
from unitless.uncertainty import Drift

MIN_DEVIATIONS = 6
"""By how many standard deviations consecutive labels are more alike than in random order."""
MIN_EFFECT = 0.25  # and by how much: the correlation of numbers, Cohen's kappa of classes
EXPLAINED = 0.1
"""The most error, as a share of that of the last label, of a model that explains the order."""
MOST_DRIFTS = 5  # that are listed after the first
MIN_PAIRS = 30
"""Pairs of rows after which it is worth saying that the features showed no information."""


def notes(run: Evaluation, task: str = "auto") -> list[str]:
    """Return what a reader of the results should know; `task` is the one that was asked for."""
    found = [_order(run), _drift(run)]
    if task == "auto":
        found.append(_few_numbers(run))
    found += [_one_class(run), *_alike(run.model.labels)]
    return [note for note in found if note]


def _order(run: Evaluation) -> str | None:
    """Return a note if the labels come in an order that the features do not explain.

    They explain it if the error of the model is far below that of the label of the row before. Only
    somewhat below is no evidence: the default learns from the last labels as well.
    """
    last = run.last()
    n = float(run.tally.totals[ROWS])
    if last is None or n < 2:
        return None
    totals = run.tally.totals
    if run.tally.task == "regression":
        effect = last["correlation"]
        deviations = effect * math.sqrt(n)
        explained = totals[SQUARE] < run.previous.totals[DIFFERENCE] * EXPLAINED
        what = f"the correlation of consecutive targets is {effect:.2f}"
    else:
        same, chance = last["same"], last["chance"]
        if chance == 1:
            return None
        effect = (same - chance) / (1 - chance)
        deviations = (same - chance) / math.sqrt(chance * (1 - chance) / n)
        explained = 1 - totals[RIGHT] < min(same, 1 - same) * EXPLAINED
        what = f"{same:.1%} have the class of the row before ({chance:.1%} by chance)"
    if abs(effect) < MIN_EFFECT or abs(deviations) < MIN_DEVIATIONS or explained:
        return None
    if run.metrics_not_fresh() is not None:
        way_out = (
            "If labels come later than the next row, the score without recent labels counts; "
            "--test FILE scores other rows"
        )
    else:
        way_out = (
            "The score holds for rows in this order; for new rows in any order, use --shuffle, "
            "--test FILE or --test-share 0.2"
        )
    return f"the rows are ordered: {what}. {way_out}"


def _drift(run: Evaluation) -> str | None:
    """Return the alarms of the loss; with more than one, the first and how many follow."""
    if not run.drifts:
        return None
    first, *more = (Drift(**found) for found in run.drifts)
    rows = ", ".join(f"{each.start:,}" for each in more[:MOST_DRIFTS])
    later = f", and again from row {rows}" if more else ""
    dots = ", ..." if len(more) > MOST_DRIFTS else ""
    return f"drift: {first}{later}{dots} (at most 1 false alarm per 100,000 rows is expected)"


def _few_numbers(run: Evaluation) -> str | None:
    if run.model.task != "regression":
        return None
    values = np.unique(run.sample.kept[:, 0])
    is_few = len(values) > 2 and may_be_classes(len(values), run.sample.places[0])
    if not is_few or (values != np.round(values)).any():
        return None
    return (
        f"the target has only {len(values)} distinct values, whole numbers from {values[0]:g} to "
        f"{values[-1]:g}: if they are classes, use --task multiclass"
    )


def information(run: Evaluation) -> Information | None:
    """Return what the test of information found, if it is worth saying.

    That it found nothing is not worth saying after a few pairs of rows, or if the model predicts
    better than the best constant: the test compares few rows, and can miss what the model uses.
    """
    found = run.information.result
    constant = run.constant()
    is_better = constant is not None and run.tally.totals[LOSS] < constant.loss
    if found.p_value > 0.05 and (found.pairs < MIN_PAIRS or is_better):
        return None
    return found


def _one_class(run: Evaluation) -> str | None:
    labels = run.model.labels
    if run.tally.task == "regression" or run.tally.totals[ROWS] == 0:
        return None
    found = np.flatnonzero(run.tally.classes)
    if len(found) != 1 or found[0] >= len(labels):
        return None
    only = text_of(labels[found[0]])
    return f"every label is {only!r}: with one class there is nothing to learn; check --target"


def _alike(labels: list[object]) -> list[str]:
    """Return a note for classes that may be one.

    >>> _alike(["Yes", "no", "yes "])
    ["the classes 'Yes' and 'yes ' differ only in case or blanks: is it one class?"]
    """
    several = [" and ".join(map(repr, group)) for group in alike(labels)]
    return [
        f"the classes {names} differ only in case or blanks: is it one class?" for names in several
    ]
