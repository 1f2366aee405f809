"""A weight of 0 leaves a row out and 1 is no weight; what others do a learner declares.

Those with `scales_instance`, and the paper's, treat a row of weight v as the row v x, and divide
the score by v (theory, section 1).
"""

from itertools import pairwise

import numpy as np

from laws.streams import (
    PAPER,
    SILENT,
    Stream,
    accepts,
    close,
    each_form,
    each_learner,
    each_learner_where,
    each_pair,
    each_pair_where,
    in_any_unit,
    make,
    one_score,
    outlook,
    same_bits,
    snapshot,
    tame,
)
from unitless.learners import get
from unitless.rows import as_rows


def scales_instance(name):
    """Whether a weight multiplies the row."""
    return name in PAPER or getattr(get(name), "scales_instance", False)


each_scaling_pair = each_pair_where(
    lambda name: scales_instance(name) and accepts(name, "linear"), one_score
)
NASTY = np.array([[1e300] * 10, [5e-324] * 10, [-1.7e308] * 10, [1.0] * 10, [0.0] * 10])


def interleaved(name, loss, every=3):
    """A stream with a row of weight 0, as nasty as the learner can take, before every third."""
    stream = tame(name, loss, d=6)
    places = np.arange(0, len(stream.y), every)
    extra = NASTY[np.arange(len(places)) % len(NASTY)][:, : stream.X.shape[1]]
    if not in_any_unit(name):
        extra = np.clip(extra, -1, 1)
    X = np.insert(stream.X, places, extra, axis=0)
    y = np.insert(stream.y, places, stream.y[0])
    v = np.insert(np.ones(len(stream.y)), places, 0)
    return stream, Stream(X, y, v)


@each_pair
@each_form
def test_rows_of_weight_zero_change_nothing(name, loss, form):
    stream, more = interleaved(name, loss)
    without, within = make(name, loss), make(name, loss)
    scores = without.learn(stream.rows(form))
    same_bits(within.learn(more.rows(form))[more.v > 0], scores)
    same_bits(outlook(within, 6), outlook(without, 6))
    sums = within.sums()
    assert sums is None or sums.trials == len(stream.y)


@each_pair
@each_form
def test_rows_of_weight_zero_are_scored(name, loss, form):
    """As if they had weight 1, and in the midst of a block."""
    _, more = interleaved(name, loss)
    rows, unweighted = more.rows(form), more._replace(v=None).rows(form)
    scores = make(name, loss).learn(rows)
    learner, zero = make(name, loss), np.flatnonzero(more.v == 0)
    for start, end in pairwise([0, *zero, len(rows)]):
        learner.learn(rows[start:end])
        same_bits(learner.predict(unweighted[end : end + 1]), scores[end : end + 1])


@each_learner
@each_form
def test_weight_zero_leaves_the_state_alone(name, form):
    learner, stream = make(name), tame(name, d=10)
    for _ in range(2):  # the second time there is room enough, should a learner make any
        learner.learn(stream.rows(form))
    before = snapshot(learner)
    learner.learn(stream._replace(v=np.zeros(60)).rows(form))
    learner.learn_one({}, 1, 0)
    assert snapshot(learner) == before


@each_learner
def test_dicts_of_weight_zero(name):
    one, two = make(name), make(name)
    far = 1e300 if in_any_unit(name) else 1.0
    for t in range(20):
        left_out, x, y = {"a": far, f"new {t}": 1.0}, {"a": t % 3 / 2, "b": 1.0}, (-1) ** (t % 3)
        assert one.predict_one(left_out) == one.learn_one(left_out, y, 0)
        assert one.learn_one(x, y) == two.learn_one(x, y)
    assert one.names.columns == two.names.columns  # else a row left out would number features


def weighted_and_scaled(name, loss, v):
    """A run with weights v, and one on v x without, given the first one's gradients."""
    stream = tame(name, loss, d=6)
    weighted, scaled = make(name, loss, intercept=False), make(name, "linear", intercept=False)
    scores = weighted.learn(stream._replace(v=v).rows())
    g = weighted.loss.derivative(stream.y, scores) * (1 / weighted.loss.lipschitz)
    return weighted, scores, scaled, scaled.learn(Stream(stream.X * v[:, None], g).rows())


@each_scaling_pair
def test_a_weight_scales_the_instance(name, loss):
    v = np.exp(np.random.default_rng(0).uniform(-3, 3, 60))
    weighted, scores, scaled, other_scores = weighted_and_scaled(name, loss, v)
    close(other_scores / v, scores, 1e-12)
    if weighted.sums() is None:
        return
    one, two, L = weighted.sums(), scaled.sums(), weighted.loss.lipschitz
    np.testing.assert_allclose([two.A * L, *two.z * L, *two.s], [one.A, *one.z, *one.s], rtol=1e-12)


@each_scaling_pair
def test_weights_that_are_powers_of_two(name, loss):
    v = 2.0 ** np.random.default_rng(0).integers(-100, 101, 60)
    _, scores, _, other_scores = weighted_and_scaled(name, loss, v)
    same_bits(other_scores / v, scores)


@each_pair
@each_form
def test_weights_of_one_are_no_weights(name, loss, form):
    stream = tame(name, loss, d=10)
    scores = make(name, loss).learn(stream.rows(form))
    same_bits(make(name, loss).learn(stream._replace(v=np.ones(60)).rows(form)), scores)


@each_learner_where(scales_instance)
def test_weights_matter_when_predicting(name):
    """To whom the weight scales the instance: it is known then."""
    stream = tame(name)
    learner = make(name)
    learner.learn(stream.rows())
    light, heavy = (learner.predict(as_rows(stream.X, weights=np.full(60, v))) for v in (0.1, 10))
    assert name in SILENT or np.abs(light - heavy).max() > 1e-3


@each_pair
def test_weights_matter_when_learning(name, loss):
    stream = tame(name, loss)
    scores = [
        make(name, loss).learn(stream._replace(v=np.where(np.arange(60) % 2, v, 1)).rows())
        for v in (0.1, 1, 10)
    ]
    size = np.abs(scores[1]).max()
    assert name in SILENT or np.abs(scores[0] - scores[1]).max() > 1e-3 * size
    assert name in SILENT or np.abs(scores[2] - scores[1]).max() > 1e-3 * size
