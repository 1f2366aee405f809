"""No comparator loses more than the regret bound in its file, on that bound's assumptions.

Played with the linear loss, whose regret against u is exactly sum g p + theta.u, so the worst u
of a set is known. Games are played trial by trial against adversaries that see the prediction.
"""

import math

import numpy as np
import pytest

from unitless.learners import get
from unitless.learners.baselines import adagrad, eg, kt, minimax, ogd, solo
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
each_game = pytest.mark.parametrize(
    ("X", "choose"),
    [(X, choose) for X in ROWS.values() for choose in ADVERSARIES.values()],
    ids=[f"{rows}, {choose}" for rows in ROWS for choose in ADVERSARIES],
)


class Game:
    """One game: A = sum g p, theta = -sum g x, the gradients q, the weights before each trial."""

    def __init__(self, learner, X, choose):
        self.A, self.q, self.weights = 0.0, [], []
        for t, x in enumerate(X):
            p = float(learner.predict(as_rows([x]))[0])
            self.weights.append(learner.weights().features if t else np.zeros(len(x)))
            g = choose(t, p)
            learner.learn(as_rows([x], [g]))
            self.A += g * p
            self.q.append(g * x)
        self.q, self.weights = np.array(self.q), np.array(self.weights)
        self.theta = -self.q.sum(axis=0)
        self.norms = np.linalg.norm(self.q, axis=1)

    def regret(self, size, norm=2):
        """Against the worst u of that size: that is in the dual norm of theta."""
        dual = {2: 2, 1: math.inf}[norm]
        return self.A + size * np.linalg.norm(self.theta, dual)


def game(name, X, choose, **parameters):
    """A game without an intercept."""
    return Game(get(name)("linear", intercept=False, **parameters), X, choose)


@each_game
@pytest.mark.parametrize(("rate", "radius"), [(1.0, 1.0), (0.1, 3.0), (20.0, 0.5)])
def test_ogd(X, choose, rate, radius):
    played = game("ogd", X, choose, rate=rate, radius=radius)
    assert played.regret(radius) <= ogd.regret_bound(rate, radius, played.norms)
    assert np.linalg.norm(played.weights, axis=1).max() <= radius * (1 + 1e-9)


@each_game
@pytest.mark.parametrize("rate", [0.1, 1.0, 10.0])
def test_adagrad(X, choose, rate):
    played = game("adagrad", X, choose, rate=rate)
    for size in (0.1, 1.0, 10.0, 100.0):
        u = size * np.sign(played.theta)
        far = np.abs(played.weights - u).max(axis=0)
        bound = adagrad.regret_bound(rate, far, (played.q**2).sum(axis=0))
        assert played.A + played.theta @ u <= bound * (1 + 1e-9)


@each_game
@pytest.mark.parametrize("rate", [0.1, 1.0, 10.0])
def test_solo(X, choose, rate):
    played = game("solo", X, choose, rate=rate)
    for size in (0.0, 0.1, 1.0, 10.0, 100.0):
        assert played.regret(size) <= solo.regret_bound(rate, played.norms, size) * (1 + 1e-9)


@each_game
@pytest.mark.parametrize("rate", [0.1, 1.0, 10.0])
def test_adagrad_by_dual_averaging(X, choose, rate):
    """It is SOLO in one dimension, for each feature."""
    played = game("adagrad_da", X, choose, rate=rate)
    for size in (0.0, 1.0, 10.0):
        bound = sum(solo.regret_bound(rate, np.abs(q), size) for q in played.q.T)
        assert played.A + size * np.abs(played.theta).sum() <= bound * (1 + 1e-9)


@each_game
@pytest.mark.parametrize(("wealth", "bound"), [(1.0, 1.0), (1e-3, 1.0), (100.0, 3.0)])
def test_kt(X, choose, wealth, bound):
    played = game("kt", X * bound, choose, wealth=wealth, bound=bound)
    for size in (0.0, 0.1, 1.0, 10.0, 100.0):
        assert played.regret(size) <= kt.regret_bound(wealth, bound, T, size) * (1 + 1e-9)
    assert wealth > played.A


@each_game
@pytest.mark.parametrize(("wealth", "bound"), [(1.0, 1.0), (1e-3, 1.0), (10.0, 3.0)])
@pytest.mark.parametrize("horizon", [T, 10 * T])
def test_minimax(X, choose, wealth, bound, horizon):
    played = game("minimax", X * bound, choose, wealth=wealth, bound=bound, horizon=horizon)
    for size in (0.0, 0.1, 1.0, 10.0):
        u = size * np.sign(played.theta)
        most = minimax.regret_bound(wealth, bound, horizon, u)
        assert played.A + played.theta @ u <= most * (1 + 1e-9)


@each_game
@pytest.mark.parametrize("radius", [0.1, 1.0, 30.0])
def test_eg(X, choose, radius):
    X = X.copy()
    X[0] = 1e-3  # all features in the first row
    learner = get("eg")("linear", radius=radius, horizon=T, intercept=False)
    played = Game(learner, X, choose)
    largest = np.abs(played.q).max(axis=1)
    assert played.regret(radius, norm=1) <= eg.regret_bound(learner.eta(D), radius, D, largest)
    assert np.abs(played.weights).sum(axis=1).max() <= radius * (1 + 1e-9)


def test_minimax_is_tight():
    """Against the worst sequence for its benchmark, all signs the same, little of it is left."""
    played = game("minimax", np.ones((T, 1)), lambda t, p: -1.0, horizon=T)
    sizes = np.geomspace(1e-3, 1e6, 200)
    shares = [(played.A + u * T) / minimax.regret_bound(1.0, 1.0, T, [u]) for u in sizes]
    assert 0.9 < max(shares) <= 1 + 1e-9


def test_outside_of_its_assumptions_a_bound_can_break():
    """Else the tests above would test nothing."""
    played = game("kt", np.ones((T, 1)) * 2, ADVERSARIES["against the prediction"], bound=1.0)
    assert played.regret(1.0) > kt.regret_bound(1.0, 1.0, T, 1.0)
