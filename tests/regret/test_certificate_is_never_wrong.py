"""Certificates against the worst comparators, with the true regret in 60 digits: no tolerance."""

import mpmath as mp
import numpy as np
import pytest
from material import stream

from unitless.core.learner import Weights
from unitless.learners import get
from unitless.regret import best_comparator, certificate
from unitless.regret.blend_certificate import SlopeBound, _conjugates
from unitless.regret.damped import LAMBDAS, damped
from unitless.regret.duality import conjugate
from unitless.rows import as_rows

SIGNED = ["logistic", "hinge", "smoothed_hinge"]
REAL = ["absolute", "quantile(0.9)", "huber(2)"]
each_learner = pytest.mark.parametrize("name", ["coordinate", "full", "zero"])


def exact_loss(loss, y, p):
    """The loss of a score, both mpf."""
    m = y * p
    r = p - y
    size = mp.mpf(loss.parameter)
    kinds = {
        "logistic": lambda: mp.log1p(mp.exp(-m)) if m > 0 else -m + mp.log1p(mp.exp(m)),
        "hinge": lambda: max(1 - m, mp.mpf(0)),
        "smoothed_hinge": lambda: mp.mpf(0) if m >= 1 else (1 - m) ** 2 / 2 if m > 0 else 0.5 - m,
        "absolute": lambda: abs(r),
        "quantile": lambda: (1 - size) * r if r > 0 else -size * r,
        "huber": lambda: r * r / 2 if abs(r) <= size else size * (abs(r) - size / 2),
    }
    return kinds[loss.name.partition("(")[0]]()


def exact_regret(learner, X, y, v, scores, u):
    """sum v (loss(y, p) - loss(y, x.u)) of the floats themselves."""
    with mp.workdps(60):
        total = mp.mpf(0)
        w = [mp.mpf(float(value)) for value in u.features]
        for x, target, weight, score in zip(X, y, v, scores, strict=True):
            terms = (mp.mpf(float(a)) * b for a, b in zip(x, w, strict=True))
            p = mp.fsum(terms) + mp.mpf(float(u.intercept))
            target = mp.mpf(float(target))
            paid = exact_loss(learner.loss, target, mp.mpf(float(score)))
            total += mp.mpf(float(weight)) * (paid - exact_loss(learner.loss, target, p))
        return total


def comparators(X, y, loss, rng):
    """Random, best, and large ones: along h, and differences of nearly equal columns."""
    d = X.shape[1]
    units = np.sqrt((X * X).sum(axis=0))
    units[units == 0] = 1.0
    for size in (0.0, 1e-3, 1.0, 30.0, 1e4):
        yield Weights(float(size * rng.normal()), size * rng.normal(size=d) / units)
    best = best_comparator(loss, as_rows(X, y)).weights
    for size in (0.5, 1.0, 2.0):
        yield Weights(size * best.intercept, size * best.features)
    for size in (2.0**20, 2.0**55):
        difference = np.zeros(d)
        difference[-1] = size / units[-1]
        yield Weights(0.0, difference)
        if d > 1:
            difference[-2] = -size / units[-2]
            yield Weights(0.0, difference)


def streams():
    for seed in range(21):
        yield stream(seed)[0]


@each_learner
@pytest.mark.parametrize("loss", SIGNED + REAL)
def test_no_comparator_has_a_larger_regret(name, loss):
    for seed, X in enumerate(streams()):
        rng = np.random.default_rng(seed)
        y = rng.choice([-1.0, 1.0], len(X))
        if loss in REAL:
            y = 3 * rng.normal(size=len(X)) + np.sign(X[:, 0])
        v = 2.0 ** rng.uniform(-3, 3, len(X)) if seed % 2 else np.ones(len(X))
        learner = get(name)(loss)
        scores = learner.learn(as_rows(X, y, v if seed % 2 else None))
        paid = exact_regret(learner, X, y, v, scores, Weights(0.0, np.zeros(X.shape[1])))
        for u in comparators(X, y, loss, rng):
            claim = certificate(learner, u).given.certificate
            true = exact_regret(learner, X, y, v, scores, u)
            assert true <= claim
        losses = learner.loss.value(y, scores)
        most = float(np.sum(v * losses))
        assert claim <= most * (1 + 1e-9) + 1e-9
        assert paid <= certificate(learner).origin.certificate


def nearly_equal(exponent, T=200):
    """Two columns that differ in bits which a factor cannot hold."""
    y = np.where(np.arange(T) % 2 == 0, 1.0, -1.0)
    return np.column_stack([np.ones(T), 1.0 + y * 2.0**exponent]), y


