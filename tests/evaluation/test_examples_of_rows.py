"""Sampled rows, worst rows, missing values, confusion and thresholds against plain counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from unitless import losses
from unitless.evaluation import RunningMetrics
from unitless.evaluation.examples import WORST, Examples
from unitless.rows import as_rows

ROWS = 60


def stream(sparse):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(ROWS, 3)) * rng.integers(0, 2, (ROWS, 3))
    X[rng.random((ROWS, 3)) < 0.1] = np.nan
    targets = rng.normal(size=ROWS)
    targets[::7] = np.nan
    scores = rng.normal(size=ROWS)
    return as_rows(csr_array(X) if sparse else X, targets), X, targets, scores


@pytest.mark.parametrize("sparse", [False, True])
@given(cuts=st.lists(st.integers(0, ROWS), max_size=4))
def test_examples_do_not_depend_on_blocks(sparse, cuts):
    rows, X, targets, scores = stream(sparse)
    examples = Examples()
    for start, stop in zip([0, *sorted(cuts)], [*sorted(cuts), ROWS], strict=True):
        own = targets[start:stop]
        there = ~np.isnan(own)
        losses = (own - scores[start:stop])[there] ** 2
        examples.add(start, rows[start:stop], scores[start:stop], there, losses, lambda _: "abc")
    by_loss = sorted(
        ((targets[k] - scores[k]) ** 2, -k) for k in range(ROWS) if not np.isnan(targets[k])
    )
    expected = [-k + 1 for _, k in reversed(by_loss)][:WORST]
    assert [row["row"] for row in examples.worst] == expected
    assert examples.missing.tolist() == np.isnan(X).sum(axis=0).tolist()
    labelled = np.flatnonzero(~np.isnan(targets))
    assert examples.sample.kept[:, 0].tolist() == (labelled + 1).tolist()
    first = examples.worst[0]
    values = X[first["row"] - 1].tolist()
    kept = {name: x if x == x else None for name, x in zip("abc", values, strict=True) if x}
    assert first["features"] == kept
    assert first["loss"] == by_loss[-1][0]


def test_confusion_and_thresholds_of_two_classes():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=400).round(2)
    targets = np.where(scores + rng.normal(size=400) > 0, 1.0, -1.0)
    weights = rng.integers(1, 4, 400).astype(float)
    metrics = RunningMetrics("binary", losses.get("logistic"))
    metrics.add(targets, scores, weights)
    for row, side in zip(metrics.confusion_matrix(), (-1, 1), strict=True):
        for found, predicted in zip(row, (scores < 0, scores >= 0), strict=True):
            assert found == weights[predicted & (targets == side)].sum()
    for score, negative, positive in metrics.thresholds():
        above = scores >= score - 1e-9
        assert negative == weights[above & (targets < 0)].sum()
        assert positive == weights[above & (targets > 0)].sum()


def test_confusion_of_several_classes():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 40, 500)
    scores = rng.normal(size=(500, 40))
    metrics = RunningMetrics("multiclass", losses.get("softmax"))
    metrics.add(codes.astype(float), scores, np.ones(500))
    found = np.array(metrics.confusion_matrix())
    assert found.shape == (32, 32)
    assert found.sum() == 500
    predicted = scores.argmax(axis=1)
    assert found[3, 5] == np.count_nonzero((codes == 3) & (predicted == 5))
    assert found[31, 31] == np.count_nonzero((codes >= 31) & (predicted >= 31))
