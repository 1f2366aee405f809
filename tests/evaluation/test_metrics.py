"""Metrics of a stream: whatever the pieces, they are those of the whole, and those of others."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.metrics import (
    accuracy_score,
    average_precision_score,
    brier_score_loss,
    precision_score,
    r2_score,
    recall_score,
    roc_auc_score,
)

from unitless import losses
from unitless.evaluation.baselines import Sample, best_constant
from unitless.evaluation.metrics import LearningCurve, RunningMetrics

N = 400


def stream(task, seed=0):
    """Targets, scores and weights."""
    rng = np.random.default_rng(seed)
    v = rng.choice([0.0, 0.5, 3.0], N)
    if task == "multiclass":
        return rng.integers(0, 3, N).astype(float), rng.normal(size=(N, 3)), v
    p = rng.normal(size=N) * 2
    y = (
        np.where(p + rng.normal(size=N) > 0, 1.0, -1.0)
        if task == "binary"
        else p + rng.normal(size=N)
    )
    return y, p, v


def tallied(task, loss, cuts, weighted):
    y, p, v = stream(task)
    tally, sample = RunningMetrics(task, losses.get(loss)), Sample()
    for start, stop in pairwise(cuts):
        own = v[start:stop] if weighted else np.ones(stop - start)
        tally.add(y[start:stop], p[start:stop], own)
        sample.add(np.column_stack([y[start:stop], own]))
    return tally, sample


CASES = [
    ("binary", "logistic"),
    ("binary", "hinge"),
    ("multiclass", "softmax"),
    ("regression", "squared"),
    ("regression", "quantile(0.9)"),
    ("regression", "huber(1)"),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("task", "loss"), CASES)
def test_pieces_make_the_whole(task, loss, weighted):
    whole, sample = tallied(task, loss, [0, N], weighted)
    pieces, other = tallied(task, loss, [0, 1, 2, 4, 150, 151, N], weighted)
    assert pieces.metrics() == pytest.approx(whole.metrics())
    for one, two in zip(best_constant(pieces, other), best_constant(whole, sample), strict=True):
        assert one == pytest.approx(two)


@pytest.mark.parametrize("weighted", [False, True])
def test_against_scikit_learn(weighted):
    y, p, v = stream("binary")
    v = v if weighted else np.ones(N)
    found = tallied("binary", "logistic", [0, 100, N], weighted)[0].metrics()
    chance = 1 / (1 + np.exp(-p))
    assert found["auc"] == pytest.approx(roc_auc_score(y, p, sample_weight=v), abs=1e-3)
    assert found["accuracy"] == pytest.approx(accuracy_score(y, np.sign(p), sample_weight=v))
    assert found["brier"] == pytest.approx(brier_score_loss(y > 0, chance, sample_weight=v))
    y, p, _ = stream("regression")
    found = tallied("regression", "squared", [0, 100, N], weighted)[0].metrics()
    assert found["r2"] == pytest.approx(r2_score(y, p, sample_weight=v))
    assert found["slope"] == pytest.approx(np.polyfit(p, y, 1, w=np.sqrt(v))[0])


@pytest.mark.parametrize(("task", "loss"), [case for case in CASES if case[0] != "multiclass"])
def test_no_constant_is_better(task, loss):
    y, _, v = stream(task)
    tally, sample = tallied(task, loss, [0, N], True)
    score, found = best_constant(tally, sample)

    def average(c):
        return np.average(losses.get(loss).value(y, np.full(N, c)), weights=v)

    assert average(score) == pytest.approx(found)
    assert found <= minimize_scalar(average, bracket=(-5, 5)).fun + 1e-9


def test_the_curve_keeps_the_sum():
    rng = np.random.default_rng(0)
    values = rng.random(5000)
    curve = LearningCurve()
    for part in np.split(values, [1, 600, 601, 4000]):
        curve.add(part, np.ones(len(part)))
    points = np.array(curve.points())
    assert len(points) <= 512
    widths = np.diff(np.append(0, points[:, 0]))
    assert widths.sum() == 5000
    assert widths @ points[:, 1] == pytest.approx(values.sum())


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_rarer_class_has_precision_recall_and_average_precision(sign):
    """Whichever of the two it is."""
    rng = np.random.default_rng(0)
    is_rare = rng.random(3000) < 0.05
    scores = sign * (rng.normal(size=3000) - 1.5 + 2.5 * is_rare)
    targets = sign * np.where(is_rare, 1.0, -1.0)
    tally = RunningMetrics("binary", losses.get("logistic"))
    for part in np.array_split(np.arange(3000), 7):
        tally.add(targets[part], scores[part], np.ones(len(part)))
    found = tally.metrics()
    predicted = sign * scores > 0
    assert found["precision"] == pytest.approx(precision_score(is_rare, predicted))
    assert found["recall"] == pytest.approx(recall_score(is_rare, predicted))
    wanted = average_precision_score(is_rare, sign * scores)
    assert found["average_precision"] == pytest.approx(wanted, abs=0.002)
