"""The certificate: above the true regret, below the theorem, and without units."""

import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from material import stream
from sklearn.datasets import load_breast_cancer

from unitless.core.learner import Learner, Weights
from unitless.learners import REGISTRY, get
from unitless.regret import certificate
from unitless.rows import as_rows

EVERY = pytest.mark.parametrize(
    "name", [name for name in sorted(REGISTRY) if get(name)().sums() is not None]
)
THEOREMS = pytest.mark.parametrize("name", ["coordinate", "full", "zero"])
X, y = load_breast_cancer(return_X_y=True)
X, y = X[:200, :6], 2.0 * y[:200] - 1
RNG = np.random.default_rng(5)


def learned(name, rows, loss="logistic", **parameters):
    learner = get(name)(loss, **parameters)
    return learner, learner.learn(rows)


def true_regret(learner, rows, scores, u):
    v = 1.0 if rows.weights is None else rows.weights
    p = np.nan_to_num(rows.values) @ u.features + u.intercept
    loss = learner.loss
    return float(np.sum(v * (loss.value(rows.targets, scores) - loss.value(rows.targets, p))))


# A + h.u


@EVERY
@given(st.integers(0, 10**6), st.floats(-6, 6))
def test_exact_for_linear_losses(name, seed, log_size):
    X, g = stream(seed)
    units = np.abs(X).max(axis=0) + (X == 0).all(axis=0)
    learner, scores = learned(name, as_rows(X, g), "linear")
    u = Weights(0.3, np.random.default_rng(seed).standard_normal(X.shape[1]) * 10**log_size / units)
    true = g @ scores - g @ (X @ u.features + u.intercept)
    size = np.abs(g) @ (np.abs(scores) + np.abs(X) @ np.abs(u.features) + 0.3)
    assert certificate(learner, u).given.certificate == pytest.approx(true, abs=1e-12 * size)


@EVERY
@pytest.mark.parametrize("loss", ["logistic", "hinge", "smoothed_hinge"])
def test_above_the_true_regret(name, loss):
    v = RNG.uniform(0.1, 4, len(y))
    v[::7] = 0
    rows = as_rows(np.where(RNG.random(X.shape) < 0.1, np.nan, X), y, v)
    learner, scores = learned(name, rows, loss)
    for size in np.geomspace(1e-4, 1e2, 7):
        u = Weights(float(RNG.standard_normal()), size * RNG.standard_normal(6) / X.std(axis=0))
        claim = certificate(learner, u).given
        true = true_regret(learner, rows, scores, u)
        assert true <= claim.certificate * (1 + 1e-12) + 1e-9
        if claim.sharp is not None:
            assert claim.certificate <= claim.sharp <= claim.theorem


@EVERY
@pytest.mark.parametrize("loss", ["logistic", "hinge", "smoothed_hinge"])
def test_never_above_the_bound_for_linear_losses(name, loss):
    """A + h.u is one of the bounds, and the smallest where h.u is far below 0."""
    learner, _ = learned(name, as_rows(X, y), loss)
    sums = learner.sums()
    for size in (-1e-3, 1.0, -30.0):
        a = size * sums.z
        weights = a / np.where(sums.s > 0, sums.s, 1.0)
        product = float(np.sum(sums.z * sums.s * weights))
        claim = certificate(learner, Weights(float(weights[0]), weights[1:])).given.certificate
        rounding = 1e-10 * (1 + abs(sums.A) + abs(product))
        assert claim <= sums.A + product + rounding
        if size == -30.0:
            assert claim == pytest.approx(sums.A + product, abs=rounding)


@EVERY
@pytest.mark.parametrize("loss", ["absolute", "quantile(0.9)", "huber(3)"])
def test_lipschitz_constants_are_put_back(name, loss):
    target = X @ (RNG.standard_normal(6) / X.std(axis=0))
    rows = as_rows(X, target)
    learner, scores = learned(name, rows, loss)
    made = certificate(learner, rows=rows, scores=scores)
    assert made.best.regret <= made.best.certificate * (1 + 1e-9)
    assert made.best.certificate <= made.best.sharp <= made.best.theorem
    expected = true_regret(learner, rows, scores, made.hindsight.weights)
    assert made.best.regret == pytest.approx(expected, rel=1e-9)


# Balls


