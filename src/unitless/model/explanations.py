"""Explain the score of one row: what each column of the input adds to it.

The parts are Shapley values against the rows of the model's reservoir: a seen row becomes the
explained one, column by column, in a random order and then in the reverse of it, and the part of a
column is the mean change of the score in its step. So the parts and the mean score of the seen rows
add up to the score. If the learner is additive, the order does not matter and the parts are exact.
"""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unitless.counter_hash import mixed
from unitless.model.effects import column_of, kind_of, spread, texts_of
from unitless.model.input_columns import (
    InputColumns,
    Ints,
    differing,
    input_columns,
    mixed_rows,
    repeated,
)
from unitless.model.reservoir import KeptRow, rows_of_kept
from unitless.rows import Rows

if TYPE_CHECKING:
    from unitless.model import Model

Float = NDArray[np.float64]
BASE = "(base)"
RECENT = "(recent targets)"
MOST_SCORES = 20_000
"""Rows that are scored for one explanation, unless a column per seen row takes more."""
MIN_ROWS = 8
ROUNDING_SHARE = 2.0**-40
"""Errors below this share of the largest part are those of float64: the order does not matter."""
ORDERS_STREAM = 2
"""The stream of the hash that gives the random orders."""


class Explanation(dict[str, Any]):
    """What each column adds to a score; `errors` has the standard error of each part.

    The errors are those of the sampled orders, and of seen rows if not all of them were used.
    """

    errors: dict[str, Any]


def contributions(model: "Model", row: Rows, fresh: bool = False) -> list[dict[str, Any]]:
    """What each column adds to the score of one row, largest first; the parts add up to it.

    Each has its `column`, `value`, what it `adds` and the standard `error` of that: numbers, or
    lists with one per class or target. The first is the base; with `fresh`, the second is what
    recent targets add.
    """
    columns = input_columns(model)
    score = model.predict_rows(row)[0]
    base, parts, errors = _shapley(model, columns, row, score)
    found = [_contribution(BASE, None, base, 0 * base)]
    if fresh and model.learner.has_two_answers:
        recent = model.predict_rows(row, fresh=True)[0] - score
        found.append(_contribution(RECENT, None, recent, 0 * base))
    sizes = np.abs(parts).reshape(len(parts), np.size(score)).max(axis=1, initial=0)
    for k in np.argsort(-sizes, kind="stable").tolist():
        value = _value(model, columns, k, row)
        if sizes[k] > 0 or value not in (0.0, "", None):
            found.append(_contribution(columns.names[k], value, parts[k], errors[k]))
    return found


def _contribution(name: str, value: object, adds: object, error: object) -> dict[str, object]:
    plain = {"adds": np.asarray(adds).tolist(), "error": np.asarray(error).tolist()}
    return {"column": name, "value": value, **plain}


def explained(model: "Model", row: Rows, fresh: bool = False) -> Explanation:
    """What `Model.explain` gives: the contributions that are not 0, by column."""
    if len(row) != 1:
        raise ValueError(f"explain takes one row, not {len(row)}")
    found = contributions(model, row, fresh)
    kind = np.array if isinstance(found[0]["adds"], list) else float
    used = [part for part in found if part["column"] in (BASE, RECENT) or np.any(part["adds"])]
    made = Explanation((part["column"], kind(part["adds"])) for part in used)
    made.errors = {part["column"]: kind(part["error"]) for part in used}
    return made


