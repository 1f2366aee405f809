"""The regret of no baseline exceeds its bound, under the assumptions of that bound.

With the linear loss the regret against u is exactly sum g p + theta.u, so the worst u of a set is
known. Adversaries see each prediction before they choose the gradient. Any two of stream, adversary
and parameters are tried together.
"""

import numpy as np
import pytest
from scipy.sparse import csr_array

from cases import in_one_test
from unitless.baselines.trajectory import Trajectory
from unitless.learners import get
from unitless.rows import as_rows

T, D = 200, 4
RNG = np.random.default_rng(5)
BALL = RNG.normal(size=(T, D))
BALL /= np.maximum(np.linalg.norm(BALL, axis=1, keepdims=True), 1)
ROWS = {
    "random": BALL,
    "always the same": np.full((T, D), 0.5),
    "one feature at a time": np.eye(D)[np.arange(T) % D],
    "growing": BALL * np.geomspace(1e-6, 1, T)[:, None],
    "shrinking": BALL * np.geomspace(1, 1e-6, T)[:, None],
    "late features": BALL * (np.arange(T)[:, None] >= 40 * np.arange(D)),
}
ADVERSARIES = {
    "chance": lambda t, p: (-1.0) ** int(RNG.random() < 0.5),
    "fractions": lambda t, p: RNG.uniform(-1, 1),
    "against the prediction": lambda t, p: 1.0 if p >= 0 else -1.0,
    "one way": lambda t, p: -1.0,
    "one way, then the other": lambda t, p: -1.0 if t < T // 2 else 1.0,
    "one way till it is rich": lambda t, p: -1.0 if p < 5 else 1.0,
    "in turn": lambda t, p: (-1.0) ** t,
}
each_stream = in_one_test("X", ROWS)
each_adversary = in_one_test("choose", ADVERSARIES)


class Game:
    """One game: A = sum g p, theta = -sum g x, the gradients q, the weights before each trial."""

    def __init__(self, learner, X, choose):
        self.learner, self.X, self.g = learner, np.insert(X, 0, 0.0, axis=1), []
        self.A, self.q, self.weights, self.losses = 0.0, [], [], []
        for t, x in enumerate(X):
            p = float(learner.predict(as_rows([x]))[0])
            self.weights.append(learner.weights().features if t else np.zeros(len(x)))
            g = choose(t, p)
            learner.learn(as_rows([x], [g]))
            self.A += g * p
            self.losses.append(g * p)
            self.q.append(g * x)
            self.g.append(g)
        self.q, self.weights = np.array(self.q), np.array(self.weights)
        self.theta = -self.q.sum(axis=0)

    def bound(self, u):
        """The bound that the learner gives on its regret against u; without an intercept."""
        trajectory = Trajectory(csr_array(self.X), np.array(self.g), np.insert(u, 0, 0.0))
        return self.learner.regret_bound(trajectory)

    def check(self, u):
        """The regret against u is within the bound."""
        assert self.A + self.theta @ u <= self.bound(u) * (1 + 1e-9)

    def worst(self, size):
        """The worst u of that Euclidean norm."""
        return size * self.theta / max(np.linalg.norm(self.theta), 1e-300)


def game(name, X, choose, **parameters):
    """A game without an intercept."""
    return Game(get(name)("linear", intercept=False, **parameters), X, choose)


@each_stream
@each_adversary
@in_one_test("how", [(1.0, 1.0), (0.1, 3.0), (20.0, 0.5)])
def test_ogd(X, choose, how):
    rate, radius = how
    run = game("ogd", X, choose, rate=rate, radius=radius)
    run.check(run.worst(radius * (1 - 1e-12)))
    assert np.linalg.norm(run.weights, axis=1).max() <= radius * (1 + 1e-9)


@each_stream
@each_adversary
@in_one_test("rate", [0.1, 1.0, 10.0])
def test_adagrad(X, choose, rate):
    run = game("adagrad", X, choose, rate=rate)
    for size in (0.1, 1.0, 10.0, 100.0):
        u = size * np.sign(run.theta)
        far = np.abs(run.weights - u).max(axis=0)
        root_of_G = np.sqrt((run.q**2).sum(axis=0))
        bound = ((far**2 / (2 * rate) + rate) * root_of_G).sum()
        assert run.A + run.theta @ u <= bound * (1 + 1e-9)


