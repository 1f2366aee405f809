"""The bounds against the same formulas in 50 digits, and where their names say they lie."""

import math

import mpmath as mp
import numpy as np
import pytest
from formulas import luo_lower_bound, ridge_gamma, ross
from hypothesis import given
from hypothesis import strategies as st

from unitless.learners import get
from unitless.regret import bounds, certificate, lower_bounds, penalties
from unitless.rows import as_rows

mp.mp.dps = 50
SIZES = st.floats(1e-150, 1e150)
ALPHAS = st.floats(1.13, 10.0)
LOG_BETAS = st.floats(-20.0, 1e4)


def exactly_penalty(a, alpha, log_beta):
    a, alpha, beta = mp.mpf(a), mp.mpf(alpha), mp.exp(mp.mpf(log_beta))
    return a * mp.sqrt(alpha * mp.log1p(alpha * beta**2 * a**2))


def exactly_lambert(a, alpha, log_beta):
    a, alpha, beta = mp.mpf(a), mp.mpf(alpha), mp.exp(mp.mpf(log_beta))
    W = mp.lambertw(alpha * beta**2 * a**2).real
    return a * mp.sqrt(alpha) * (mp.sqrt(W) - 1 / mp.sqrt(W))


@given(SIZES, ALPHAS, LOG_BETAS)
def test_penalty_and_lambert_in_50_digits(a, alpha, log_beta):
    # log alpha + 2 (log beta + log a) is rounded relative to its terms, not to the sum.
    terms = 1 + abs(log_beta) + abs(math.log(a))
    f = exactly_penalty(a, alpha, log_beta)
    assert float(penalties.penalty(a, alpha, log_beta)) == pytest.approx(
        float(f), rel=1e-15 * terms, abs=0
    )
    exact = exactly_lambert(a, alpha, log_beta)
    scale = float(abs(exact) + f)  # the two terms of the difference
    assert abs(float(penalties.lambert(a, alpha, log_beta)) - float(exact)) <= 1e-14 * terms * scale


@given(st.floats(0, 1e150), ALPHAS, LOG_BETAS)
def test_lambert_is_below_the_paper_s_penalty(a, alpha, log_beta):
    lower, upper = penalties.lambert(a, alpha, log_beta), penalties.penalty(a, alpha, log_beta)
    assert lower <= upper * (1 + 1e-12)


def test_lambert_at_zero_and_far_below_float64():
    assert penalties.lambert(0.0, 1.2, math.log(50)) == pytest.approx(-1 / 50)
    assert penalties.lambert(1e-300, 1.2, math.log(50)) == pytest.approx(-1 / 50)
    assert penalties.lambert(0.0, 1.2, 1e6) == 0.0


@given(st.integers(1, 10**9), ALPHAS, st.floats(1e-3, 1e3), st.booleans())
def test_additive_is_below_kappa(T, alpha, wealth, growing):
    paper = wealth * bounds.kappa(alpha) * (1 + math.log(T))
    assert bounds.additive(T, alpha, wealth, growing=growing) <= paper


def test_additive_of_the_notes():
    assert bounds.additive(10**4, 1.2) == pytest.approx(6.2777, abs=1e-4)
    assert bounds.kappa(1.2) * (1 + math.log(10**4)) == pytest.approx(8023.0, abs=0.1)


def test_sharp_alpha_is_where_the_middle_case_turns():
    """Appendix A's B, maximised over the middle interval, against e^(1/(2 alpha)) - 1."""

    def gap(alpha):
        a = 9 / (8 * alpha)
        v2 = np.linspace(1 / (1 + a), 1 / (1 - a), 200_001)
        B = (a - 1) / (2 * a) + v2 * (1 + a) ** 2 / (4 * a) + 1 / (4 * a * v2)
        left = np.exp(B / (2 * alpha)) - np.exp(v2 / (2 * alpha))
        return np.max(left) - (math.exp(0.5 / alpha) - 1)

    assert gap(bounds.SHARP_ALPHA + 1e-6) < 0 < gap(bounds.SHARP_ALPHA - 1e-6)


@given(
    st.lists(st.floats(0, 1e100), min_size=1, max_size=5),
    st.integers(1, 10**6),
    ALPHAS,
    st.floats(1e-3, 1e3),
)
def test_theorem_1_above_its_sharp_form(a, T, alpha, wealth):
    data = {"d": len(a), "T": T, "alpha": alpha, "wealth": wealth}
    for growing in (False, True):
        sharp = bounds.theorem_1_sharp(a, growing=growing, **data)
        assert sharp <= bounds.theorem_1(a, **data) * (1 + 1e-12)


