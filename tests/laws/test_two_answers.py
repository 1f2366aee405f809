"""The laws for both answers of a Blend, with and without recent labels, where they differ."""

import copy
import pickle
from itertools import pairwise

import numpy as np
import pytest

from laws.streams import CLASSES, make, same_bits
from naive import recent_labels
from unitless.blend.blend import Blend
from unitless.learners import get
from unitless.rows import as_rows
from unitless.state import remembered

N = 400
NAMES = [name for name in ("blend", "linear_blend") if get(name).has_two_answers]
LOSSES = ["logistic", "softmax", "squared", "absolute"]
each_blend = pytest.mark.parametrize("name", NAMES)
each_loss = pytest.mark.parametrize("loss", LOSSES)
each_delay = pytest.mark.parametrize("delay", [0, 1, 7])


def following(loss, n=N, seed=0, d=4):
    """A stream whose targets follow the targets before them; the features tell little."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, d)
    level = rng.integers(0, 5, n)[np.arange(n) // 20]  # stays for 20 rows
    if loss == "logistic":
        return X, np.where(level % 2 == 0, 1.0, -1.0)
    if loss == "softmax":
        return X, level % CLASSES + 0.0
    return X, level + 0.1 * rng.normal(size=n)


def both_of(learner, rows):
    """The scores of `learn`, and those without recent labels."""
    not_fresh = learner._room(len(rows))
    return learner.learn(rows, not_fresh), not_fresh


def learned(name, loss, **parameters):
    """A learner, and both answers for the rows that it learned."""
    learner = make(name, loss, **parameters)
    rows = as_rows(*following(loss))
    return learner, *both_of(learner, rows)


@each_blend
@each_loss
@each_delay
def test_the_past_pays_on_these_streams(name, loss, delay):
    """Otherwise the tests below would compare one answer with itself."""
    learner, fresh, not_fresh = learned(name, loss, delay=delay)
    assert learner.recent.pays
    assert not np.array_equal(fresh, not_fresh)


@each_blend
@each_loss
@each_delay
def test_predict_gives_what_learn_records(name, loss, delay):
    """With late labels, `predict` knows those that were learned, and `learn` those before."""
    X, y = following(loss)
    learner = make(name, loss, delay=delay)
    for t in range(N):
        row = as_rows(X[t : t + 1])
        fresh, not_fresh = learner.predict(row, True), learner.predict(row)
        recorded = both_of(learner, row.with_targets(y[t : t + 1]))
        same_bits(not_fresh, recorded[1])
        if delay == 0:
            same_bits(fresh, recorded[0])


@each_blend
@each_loss
@each_delay
def test_a_block_is_its_rows(name, loss, delay):
    whole, *answers = learned(name, loss, delay=delay)
    rows = as_rows(*following(loss))
    for cuts in (range(1, N), (1, 63, 64, 65, 100)):
        learner = make(name, loss, delay=delay)
        parts = [both_of(learner, rows[a:b]) for a, b in pairwise([0, *cuts, N])]
        for answer, found in zip(answers, zip(*parts, strict=True), strict=True):
            same_bits(np.concatenate(found), answer)
        for fresh in (False, True):
            same_bits(learner.predict(rows, fresh), whole.predict(rows, fresh))


@each_blend
@each_loss
def test_predicting_changes_nothing(name, loss):
    """Neither answer depends on what was predicted before, nor on the rows beside it."""
    learner, *_ = learned(name, loss)
    rows = as_rows(following(loss, seed=1)[0])
    before = pickle.dumps(remembered(learner))
    for fresh in (False, True, False):
        together = learner.predict(rows, fresh)
        alone = [learner.predict(rows[t : t + 1], fresh) for t in range(N)]
        same_bits(np.concatenate(alone), together)
    assert pickle.dumps(remembered(learner)) == before


@each_blend
@each_loss
@each_delay
@pytest.mark.parametrize("stop", [30, 90])
def test_resumed_in_mid_stream(name, loss, delay, stop):
    _, *answers = learned(name, loss, delay=delay)
    rows = as_rows(*following(loss))
    first = make(name, loss, delay=delay)
    both_of(first, rows[:stop])
    for resumed in (copy.deepcopy(first), pickle.loads(pickle.dumps(first))):
        for answer, found in zip(answers, both_of(resumed, rows[stop:]), strict=True):
            same_bits(found, answer[stop:])


@each_blend
@each_loss
def test_units_of_features(name, loss):
    _, *answers = learned(name, loss)
    X, y = following(loss)
    factors = 2.0 ** np.array([-300, 7, 0, 200])
    for answer, found in zip(
        answers, both_of(make(name, loss), as_rows(X * factors, y)), strict=True
    ):
        same_bits(found, answer)


@each_blend
@each_loss
def test_equal_to_the_bit_until_the_past_pays(name, loss):
    X, y = following(loss)
    learner = make(name, loss)
    opened = None
    for t in range(N):
        fresh, not_fresh = both_of(learner, as_rows(X[t : t + 1], y[t : t + 1]))
        if opened is None:
            same_bits(fresh, not_fresh)
        if opened is None and learner.recent.pays:
            opened = t
    assert opened is not None
    assert opened >= 63


@each_loss
@each_delay
def test_twin(loss, delay):
    """The signals of recent labels, from the recorded answers without them."""
    X, y = following(loss)
    weights = np.random.default_rng(2).uniform(0.5, 2, N)
    learner = make("blend", loss, delay=delay)
    twin = recent_labels.RecentLabels(loss, CLASSES if loss == "softmax" else 1, delay)
    for t in range(N):
        row = as_rows(X[t : t + 1], y[t : t + 1], weights[t : t + 1])
        _, not_fresh = both_of(learner, row)
        scaled = np.append(y[t], not_fresh)
        if loss in ("squared", "absolute"):  # the Blend learns targets less the first, in a unit
            scaled = (scaled - y[0]) * learner.target_scaler.factor
            scaled[1] *= t > 0  # at first it predicts 0, whatever the unit and the origin
        twin.learn(scaled[0], weights[t], scaled[1:].tolist())
        assert bool(learner.recent.pays) == twin.pays
    recent = learner.recent
    assert recent.product == pytest.approx(twin.product, rel=1e-9)
    assert recent.squares == pytest.approx(twin.squares, rel=1e-9)
    past = recent.known if delay == 0 else recent.seen
    signals = np.array(past.signals)
    for output in range(twin.classes):
        means = np.column_stack([signals["targets"][output], signals["residuals"][output]])
        np.testing.assert_allclose(means, twin.means(output), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.array(past.counts)["seen"], twin.counts(), rtol=1e-9)


def test_recent_labels_help():
    """Where the features tell nothing and the labels before a row tell almost all."""
    _, fresh, not_fresh = learned("blend", "squared")
    _, y = following("squared")
    late = slice(N // 2, N)
    assert np.mean((fresh[late] - y[late]) ** 2) < 0.5 * np.mean((not_fresh[late] - y[late]) ** 2)


@each_loss
def test_a_late_label_is_learned_with_the_past_of_its_prediction(loss):
    """What `seen` holds after T labels is what `known` held after T less the delay."""
    X, y = following(loss)
    learner = make("blend", loss, delay=7)
    held = []
    for t in range(100):
        held.append(np.array(learner.recent.known.signals))
        if t >= 7:
            same_bits(np.array(learner.recent.seen.signals)["target"], held[t - 7]["target"])
        learner.learn(as_rows(X[t : t + 1], y[t : t + 1]))


def test_a_delay_is_a_whole_number():
    with pytest.raises(ValueError, match="delay"):
        Blend(delay=-1)


@each_blend
@each_loss
def test_rows_of_weight_0_have_both_answers(name, loss):
    X, y = following(loss)
    weights = (np.arange(N) % 3 > 0).astype(float)
    learner = make(name, loss)
    learner.predict(as_rows(X[:1]))  # no trace of this stays
    whole = both_of(learner, as_rows(X, y, weights))
    rows = make(name, loss)
    for t in range(N):
        row = as_rows(X[t : t + 1])
        same_bits(rows.predict(row, True)[0], whole[0][t])
        same_bits(rows.predict(row)[0], whole[1][t])
        rows.learn(row.with_targets(y[t : t + 1]) if weights[t] else as_rows(X[:0], y[:0]))