@each_stream
@each_adversary
@in_one_test("rate", [0.1, 1.0, 10.0])
def test_solo(X, choose, rate):
    run = game("solo", X, choose, rate=rate)
    for size in (0.0, 0.1, 1.0, 10.0, 100.0):
        run.check(run.worst(size))


@each_stream
@each_adversary
@in_one_test("rate", [0.1, 1.0, 10.0])
def test_adagrad_by_dual_averaging(X, choose, rate):
    """It is SOLO in one dimension, for each feature."""
    run = game("adagrad_da", X, choose, rate=rate)
    for size in (0.0, 1.0, 10.0):
        run.check(size * np.sign(run.theta))


@each_stream
@each_adversary
@in_one_test("how", [(1.0, 1.0), (1e-3, 1.0), (100.0, 3.0)])
def test_kt(X, choose, how):
    wealth, bound = how
    run = game("kt", X * bound * (1 - 1e-12), choose, wealth=wealth, bound=bound)
    for size in (0.0, 0.1, 1.0, 10.0, 100.0):
        run.check(run.worst(size))
    assert wealth > run.A


@each_stream
@each_adversary
@in_one_test("how", [(1.0, 1.0), (1e-3, 1.0), (10.0, 3.0)])
@in_one_test("horizon", [T, 10 * T])
def test_minimax(X, choose, how, horizon):
    wealth, bound = how
    run = game("minimax", X * bound, choose, wealth=wealth, bound=bound, horizon=horizon)
    for size in (0.0, 0.1, 1.0, 10.0):
        run.check(size * np.sign(run.theta))


@each_stream
@each_adversary
@in_one_test("radius", [0.1, 1.0, 30.0])
def test_eg(X, choose, radius):
    """The worst u of a ball of the 1-norm is one of its corners."""
    X = X.copy()
    X[0] = 1e-3  # all features in the first row
    run = game("eg", X, choose, radius=radius, horizon=T)
    corner = np.abs(run.theta).argmax()
    run.check(radius * np.eye(D)[corner] * np.sign(run.theta[corner]))
    assert np.abs(run.weights).sum(axis=1).max() <= radius * (1 + 1e-9)


@each_stream
@each_adversary
@pytest.mark.parametrize("how", [(1.0, 1.0), (0.89, 30.0), (1.1, 0.01)])
def test_dfeg(X, choose, how):
    a, scale = how
    run = game("dfeg", X * scale, choose, a=a)
    expected = np.maximum(sizes := np.linalg.norm(X * scale, axis=1), sizes**2).sum()
    assert pytest.approx(expected) == run.learner.H
    for size in (0.0, 1e-3, 1.0, 10.0, 100.0):
        run.check(run.worst(size / scale))


@each_stream
@each_adversary
@in_one_test("wealth", [1e-3, 1.0, 100.0])
def test_reward_doubling(X, choose, wealth):
    """Its reward, too: at least eps exp(ln(2) |theta| / sqrt(3 H)) / 4 - eps for each feature."""
    X = X.copy()
    X[0] = 1e-3  # all features in the first row
    run = game("reward_doubling", X, choose, wealth=wealth, squares=float(T))
    rewards = -(run.q * run.weights).sum(axis=0)
    eps = wealth / D
    steep = np.log(2) / np.sqrt(3 * T) * np.abs(run.theta)
    assert (rewards >= eps * (np.exp(steep) / 4 - 1) - 1e-12).all()
    for size in (0.0, 0.1, 1.0, 10.0, 100.0):
        run.check(size * np.sign(run.theta))


# Inequalities behind a theorem


def newton_terms(run, a, etas):
    """(sum q'A^-1 q, q.(w - u) of each trial as a function of u), A = a I + sum eta q q'."""
    A, forms = a * np.eye(D), 0.0
    for q, eta in zip(run.q, etas, strict=True):
        A += eta * np.outer(q, q)
        forms += q @ np.linalg.solve(A, q)
    return forms, lambda u: (run.q * (run.weights - u)).sum(axis=1)


