"""Explain a model: weights by feature, contributions to one score, regret certificates."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.blend.blend import Blend
from unitless.evaluation.baselines import FARTHEST, Constant
from unitless.labels import text_of
from unitless.learners.base import Learner, Weights
from unitless.learners.full import Full
from unitless.learners.newton import Newton
from unitless.learners.vaw import Vaw
from unitless.model import Model
from unitless.regret import BlendCertificate, certificate
from unitless.rows import Rows

Float = NDArray[np.float64]
Row = dict[str, Any]


def deviations(learner: Learner) -> Float | None:
    """The typical size of each column's values: its deviation, or the root of its mean square.

    None for learners that keep neither.
    """
    if isinstance(learner, Blend):
        return learner.deviations()
    if isinstance(learner, Newton):
        n = max(learner.state.totals[0], 1.0)
        spread = np.sqrt(learner.state.s2[1 : 1 + learner._columns] / n)
        units = learner._units[1:] if len(learner._units) else np.ones(len(spread))
        return np.divide(spread, units, out=spread * 0, where=units > 0)
    sums = Full.sums(learner) if isinstance(learner, Vaw) else learner.sums()
    return None if sums is None else sums.s[1:] / math.sqrt(max(sums.trials, 1))


def weights_by_feature(model: Model, top: int | None = None) -> list[Row]:
    """The weights by feature, those that move the score most by one deviation first.

    Each has its `feature`, `per_unit` (what one unit of it adds to the score), `deviation` and
    `per_deviation`; with several classes also its `class`.

    >>> import io
    >>> from unitless.readers import open_blocks
    >>> from unitless.model import Model
    >>> (block,) = open_blocks(io.BytesIO(b"metres,y\\n1,0\\n2,1\\n1,0\\n2,1\\n"))
    >>> model = Model.from_first_block(block, target="y", learner="coordinate")
    >>> scores = model.learner.learn(model.prepared(block).rows)
    >>> [row["feature"] for row in weights_by_feature(model)]
    ['metres']
    """
    weights = model.learner.weights().features
    names = model.feature_names(len(weights))
    typical = deviations(model.learner)
    table = weights.reshape(len(weights), -1 if weights.size else 1)[: len(names)]
    size = np.ones(len(table)) if typical is None else typical[: len(table)]
    with np.errstate(over="ignore"):
        reach = np.abs(table) * size[:, None]
    places = np.flatnonzero(table.ravel())
    order = places[np.argsort(-reach.ravel()[places], kind="stable")][:top]
    return [_row(model, names, table, typical, *divmod(int(k), table.shape[1])) for k in order]


def _row(
    model: Model, names: Sequence[str], table: Float, typical: Float | None, j: int, c: int
) -> Row:
    made: Row = {"feature": names[j]}
    if model.task == "multiclass":
        made["class"] = text_of(model.labels[c]) if c < len(model.labels) else str(c)
    made["per_unit"] = _number(table[j, c])
    if typical is not None:
        made |= {
            "deviation": _number(typical[j]),
            "per_deviation": _number(table[j, c] * typical[j]),
        }
    return made


def what_scores_are(facts: Row) -> str:
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
    return float(value) if math.isfinite(value) else None


def taken_apart(model: Model, row: Rows) -> list[Row]:
    """What each feature adds to the score of one row, largest first; the parts add up to it.

    Each has its `feature`, `value` and what it `adds`: a number, or a list with one per class.
    """
    base, parts = model.learner.contributions(row)
    values = _values(row, len(parts))
    names = model.feature_names(len(parts))
    size = np.abs(parts).max(axis=tuple(range(1, parts.ndim)), initial=0)
    there = (values != 0) & ~np.isnan(values)
    used = [j for j in np.argsort(-size, kind="stable") if size[j] > 0 or there[j]]
    rest: list[Row] = [{"feature": "(base)", "value": None, "adds": np.asarray(base).tolist()}]
    return rest + [
        {"feature": names[j], "value": _number(values[j]), "adds": parts[j].tolist()}
        for j in used
        if j < len(names)
    ]


def _values(row: Rows, width: int) -> Float:
    out = np.zeros(max(width, row.columns))
    places = np.arange(row.columns) if row.indices is None else row.indices
    out[places] = row.values.reshape(-1)
    return out


def certified(learner: Learner, constant: Constant | None = None) -> Row | None:
    """The learner's regret certificate; None if it keeps no sums.

    `members` (of a blend): the loss of each, and a bound on the excess loss of the blend. `claims`:
    bounds on the regret against u = 0 and against the best constant, certified and by theorem.
    """
    width = _width(learner)
    u = None
    score = None if constant is None else constant.score
    if isinstance(score, float) and abs(score) < FARTHEST and width is not None:
        u = Weights(score, np.zeros(width))
    try:
        made = certificate(learner, u)
    except (ValueError, ArithmeticError):
        return None
    if isinstance(made, BlendCertificate):
        members = {
            name: {"loss": kept.member_loss, "overhead": kept.overhead, "rows": kept.last}
            for name, kept in made.members.items()
        }
        claims = [
            {"theorem": part.theorem, "by": part.member, "rows": part.trials, **_claim(line)}
            for part in made.by_member
            for line in part.bounds
        ]
        return {
            "loss": _number(made.loss),
            "rows": made.trials,
            "members": members,
            "claims": claims,
        }
    claims = [{"theorem": made.theorem, "rows": made.trials, **_claim(c)} for c in made.bounds]
    return {"rows": made.trials, "members": {}, "claims": claims}


def _width(learner: Learner) -> int | None:
    if isinstance(learner, Blend):
        return learner._columns
    sums = learner.sums()
    return None if sums is None else len(sums.s) - 1


def _claim(claim: Any) -> Row:
    name = "the best constant" if claim.comparator == "u given" else claim.comparator
    numbers = {k: getattr(claim, k) for k in ("certificate", "sharp", "theorem")}
    made: Row = {"against": name, "certified": numbers["certificate"], "sharp": numbers["sharp"]}
    made["promised"] = numbers["theorem"]
    return {k: _number(v) if isinstance(v, float) else v for k, v in made.items()}
