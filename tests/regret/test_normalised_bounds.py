"""The bounds of NG, NAG, sNAG and NDA: on streams that meet their conditions, and on one that
does not.
"""

import math

import numpy as np
import pytest
from material import stream

from unitless.regret import normalised_bounds
from unitless.regret.adversaries import opponent
from unitless.regret.adversaries.game import trial

WITH_C = ("ng", "nag", "snag")
EACH = pytest.mark.parametrize("name", [*WITH_C, "nda"])


def played(name, X, choose, rate):
    """(g, p, C): the learner on X against `choose`; C is the largest |w_i| b_i on the way."""
    learner = opponent(name, rate=rate)
    b = np.zeros(X.shape[1])
    g = np.empty(len(X))
    p = np.empty(len(X))
    C = 0.0
    for t, x in enumerate(X):
        if t > 0:
            w = np.abs(learner.weights().features)
            grown = np.maximum(b, np.abs(x))
            # NG and NAG shrink a weight at least as fast as b grows
            C = max(C, float(np.max(w * (grown if name == "snag" else b))))
            b = grown
        else:
            b = np.abs(x)
        p[t], g[t] = trial(learner, x[None], 1.0, choose(t, x))
    return g, p, C


def bound(name, u, X, g, C, rate):
    more = {"C": C} if name in WITH_C else {}
    return getattr(normalised_bounds, name)(u, X, g, rate=rate, **more)


def games(name):
    """(regret, bound) of streams with growing, sparse and heavy-tailed features, hostile signs."""
    for seed in range(42):
        X, signs = stream(seed)
        rng = np.random.default_rng(seed)
        largest = np.abs(X).max(axis=0) + (X == 0).all(axis=0)
        u = rng.normal(size=X.shape[1]) / largest
        rate = float(rng.choice([0.05, 0.5, 2.0]))
        ways = (
            lambda t, x, u=u: float(x @ u),  # each trial as bad as possible against u
            lambda t, x: 0.0,  # the loss never falls
            lambda t, x, signs=signs: -math.inf * float(signs[t] or 1.0),  # signs given
        )
        g, p, C = played(name, X, ways[seed % 3], rate)
        regret = float(np.sum(g * (p - X @ u)))
        yield regret, bound(name, u, X, g, C, rate)


@EACH
def test_holds_where_its_conditions_do(name):
    found = list(games(name))
    for regret, most in found:
        assert regret <= most * (1 + 1e-9)
    # how close it gets: none of the bounds can be made much smaller
    closest = {"ng": 0.5, "nag": 0.6, "snag": 0.5, "nda": 0.7}[name]
    assert max(regret / most for regret, most in found) > closest


@pytest.mark.parametrize("name", ["nag", "snag"])
def test_without_a_bound_on_the_weights_regret_grows_faster_than_the_trials(name):
    """x = 1; half of the gradients -1, then half +1: regret against u = 0 is of order T^1.5."""
    per_trial = []
    for T in (100, 400, 1600):
        X = np.ones((T, 1))
        g, p, C = played(name, X, lambda t, x, T=T: -math.inf if t >= T // 2 else math.inf, 0.5)
        regret = float(g @ p)
        assert regret > 3 * bound(name, [0.0], X, g, 0.0, 0.5)  # C = |u| b is not enough
        assert regret <= bound(name, [0.0], X, g, C, 0.5)
        per_trial.append(regret / T)
    assert per_trial[1] > 1.8 * per_trial[0]
    assert per_trial[2] > 1.8 * per_trial[1]


def test_ng_needs_no_bound_where_rows_are_of_one_size():
    X = np.ones((400, 1))
    g, p, C = played("ng", X, lambda t, x: -math.inf if t >= 200 else math.inf, 0.5)
    assert C > 99
    assert float(g @ p) == pytest.approx(normalised_bounds.ng([0.0], X, g, C=0.0), rel=1e-12)


def literal_bound(name, u, X, g, C, rate):
    """The sums of the proofs, term by term."""
    T, d = X.shape
    total = 0.0
    N = 0.0
    b = [0.0] * d
    G = [0.0] * d
    V = [0.0] * d
    rate_before = [0.0] * d  # inverse rates of the trial before
    for t in range(1, T + 1):
        x = X[t - 1]
        old = list(b)
        b = [max(b[i], abs(x[i])) for i in range(d)]
        V = [V[i] + x[i] ** 2 for i in range(d)]
        if name == "snag":
            N += t * sum(x[i] ** 2 / V[i] for i in range(d) if V[i] > 0)
        else:
            N += sum((x[i] / b[i]) ** 2 for i in range(d) if b[i] > 0)
        for i in range(d):
            if b[i] == 0:
                continue
            q = g[t - 1] * x[i]
            if name == "nda":
                inverse = b[i] * math.sqrt(b[i] ** 2 + G[i]) / rate
                total += q**2 / inverse + (u[i] ** 2 * inverse if t == T else 0.0)
                G[i] += q**2
                continue
            G[i] += q**2
            inverse = {
                "ng": b[i] ** 2 * N / (t * rate),
                "nag": b[i] * math.sqrt(G[i] * N / t) / rate,
                "snag": math.sqrt(V[i] * G[i] * N) / (t * rate),
            }[name]
            distance = abs(u[i]) + (C / b[i] if old[i] > 0 else 0.0)
            total += max(inverse - rate_before[i], 0.0) * distance**2
            kept = {"ng": (old[i] / b[i]) ** 2, "nag": old[i] / b[i], "snag": 1.0}[name]
            total += rate_before[i] * (1 - kept) / (1 + kept) * u[i] ** 2
            total += q**2 / inverse if inverse > 0 else 0.0
            rate_before[i] = inverse
    return total / 2


@EACH
def test_is_the_sum_of_its_proof(name):
    rng = np.random.default_rng(4)
    for _ in range(5):
        X = rng.normal(size=(20, 3)) * (rng.random((20, 3)) < 0.7)
        u, g = rng.normal(size=3), rng.uniform(-1, 1, 20)
        expected = literal_bound(name, u, X, g, 1.7, 0.3)
        assert bound(name, u, X, g, 1.7, 0.3) == pytest.approx(expected, rel=1e-9)


@EACH
def test_has_no_unit(name):
    rng = np.random.default_rng(5)
    X, u, g = rng.normal(size=(30, 3)), rng.normal(size=3), rng.uniform(-1, 1, 30)
    units = 2.0 ** np.array([-40, 3, 70])
    assert bound(name, u / units, X * units, g, 2.0, 0.5) == bound(name, u, X, g, 2.0, 0.5)
