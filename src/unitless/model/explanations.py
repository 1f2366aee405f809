"""Explain a model: weights by feature, contributions to the score of one row."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unitless.labels import text_of
from unitless.rows import Rows

if TYPE_CHECKING:
    from unitless.model import Model

Float = NDArray[np.float64]


def contributions(model: "Model", row: Rows) -> list[dict[str, Any]]:
    """What each feature adds to the score of one row, largest first; the parts add up to it.

    Each has its `feature`, `value` and what it `adds`: a number, or a list with one per class.
    """
    base, parts = model.learner.contributions(row)
    values = np.zeros(max(len(parts), row.columns))
    stored = slice(row.columns) if row.indices is None else row.indices
    values[stored] = row.values.reshape(-1)
    names = model.feature_names(len(parts))
    table = np.abs(parts).reshape(len(parts), np.size(base))
    sizes = table.max(axis=1, initial=0)
    found = [_contribution("(base)", None, base)]
    for j in np.argsort(-sizes, kind="stable").tolist():
        counts = sizes[j] > 0 or abs(values[j]) > 0
        if counts and j < len(names):
            found.append(_contribution(names[j], finite(values[j]), parts[j]))
    return found


def _contribution(name: str, value: float | None, adds: Any) -> dict[str, Any]:
    return {"feature": name, "value": value, "adds": np.asarray(adds).tolist()}


def explained(model: "Model", row: Rows) -> dict[str, Any]:
    """What `Model.explain` gives: the contributions that are not 0, by feature."""
    if len(row) != 1:
        raise ValueError(f"explain takes one row, not {len(row)}")
    base, *parts = contributions(model, row)
    kind = np.array if isinstance(base["adds"], list) else float
    used = [base, *(part for part in parts if np.any(part["adds"]))]
    return {part["feature"]: kind(part["adds"]) for part in used}


def effects(model: "Model") -> tuple[Float, Float, Float | None]:
    """The weights by feature and class, how far one deviation moves the score, and deviations.

    The deviation of a feature is the running standard deviation, for single learners the root of
    the mean square. Learners that keep none have the weights alone.
    """
    weights = model.learner.weights().features
    table = weights.reshape(len(weights), -1 if weights.size else 1)
    sizes = np.abs(table)
    deviations = model.learner.deviations()
    if deviations is not None:
        with np.errstate(over="ignore"):
            sizes *= deviations[: len(table), None]
    return table, sizes, deviations


def weights_by_feature(model: "Model", top: int | None = None) -> list[dict[str, Any]]:
    """The weights by feature, those that move the score most by one deviation first.

    Each has its `feature`, `per_unit` (what one unit of it adds to the score), `deviation` and
    `per_deviation`; with several classes also its `class`.
    """
    table, sizes, deviations = effects(model)
    names = model.feature_names(len(table))
    nonzero = np.flatnonzero(table[: len(names)])
    largest = np.argsort(-sizes.ravel()[nonzero], kind="stable")
    rows = []
    for place in nonzero[largest][:top].tolist():
        j, c = divmod(place, table.shape[1])
        row: dict[str, Any] = {"feature": names[j]}
        if model.task == "multiclass":
            row["class"] = text_of(model.labels[c]) if c < len(model.labels) else str(c)
        row["per_unit"] = finite(table[j, c])
        if deviations is not None:
            row["deviation"] = finite(deviations[j])
            row["per_deviation"] = finite(table[j, c] * deviations[j])
        rows.append(row)
    return rows


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


def finite(value: Any) -> float | None:
    """A number, or None if it is not finite."""
    return float(value) if math.isfinite(value) else None
