"""The one loop: predict, learn, score."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitless.learners import REGISTRY, get
from unitless.progressive import progressive
from unitless.rows import as_rows

each_learner = pytest.mark.parametrize("name", sorted(REGISTRY))


def rows_of(n, weights=None, seed=0):
    rng = np.random.default_rng(seed)
    return as_rows(rng.normal(size=(n, 3)), rng.choice([-1.0, 1.0], n), weights)


def mean_loss(learner, rows, scores, run=slice(None)):
    """The average by weight."""
    losses = learner.loss.value(rows.targets, scores)[run]
    weights = np.ones(len(rows)) if rows.weights is None else rows.weights
    return np.average(losses, weights=weights[run])


@each_learner
def test_scores_are_those_of_one_block(name):
    rows = rows_of(100)
    reports = list(progressive(get(name)(), rows))
    scores = np.concatenate([report.scores for report in reports])
    np.testing.assert_array_equal(scores, get(name)().learn(rows))


@given(st.integers(1, 300))
def test_reports_double(n):
    reports = [report.rows for report in progressive(get("zero")(), rows_of(n))]
    assert reports[-1] == n
    assert reports[:-1] == [2**k for k in range(len(reports) - 1)]
    assert n <= 2 ** (len(reports) - 1)


@each_learner
@pytest.mark.parametrize("weighted", [False, True])
def test_losses(name, weighted):
    weights = np.random.default_rng(1).choice([0, 0.5, 3], 100) if weighted else None
    rows, learner = rows_of(100, weights), get(name)()
    scores, done = get(name)().learn(rows), 0
    for report in progressive(learner, rows):
        run = slice(done, report.rows)
        np.testing.assert_array_equal(report.scores, scores[run])
        assert report.target == rows.targets[report.rows - 1]
        assert report.score == scores[report.rows - 1]
        if rows.weights is None or rows.weights[run].any():
            since = mean_loss(learner, rows, scores, run)
            assert report.loss_since == pytest.approx(since, rel=1e-12)
        if rows.weights is None or rows.weights[: report.rows].any():
            so_far = mean_loss(learner, rows, scores, slice(report.rows))
            assert report.loss == pytest.approx(so_far, rel=1e-12)
        done = report.rows


def test_the_learner_has_learned_what_was_reported():
    learner = get("coordinate")()
    for report in progressive(learner, rows_of(20)):
        assert learner.sums().trials == report.rows


def test_only_rows_of_weight_zero():
    for report in progressive(get("coordinate")(), rows_of(5, np.zeros(5))):
        assert (report.loss, report.loss_since) == (0, 0)


def test_no_rows():
    assert list(progressive(get("coordinate")(), rows_of(0))) == []


def test_no_targets():
    with pytest.raises(ValueError, match="targets"):
        next(progressive(get("coordinate")(), as_rows(np.ones((3, 2)))))


def test_losses_near_the_largest_float():
    """Their sum is beyond float64, their average is not."""
    rows = as_rows(np.ones((8, 1)), np.full(8, 1.5e308))
    last = list(progressive(get("zero")("absolute"), rows))[-1]
    assert last.loss == pytest.approx(1.5e308)
