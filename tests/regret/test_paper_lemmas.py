"""The paper's lemmas, each as a property of the formulas or of the learners themselves."""

import math

import mpmath as mp
import numpy as np
import pytest
from formulas import conjugate_bound
from hypothesis import example, given
from hypothesis import strategies as st
from material import stream
from scipy.optimize import minimize_scalar

from unitless.core.parameters import ALPHA_0
from unitless.learners import get
from unitless.regret import bounds, penalties
from unitless.rows import as_rows

mp.mp.dps = 50
ALPHAS = st.floats(1.13, 5.0)


# Lemma 7 (appendix F): x + exp(-x) <= exp(alpha_0 x^2 / 2)


def left_of_right(x, alpha_0):
    x = mp.mpf(x)
    return x + mp.exp(-x) - mp.exp(mp.mpf(alpha_0) * x * x / 2)


@given(st.floats(-1e3, 1e3))
@example(-0.6400135668)
@example(-0.34)
@example(0.0)
def test_exponential_lemma_at_nine_eighths(x):
    assert left_of_right(x, 9 / 8) <= 0


@given(st.floats(-1e3, 1e3))
@example(-0.64)
def test_exponential_lemma_at_the_smallest_alpha(x):
    assert left_of_right(x, ALPHA_0) <= 0


def test_no_smaller_alpha_will_do():
    assert left_of_right(-0.6400135668, ALPHA_0 - 1e-12) > 0


# Lemma 2: the conjugate of f, f(x) = x sqrt(alpha log(1 + alpha beta^2 x^2))


@given(st.floats(0, 30), st.floats(1e-6, 1e12), ALPHAS, st.floats(-5, 20))
def test_conjugate_bound_is_young_s_inequality(theta, x, alpha, log_beta):
    gain = theta * x - float(penalties.penalty(x, alpha, log_beta))
    assert gain <= float(conjugate_bound(theta, alpha, log_beta)) * (1 + 1e-9)


@given(st.floats(0, 30), st.floats(1e-6, 1e12), ALPHAS, st.floats(-5, 20))
def test_lambert_is_young_s_inequality_of_the_potential(theta, x, alpha, log_beta):
    potential = float(conjugate_bound(theta, alpha, log_beta))
    gain = theta * x - float(penalties.lambert(x, alpha, log_beta))
    assert gain <= potential + 1e-9 * (potential + theta * x)


@given(st.floats(0.01, 15), ALPHAS)
def test_lambert_is_attained(theta, alpha):
    """With equality at x = theta / alpha exp(theta^2 / (2 alpha)): no smaller penalty will do."""
    potential = float(conjugate_bound(theta, alpha))
    x = theta / alpha * math.exp(theta**2 / (2 * alpha))
    gain = theta * x - float(penalties.lambert(x, alpha))
    assert gain == pytest.approx(potential, rel=1e-9)


def conjugate_of_penalty(theta, alpha):
    """sup over x of theta x - f(x), on the logarithm of x."""
    where = math.log(theta / alpha) + theta**2 / (2 * alpha)  # where it is for lambert
    found = minimize_scalar(
        lambda z: float(penalties.penalty(math.exp(z), alpha)) - theta * math.exp(z),
        bounds=(where - 5, where + 5), method="bounded", options={"xatol": 1e-12},
    )  # fmt: skip
    return -found.fun


def test_lemma_2_is_loose_by_a_factor_of_four_and_a_half():
    """Erratum 15 (the notes say 2): with L = log(1 + alpha x^2), k = 1 - e^-L the conjugate is
    k^1.5 / (sqrt(L) e^(k + k^2 / (2 L))) of Lemma 2's bound, at most 0.218948, for every alpha.
    """
    for alpha in (1.2, 2.0, 4.0):
        ratios = [
            conjugate_of_penalty(theta, alpha) / math.exp(theta**2 / (2 * alpha))
            for theta in np.linspace(0.1, 8, 400)
        ]
        assert max(ratios) == pytest.approx(0.218948, abs=1e-5)


