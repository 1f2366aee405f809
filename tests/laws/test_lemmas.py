"""The paper's lemmas at every trial, on the learners themselves: theorems are tests.

Lemma 3, Algorithm 1, each coordinate: v g w_i x_i + psi_t <= psi_(t-1) + overhead, where
psi_t = eps / (t d) exp(h_i^2 / (2 alpha s2_i)). Lemma 5, Algorithm 2: v g p + psi_t <= psi_(t-1).
"""

import math
from copy import deepcopy

import mpmath as mp
import numpy as np
import pytest

from cases import in_one_test
from unitless.core.parameters import ALPHA_0
from unitless.learners import get
from unitless.regret.bounds import SHARP_ALPHA, kappa
from unitless.rows import as_rows

SLACK = 1e-12  # of the sizes in the inequality: what rounding may add


def kinds(rng, n=60, d=4):
    """name -> X"""
    Z = rng.normal(size=(n, d))
    late = Z.copy()
    for j in range(d):
        late[: 10 * j, j] = 0
    return {
        "random": Z,
        "constant": np.ones((n, 1)),
        "sparse": Z * (rng.random((n, d)) < 0.3),
        "heavy tails": rng.standard_cauchy((n, d)),
        "late features": late,
        "growing": Z * np.exp(np.linspace(0, 15, n))[:, None],
        "shrinking": Z * np.exp(-np.linspace(0, 15, n))[:, None],
        "dependent": Z[:, :2] @ rng.normal(size=(2, d)),
    }


KINDS = kinds(np.random.default_rng(0))
each_kind = pytest.mark.parametrize("X", KINDS.values(), ids=KINDS)
with_and_without_weights = in_one_test(
    "v",
    {"plain": np.ones(60), "weighted": 2.0 ** np.random.default_rng(1).uniform(-5, 5, 60)},
)


def one_row(x, y, v):
    """A block of one row."""
    return as_rows(x[None], [y], [v])


# Algorithm 1


class Coordinates:
    """Lemma 3's quantities, taken from the public surface of a `Coordinate`."""

    def __init__(self, learner):
        self.learner = learner

    def dimension(self, seen):
        """The paper's d, or how many coordinates were seen."""
        return self.learner.d or max(np.count_nonzero(seen), 1)

    def potentials(self):
        """psi_(t, i)"""
        sums, alpha = self.learner.sums(), self.learner.alpha
        z, seen = sums.z[1:] / self.learner.loss.lipschitz, sums.s[1:] > 0
        psi = np.exp(z**2 / (2 * alpha)) * self.learner.wealth
        return np.where(seen, psi / (max(sums.trials, 1) * self.dimension(seen)), 0.0), seen

    def terms(self, x, v, seen):
        """w_i x_i of the next trial: the score of coordinate i alone, with the whole row's d."""
        alone = self.learner.predict(as_rows(np.diag(x), weights=np.full(len(x), v)))
        d_alone = [self.dimension(seen | (np.arange(len(x)) == i)) for i in range(len(x))]
        return alone * d_alone / self.dimension(seen | (x != 0))

    def gap(self, x, y, v):
        """Learn one row; (left minus right without overhead, their size, overhead's factor, first).

        The lemma's overhead is its factor times something that depends on alpha alone.
        """
        learner = self.learner
        if learner.sums().s.size == 1:
            learner.learn(as_rows(np.zeros((1, len(x))), [y], [0.0]))  # room, no trial
        before, seen = self.potentials()
        terms = self.terms(x, v, seen)
        p = learner.learn(one_row(x, y, v))[0]
        assert terms.sum() == pytest.approx(p, rel=1e-9, abs=1e-12 * np.abs(terms).sum())
        g = learner.loss.derivative(y, p) / learner.loss.lipschitz
        after, now = self.potentials()
        share = learner.wealth / (learner.sums().trials * self.dimension(now))
        size = np.abs(v * g * terms) + after + before
        return v * g * terms + after - before, size, share * now, now & ~seen


def holds_for_algorithm_1(learner, X, v, choose):
    """Assert Lemma 3 at every trial and coordinate, with both overheads."""
    coordinates, alpha, worst = Coordinates(learner), learner.alpha, 0.0
    c = math.exp(0.5 / alpha)
    for x, weight in zip(X, v, strict=True):
        y = choose(learner, x, weight)
        gap, size, share, first = coordinates.gap(x, y, weight)
        assert np.all(gap <= share * kappa(alpha) + SLACK * size)
        if alpha >= SHARP_ALPHA:
            assert np.all(gap <= share * np.where(first, c, c - 1) + SLACK * size)
        worst = max(worst, np.max(np.divide(gap, share, out=np.zeros_like(gap), where=share > 0)))
    return worst