@EVERY
def test_balls_are_closed_forms(name):
    learner, _ = learned(name, as_rows(X, y))
    made, sums, B = certificate(learner, ball=2.5), learner.sums(), 2.5
    s, z = sums.s, sums.z
    corner = Weights(B * np.sign(z[0]) / s[0], B * np.sign(z[1:]) / s[1:])
    at_corner = certificate(learner, corner).given.certificate
    assert made.box.certificate == pytest.approx(at_corner, rel=1e-12)
    i = int(np.argmax(np.abs(z[1:])))
    vertex = np.zeros(6)
    vertex[i] = B * np.sign(z[i + 1]) / s[i + 1]
    at_vertex = certificate(learner, vertex).given.certificate
    assert made.simplex.certificate >= at_vertex - 1e-12 * abs(at_vertex)
    for _ in range(200):
        a = RNG.dirichlet(np.ones(7)) * B * RNG.choice([-1, 1], 7)
        u = Weights(a[0] / s[0], a[1:] / s[1:])
        assert certificate(learner, u).given.certificate <= made.simplex.certificate + 1e-9
        assert certificate(learner, u).given.certificate <= made.box.certificate + 1e-9


def test_ellipsoid_of_full():
    learner, _ = learned("full", as_rows(X, y), intercept=False)
    B = 2.5
    made = certificate(learner, ball=B)
    h = learner.sums().z[1:] * learner.sums().s[1:]
    best = np.linalg.lstsq(X.T @ X, h, rcond=None)[0]
    best *= B / np.linalg.norm(X @ best)
    assert certificate(learner, best).given.certificate == pytest.approx(
        made.ellipsoid.certificate, rel=1e-9
    )
    for direction in RNG.standard_normal((200, 6)) / X.std(axis=0):
        u = direction * B / np.linalg.norm(X @ direction)
        assert certificate(learner, u).given.certificate <= made.ellipsoid.certificate + 1e-9


def test_ellipsoid_says_on_how_many_features_u_is_zero():
    dependent = np.column_stack([X, X[:, 0] + X[:, 1], 2 * X[:, 2]])
    for values, expected in ((X, ""), (dependent, " (0 on 2 dependent)")):
        learner, _ = learned("full", as_rows(values, y), intercept=False)
        assert certificate(learner).ellipsoid.comparator == f"any |u|_S <= 1{expected}"


@THEOREMS
@pytest.mark.parametrize("B", [0.0, 1e-6, 1.0, 1e6])
def test_balls_are_below_the_theorem(name, B):
    learner, _ = learned(name, as_rows(X, y))
    made = certificate(learner, ball=B)
    for claim in (made.box, made.simplex, made.ellipsoid):
        if claim is not None:
            rounding = 1e-11 * len(y)  # certificates are rounded up
            assert claim.certificate <= claim.sharp + rounding
            assert claim.sharp <= claim.theorem * (1 + 1e-12)


def test_theorem_of_a_ball_covers_its_members():
    for name in ("coordinate", "full"):
        learner, _ = learned(name, as_rows(X, y))
        made, s = certificate(learner, ball=3.0), learner.sums().s
        for _ in range(200):
            a = RNG.dirichlet(0.3 * np.ones(7)) * 3.0
            claim = certificate(learner, Weights(a[0] / s[0], a[1:] / s[1:])).given
            assert claim.sharp <= made.simplex.sharp + 1e-9
            assert claim.theorem <= made.simplex.theorem + 1e-9
            a = RNG.uniform(-3, 3, 7)
            claim = certificate(learner, Weights(a[0] / s[0], a[1:] / s[1:])).given
            assert claim.sharp <= made.box.sharp + 1e-9


def test_algorithm_2_without_A():
    """theory.md 4: regret(u) <= 1 - psi_T + h.u as well, which A only improves."""
    learner, _ = learned("full", as_rows(X, y))
    assert 1 - learner.potential() >= certificate(learner).A


# Units


@EVERY
def test_powers_of_two_change_no_bit(name):
    units = 2.0 ** np.array([-300, 250, 3, -1, 60, 0])
    u = RNG.standard_normal(6)
    one, _ = learned(name, as_rows(X, y))
    two, _ = learned(name, as_rows(X * units, y))
    plain = certificate(one, u, as_rows(X, y))
    scaled = certificate(two, u / units, as_rows(X * units, y))
    assert scaled[:-1] == plain[:-1]  # all but the weights themselves
    assert scaled.hindsight[1:5] == plain.hindsight[1:5]
    assert str(scaled) == str(plain)


@EVERY
def test_any_units(name):
    units = 10.0 ** np.array([-150, 150, 3, -1, 60, 0])
    one, _ = learned(name, as_rows(X, y))
    two, _ = learned(name, as_rows(X * units, y))
    plain = certificate(one, rows=as_rows(X, y))
    scaled = certificate(two, rows=as_rows(X * units, y))
    for a, b in zip(scaled.bounds, plain.bounds, strict=True):
        for number, expected in zip(a[2:], b[2:], strict=True):
            assert number == pytest.approx(expected, rel=1e-7)