# Lemma 4: the conjugate of f(|u|_A), A of any rank. f = lambert, f* = exp(theta^2 / (2 alpha)).


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 5))
def test_conjugate_of_a_seminorm(seed, d, rank):
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((min(rank, d), d)) * 10.0 ** rng.integers(-3, 4)
    A, alpha = B.T @ B, 1.5
    dual = B @ (np.linalg.pinv(A) @ (y := B.T @ rng.standard_normal(len(B))))
    theta = np.linalg.norm(dual)  # |y| in A^+
    top = math.exp(theta**2 / (2 * alpha))

    def value(u):
        return y @ u - float(penalties.lambert(np.linalg.norm(B @ u), alpha))

    best = np.linalg.pinv(A) @ y * (top / alpha)
    assert value(best) == pytest.approx(top, rel=1e-6)
    assert all(
        value(best + rng.standard_normal(d) * size * np.abs(best).max()) <= top * (1 + 1e-6)
        for size in (1e-3, 0.1, 1.0, 10.0)
    )


# Lemma 6 (Luo et al.): sum x'S_t^+x


@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 5), st.integers(1, 30))
def test_luo(seed, d, rank, T):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((T, min(rank, d))) @ rng.standard_normal((min(rank, d), d))
    X *= np.exp(rng.uniform(-3, 3, T))[:, None]
    leverages = [
        X[t] @ np.linalg.lstsq(X[: t + 1].T @ X[: t + 1], X[t], rcond=1e-9)[0] for t in range(T)
    ]
    r, total, smallest = bounds.luo_quantities(X)
    assert r == np.linalg.matrix_rank(X)
    assert sum(leverages) <= bounds.luo(r, total, smallest) * (1 + 1e-6)


def test_gamma_is_at_most_the_trials_and_can_be_all_of_them():
    """Each trial adds g^2 x'S^+x <= 1; a new direction adds all of it (after Theorem 2's proof)."""
    rng = np.random.default_rng(0)
    for X in (rng.standard_normal((50, 3)), np.eye(20), np.diag(2.0 ** np.arange(-300, 300, 30))):
        learner = get("full")("linear", intercept=False)
        gamma = 0.0
        for x in X:
            learner.learn(as_rows(x[None], [float(rng.choice([-1, 1]))]))
            assert gamma <= learner.gamma() * (1 + 1e-12) <= (gamma + 1) * (1 + 2e-12)
            gamma = learner.gamma()
        if len(X) == X.shape[1]:
            assert gamma == pytest.approx(len(X), rel=1e-12)
        else:
            assert gamma < 3 * (1 + math.log(len(X)))


def test_luo_s_smallest_eigenvalue_is_over_all_times():
    """Where the rank grows later, an early S_t has the smallest one, and the last S_T does not."""
    X = np.array([[1.0, 0.0], [0.0, 0.01], [0.0, 10.0]])
    share = 0.01**2 / (0.01**2 + 10**2)  # columns of norm 1
    assert bounds.luo_quantities(X)[2] == pytest.approx(share)


# Lemma 3: g w x + psi_t <= psi_{t-1} + overhead, one coordinate. p = w x there.


@pytest.mark.parametrize("alpha", [bounds.SHARP_ALPHA, 1.2, 2.0])
@pytest.mark.parametrize("seed", range(0, 70, 5))
def test_main_lemma_of_algorithm_1(seed, alpha):
    X, g = stream(seed)
    x, learner = X[:, :1], get("coordinate")("linear", alpha=alpha, intercept=False)
    before, c = 0.0, math.exp(0.5 / alpha)
    for t in range(len(x)):
        p = learner.learn(as_rows(x[t : t + 1], g[t : t + 1]))[0]
        sums = learner.sums()
        after = math.exp(sums.z[1] ** 2 / (2 * alpha)) / (t + 1) if sums.s[1] > 0 else 0.0
        overhead = (c - 1 if before else c) / (t + 1)
        assert g[t] * p + after <= (before + overhead) * (1 + 1e-12)
        before = after


# Lemma 5: g p + psi_t <= psi_{t-1}, no overhead


@pytest.mark.parametrize("alpha", [ALPHA_0, 9 / 8, 2.0])
@pytest.mark.parametrize("seed", range(0, 70, 3))
def test_main_lemma_of_algorithm_2(seed, alpha):
    X, g = stream(seed)
    learner = get("full")("linear", alpha=alpha, intercept=False)
    before = 1.0
    for t in range(len(X)):
        p = learner.learn(as_rows(X[t : t + 1], g[t : t + 1]))[0]
        after = learner.potential()
        assert g[t] * p + after <= before * (1 + 1e-9)
        before = after