@each_learner
@pytest.mark.parametrize("exponent", [-52, -51, -50, -48, -46, -43, -40, -30])
def test_directions_that_were_dropped(name, exponent):
    """x = (1, 1 + y 2^-52): u = 2^55 (-1, 1) predicts 8 y, which the learner cannot see."""
    X, y = nearly_equal(exponent)
    learner = get(name)(intercept=False)
    scores = learner.learn(as_rows(X, y))
    for size in 2.0 ** np.arange(-exponent - 2, -exponent + 5):
        u = Weights(0.0, np.array([-size, size]))
        true = exact_regret(learner, X, y, np.ones(len(y)), scores, u)
        assert true <= certificate(learner, u).given.certificate


def test_the_part_of_h_that_was_dropped_is_known():
    """h in 60 digits is within `lost` and rounding of h from the factor."""
    for exponent in (-52, -50, -47):
        X, y = nearly_equal(exponent)
        learner = get("full")(intercept=False)
        scores = learner.learn(as_rows(X, y))
        sums = learner.sums()
        g = learner.loss.derivative(y, scores)
        h = -mp.fsum(mp.mpf(a) * mp.mpf(b) for a, b in zip(g, X[:, 1], strict=True))
        h -= mp.mpf(sums.z[2]) * mp.mpf(sums.s[2])
        rounding = 8 * len(y) * 2.0**-53 * np.sqrt(len(y))
        assert sums.lost[1:].sum() > 0
        assert abs(h) <= (sums.lost[2] + rounding) * sums.s[2]


def test_what_was_dropped_of_h_follows_a_linear_map():
    """The part of h that was dropped is at most |M| times what it was before x arrives as M x."""
    X, y = nearly_equal(-52)
    learner = get("full")(intercept=False)
    learner.learn(as_rows(X, y))
    before = learner.sums()
    M = np.array([[1.0, -3.0], [0.5, 2.0]])
    learner.rescale(M)
    after = learner.sums()
    expected = np.abs(M) @ (before.lost * before.s)[1:]
    assert (expected > 0).all()
    assert ((after.lost * after.s)[1:] >= expected * (1 - 1e-12)).all()


def test_what_was_dropped_of_h_enters_every_bound():
    """By |u_i| s_i times `lost`; the allowance for rounding would hide that it is missing."""
    X, y = nearly_equal(-52)
    learner = get("full")("linear", intercept=False)
    learner.learn(as_rows(X, y))
    sums = learner.sums()
    u = np.array([3.0, -2.0])
    without = certificate(learner, u)
    lost = np.array([0.0, 0.25, 0.5])
    factor = learner.factor
    factor.write("lost", factor.read("lost") + (lost * sums.s)[factor.read("coordinates")])
    made = certificate(learner, u)
    more = float(np.sum(lost[1:] * np.abs(u) * sums.s[1:]))
    assert made.given.certificate == pytest.approx(without.given.certificate + more, rel=1e-12)
    assert made.box.certificate == pytest.approx(without.box.certificate + 0.75, rel=1e-12)
    assert made.simplex.certificate == pytest.approx(without.simplex.certificate + 0.5, rel=1e-12)
    assert made.ellipsoid.certificate > without.ellipsoid.certificate + 0.4


@each_learner
def test_balls_cover_their_worst_members(name):
    for seed, X in enumerate(streams()):
        rng = np.random.default_rng(seed)
        y = rng.choice([-1.0, 1.0], len(X))
        learner = get(name)()
        scores = learner.learn(as_rows(X, y))
        sums = learner.sums()
        s = np.where(sums.s > 0, sums.s, 1.0)
        for B in (0.1, 1.0, 10.0):
            made = certificate(learner, ball=B)
            corner = B * np.sign(sums.z) / s
            vertex = corner * (np.abs(sums.z) == np.abs(sums.z).max())
            vertex /= max(np.count_nonzero(vertex), 1)
            for u, claim in ((corner, made.box), (vertex, made.simplex)):
                weights = Weights(float(u[0]), u[1:])
                true = exact_regret(learner, X, y, np.ones(len(y)), scores, weights)
                assert true <= claim.certificate


@pytest.mark.parametrize("seed", range(0, 21, 3))
def test_a_blend_is_certified_by_slopes(seed):
    X = stream(seed)[0]
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], len(X))
    v = 2.0 ** rng.uniform(-3, 3, len(X)) if seed % 2 else np.ones(len(X))
    blend = get("blend")()
    scores = blend.learn(as_rows(X, y, v))
    most = float(np.sum(v * blend.loss.value(y, scores)))
    for u in comparators(X, y, "logistic", rng):
        true = exact_regret(blend, X, y, v, scores, u)
        for member in certificate(blend, u).by_member:
            assert true <= member.bounds[1].certificate <= most * (1 + 1e-9)
    names = [member.name for member in blend.members]
    s = blend.experts[names.index("Algorithm 1")].sums().s
    ids = 1 + blend.features.read("ids")
    for B in (0.1, 1.0, 10.0):
        sizes = np.where(ids > 0, B / np.where(s[ids] > 0, s[ids], 1.0), 0.0)
        corner = Weights(B / s[0], sizes * rng.choice([-1.0, 1.0], len(ids)))
        true = exact_regret(blend, X, y, v, scores, corner)
        for member in certificate(blend, ball=B).by_member:
            assert true <= member.bounds[2].certificate