def test_linear_maps_leave_full_alone():
    A = RNG.standard_normal((6, 6)) + 3 * np.eye(6)
    Z = X / X.std(axis=0)
    u = RNG.standard_normal(6)
    one, _ = learned("full", as_rows(Z, y))
    two, _ = learned("full", as_rows(Z @ A.T, y))
    plain = certificate(one, u, as_rows(Z, y))
    mapped = certificate(two, np.linalg.solve(A.T, u), as_rows(Z @ A.T, y))
    for claim in ("given", "best", "ellipsoid"):
        for a, b in zip(getattr(mapped, claim)[1:], getattr(plain, claim)[1:], strict=True):
            assert a == (None if b is None else pytest.approx(b, rel=1e-7))
    assert pytest.approx(plain.A, rel=1e-9) == mapped.A


def test_rescale_keeps_the_certificate():
    for name in ("coordinate", "full"):
        learner, _ = learned(name, as_rows(X, y))
        u = RNG.standard_normal(6)
        before = certificate(learner, u)
        factors = 2.0 ** np.array([5, -3, 0, 100, -70, 1])
        learner.rescale(factors)
        assert certificate(learner, u / factors) == before


# Rows, replays, storage


@EVERY
def test_true_regret_from_rows_alone(name):
    rows = as_rows(X, y, RNG.uniform(0.5, 2, len(y)))
    learner, scores = learned(name, rows)
    told = certificate(learner, rows=rows, scores=scores)
    assert certificate(learner, rows=rows)[:-1] == told[:-1]
    made = certificate(learner, rows=rows)
    expected = true_regret(learner, rows, scores, made.hindsight.weights)
    assert made.best.regret == pytest.approx(expected, rel=1e-9)
    assert made.origin.regret == pytest.approx(
        true_regret(learner, rows, scores, Weights(0.0, np.zeros(6))), rel=1e-9
    )


def test_parameters_are_repeated():
    rows = as_rows(X, y)
    learner, scores = learned("coordinate", rows, "hinge", alpha=3.0, wealth=5.0, d=7)
    told = certificate(learner, rows=rows, scores=scores)
    assert certificate(learner, rows=rows)[:-1] == told[:-1]


def test_other_rows_are_refused():
    learner, _ = learned("coordinate", as_rows(X, y))
    with pytest.raises(ValueError, match="not the rows"):
        certificate(learner, rows=as_rows(X, -y))


def test_sparse_rows():
    dense, sparse = as_rows(X, y), as_rows(sp.csr_array(X), y)
    one, _ = learned("coordinate", dense)
    two, _ = learned("coordinate", sparse)
    a, b = certificate(one, rows=dense).best, certificate(two, rows=sparse).best
    assert a[1:] == pytest.approx(b[1:], rel=1e-9)


def test_separable_rows_are_reported():
    rows = as_rows(X, np.sign(X[:, 0] - 14.0))
    learner, _ = learned("full", rows)
    made = certificate(learner, rows=rows)
    assert not made.hindsight.attained
    assert "separable" in str(made)
    assert made.best.regret <= made.best.certificate


# What it says


def test_names_its_theorem_and_says_when_there_is_none():
    learner, _ = learned("coordinate", as_rows(X, y))
    assert certificate(learner).theorem == "Theorem 1"

    class Heuristic(get("coordinate")):
        theorem = None

    heuristic = Heuristic()
    heuristic.learn(as_rows(X, y))
    made = certificate(heuristic)
    assert made.box.sharp is None
    assert made.box.certificate == certificate(learner).box.certificate
    assert "no theorem" in str(made)
    assert issubclass(Heuristic, Learner)


def test_a_learner_that_has_learned_nothing():
    made = certificate(get("coordinate")())
    assert made.origin.certificate == 0.0
    assert made.box.certificate == 0.0
    assert math.isfinite(made.box.theorem)


def test_a_learner_without_sums_says_who_has_them():
    learner, scores = learned("nag", as_rows(X, y))
    words = "nag keeps no sums for a certificate; use coordinate, full or blend"
    with pytest.raises(ValueError, match=words):
        certificate(learner)
    with pytest.raises(ValueError, match=words):
        certificate(learner, rows=as_rows(X, y), scores=scores)


def test_mistakes_are_named():
    learner, _ = learned("coordinate", as_rows(X, y))
    with pytest.raises(ValueError, match="6 columns"):
        certificate(learner, [1.0, 2.0])
    with pytest.raises(ValueError, match="ball = -1"):
        certificate(learner, ball=-1.0)