def test_weights_are_the_gradient_of_a_potential_between_two_trials():
    """w_t is the gradient of exp((h'S_t^+h - Gamma_(t-1)) / (2 alpha)), and of neither psi."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9, 3))
    g = rng.uniform(-1, 1, 8)
    learner = get("full")("linear", intercept=False)
    learner.learn(as_rows(X[:8], g))
    h = -(g @ X[:8])
    x = X[8]
    p = learner.predict(as_rows(x[None]))[0]

    def slope(S, gamma):
        """Along x, of the potential as a function of h."""
        z = np.linalg.solve(S, h)
        return math.exp((h @ z - gamma) / (9 / 4)) / (9 / 8) * (x @ z)

    before, now = X[:8].T @ X[:8], X.T @ X
    gamma = learner.gamma()
    assert p == pytest.approx(slope(now, gamma), rel=1e-9)
    assert abs(p) < 0.9 * abs(slope(before, gamma))
    later = gamma + x @ np.linalg.solve(now, x)  # |g| = 1
    assert abs(p) > 1.1 * abs(slope(now, later))


def largest_overhead(alpha, corrected):
    """Of one trial of Algorithm 1, t d times: appendix A's (9) over its v and gamma, t large."""
    v = np.linspace(-12, 12, 2401)[:, None]
    gamma = np.linspace(0, 1, 1001)
    delta = np.sqrt(1 - gamma**2)
    exponent = (v * gamma) ** 2 + (delta**2 if corrected else 0.0)
    loss = v * gamma * delta / alpha * np.exp(exponent / (2 * alpha))
    after = np.exp((v * gamma - delta) ** 2 / (2 * alpha))
    return float(np.max(loss + after - np.exp(v**2 / (2 * alpha))))


def test_the_correction_is_needed_below_1_2_only():
    """The paper calls exp(x^2 / (2 alpha s^2)) in the weight necessary (after Lemma 3)."""
    for alpha in (1.2, 1.5, 4.0):
        least = math.exp(0.5 / alpha) - 1  # at v = gamma = 0
        assert largest_overhead(alpha, corrected=True) == pytest.approx(least, rel=1e-9)
        assert largest_overhead(alpha, corrected=False) == pytest.approx(least, rel=1e-9)
    least = math.exp(0.5 / bounds.SHARP_ALPHA) - 1
    assert largest_overhead(bounds.SHARP_ALPHA, corrected=True) == pytest.approx(least, rel=1e-6)
    assert largest_overhead(bounds.SHARP_ALPHA, corrected=False) > 3 * least
    for alpha in (1.15, bounds.SHARP_ALPHA, 1.2, 4.0):  # kappa covers both
        assert largest_overhead(alpha, corrected=False) <= bounds.kappa(alpha)


def test_pseudoinverses_do_not_transform_like_inverses():
    """Appendix D, footnote: (A S A')^+ is not A'^-1 S^+ A^-1, but x'S^+h and x'S^+x stay."""
    rng = np.random.default_rng(0)
    X = rng.integers(-3, 4, (30, 2)) @ np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]])
    A = np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, -2.0, 1.0]])
    S = X.T @ X  # of rank 2
    mapped = np.linalg.pinv(A @ S @ A.T)
    inverse = np.linalg.inv(A)
    moved = inverse.T @ np.linalg.pinv(S) @ inverse
    assert np.abs(mapped - moved).max() > 0.1 * np.abs(mapped).max()
    Y = X @ A.T
    np.testing.assert_allclose(Y @ mapped @ Y.T, X @ np.linalg.pinv(S) @ X.T, atol=1e-12)
    g = rng.choice([-1.0, 1.0], 30)
    plain, other = (get("full")("linear", intercept=False) for _ in range(2))
    np.testing.assert_allclose(
        other.learn(as_rows(Y, g)), plain.learn(as_rows(X, g)), rtol=1e-9, atol=1e-12
    )
    assert other.gamma() == pytest.approx(plain.gamma(), rel=1e-9)
