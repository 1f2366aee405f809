"""Explain a model: weights by feature, contributions to one score, regret certificates."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.evaluation.baselines import Constant
from unitless.evaluation.metrics import FARTHEST
from unitless.labels import text_of
from unitless.learners.base import Learner, Weights
from unitless.model import Model
from unitless.regret import BlendCertificate, certificate
from unitless.rows import Rows

Float = NDArray[np.float64]


def weights_by_feature(model: Model, top: int | None = None) -> list[dict[str, Any]]:
    """The weights by feature, those that move the score most by one deviation first.

    Each has its `feature`, `per_unit` (what one unit of it adds to the score), `deviation` and
    `per_deviation`; with several classes also its `class`.

    >>> import pandas
    >>> from unitless import OnlineClassifier
    >>> frame = pandas.DataFrame({"metres": [1.0, 2.0, 1.0, 2.0]})
    >>> model = OnlineClassifier("coordinate").fit(frame, [0, 1, 0, 1]).model_
    >>> [row["feature"] for row in weights_by_feature(model)]
    ['metres']
    """
    weights = model.learner.weights().features
    names = model.feature_names(len(weights))
    table = weights.reshape(len(weights), -1 if weights.size else 1)[: len(names)]
    sizes = model.learner.deviations()
    with np.errstate(over="ignore"):
        effects = np.abs(table) if sizes is None else np.abs(table) * sizes[: len(table), None]
    nonzero = np.flatnonzero(table)
    order = nonzero[np.argsort(-effects.ravel()[nonzero], kind="stable")][:top]
    rows = []
    for j, c in zip(*np.unravel_index(order, table.shape), strict=True):
        row: dict[str, Any] = {"feature": names[int(j)]}
        if model.task == "multiclass":
            row["class"] = text_of(model.labels[c]) if c < len(model.labels) else str(c)
        row["per_unit"] = _number(table[j, c])
        if sizes is not None:
            row["deviation"] = _number(sizes[j])
            row["per_deviation"] = _number(table[j, c] * sizes[j])
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


def _number(value: Any) -> float | None:
    return float(value) if value is not None and math.isfinite(value) else None


def taken_apart(model: Model, row: Rows) -> list[dict[str, Any]]:
    """What each feature adds to the score of one row, largest first; the parts add up to it.

    Each has its `feature`, `value` and what it `adds`: a number, or a list with one per class.
    """
    base, parts = model.learner.contributions(row)
    values = np.zeros(max(len(parts), row.columns))
    values[slice(row.columns) if row.indices is None else row.indices] = row.values.reshape(-1)
    names = model.feature_names(len(parts))
    sizes = np.abs(parts).max(axis=tuple(range(1, parts.ndim)), initial=0)
    rows: list[dict[str, Any]] = [
        {"feature": "(base)", "value": None, "adds": np.asarray(base).tolist()}
    ]
    for j in np.argsort(-sizes, kind="stable").tolist():
        is_used = sizes[j] > 0 or abs(values[j]) > 0
        if is_used and j < len(names):
            value = _number(values[j])
            rows.append({"feature": names[j], "value": value, "adds": parts[j].tolist()})
    return rows


def certified(learner: Learner, constant: Constant | None = None) -> dict[str, Any] | None:
    """The learner's regret certificate; None if it keeps no sums.

    `members` (of a blend): the loss of each, and a bound on the excess loss of the blend. `claims`:
    bounds on the regret against u = 0 and against the best constant, certified and by theorem.
    """
    score = None if constant is None else constant.score
    u = None
    if isinstance(score, float) and abs(score) < FARTHEST:
        u = Weights(score, np.zeros(learner._columns))
    try:
        made = certificate(learner, u)
    except (ValueError, ArithmeticError):
        return None
    if not isinstance(made, BlendCertificate):
        return {"rows": made.trials, "members": {}, "claims": _claims(made)}
    members = {}
    for name, kept in made.members.items():
        members[name] = {"loss": kept.member_loss, "overhead": kept.overhead, "rows": kept.last}
    claims = [claim | {"by": each.member} for each in made.by_member for claim in _claims(each)]
    return {
        "loss": _number(made.loss),
        "rows": made.trials,
        "members": members,
        "claims": claims,
        "clipped": made.clipped,
    }


def _claims(made: Any) -> list[dict[str, Any]]:
    claims = []
    for bound in made.bounds:
        is_constant = bound.comparator == "u given"
        claims.append(
            {
                "theorem": made.theorem,
                "rows": made.trials,
                "against": "the best constant" if is_constant else bound.comparator,
                "certified": _number(bound.certificate),
                "sharp": _number(bound.sharp),
                "promised": _number(bound.theorem),
            }
        )
    return claims
