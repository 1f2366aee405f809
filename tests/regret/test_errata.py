"""The paper's errata that a number can show (docs/explanation/theory.md lists all sixteen).

Errata 1 and 15 are in test_theorems.py and test_paper_lemmas.py, 14 in test_bounds.py.
"""

import math

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from test_paper_lemmas import conjugate_of_penalty

from unitless.learners import get
from unitless.regret import adversaries, bounds, certificate
from unitless.rows import as_rows

ALPHA = 9 / 8


def twice_the_same_row(g):
    """Algorithm 2 on x = 1, 1 with slopes g: (learner, predictions)."""
    learner = get("full")("linear", alpha=ALPHA, intercept=False)
    return learner, learner.learn(as_rows(np.ones((2, 1)), g))


def test_2_gamma_has_squares():
    """With g_t instead of g_t^2 Gamma can be -5, and Theorem 2 the root of a negative number."""
    learner = get("full")("linear", alpha=ALPHA, intercept=False)
    learner.learn(as_rows(np.eye(5), -np.ones(5)))
    assert learner.gamma() == pytest.approx(5.0)
    printed = float(np.sum(-np.ones(5)))  # x'S^+x = 1
    inside = ALPHA * math.log1p(ALPHA * 2.2704**2) + printed
    assert inside == pytest.approx(-2.844, abs=1e-3)


def test_3_gamma_stands_inside_the_potential():
    """With exp(h'S^+h / (2 alpha) - Gamma), as printed, the main lemma is false at once."""
    _, p = twice_the_same_row([1.0, -1.0])
    printed = [math.exp(square / (2 * ALPHA) - gamma) for square, gamma in ((1.0, 1.0), (0.0, 1.5))]
    assert -1.0 * p[1] + printed[1] == pytest.approx(0.5790, abs=1e-4)
    assert printed[0] == pytest.approx(0.5738, abs=1e-4)
    correct = [math.exp((square - gamma) / (2 * ALPHA)) for square, gamma in ((1, 1), (0, 1.5))]
    assert -1.0 * p[1] + correct[1] <= correct[0]


def test_4_the_potential_is_added():
    """sum g p + psi_T <= 1 holds with equality on unit vectors; with a minus it says -1 <= 1."""
    learner = adversaries.opponent("full")
    game = adversaries.no_growth(learner, 5)
    assert float(game.g @ game.p) + learner.potential() == pytest.approx(1.0)


def test_5_the_dual_norm_is_squared():
    """exp(|h| / (2 alpha)), as printed, is below the conjugate it should bound."""
    assert conjugate_of_penalty(3.0, ALPHA) == pytest.approx(7.625, abs=1e-3)
    assert math.exp(3.0 / (2 * ALPHA)) == pytest.approx(3.794, abs=1e-3)
    assert math.exp(3.0**2 / (2 * ALPHA)) == pytest.approx(54.598, abs=1e-3)


def test_6_the_overhead_over_gradient_descent_is_the_root_of_a_logarithm():
    U = X = 1.0
    d, T = 10, 10**6
    linear = bounds.theorem_1_bounded(U, X, d=d, T=T, alpha=2.0) / bounds.gradient_descent(U, X, T)
    log = math.log1p(d**2 * U**2 * X**2 * T**3)
    assert linear == pytest.approx(math.sqrt(2.0 * log), rel=0.03)
    assert linear < log / 4


def test_8_gamma_keeps_the_inverse_of_its_own_trial():
    learner, _ = twice_the_same_row([1.0, -1.0])
    assert learner.gamma() == pytest.approx(1.0 + 1 / 2)  # S_1^+ = 1, S_2^+ = 1/2
    assert sum(x * x / 2 for x in (1.0, 1.0)) == 1.0  # with S_2^+ for both, as printed


