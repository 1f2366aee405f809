"""`weights()` and `sums()` are what they say, computed here from rows and scores alone."""

import math

import numpy as np
import pytest

from cases import in_one_test
from laws.streams import (
    SILENT,
    each_form,
    each_learner,
    each_pair,
    each_pair_in_any_unit,
    each_pair_where,
    each_pair_with_sums,
    keeps_sums,
    linear,
    make,
    powers_of_two,
    same_bits,
    tame,
    target_invariance,
)
from unitless.learners import get
from unitless.regret.certificate import certificate
from unitless.rows import as_rows

with_and_without_intercept = in_one_test("intercept", [True, False])


def scaled_stream(name, loss, seed=0, n=60, d=4):
    """All columns in every row."""
    return tame(name, loss, seed, n, d, density=1.0)


# weights()


@each_pair_where(linear)
def test_weights_are_the_slope_of_the_score_at_zero(name, loss):
    """In steps so small beside s_i that they do not move the scales.

    Scores that count from the first target round to that: there a step must not be too small.
    """
    from_first = target_invariance(name) == "affine"
    step, tolerance = (1e-5, 1e-8) if from_first else (1e-9, 1e-9)
    stream = scaled_stream(name, loss)
    learner = make(name, loss, intercept=False)
    learner.learn(stream.rows())
    steps = np.diag(step * np.linalg.norm(stream.X, axis=0))
    up, down = learner.predict(as_rows(steps)), learner.predict(as_rows(-steps))
    weights, sizes = learner.weights(), np.diag(steps).reshape(-1, *[1] * (up.ndim - 1))
    np.testing.assert_allclose((up - down) / (2 * sizes), weights.features, rtol=tolerance)
    assert from_first or np.all(weights.intercept == 0)
    assert name in SILENT or np.any(weights.features != 0)


@each_pair_where(lambda name: linear(name) and target_invariance(name) != "affine")
def test_the_intercept_s_weight_is_that_of_a_constant_column(name, loss):
    """Unless scores count from the first target, which then is in the intercept."""
    stream = scaled_stream(name, loss)
    constant = stream._replace(X=np.column_stack([np.ones(60), stream.X]))
    one, two = make(name, loss), make(name, loss, intercept=False)
    one.learn(stream.rows())
    two.learn(constant.rows())
    with_intercept, with_column = one.weights(), two.weights()
    assert with_intercept.intercept == pytest.approx(with_column.features[0], rel=1e-9)
    np.testing.assert_allclose(with_intercept.features, with_column.features[1:], rtol=1e-9)


@each_pair_in_any_unit
def test_weights_have_the_unit_of_one_over_x(name, loss):
    stream = tame(name, loss, d=10)
    factors = powers_of_two(np.random.default_rng(0), 10, name=name)
    one, two = make(name, loss), make(name, loss)
    one.learn(stream.rows())
    two.learn(stream._replace(X=stream.X * factors).rows())
    same_bits(one.weights().intercept, two.weights().intercept)
    moved = (one.weights().features.T / factors).T
    same_bits(moved + 0.0, two.weights().features + 0.0)  # 0 / -2 is -0


@each_pair
def test_before_the_first_row(name, loss):
    weights, sums = make(name, loss).weights(), make(name, loss).sums()
    assert np.all(weights.intercept == 0) or not linear(name)
    assert weights.features.size == 0
    if sums is not None:
        assert (sums.trials, sums.dimension, sums.A) == (0, 0, 0)
        assert (sums.z.tolist(), sums.s.tolist()) == ([0], [0])


# sums()


@each_pair_with_sums
@each_form
@with_and_without_intercept
def test_sums(name, loss, form, intercept):
    stream = tame(name, loss, n=80, d=6, weighted=True)
    stream.X[:, 3] = 0
    learner = make(name, loss, intercept=intercept)
    scores = learner.learn(stream.rows(form))
    v, g = stream.v, learner.loss.derivative(stream.y, scores)
    X = np.column_stack([np.full(80, float(intercept)), stream.X])
    sums = learner.sums()
    s = np.sqrt((v**2) @ X**2)
    terms = -(v * g)[:, None] * X
    assert sums.trials == np.count_nonzero(v)
    assert sums.dimension == np.count_nonzero(s)
    assert abs(sums.A - v @ (g * scores)) <= 1e-12 * (v @ np.abs(g * scores))
    np.testing.assert_allclose(sums.s, s, rtol=1e-12)
    # h is a sum of both signs: right relative to its terms
    assert np.all(np.abs(sums.z * sums.s - terms.sum(axis=0)) <= 1e-12 * np.abs(terms).sum(axis=0))


def test_norm_and_gamma_of_algorithm_2():
    stream = scaled_stream("full", "huber(2)", n=80)
    learner = get("full")("huber(2)", intercept=False)
    scores = learner.learn(stream.rows())
    g = learner.loss.derivative(stream.y, scores)
    Q, _ = np.linalg.qr(stream.X)
    assert learner.norm_h() == pytest.approx(np.linalg.norm(Q.T @ g), rel=1e-9)
    leverages = [
        stream.X[t] @ np.linalg.pinv(stream.X[: t + 1]) @ np.eye(t + 1)[t] for t in range(80)
    ]
    assert learner.gamma() == pytest.approx((g / 2) ** 2 @ leverages, rel=1e-9)
    D = learner.norm_h() ** 2 / 4 - learner.gamma()
    assert learner.potential() == pytest.approx(math.exp(D / (2 * learner.alpha)), rel=1e-9)


# The certificate: regret(u) <= A + h.u for convex losses


@each_pair_with_sums
def test_regret_is_at_most_what_is_certified(name, loss):
    stream = tame(name, loss, n=80, d=4, weighted=True)
    learner = make(name, loss)
    scores = learner.learn(stream.rows())
    sums, rng = learner.sums(), np.random.default_rng(0)
    X = np.column_stack([np.ones(80), stream.X])
    paid = stream.v @ learner.loss.value(stream.y, scores)
    for size in (0, 0.01, 0.3, 1, 10):
        a = size * rng.normal(size=5) / math.sqrt(80)
        u = a / sums.s * 10
        regret = paid - stream.v @ learner.loss.value(stream.y, X @ u)
        certified = sums.A + (sums.z * sums.s) @ u
        assert regret <= certified + 1e-9 * (abs(paid) + abs(certified))
        if loss == "linear":
            assert regret == pytest.approx(certified, rel=1e-9, abs=1e-9)


@each_learner
def test_who_has_sums_has_a_certificate_and_nobody_else(name):
    learner = make(name)
    learner.learn(tame(name).rows())
    if keeps_sums(name) or name in ("blend", "linear_blend"):  # whose members have sums
        assert certificate(learner).trials == 60
        return
    words = f"{name} keeps no sums for a certificate; use coordinate, full or blend"
    with pytest.raises(ValueError, match=words):
        certificate(learner)