@given(st.floats(0, 1e100), st.floats(0, 1e6), st.floats(1.1149, 10), st.floats(1e-3, 1e3))
def test_theorem_2_above_its_sharp_forms(norm, gamma, alpha, wealth):
    data = {"gamma": gamma, "alpha": alpha, "wealth": wealth}
    printed = bounds.theorem_2(norm, **data)
    sharp = bounds.theorem_2_sharp(norm, **data)
    assert bounds.theorem_2_sharpest(norm, **data) <= sharp * (1 + 1e-12)
    assert sharp <= printed * (1 + 1e-12)


def test_theorem_2_beyond_the_range_of_e_to_the_gamma():
    exact = exactly_penalty(3.0, 9 / 8, 1e5 / (2 * 9 / 8)) + 1
    assert bounds.theorem_2_sharp(3.0, gamma=1e5, alpha=9 / 8) == pytest.approx(float(exact))
    exact = exactly_lambert(3.0, 9 / 8, 1e5 / (2 * 9 / 8)) + 1
    assert bounds.theorem_2_sharpest(3.0, gamma=1e5, alpha=9 / 8) == pytest.approx(float(exact))


@given(
    st.lists(st.floats(-10, 10), min_size=3, max_size=3),
    st.lists(st.lists(st.floats(-10, 10), min_size=3, max_size=3), min_size=1, max_size=20),
)
def test_theorem_1_with_bounded_norms(u, X):
    """Section 3's comparison with gradient descent: Cauchy-Schwarz, sqrt(log) (erratum 6)."""
    X, u = np.array(X), np.array(u)
    a = np.abs(u) * np.linalg.norm(X, axis=0)
    U, largest, T = np.linalg.norm(u), np.linalg.norm(X, axis=1).max(), len(X)
    data = {"d": 3, "T": T, "alpha": 1.5}
    bounded = bounds.theorem_1_bounded(U, largest, **data)
    assert bounds.theorem_1(a, **data) <= bounded * (1 + 1e-12)
    overhead = math.sqrt(1.5 * math.log1p(1.5 * 9 * U**2 * largest**2 * T**3))
    rest = bounds.kappa(1.5) * (1 + math.log(T))
    assert bounded == pytest.approx(bounds.gradient_descent(U, largest, T) * overhead + rest)


def test_luo_beyond_float64():
    assert bounds.luo(2, 1e300, 1e-300) == pytest.approx(2 + 3 * (600 * math.log(10) - math.log(3)))
    assert bounds.luo(0, 0.0, math.inf) == 0.0


def test_theorem_3_between_nothing_and_the_zero_predictor():
    ones = [lower_bounds.theorem_3(2.0, 100, c) for c in (1e-9, 1.0, 1e9)]
    assert ones[0] < 1e-3 < ones[1] < ones[2] <= bounds.zero(2.0, 100)
    assert ones[1] == pytest.approx(2.0 * math.sqrt(50))
    assert ones[2] == pytest.approx(20.0)


@pytest.mark.parametrize("alpha", [1.18, 1.2, 3.0])
@pytest.mark.parametrize("wealth", [0.1, 1.0, 7.0])
def test_additive_terms_by_their_formulas(alpha, wealth):
    c = math.exp(1 / (2 * alpha))
    for T in (1, 10, 10**6):
        harmonic = 1 + math.log(T)
        fixed = bounds.additive(T, alpha, wealth)
        counted = bounds.additive(T, alpha, wealth, growing=True)
        assert fixed == pytest.approx(wealth * (1 + (c - 1) * harmonic), rel=1e-12)
        assert counted == pytest.approx(wealth * c * harmonic, rel=1e-12)
        for growing in (False, True):
            below = bounds.additive(T, bounds.SHARP_ALPHA - 1e-6, wealth, growing=growing)
            overhead = math.exp(1 / (2 * (bounds.SHARP_ALPHA - 1e-6 - 9 / 8)))
            assert below == pytest.approx(wealth * overhead * harmonic, rel=1e-9)