def test_9_appendix_e_multiplies_by_the_root():
    """The factor between (10) and (11) is e^(Gamma / (2 alpha)) = 1.560, not e^Gamma = 2.718."""
    learner, p = twice_the_same_row([1.0, -1.0])
    left_of_10 = -1.0 * p[1] + learner.potential()
    x = -1.0 * (-1 / 2) / ALPHA  # g h'S^+x / alpha
    left_of_11 = math.exp((1 / 2) / (2 * ALPHA)) * (x + math.exp(-x))  # h'S^+h = 1/2, Gamma gone
    assert left_of_11 / left_of_10 == pytest.approx(math.exp(1 / (2 * ALPHA)))


def test_10_h_is_minus_the_gradients():
    game = adversaries.no_growth(adversaries.opponent("zero"), 5, norm=2.2704)
    h = -(game.g @ game.X)
    assert h @ game.u == pytest.approx(5.077, abs=1e-3)
    assert game.g @ game.X @ game.u == pytest.approx(-5.077, abs=1e-3)  # h as printed


def test_11_the_footnote_lacks_an_inverse():
    S = 1.0 + np.arange(1, 101)  # eps = 1, x = 1
    assert np.sum(S) == 5150  # printed: grows like T^2
    assert np.sum(1 / S) == pytest.approx(4.197, abs=1e-3)  # meant: grows like log T


def test_12_convex_losses_make_it_an_inequality():
    X, y = load_breast_cancer(return_X_y=True)
    rows = as_rows(X[:, :2], 2 * y - 1)
    learner = get("coordinate")()
    made = certificate(learner, rows=rows, scores=learner.learn(rows))
    assert made.best.regret == pytest.approx(247.43, abs=0.01)
    u = made.hindsight.weights
    sums = learner.sums()
    product = np.sum(sums.z * sums.s * np.append(u.intercept, u.features))
    assert sums.A + product == pytest.approx(903.81, abs=0.01)


PRINTED = {
    (1.24, 1.78): 0.017, (0.99, 1.24): 0.003, (0.85, 0.99): 0.001, (0.76, 0.85): 0.0007,
    (0.7, 0.76): 0.001, (0.65, 0.7): 0.0008, (0.6, 0.65): 0.0002, (0.56, 0.6): 0.0008,
    (0.52, 0.56): 0.0005, (0.47, 0.52): 0.0002, (0.42, 0.47): 0.0004, (0.37, 0.42): 0.0005,
    (0.34, 0.37): 0.001,
}  # fmt: skip


def interval(u, v):
    """The lower bound (14) of appendix F on [u, v]."""
    b = (v * math.exp(u) - u * math.exp(v)) / (v - u)
    c = (math.exp(v) - math.exp(u)) / (v - u)
    f = math.exp(9 / 16 * u * u)
    slope = 9 / 8 * u * f - c + 1
    return f - 9 / 8 * u * u * f - b + min(v * slope, u * slope)


def test_13_the_table_of_intervals():
    assert interval(1.24, 1.78) == pytest.approx(0.0138, abs=5e-5)
    assert interval(1.24, 16 / 9) == pytest.approx(0.0174, abs=5e-4)
    assert interval(0.52, 0.56) == pytest.approx(0.00085, abs=5e-6)
    for (u, v), printed in PRINTED.items():
        assert interval(u, v) > 0
        if (u, v) not in {(1.24, 1.78), (0.52, 0.56)}:
            digit = 10.0 ** math.floor(math.log10(printed))
            assert printed <= interval(u, v) < printed + digit  # rounded down, as printed


@pytest.mark.parametrize("alpha", [9 / 8, 1.1148186546427592])
def test_16_algorithm_2_may_have_alpha_at_its_limit(alpha):
    learner = get("full")("linear", alpha=alpha, intercept=False)
    rng = np.random.default_rng(0)
    for _ in range(300):
        before = learner.potential()
        p = learner.learn(as_rows([[1.0]], [g := rng.choice([-1.0, 1.0])]))[0]
        assert g * p + learner.potential() <= before * (1 + 1e-12)


def test_16_and_not_below_it():
    with pytest.raises(ValueError, match="alpha"):
        get("full")(alpha=1.1148186546427592 - 1e-9)
