"""Weights of a Blend, and contributions of columns to a score, by differences of scores."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.rows import NO_INDICES, NO_STARTS, Block, Rows, as_rows
from unitless.state import LARGEST, Float

ORDERS = 8
"""Orders in which columns are replaced, each of them also backwards."""


def means_and_deviations(blend: Any) -> tuple[Float, Float]:
    """The mean and the standard deviation of each column, in the unit in which its values arrive.

    Missing values do not count while the stream is dense. Later, a variance below the rounding
    errors of the squares is that of a constant, 0.
    """
    features = blend.features
    columns = np.array(features.ids)
    used = np.flatnonzero(columns >= 0)
    ids = columns[used]
    n = max(features.rows, 1.0)
    if features.dense:
        mean = np.array(blend.shown.mean)[ids]
        rows = np.maximum(n - np.array(blend.shown.missing)[ids], 1)
        variance = np.array(blend.shown.m2)[ids] / rows
    else:
        sums = np.array(features.sums)
        mean = sums["sum"][ids] / n
        variance = sums["squares"][ids] / n - mean**2
        variance[variance < 2.0**-40 * mean**2] = 0
    out = np.zeros((2, len(columns)))
    out[0, used] = mean
    out[1, used] = np.sqrt(variance)
    return out[0], out[1]


def coefficients(blend: Any) -> Float:
    """The change of the score by one deviation of x_i, either way, divided by that deviation.

    It is taken at the means, or at x = 0 once the stream is not dense.
    """
    mean, deviation = means_and_deviations(blend)
    if not blend.features.dense:
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
    if blend.features.dense:
        X = np.tile(mean, (n, 1))
        X[np.arange(len(columns)), columns] += step[columns]
        block = Block(X.reshape(-1), NO_INDICES, NO_STARTS, len(mean))
    else:
        starts = np.minimum(np.arange(n + 1), len(columns))
        block = Block(step[columns], columns.astype(np.int32), starts, len(mean))
    scores = blend._room(n)
    blend._run(block, None, None, scores, True)
    return scores


def contributions(blend: Any, rows: Rows) -> Float:
    """What each column adds to the score of one row, against a row of means (dense) or zeros.

    The columns of the reference row are replaced by those of the row one after another, in several
    orders and backwards in each of them. The part of a column is the mean of the changes of the
    score: an estimate of its Shapley value. So the parts add up to the difference of both scores.
    """
    given, reference = _row_and_reference(blend, rows)
    changed = np.flatnonzero(~((given == reference) | (np.isnan(given) & np.isnan(reference))))
    parts = np.zeros((len(given), *blend._room(1).shape[1:]))
    if not len(changed):
        return parts[: blend.columns]
    rng = np.random.default_rng(0)
    orders = [rng.permutation(changed) for _ in range(ORDERS)]
    orders = [*orders, *(order[::-1] for order in orders)]
    for order in orders:
        X = np.tile(reference, (len(order) + 1, 1))
        for step, column in enumerate(order):
            X[step + 1 :, column] = given[column]
        parts[order] += np.diff(blend.predict(as_rows(X)), axis=0) / len(orders)
    return _finite(parts[: blend.columns], LARGEST / (2 + len(parts)))


def _row_and_reference(blend: Any, rows: Rows) -> tuple[NDArray[Any], NDArray[Any]]:
    """One row, and the row that it is compared with, both in full."""
    block = rows.block
    width = max(block.columns, blend.columns)
    given = np.zeros(width)
    given[block.positions()[1]] = block.values
    reference = np.zeros(width)
    if blend.features.dense:
        mean = np.append(0.0, means_and_deviations(blend)[0])
        reference[: len(mean) - 1] = blend._in_own_unit(mean)[1:]
    return given, np.clip(reference, -LARGEST, LARGEST)