# Gradients: (learner, x, v) -> target


def at_random(seed):
    rng = np.random.default_rng(seed)
    return lambda learner, x, v: float(rng.choice([-1.0, 1.0]))


def fractions(seed):
    rng = np.random.default_rng(seed)
    return lambda learner, x, v: float(rng.uniform(-1, 1))


def to_hurt(learner, x, v):
    return 1.0 if learner.predict(as_rows(x[None], weights=[v]))[0] >= 0 else -1.0


def to_flatter(learner, x, v):
    return -to_hurt(learner, x, v)


def never_turning(learner, x, v):
    return -1.0 if x.sum() >= 0 else 1.0


GRADIENTS = {
    "random": at_random(0), "fractions": fractions(0), "to hurt": to_hurt,
    "to flatter": to_flatter, "never turning": never_turning,
}  # fmt: skip
each_adversary = in_one_test("choose", GRADIENTS)


def greedy(learner, x, v):
    """The slope that takes most from the lemma: tried on copies."""
    slopes = [-1.0, -0.5, 0.5, 1.0]
    tries = [Coordinates(deepcopy(learner)).gap(x, g, v)[0].max() for g in slopes]
    return slopes[int(np.argmax(tries))]


@each_kind
@each_adversary
@with_and_without_weights
@in_one_test(
    "parameters",
    [
        {}, {"alpha": 1.13}, {"alpha": SHARP_ALPHA}, {"alpha": 3.0, "wealth": 50.0},
        {"d": 4}, {"d": 20, "wealth": 0.01},
    ],
)  # fmt: skip
def test_lemma_3(X, choose, v, parameters):
    learner = get("coordinate")("linear", intercept=False, **parameters)
    holds_for_algorithm_1(learner, X, v, choose)


@each_kind
@with_and_without_weights
@in_one_test("loss", ["logistic", "hinge", "quantile(0.9)", "huber(2)"])
def test_lemma_3_with_labels(X, v, loss):
    learner = get("coordinate")(loss, intercept=False)
    holds_for_algorithm_1(learner, X, v, at_random(1))


@each_kind
@in_one_test("alpha", [SHARP_ALPHA, 1.2])
def test_lemma_3_against_the_greedy(X, alpha):
    learner = get("coordinate")("linear", alpha=alpha, intercept=False)
    holds_for_algorithm_1(learner, X[:30], np.ones(30), greedy)


def test_the_sharp_overhead_is_attained():
    """At a feature's first trial with |g| = 1: no smaller constant would do."""
    learner = get("coordinate")("linear", intercept=False)
    worst = holds_for_algorithm_1(learner, np.ones((1, 1)), [1.0], never_turning)
    assert worst == pytest.approx(math.exp(0.5 / 1.2), rel=1e-12)


# Algorithm 2


def holds_for_algorithm_2(learner, X, v, choose):
    """Assert Lemma 5 at every trial; the least slack, relative to psi."""
    least = math.inf
    assert learner.potential() == learner.wealth
    for x, weight in zip(X, v, strict=True):
        before, y = learner.potential(), choose(learner, x, weight)
        p = learner.learn(one_row(x, y, weight))[0]
        paid = weight * learner.loss.derivative(y, p) / learner.loss.lipschitz * p
        gap = paid + learner.potential() - before
        assert gap <= SLACK * (before + abs(paid))
        least = min(least, -gap / before)
    return least


@each_kind
@each_adversary
@with_and_without_weights
@in_one_test(
    "parameters",
    [{}, {"alpha": ALPHA_0}, {"alpha": 3.0, "wealth": 50.0}, {"wealth": 0.01}],
)
def test_lemma_5(X, choose, v, parameters):
    learner = get("full")("linear", intercept=False, **parameters)
    holds_for_algorithm_2(learner, X, v, choose)


@each_kind
@with_and_without_weights
@in_one_test("loss", ["logistic", "hinge", "quantile(0.9)", "huber(2)"])
@in_one_test("intercept", [True, False])
def test_lemma_5_with_labels(X, v, loss, intercept):
    learner = get("full")(loss, intercept=intercept)
    holds_for_algorithm_2(learner, X, v, at_random(1))


# Algorithm 2 per coordinate