def _shapley(
    model: "Model", columns: InputColumns, row: Rows, score: Any
) -> tuple[Any, Float, Float]:
    """The base, and by column the parts and their standard errors."""
    size = len(columns.names)
    nothing = np.zeros((size, *np.shape(score)))
    kept = _reference(model)
    if not len(kept):
        return score, nothing, nothing
    everything = repeated(row, np.zeros(len(kept), dtype=np.int64))
    numbers, places = differing(columns, kept, everything)
    steps = np.bincount(numbers, minlength=len(kept))
    most = max(int(MOST_SCORES / (2 * max(steps.mean(), 1))), MIN_ROWS)
    chosen = spread(len(kept), most)
    parts = np.zeros((2, len(chosen), *nothing.shape))
    for k, number in enumerate(chosen):
        own = places[numbers == number]
        order = own[np.argsort(mixed(own + number * size, ORDERS_STREAM), kind="stable")]
        start = repeated(kept, np.array([number]))
        for way, each in enumerate((order, order[::-1])):
            parts[way, k][each] = _walk(model, columns, start, row, each, score)
    both = parts.mean(axis=0)
    base = model.predict_rows(repeated(kept, np.array(chosen))).mean(axis=0)
    variance = ((parts[0] - parts[1]) ** 2).mean(axis=0) / 4
    if len(chosen) < len(kept):
        variance += both.var(axis=0, ddof=1) * (1 - len(chosen) / len(kept))
    found = both.mean(axis=0)
    errors = np.sqrt(variance / len(chosen))
    errors[errors <= ROUNDING_SHARE * np.abs(found).max(initial=0)] = 0
    return base, found, errors


def _walk(
    model: "Model", columns: InputColumns, start: Rows, row: Rows, order: Ints, score: Any
) -> Float:
    """The change of the score in each step from a seen row to the explained one."""
    count = len(order)
    if not count:
        return np.empty((0, *np.shape(score)))
    rank = np.full(len(columns.names) + 1, count)  # the last is of features without a column
    rank[order] = np.arange(count)

    def takes(rows: Ints, column: Ints) -> Any:
        return rank[column] < rows

    once = np.zeros(count, dtype=np.int64)
    made = mixed_rows(columns, repeated(start, once), repeated(row, once), takes)
    scores = np.concatenate([model.predict_rows(made), [score]])
    return np.diff(scores, axis=0)


def _reference(model: "Model") -> Rows:
    """The rows that an explained one is compared with: seen ones, or zeros for linear learners."""
    kept = model.reservoir
    if len(kept) or not model.rows:
        return kept.rows()
    if getattr(model.learner, "linear", False):
        return rows_of_kept([KeptRow(0, np.empty(0, np.int32), np.empty(0))])
    raise ValueError(
        f"the model keeps none of the rows it learned (reservoir={kept.size}), and scores of "
        f"{model.learner.name!r} are explained by comparing with them: learn with reservoir=256"
    )


def _value(model: "Model", columns: InputColumns, column: int, row: Rows) -> object:
    """The value of a column in a row: a number, None if it is missing, or text."""
    features = columns.features(column)
    kind = kind_of(model, columns, column)
    if not len(features):
        return None
    if kind in ("number", "date"):
        number = column_of(row, int(features[0]))[0] if features[0] < row.columns else 0.0
        if kind == "date" and math.isfinite(number):
            moment = str(np.datetime64(round(number * 86400), "s"))
            return moment.removesuffix(":00").removesuffix("T00:00")
        return finite(number)
    return texts_of(model, columns, column, row)[0]


def what_scores_are(facts: dict[str, Any]) -> str:
    """What the score means, in words; the facts are task, loss, target and labels.

    >>> facts = {"task": "binary", "loss": "logistic", "target": "kind", "labels": ["no", "yes"]}
    >>> what_scores_are(facts), what_scores_are(facts | {"task": "regression"})
    ('the log-odds of yes', 'the prediction of kind')
    """
    if facts["task"] == "regression":
        return f"the prediction of {facts['target']}" if facts["target"] else "the prediction"
    if facts["task"] == "multiclass":
        return "the score of the class"
    labels = facts["labels"]
    known = facts["loss"] == "logistic" and len(labels) == 2
    return f"the log-odds of {labels[1]}" if known else "the score"


def what_predictions_are(facts: dict[str, object]) -> str:
    """What effects change, in words: probabilities, where the loss has them, or the score.

    >>> facts = {"task": "binary", "loss": "logistic", "target": "kind", "labels": ["no", "yes"]}
    >>> what_predictions_are(facts), what_predictions_are(facts | {"task": "multiclass"})
    ('the probability of yes', 'the probability of the class')
    """
    return (
        what_scores_are(facts)
        .replace("log-odds", "probability")
        .replace("score of the class", "probability of the class")
    )


def finite(value: Any) -> float | None:
    """A number, or None if it is not finite."""
    return float(value) if math.isfinite(value) else None
