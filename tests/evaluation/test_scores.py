"""Scores of a stream: whatever the pieces, they are those of the whole, and those of others."""

import io
from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn.metrics import accuracy_score, brier_score_loss, r2_score, roc_auc_score

from unitless import learners, losses, persistence
from unitless.encoders import FrameEncoder
from unitless.evaluation import Evaluation, RunningMetrics, results_of, resumed
from unitless.evaluation.baselines import Sample, best_constant
from unitless.evaluation.curve import LearningCurve
from unitless.model import Model
from unitless.readers import open_blocks
from unitless.rows import as_rows

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
        own = v[start:stop] if weighted else None
        tally.add(y[start:stop], p[start:stop], own)
        sample.add(y[start:stop], own)
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
        curve.add(part, None)
    points = np.array(curve.points())
    assert len(points) <= 512
    widths = np.diff(np.append(0, points[:, 0]))
    assert widths.sum() == 5000
    assert widths @ points[:, 1] == pytest.approx(values.sum())


TEXT = "size,kind\n" + "".join(f"{k * 7 % 13},{'ab'[k % 3 == 1]}\n" for k in range(90))
TEXT += "1,c\n2,c\n,\n3,a\n"
STOP = 37


def run_over(text, block_bytes, stop=None, learner="nag", path=None):
    """An evaluation of a text that is read in small blocks; saved and resumed at row `stop`."""
    blocks = list(open_blocks(io.BytesIO(text.encode()), target="kind", block_bytes=block_bytes))
    encoder = FrameEncoder(max_levels=3)
    options = {"learner": learner, "task": "multiclass", "columns": encoder}
    run = Evaluation(Model.from_first_block(blocks[0], target="kind", **options))
    for _ in run.over(blocks, every=STOP):
        if stop and run.rows == stop:
            run.save(path)
            again = resumed(path)
            rest = open_blocks(
                io.BytesIO(text.encode()), target="kind", block_bytes=block_bytes,
                resume=again.model.position,
            )  # fmt: skip
            for _ in again.over(rest, every=STOP):
                pass
            return again
    return run


@pytest.mark.parametrize("learner", ["nag", "coordinate"])
def test_resumed_scores_are_the_same(tmp_path, learner):
    """Also while classes are still to come, and in the middle of a block."""
    whole = run_over(TEXT, 300, learner=learner)
    assert whole.model.labels == ["a", "b", "c"]
    assert (whole.rows, whole.unlabelled, whole.model.rows) == (94, 1, 93)
    again = run_over(TEXT, 300, stop=STOP, learner=learner, path=tmp_path / "m")
    assert results_of(again) == results_of(whole)


def test_a_model_without_scores_starts_new_ones(tmp_path):
    run = run_over(TEXT, 1 << 20)
    persistence.save(run.model, tmp_path / "m")
    assert resumed(tmp_path / "m").rows == 0
    persistence.save(run.model.learner, tmp_path / "m")
    with pytest.raises(persistence.ModelFileError, match="evaluate"):
        resumed(tmp_path / "m")


def test_rows_without_a_label_may_bring_levels():
    """They then have their columns before the labelled rows do, so sums run in another order.

    That is all that separates a file with unlabelled rows from its labelled rows alone.
    """
    rng = np.random.default_rng(0)
    lines = [f"{rng.normal():.3f},{kind},{rng.normal():.3f}" for kind in "abcde" * 60]
    lines[:3] = [line.rpartition(",")[0] + "," for line in reversed(lines[:3])]
    (block,) = open_blocks(io.BytesIO("\n".join(["x,kind,y", *lines]).encode()), target="y")
    run = Evaluation(Model.from_first_block(block, target="y", learner="blend"))
    there = ~np.isnan(block.targets)
    scores = np.concatenate([step.scores for step in run.over([block])])[there]
    columns = FrameEncoder()
    encoded = columns.encode(block.frame.filter(there))
    columns.commit(encoded)
    names = run.model.feature_names()
    assert columns.names != names
    X, y = encoded.X, block.targets[there]
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    alone = learners.get("blend")("squared").learn(as_rows(X, y))
    assert np.abs(alone - scores).max() < 1e-12 * np.abs(scores).max() * len(y)
    same = [columns.names.index(name) for name in names]
    assert (learners.get("blend")("squared").learn(as_rows(X[:, same], y)) == scores).all()
