"""AIOLI and its logarithmic bound, with the figures that theory.md has about both.

Jezequel, Gaillard and Rudi, "Efficient improper learning for online logistic regression" (2020).
It is not a learner of the package, and these tests say why.
"""

import math
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from material import stream

from unitless import losses
from unitless.learners import get
from unitless.regret import best_comparator
from unitless.rows import as_rows

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
WIDEST = 150  # columns
LOGISTIC = losses.get("logistic")
RIDGES = 10.0 ** np.arange(-6.0, 3.5, 0.5)


def scores(X, y, ridge, curb):
    """The scores of AIOLI with lambda = ridge and 1 + B R = curb.

    It minimises lambda |w|^2, second-order approximations of the losses so far, whose curvature is
    that of the loss divided by curb, and the losses of both labels at x. In z = w.x this is
    z + s tanh(z / 2) = x.P b, where P is the inverse of the second derivative and s = x.P x.
    """
    P = np.eye(X.shape[1]) / (2 * ridge)
    b = np.zeros(X.shape[1])
    found = np.empty(len(X))
    for t, x in enumerate(X):
        Px = P @ x
        s = float(x @ Px)
        z = found[t] = root(float(Px @ b), s)
        q = 1 / (1 + math.exp(min(y[t] * z, 700.0)))
        curvature = q * (1 - q) / curb
        b += (curvature * z + y[t] * q) * x
        P -= np.outer(Px, Px) * (curvature / (1 + curvature * s))
    return found


def root(right, s):
    """The z with z + s tanh(z / 2) = right, by Newton's method from the side where it is safe."""
    z = 0.0
    for _ in range(100):
        h = math.tanh(z / 2)
        step = (z + s * h - right) / (1 + s * (1 - h * h) / 2)
        z = min(max(z - step, -abs(right)), abs(right))
        if abs(step) <= 1e-15 * abs(z):
            break
    return z


def bound(T, d, ridge, B, R):
    """The regret against every |u| <= B is at most this, if |x| <= R."""
    curb = 1 + B * R
    return ridge * B**2 + d * curb * math.log1p(T * R**2 / (8 * d * ridge * curb))


def total(y, p):
    return float(np.sum(LOGISTIC.value(y, p)))


def test_its_regret_is_below_its_bound():
    """Hostile labels and the best comparator of its ball; within a third of the bound at best."""
    shares = []
    for seed in range(0, 70, 7):
        X = stream(seed)[0]
        rng = np.random.default_rng(seed)
        R = float(np.linalg.norm(X, axis=1).max())
        for size in (0.5, 3.0):
            u = rng.normal(size=X.shape[1])
            u *= size / np.abs(X @ u).max()
            y = np.where(X @ u >= 0, 1.0, -1.0)
            B = float(np.linalg.norm(u))
            for ridge in (0.01 / B**2, 1 / B**2):
                p = scores(X, y, ridge, 1 + B * R)
                regret = total(y, p) - total(y, X @ u)
                shares.append(regret / bound(*X.shape, ridge, B, R))
    assert max(shares) <= 1
    assert max(shares) > 0.2


def test_score_is_the_minimum_of_its_objective():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(12, 3))
    y = rng.choice([-1.0, 1.0], 12)
    ridge, curb = 0.3, 4.0
    p = scores(X, y, ridge, curb)
    g = LOGISTIC.derivative(y, p)
    curvature = np.abs(g) * (1 - np.abs(g)) / curb
    H = 2 * ridge * np.eye(3) + (X[:-1].T * curvature[:-1]) @ X[:-1]
    pull = X[:-1].T @ (curvature * p - g)[:-1]
    # at the minimum H w = pull - tanh(z / 2) x with z = w.x, for the last row
    w = np.linalg.solve(H, pull - math.tanh(p[-1] / 2) * X[-1])
    assert w @ X[-1] == pytest.approx(p[-1], rel=1e-10)


@pytest.fixture
def benchmark(monkeypatch):
    """benchmarks/bounds.py, whose data sets and comparators are used."""
    if not (BENCHMARKS / "bounds.py").exists():
        pytest.skip("the benchmarks are not installed")
    monkeypatch.syspath_prepend(BENCHMARKS)
    return import_module("bounds")


def measured(benchmark, X, y):
    """(1 + B R, bound / regret, regret of AIOLI at its best, regret of a Blend without trees).

    Features are divided by their largest value; B, R and lambda are known in hindsight.
    """
    rows = as_rows(X, y)
    best = best_comparator("logistic", rows)
    u = best.weights if best.attained else benchmark.nearly_best(X, y, best.infimum)
    largest = np.abs(X).max(axis=0)
    largest[largest == 0] = 1.0
    Z = np.column_stack([np.ones(len(y)), X / largest])
    w = np.append(u.intercept, u.features * largest)
    theirs = total(y, Z @ w)
    B = float(np.linalg.norm(w))
    R = float(np.linalg.norm(Z, axis=1).max())
    ridges = np.geomspace(1e-12, 1e6, 400)
    least, ridge = min((bound(*Z.shape, ridge, B, R), ridge) for ridge in ridges)
    regret = total(y, scores(Z, y, ridge, 1 + B * R)) - theirs
    practical = min(total(y, scores(Z, y, ridge, 11.0)) for ridge in RIDGES) - theirs
    blend = total(y, get("blend")(views="smooth").learn(rows)) - theirs
    return 1 + B * R, least / regret, practical, blend


def narrow_sets(benchmark):
    found = {}
    for name, X, y in benchmark.sets(2000):
        if X.shape[1] <= WIDEST:
            found[name] = (X if isinstance(X, np.ndarray) else X.toarray()), y
    return found


@pytest.mark.parametrize(
    ("name", "curb", "ratio"),
    [("magic04", 36.0, 7.8), ("htru2", 121.4, 36.1), ("breast_cancer", 37_830, 1829)],
)
def test_its_bound_is_far_above_its_regret(name, curb, ratio, benchmark):
    """theory.md: the smallest ratio of its bound to its regret, one between, the largest."""
    sets = narrow_sets(benchmark)
    if name not in sets:
        pytest.skip(f"{name} is not here")
    found = measured(benchmark, *sets[name])
    assert found[:2] == pytest.approx((curb, ratio), rel=0.02)
    assert found[2] > found[3]


@pytest.mark.slow
def test_on_all_data_sets(benchmark):
    """theory.md: the range and the median of the ratio, and where it is better than the Blend."""
    sets = narrow_sets(benchmark)
    if len(sets) < 15:
        pytest.skip("not all data sets are here")
    found = {name: measured(benchmark, *data) for name, data in sets.items()}
    curbs, ratios, regrets, blends = np.array(list(found.values())).T
    assert (curbs.min(), curbs.max()) == pytest.approx((36, 37_830), rel=0.02)
    assert (ratios.min(), ratios.max()) == pytest.approx((7.8, 1829), rel=0.02)
    assert np.median(ratios) == pytest.approx(15, rel=0.02)
    assert [name for name, less in zip(found, regrets < blends, strict=True) if less] == [
        "kddcup99_10pct"
    ]
    assert found["a9a"][2:] == pytest.approx((117, 106), rel=0.02)
    assert found["magic04"][2:] == pytest.approx((53, 16), rel=0.02)