def holds_per_coordinate(learner, X, v, choose):
    """Assert Lemma 5 at every trial and coordinate, for potentials with wealth / d each."""
    coordinates = Coordinates(learner)
    learner.learn(as_rows(np.zeros((1, X.shape[1])), [1.0], [0.0]))  # room, no trial
    total = 0.0
    started = np.zeros(X.shape[1])

    def exponents():
        z = learner.sums().z[1:] / learner.loss.lipschitz
        return (z**2 - learner.gammas()[1:]) / (2 * learner.alpha)

    for x, weight in zip(X, v, strict=True):
        y = choose(learner, x, weight)
        seen = learner.sums().s[1:] > 0
        d = coordinates.dimension(seen | (x != 0))
        before = learner.wealth / d * np.exp(exponents())
        started[(x != 0) & ~seen] = learner.wealth / d
        terms = coordinates.terms(x, weight, seen)
        p = learner.learn(one_row(x, y, weight))[0]
        g = learner.loss.derivative(y, p) / learner.loss.lipschitz
        after = learner.wealth / d * np.exp(exponents())
        paid = weight * g * terms
        assert np.all((paid + after - before)[x != 0] <= SLACK * (np.abs(paid) + before)[x != 0])
        total += weight * g * p
        psi = np.where(learner.sums().s[1:] > 0, after, 0.0)
        assert total + psi.sum() <= started.sum() * (1 + 1e-9)
    count = max(np.count_nonzero(started), 1)
    most = learner.wealth * (1 if learner.d else 1 + math.log(count))
    assert started.sum() <= most * (1 + SLACK)


@each_kind
@each_adversary
@with_and_without_weights
@in_one_test(
    "parameters",
    [{}, {"alpha": ALPHA_0}, {"alpha": 3.0, "wealth": 50.0}, {"d": 4}, {"d": 20, "wealth": 0.01}],
)
def test_lemma_5_per_coordinate(X, choose, v, parameters):
    learner = get("coordinate2")("linear", intercept=False, **parameters)
    holds_per_coordinate(learner, X, v, choose)


def tight_row(alpha, T):
    """T rows of 1 with g = -1, then the row that makes Lemma 5 tightest: x'S^+h = 0.64 alpha."""
    return np.append(np.ones(T), 0.6400135668 * alpha)[:, None]


def test_the_bound_on_alpha_is_the_right_one():
    """At alpha_0 the lemma is within 1e-3 of failing; the same trial fails it below."""
    X = tight_row(ALPHA_0, 1000)
    learner = get("full")("linear", alpha=ALPHA_0, intercept=False)
    least = holds_for_algorithm_2(learner, X, np.ones(1001), lambda learner, x, v: -1.0)
    assert 0 <= least < 1e-3
    assert lemma_5_at_the_tight_row(1.1, 1000) > 1e-3
    assert lemma_5_at_the_tight_row(ALPHA_0, 1000) <= 0


def lemma_5_at_the_tight_row(alpha, T):
    """(g p + psi_t - psi_(t-1)) / psi_(t-1) there, from the paper's formulas with h = S = T."""
    x = 0.6400135668 * alpha
    S = T + x * x
    drop = T * T / S - T  # of h'S^+h, when S takes x in
    s = x * T / S
    g = -1.0
    p = math.exp(drop / (2 * alpha)) * s / alpha
    return g * p + math.exp((drop - 2 * g * s) / (2 * alpha)) - 1


def exponential_gap(alpha):
    """max over x of x + exp(-x) - exp(alpha x^2 / 2) near its touching point, in 40 digits."""
    with mp.workdps(40):
        alpha = mp.mpf(alpha)

        def slope(x):
            return 1 - mp.exp(-x) - alpha * x * mp.exp(alpha * x * x / 2)

        x = mp.findroot(slope, -0.6400135668)
        return x + mp.exp(-x) - mp.exp(alpha * x * x / 2)


def test_alpha_0_is_the_smallest():
    """x + exp(-x) <= exp(alpha x^2 / 2) for all x: alpha_0 is the float64 nearest to the least."""
    assert (
        exponential_gap(math.nextafter(ALPHA_0, 2))
        < 0
        < exponential_gap(math.nextafter(ALPHA_0, 0))
    )
    assert abs(exponential_gap(ALPHA_0)) < 1e-17
    x = np.linspace(-30, 30, 600_001)
    assert np.all(x + np.exp(-x) <= np.exp(ALPHA_0 * x * x / 2) * (1 + 4e-16))
    get("full")(alpha=ALPHA_0)
    with pytest.raises(ValueError, match=r"number >= 1\.1148186546427592"):
        get("full")(alpha=math.nextafter(ALPHA_0, 0))