def test_a_d_that_is_counted_costs_a_larger_additive_term():
    """In the sharp form of Theorem 1 and in the certificate of a learner without a fixed d."""
    a = np.array([3.0, 0.5, 0.0])
    data = {"d": 3, "T": 50, "alpha": 1.2, "wealth": 2.0}
    for growing in (False, True):
        f = penalties.lambert(a, 1.2, math.log(3 * 50 / 2.0))
        expected = f.sum() + bounds.additive(50, 1.2, 2.0, growing=growing)
        found = bounds.theorem_1_sharp(a, growing=growing, **data)
        assert found == pytest.approx(expected, rel=1e-12)
    X = np.random.default_rng(0).normal(size=(50, 3))
    for d in (None, 3):
        learner = get("coordinate")("linear", intercept=False, d=d, wealth=2.0)
        learner.learn(as_rows(X, np.sign(X[:, 0])))
        at_zero = -3 / (3 * 50 / 2.0) + bounds.additive(50, 1.2, 2.0, growing=d is None)
        assert certificate(learner).origin.sharp == pytest.approx(at_zero, rel=1e-12)


def test_luo_s_smallest_eigenvalue_is_that_of_any_trial():
    """It can be smallest in the middle of a stream, before a direction is seen again."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        X = rng.normal(size=(9, 3)) * 10.0 ** rng.integers(-3, 4, (9, 1))
        X[:3, 2] = 0
        rank, total, smallest = bounds.luo_quantities(X)
        Z = X / np.linalg.norm(X, axis=0)
        least = []
        for t in range(1, 10):
            values = np.linalg.svd(Z[:t], compute_uv=False)
            least.append(values[values > 1e-9 * values[0]][-1] ** 2)
        assert (rank, total) == (3, pytest.approx(3.0))
        assert smallest == pytest.approx(min(least), rel=1e-6)


@pytest.mark.parametrize("units", [(1, 1, 1), (1, 1e-6, 1e-12), (1, 1e-30, 1e-60)])
def test_luo_holds_in_any_units(units):
    X = np.random.default_rng(1).normal(size=(40, 3)) * units
    assert bounds.luo_quantities(X)[0] == 3

    Z = X / units
    leverages = [Z[t] @ np.linalg.pinv(Z[: t + 1])[:, t] for t in range(40)]
    assert sum(leverages) <= bounds.luo(*bounds.luo_quantities(X)) < 50


def test_theorem_2_with_luo_s_bound_for_gamma():
    """It does not depend on the gradients, and is above Theorem 2 with any."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(30, 3))
    rank, total, smallest = bounds.luo_quantities(X)
    data = {"rank": rank, "total": total, "smallest": smallest}
    for norm in (0.1, 3.0, 1e3):
        found = bounds.theorem_2_luo(norm, alpha=1.2, wealth=2.0, **data)
        most = bounds.luo(rank, total, smallest)
        assert found == bounds.theorem_2(norm, gamma=most, alpha=1.2, wealth=2.0)
        for g in (np.ones(30), rng.choice([-1.0, 1.0], 30)):
            learner = get("full")("linear", intercept=False)
            learner.learn(as_rows(X, g))
            gamma = learner.gamma()
            assert gamma > 1
            assert bounds.theorem_2(norm, gamma=gamma, alpha=1.2, wealth=2.0) < found


@given(st.integers(1, 5), st.integers(0, 10**6))
def test_the_footnote_s_bound_is_a_determinant(d, seed):
    """log det(I + S / ridge), largest where S is a multiple of the identity."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(8, d)) * 10.0 ** rng.uniform(-2, 2, d)
    total, ridge = float(np.sum(X * X)), 0.3
    bound = ridge_gamma(d, total, ridge)
    for S, is_round in ((X.T @ X, d == 1), (total / d * np.eye(d), True)):
        _, exact = np.linalg.slogdet(np.eye(d) + S / ridge)
        assert exact <= bound * (1 + 1e-12)
        if is_round:
            assert exact == pytest.approx(bound, rel=1e-12)


def test_the_footnote_s_variant_of_algorithm_2():
    """Rows sqrt(ridge) e_i of slope 0 first: Gamma stays below its bound and changes with units."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 4))
    g = rng.choice([-1.0, 1.0], 300)
    ridge = 0.5
    found = []
    for unit in (1.0, 8.0):
        learner = get("full")("linear", intercept=False)
        learner.learn(as_rows(math.sqrt(ridge) * np.eye(4), np.zeros(4)))
        assert learner.gamma() == 0
        scores = learner.learn(as_rows(X * unit, g))
        total = float(np.sum((X * unit) ** 2))
        assert learner.gamma() <= ridge_gamma(4, total, ridge)
        found.append(scores)
        S, h, Gamma = ridge * np.eye(4), np.zeros(4), 0.0
        for x, slope, p in zip(X * unit, g, scores, strict=True):
            S += np.outer(x, x)
            z = np.linalg.solve(S, h)
            expected = math.exp((h @ z - Gamma) / (9 / 4)) / (9 / 8) * (x @ z)
            assert p == pytest.approx(expected, rel=1e-9, abs=1e-12)
            h -= slope * x
            Gamma += x @ np.linalg.solve(S, x)
    assert np.abs(found[0] - found[1]).max() > 1e-3  # no longer scale-invariant


