"""Weights of a Blend, and contributions of features to its score, by differences of scores."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.blend.compaction import SQUARES, SUM, T
from unitless.learners.base import EMPTY, LARGEST, NO_INDICES, NO_STARTS, Float
from unitless.learners.boosted_trees import BoostedTrees
from unitless.rows import Block

POINTS = 16
"""Points between no score and the score, where slopes are taken."""
STEP = 1e-5
"""Relative step of a difference."""


def means_and_deviations(blend: Any) -> tuple[Float, Float]:
    """Of each column, in the unit in which its values arrive in the Blend.

    Missing values do not count while the stream is dense. Later, a variance below the rounding
    errors of the squares is that of a constant, 0.
    """
    features = blend.ensemble.features
    used = np.flatnonzero(features.ids >= 0)
    ids = features.ids[used]
    n = max(features.totals[T], 1.0)
    if features.dense:
        views = blend.ensemble.views
        mean = views.mean[ids]
        variance = views.m2[ids] / np.maximum(n - views.missing[ids], 1)
    else:
        mean = features.statistics[ids, SUM] / n
        variance = features.statistics[ids, SQUARES] / n - mean**2
        variance[variance < 2.0**-40 * mean**2] = 0
    out = np.zeros((2, len(features.ids)))
    out[0, used] = mean
    out[1, used] = np.sqrt(variance)
    return out[0], out[1]


def coefficients(blend: Any) -> Float:
    """The change of the score by one deviation of x_i, either way, divided by that deviation.

    It is taken at the means, or at x = 0 once the stream is not dense.
    """
    mean, deviation = means_and_deviations(blend)
    if not blend.ensemble.features.dense:
        mean = np.zeros(len(mean))
    used = np.flatnonzero(deviation > 0)
    here, up, down = (_probe(blend, used, mean, sign * deviation) for sign in (0, 1, -1))
    out = np.zeros((1 + len(mean), *here.shape[1:]))
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        change = (up - down).T / deviation[used] / 2
        out[1 + used] = _finite(change.T)
        out[0] = _finite(here[0] - mean @ out[1:])
    return out


def _finite(x: Any, largest: float = LARGEST) -> Any:
    return np.clip(np.nan_to_num(x), -largest, largest)


def _probe(blend: Any, columns: Any, mean: Float, step: Float) -> Float:
    """Scores of rows that differ from the means by one step each, in one of the columns."""
    n = max(len(columns), 1)
    if blend.ensemble.features.dense:
        X = np.tile(mean, (n, 1))
        X[np.arange(len(columns)), columns] += step[columns]
        block = Block(X.reshape(-1), NO_INDICES, NO_STARTS, len(mean))
    else:
        starts = np.minimum(np.arange(n + 1), len(columns))
        block = Block(step[columns], columns.astype(np.int32), starts, len(mean))
    return blend._predict(block, EMPTY, blend._room(n))


def contributions(blend: Any, row: Block) -> Float:
    """What each column adds to the score of one row; see `Blend.contributions`."""
    (new,), (regime,) = blend.ensemble.features.dry_run(row, 1)
    blend = blend.in_regime(regime)
    ensemble = blend.ensemble
    width = ensemble.features.count + int(new)
    shown = ensemble.features.compact(row, 1, width)
    z = ensemble.run(shown, EMPTY, EMPTY, blend.table(1))[0]
    with np.errstate(over="ignore", invalid="ignore"):
        by_feature = _slopes_times_parts(blend.mixture, z, _parts(ensemble, shown, z))
        if blend.target_scaler is not None:
            by_feature = by_feature / blend.target_scaler.unit
    ids = blend.ensemble.features.ids
    out = np.zeros((len(ids), *by_feature.shape[1:]))
    out[ids >= 0] = by_feature[ids[ids >= 0]]
    return _finite(out, LARGEST / (2 + len(out)))


def _parts(ensemble: Any, shown: Block, z: Float) -> Float:
    """(experts, features[, classes]): what each feature adds to each expert's score z of a row."""
    known = ensemble.features.count
    views = ensemble.show(shown, 1, learn=False)
    out = np.zeros((len(ensemble.members), known, *z.shape[1:]))
    for k, (member, learner) in enumerate(zip(ensemble.members, ensemble.learners, strict=True)):
        if learner is None or member.view == "none":
            continue
        row = views[member.view]
        if isinstance(learner, BoostedTrees):
            parts = learner.parts_of_row(row)[:known]
            out[k, : len(parts)] = parts
            continue
        parts = _parts_of_expert(learner, row, z[k])[1:]
        if member.view == "pairs":
            parts = ensemble.pairs.by_feature(parts, known)
        out[k] = parts[:known]
    return out


def _parts_of_expert(learner: Any, row: Block, z: Any) -> Float:
    """By coordinate: the expert's weights times what its view shows, in proportion to its score."""
    x = np.zeros(1 + row.columns)
    x[1 + (row.indices if len(row.starts) else np.arange(row.columns))] = np.nan_to_num(row.values)
    if hasattr(learner, "parts"):
        return learner.parts(x != 0)
    x[0] = learner.intercept
    largest = LARGEST / (2 + len(x))
    with np.errstate(over="ignore", invalid="ignore"):
        w = np.nan_to_num(learner._coefficients())
        w = np.concatenate([w, np.zeros((max(0, len(x) - len(w)), *w.shape[1:]))])[: len(x)]
        terms = np.clip((w.T * x).T, -largest, largest)
    whole = terms.sum(axis=0)
    ratio = np.divide(z, whole, out=np.ones_like(whole), where=whole != 0)
    return terms * np.where(np.abs(ratio) <= 2, ratio, 1.0)


def _slopes_times_parts(mixture: Any, z: NDArray[Any], parts: NDArray[Any]) -> NDArray[Any]:
    """sum_k slope_k parts_k, with slopes averaged on the way from no score to the scores z.

    (At z itself the stacker's inputs may be clipped, and then they have no slope.) Slopes are
    differences of the mixture's own scores, at the points of a Gauss-Legendre rule. z is (experts,)
    or (experts, classes), parts (experts, features) or (experts, features, classes).
    """
    flat = z.reshape(-1)
    classes = z.shape[1:]
    steps = np.diag(STEP * np.maximum(1, np.abs(flat)))
    points, shares = np.polynomial.legendre.leggauss(POINTS)
    probes = np.concatenate([a * flat + s * steps for a in (1 + points) / 2 for s in (1, -1)])
    scores = np.empty((len(probes), *classes))
    mixture.learn(probes.reshape(-1, *z.shape), EMPTY, EMPTY, scores)
    up, down = np.moveaxis(scores.reshape(POINTS, 2, len(flat), *classes), 1, 0)
    change = np.einsum("a,ak...->k...", shares / 2, up - down)
    slopes = (change.T / (2 * steps.diagonal())).T
    if not classes:
        return slopes @ parts
    slopes = slopes.reshape(*z.shape, *classes)  # of score d in the score of expert k for class c
    return np.einsum("kcd,ksc->sd", slopes, parts)
