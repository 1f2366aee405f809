"""The one loop: predict, learn, score."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitless.evaluation import Evaluation
from unitless.evaluation.progressive import progressive
from unitless.learners import REGISTRY, get
from unitless.model import Model
from unitless.readers.blocks import FileBlock
from unitless.rows import as_rows

each_learner = pytest.mark.parametrize("name", sorted(REGISTRY))


def block_of(n, weights=None, seed=0):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 3)), rng.choice([-1.0, 1.0], n)
    return FileBlock(None, as_rows(X), np.arange(n), targets=y, weights=weights)


def rows_of(block):
    """The rows as `learn` takes them."""
    return as_rows(block.rows.values, block.targets, block.weights)


def lines(learner, block):
    run = Evaluation(Model.of(learner))
    return [step.line for step in run.over([block]) if step.line is not None]


def mean_loss(learner, rows, scores, run=slice(None)):
    """The average by weight."""
    losses = learner.loss.value(rows.targets, scores)[run]
    weights = np.ones(len(rows)) if rows.weights is None else rows.weights
    return np.average(losses, weights=weights[run])


@each_learner
def test_scores_are_those_of_one_block(name):
    block = block_of(100)
    model = Model.of(get(name)())
    steps = list(progressive(model, [block], cuts=lambda at, n: [1, 2, 50]))
    assert [len(step.rows) for step in steps] == [1, 1, 48, 50]
    scores = np.concatenate([step.scores for step in steps])
    np.testing.assert_array_equal(scores, get(name)().learn(rows_of(block)))
    assert model.rows == 100


@given(st.integers(1, 300))
def test_lines_double(n):
    found = [line["rows"] for line in lines(get("zero")(), block_of(n))]
    assert found == [2**k for k in range(n.bit_length())]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ["blend", "coordinate", "full", "ogd", "vaw", "zero"])
def test_losses(name, weighted):
    weights = np.random.default_rng(1).choice([0, 0.5, 3], 128) if weighted else None
    block = block_of(128, weights)
    rows, learner = rows_of(block), get(name)()
    scores = get(name)().learn(rows)
    done = 1 if weights is None else int(np.argmax(weights > 0)) + 1  # the first does not count
    first = done
    for line in lines(learner, block):
        run = slice(done, line["rows"])
        assert line["target"] == rows.targets[line["rows"] - 1]
        assert line["score"] == scores[line["rows"] - 1]
        if line["rows"] <= first:
            assert (line["since"], line["loss"]) == (None, None)
            continue
        if rows.weights is None or rows.weights[run].any():
            since = mean_loss(learner, rows, scores, run)
            assert line["since"] == pytest.approx(since, rel=1e-12)
        if rows.weights is None or rows.weights[first : line["rows"]].any():
            so_far = mean_loss(learner, rows, scores, slice(first, line["rows"]))
            assert line["loss"] == pytest.approx(so_far, rel=1e-12)
        done = line["rows"]


@pytest.mark.parametrize("delay", [0, 3])
def test_scores_count_from_the_first_row_that_could_know_a_target(delay):
    """In regression the first prediction is 0, which can be far from every target."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    targets = 1e6 + X[:, 0]
    targets[:2] = np.nan
    block = FileBlock(None, as_rows(X), np.arange(40), targets=targets)
    run = Evaluation(Model.of(get("vaw")("squared")))
    scores = np.concatenate([step.scores for step in run.over([block], delay=delay)])
    first = 3 + delay  # rows 1 and 2 have no label, and row 3 is the first that has
    assert run.first_scored == first + 1
    losses = get("vaw")("squared").loss.value(targets[first:], scores[first:])
    assert run.tally.metrics()["loss"] == pytest.approx(losses.mean())
    assert run.constant().loss == pytest.approx(targets[first:].var())
    assert scores[2] == 0


def test_the_learner_has_learned_what_was_reported():
    learner = get("coordinate")()
    run = Evaluation(Model.of(learner))
    for _ in run.over([block_of(20)]):
        assert learner.sums().trials == run.rows == run.model.rows


def test_only_rows_of_weight_zero():
    for line in lines(get("coordinate")(), block_of(5, np.zeros(5))):
        assert (line["loss"], line["since"]) == (None, None)


def test_no_rows():
    assert list(progressive(Model.of(get("coordinate")()), [block_of(0)])) == []


def test_rows_without_a_label_and_rows_held_out_are_predicted_only():
    block = block_of(60)
    block.targets[10:20] = np.nan
    rows = rows_of(block)
    model, by_hand = Model.of(get("coordinate")()), get("coordinate")()
    (step,) = progressive(model, [block], holdout=7)
    expected = []
    for k in range(60):
        learns = not np.isnan(rows.targets[k]) and k % 7 != 6
        row = rows[k : k + 1]
        expected.append((by_hand.learn(row) if learns else by_hand.predict(row))[0])
    np.testing.assert_array_equal(step.scores, expected)
    held = [k for k in range(60) if k % 7 == 6 and not 10 <= k < 20]
    assert np.flatnonzero(step.held).tolist() == held
    assert model.rows == 50 - len(held)


def test_labels_that_arrive_late():
    block = block_of(30)
    rows = rows_of(block)
    model, by_hand = Model.of(get("coordinate")()), get("coordinate")()
    (step,) = progressive(model, [block], delay=4)
    expected = []
    for k in range(30):
        expected.append(by_hand.predict(rows[k : k + 1])[0])
        if k >= 4:
            by_hand.learn(rows[k - 4 : k - 3])
    np.testing.assert_array_equal(step.scores, expected)
    assert model.rows == 30


def test_losses_near_the_largest_float():
    """Their sum is beyond float64, their average is not."""
    n = 8
    targets = np.full(n, 1.5e308)
    block = FileBlock(None, as_rows(np.ones((n, 1))), np.arange(n), targets=targets)
    run = Evaluation(Model.of(get("zero")("absolute")))
    with np.errstate(over="ignore"):
        for _ in run.over([block]):
            pass
    assert run.tally.metrics()["loss"] == pytest.approx(1.5e308)
