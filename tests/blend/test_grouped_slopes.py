"""The sums of a Blend's certificate: a slow twin, single rows, units, many features."""

import numpy as np
import pytest
from scipy.special import expit, xlogy

from unitless.blend.blend import Blend
from unitless.blend.grouped_slopes import POWERS
from unitless.core.learner import Weights
from unitless.learners import get
from unitless.regret import best_comparator, certificate
from unitless.regret.blend_certificate import _conjugates
from unitless.regret.damped import LAMBDAS
from unitless.rows import as_rows

FIRST, GROUPS = 5, 8
"""The first period has 2^5 - 1 trials; each has eight groups."""


def data(n=300, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 1
    X[rng.random(X.shape) < 0.2] = 0
    y = np.where(X @ np.ones(d) + rng.logistic(size=n) > d * 0.8, 1.0, -1.0)
    return X, y, rng.choice([0.0, 0.5, 1.0, 3.0], n)


def twin(X, y, v, scores, others):
    """The sums, trial by trial, and h of all groups."""
    rows = np.flatnonzero(v)
    periods = [max(int(t).bit_length() - FIRST, 0) for t in range(1, len(rows) + 1)]
    sums = np.zeros((1 + GROUPS * (1 + max(periods)), 2, 1 + POWERS))
    h = np.zeros((len(sums), 2, 1 + X.shape[1]))
    for period, r in zip(periods, rows, strict=True):
        place = np.searchsorted([-0.5, 0.5, 2.0], y[r] * scores[r])
        group = 1 + period * GROUPS + 4 * (y[r] > 0) + place
        for j, z in enumerate((scores[r], others[r])):
            q = expit(-y[r] * z)
            sums[group, j] += v[r] * np.array([q * np.log(q), *(q ** np.arange(1, POWERS + 1))])
            h[group, j] += v[r] * q * y[r] * np.array([1.0, *X[r]])
    return sums, h


def scores_of_the_expert(X, y, v):
    """Those of the Newton expert, which sees rows less the means of all rows so far."""
    rows = np.flatnonzero(v)
    centred = X - X
    centred[rows] = X[rows] - np.cumsum(X[rows], axis=0) / np.arange(1, len(rows) + 1)[:, None]
    return get("newton")("logistic", strength=10.0).learn(as_rows(centred, y, v))


def test_sums_are_those_of_the_twin():
    X, y, v = data()
    blend = Blend(views="smooth")
    scores = blend.learn(as_rows(X, y, v))
    sums, h = twin(X, y, v, scores, scores_of_the_expert(X, y, v))
    assert blend.grouped_slopes.trials == np.count_nonzero(v)
    found = blend.grouped_slopes.sums_by_group()
    np.testing.assert_allclose(found[: len(sums)], sums, rtol=1e-11, atol=1e-13)
    ids = np.array(blend.features.ids)
    found = blend.grouped_slopes.h_by_group(1 + X.shape[1])[:, :, np.append(0, 1 + ids)]
    np.testing.assert_allclose(found[: len(h)], h, rtol=1e-11, atol=1e-12)
    assert not found[len(h) :].any()


def test_single_rows_are_those_of_a_block():
    X, y, v = data(n=200)
    v[-1] = 1.0
    whole, learner = Blend(), Blend()
    whole.learn(as_rows(X, y, v))
    for t in range(len(y)):
        learner.learn(as_rows(X[t : t + 1], y[t : t + 1], v[t : t + 1]))
    assert learner.grouped_slopes.trials == whole.grouped_slopes.trials > 0
    width = 1 + X.shape[1]
    groups = 1 + int(learner.grouped_slopes.groups)  # a block may have made room for more
    one, other = (each.grouped_slopes.sums_by_group()[:groups] for each in (learner, whole))
    np.testing.assert_array_equal(one, other)
    one, other = (each.grouped_slopes.h_by_group(width)[:groups] for each in (learner, whole))
    np.testing.assert_array_equal(one, other)


def test_units_do_not_matter():
    X, y, _ = data()
    factors = 2.0 ** np.arange(-40, 41, 20)
    blend, moved, renamed = Blend(), Blend(), Blend()
    blend.learn(as_rows(X, y))
    moved.learn(as_rows(X * factors, y))
    renamed.learn(as_rows(X[:100], y[:100]))
    renamed.rescale(dict(enumerate(factors.tolist())))
    renamed.learn(as_rows(X[100:] * factors, y[100:]))
    u = np.array([1.0, -2.0, 0.5, 0.0, 3.0])
    expected = certificate(blend, u).by_member[0].bounds
    assert certificate(moved, u / factors).by_member[0].bounds == expected
    assert certificate(renamed, u / factors).by_member[0].bounds == expected


def test_many_features_are_one_group():
    """The sums before and after the 257th feature both count."""
    X, y, _ = data(n=260, d=300)
    X[:130, 200:] = 0
    blend = Blend(views="smooth")
    scores = blend.learn(as_rows(X, y))
    slopes = blend.grouped_slopes
    sums = slopes.sums_by_group()
    assert sums[0].any()
    assert sums[1:].any()
    assert slopes.narrow_coordinates <= 257
    paid = float(np.sum(blend.loss.value(y, scores)))
    rng = np.random.default_rng(0)
    for size in (0.0, 0.01, 0.1):
        u = Weights(0.3, size * rng.normal(size=300))
        true = paid - float(np.sum(blend.loss.value(y, X @ u.features + u.intercept)))
        for member in certificate(blend, u).by_member:
            assert true <= member.bounds[1].certificate <= paid * (1 + 1e-9)


def test_close_to_the_truth():
    """1.3 times the regret here; the members' own slopes certify 3 times."""
    X, y, _ = data(n=2000)
    blend = Blend(views="smooth")
    rows = as_rows(X, y)
    scores = blend.learn(rows)
    best = best_comparator("logistic", rows)
    true = float(np.sum(blend.loss.value(y, scores))) - best.loss
    claims = [member.bounds[1].certificate for member in certificate(blend, best.weights).by_member]
    assert true < min(claims) < 1.8 * true
    overheads = {name: each.overhead for name, each in blend.guarantees().items()}
    alone = [
        certificate(expert, best.weights).bounds[1].certificate + overheads[member.name]
        for member, expert in zip(blend.members, blend.experts, strict=True)
        if member.role == "guarantee"
    ]
    assert min(alone) > 1.5 * min(claims)


@pytest.mark.parametrize("seed", range(5))
def test_conjugates_are_bounded_from_above(seed):
    rng = np.random.default_rng(seed)
    q = rng.beta(0.5, 0.5 + seed, 50)
    v = rng.exponential(size=50)
    sums = np.array([v @ xlogy(q, q), *(v @ q[:, None] ** np.arange(1, POWERS + 1))])
    x = np.outer(LAMBDAS, q)
    exact = (xlogy(x, x) + xlogy(1 - x, 1 - x)) @ v
    found = _conjugates(sums)
    assert (found >= exact - 1e-12).all()
    assert (found - exact <= 0.03 * v.sum()).all()
    half = LAMBDAS <= 0.75
    assert (found - exact)[half].max() <= 0.003 * v.sum()