@each_stream
@each_adversary
@in_one_test("how", [(1.0, 1.0), (0.1, 3.0), (5.0, 0.01)])
def test_ons(X, choose, how):
    gamma, a = how
    run = game("ons", X, choose, gamma=gamma, a=a)
    forms, steps = newton_terms(run, a, np.ones(T))
    for u in (np.zeros(D), np.sign(run.theta), RNG.normal(size=D) * 10):
        most = gamma / 2 * ((steps(u) ** 2).sum() + a * u @ u) + forms / (2 * gamma)
        assert steps(u).sum() <= most * (1 + 1e-9)


@each_stream
@each_adversary
@in_one_test("how", [(1.0, 1.0, 1.0), (0.1, 2.0, 3.0), (5.0, 0.5, 0.1)])
def test_son(X, choose, how):
    """Against v with |v.x| <= C in all rows; the loss is that of the clipped predictions."""
    C, rate, a = how
    run = game("son", X, choose, C=C, rate=rate, a=a)
    etas = rate / (C * np.sqrt(np.arange(1, T + 1)))
    forms, _ = newton_terms(run, a, etas)
    paid = np.array(run.losses)
    for v in (np.zeros(D), np.sign(run.theta), RNG.normal(size=D)):
        v = v * C / max(np.abs(X @ v).max(), 1e-12)
        steps = paid - run.q @ v
        assert steps.sum() <= (a * v @ v + (etas * steps**2).sum() + forms) / 2 * (1 + 1e-9)


# What else was checked of formulas that no other code has


def test_arow_minimises_its_objective():
    """A_old (w - w_old) = y x max(0, 1 - y w.x) / r, and A = A_old + x x' / r."""
    learner, r, w, A = get("arow")(r=0.7, intercept=False), 0.7, np.zeros(D), np.eye(D)
    for x, y in zip(BALL * 3, RNG.choice([-1.0, 1.0], T), strict=True):
        before = y * (w @ x)
        learner.learn(as_rows([x], [y]))
        new = learner.weights().features
        force = max(0.0, 1 - y * (new @ x)) / r if before < 1 else 0.0
        np.testing.assert_allclose(A @ (new - w), y * x * force, atol=1e-9)
        A, w = A + (before < 1) * np.outer(x, x) / r, new


def test_the_second_order_perceptron_is_ridge_regression_on_its_mistakes():
    learner, wrong = get("second_order_perceptron")(a=0.3, intercept=False), []
    for x, y in zip(BALL, RNG.choice([-1.0, 1.0], T), strict=True):
        rows = np.array([x for x, _ in wrong] + [x])
        labels = np.array([y for _, y in wrong] + [0.0])
        w = np.linalg.solve(0.3 * np.eye(D) + rows.T @ rows, rows.T @ labels)
        p = learner.learn(as_rows([x], [y]))[0]
        assert p == pytest.approx(w @ x, abs=1e-9)
        if y * p <= 0:
            wrong.append((x, y))
    assert 20 < len(wrong) < T


def test_snag_is_nag_where_sizes_never_change():
    X, y = RNG.choice([-1.0, 1.0], (T, D)) * [1e-3, 1.0, 7.0, 1e3], RNG.choice([-1.0, 1.0], T)
    one, two = (get(name)(rate=0.7).learn(as_rows(X, y)) for name in ("snag", "nag"))
    np.testing.assert_allclose(one, two, rtol=1e-9, atol=1e-12)


def test_minimax_is_tight():
    """Against the worst sequence for its benchmark, all signs the same, little of it is left."""
    run = game("minimax", np.ones((T, 1)), lambda t, p: -1.0, horizon=T)
    sizes = np.geomspace(1e-3, 1e6, 200)
    shares = [(run.A + u * T) / run.bound([u]) for u in sizes]
    assert 0.9 < max(shares) <= 1 + 1e-9


def test_outside_of_its_assumptions_a_bound_can_break():
    """Else the tests above would test nothing; and no bound is given there."""
    run = game("kt", np.ones((T, 1)) * 2, ADVERSARIES["against the prediction"], bound=1.0)
    assert run.bound(run.worst(1.0)) is None
    run.X = run.X / 2
    assert run.A + run.theta @ run.worst(1.0) > run.bound(run.worst(1.0))