@pytest.mark.parametrize(("d", "n"), [(1, 1), (1, 2), (4, 2), (3, 4), (5, 20)])
def test_luo_s_lower_bound_is_below_the_expected_gain(d, n):
    """d C E|sum of n signs|, exactly; with two signs per coordinate they are equal."""
    chance = [math.comb(n, k) / 2**n for k in range(n + 1)]
    mean = sum(p * abs(n - 2 * k) for k, p in enumerate(chance))
    assert luo_lower_bound(2.0, d, d * n) <= 2.0 * d * mean * (1 + 1e-12)
    if n == 2:
        assert luo_lower_bound(2.0, d, d * n) == pytest.approx(2.0 * d * mean, rel=1e-12)


def test_ross_is_reached_by_rates_tuned_in_hindsight():
    """Gradient descent with rates |u_i| / s_i and g = +-1 has regret of at most sum |u_i| s_i."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        X = rng.normal(size=(60, 3)) * [1e3, 1.0, 1e-3]
        u = rng.normal(size=3) / [1e3, 1.0, 1e-3]
        s = np.linalg.norm(X, axis=0)
        w = np.zeros(3)
        regret = 0.0
        for x in X:
            g = 1.0 if w @ x >= 0 else -1.0
            regret += g * (x @ (w - u))
            w -= np.abs(u) / s * g * x
        assert regret <= ross(u * s) * (1 + 1e-12)


@pytest.mark.parametrize("u", [0.7, -3.0])
def test_ross_is_attained_where_descent_ends_at_u(u):
    """x = 1 four times, s = 2: the gradients sum to -s sign(u), so that the last weight is u."""
    rate = abs(u) / 2
    w = regret = 0.0
    for g in np.sign(u) * np.array([1.0, -1.0, -1.0, -1.0]):
        regret += g * (w - u)
        w -= rate * g
    assert w == pytest.approx(u, rel=1e-12)
    assert regret == pytest.approx(ross([2 * u]), rel=1e-12)
    assert ross([2 * u, 0.0, 1.5]) == pytest.approx(regret + 1.5, rel=1e-12)


@pytest.mark.parametrize("T", [1, 2, 5, 9])
@pytest.mark.parametrize("u", [0.01, 0.3, 2.0, 50.0])
def test_streeter_mcmahan_is_the_value_of_the_game(u, T):
    """A learner that hedges max(-wealth, u h - bound) attains it, so no more can be said."""
    wealth = 0.7
    bound = float(lower_bounds.streeter_mcmahan(u, T, wealth))
    worth = np.maximum(-wealth, u * np.arange(-T, T + 1, 2.0) - bound)
    for _ in range(T):  # on fair coins: the price of the claim, which must be 0
        worth = (worth[:-1] + worth[1:]) / 2
    assert worth[0] == pytest.approx(0.0, abs=1e-12)


def test_streeter_mcmahan_grows_like_its_shape():
    u = np.geomspace(1, 1e12, 13)
    ratio = lower_bounds.streeter_mcmahan(u, 2000) / lower_bounds.streeter_mcmahan_shape(u, 2000)
    assert np.all(ratio > 0.7)
    assert np.all(ratio < 1.5)


def test_streeter_mcmahan_shape_needs_a_large_comparator():
    """Erratum 14: below |u| sqrt(T) = 1 the logarithm printed has no root."""
    assert lower_bounds.streeter_mcmahan_shape(0.05, 100) == 0.0


def test_bounds_are_listed_by_learner():
    from unitless import learners

    listed = {bound for found in bounds.BY_LEARNER.values() for bound in found}
    assert {*bounds.BY_LEARNER} <= {*learners.REGISTRY}
    assert all(bounds.of_learner(name) == found for name, found in bounds.BY_LEARNER.items())
    assert bounds.of_learner("adagrad") == ()
    theorems = {value for name, value in vars(bounds).items() if name.startswith("theorem_")}
    assert theorems <= listed
    with pytest.raises(ValueError, match="coordinat"):
        bounds.of_learner("coordinat")