def test_rounding_enters_the_bounds_by_slopes():
    """That of h by |u_i| s_i, that of the other sums whatever u is."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    y = np.sign(X[:, 0] + rng.normal(size=200))
    blend = get("blend")()
    scores = blend.learn(as_rows(X, y))
    names = [member.name for member in blend.members]
    sums = blend.experts[names.index("Algorithm 1")].sums()
    paid = float(np.sum(blend.loss.value(y, scores)))
    sure = SlopeBound(blend.grouped_slopes, sums, paid)
    unit = 2.0**-53
    assert sure.error >= 200**1.5 * unit
    assert sure.paid >= paid * (1 + 200 * unit)
    by_group = blend.grouped_slopes.sums_by_group()
    exact = _conjugates(by_group)
    used = by_group[..., 1] > 0
    margins = sure.levels - exact - 200 * unit * np.abs(exact)
    assert (margins[used][:, 1:] >= 0).all()
    w = np.array([0.1, 1.0, -0.2])
    size = float(np.sum(sums.s * np.abs(w)))
    without, in_simplex, in_box = sure.against(w), *sure.balls(0.3)
    assert max(without, in_simplex, in_box) < paid
    sure.error += 1e-3
    assert sure.against(w) == pytest.approx(without + 1e-3 * size, rel=1e-9)
    for before, after, corners in zip((in_simplex, in_box), sure.balls(0.3), (1, 3), strict=True):
        assert 0 < after - before <= 1e-3 * 0.3 * corners * (1 + 1e-9)
    sure.error = 1e3
    assert sure.against(w) == sure.paid  # the regret is never more than what was paid


@each_learner
@pytest.mark.parametrize("loss", SIGNED)
def test_the_loss_paid_is_rounded_up(name, loss):
    """Against weights without any loss the regret is all that was paid, which is also certified."""
    for seed in range(8):
        X = np.random.default_rng(seed).normal(size=(200, 2))
        y = np.sign(X[:, 0])
        learner = get(name)(loss)
        scores = learner.learn(as_rows(X, y))
        u = Weights(0.0, np.array([500 / np.abs(X[:, 0]).min(), 0.0]))
        true = exact_regret(learner, X, y, np.ones(200), scores, u)
        claim = certificate(learner, u).given.certificate
        assert true <= claim <= float(true) * (1 + 1e-12)


@pytest.mark.parametrize("loss", SIGNED + REAL)
def test_levels_are_sums_of_conjugates(loss):
    """level(lambda) = sum v (loss + loss*(y, lambda g)); chords are above it, and close to it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    y = np.sign(X[:, 0] + 0.5 * rng.normal(size=400)) * (3.0 if loss in REAL else 1.0)
    v = rng.choice([0.5, 1.0, 3.0], 400)
    learner = get("full")(loss, wealth=300.0)
    p = learner.learn(as_rows(X, y, v))
    assert np.ptp(p) > 10
    g = learner.loss.derivative(y, p)
    paid = float(np.sum(v * learner.loss.value(y, p)))
    exact = paid + conjugate(learner.loss, y, np.outer(LAMBDAS, g)) @ v
    levels = damped(learner.loss, learner.sums()).levels
    assert (levels >= exact - 1e-12 * paid).all()
    close = 0.001 * v.sum() if loss == "logistic" else 1e-9 * paid
    assert (levels - exact <= close).all()


def test_without_the_sums_of_slopes_the_certificate_is_A_plus_h_u():
    """As for sums that do not count all rows."""
    X = np.random.default_rng(0).normal(size=(100, 3))
    learner = get("coordinate")()
    learner.learn(as_rows(X, np.sign(X[:, 0])))
    u = Weights(0.0, np.array([9.0, 0.0, 0.0]))
    with_slopes = certificate(learner, u).given.certificate
    learner.write("damped_sums", get("coordinate")().read("damped_sums"))
    sums = learner.sums()
    plain = sums.A + float(np.sum(sums.z[1:] * sums.s[1:] * u.features))
    assert certificate(learner, u).given.certificate == pytest.approx(plain, rel=1e-9)
    assert with_slopes < plain
