"""The best comparator is proved best by duality, and duality itself by its definition."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from material import real
from sklearn.linear_model import LinearRegression, LogisticRegression, QuantileRegressor

from unitless import losses
from unitless.core.learner import Weights
from unitless.regret import best_comparator
from unitless.regret.design import design, predictions
from unitless.regret.duality import conjugate, domain, lower_bound
from unitless.rows import as_rows

SIGNED = ["logistic", "hinge", "smoothed_hinge"]
REAL = ["absolute", "quantile(0.9)", "huber(0.5)", "huber(100)", "squared"]
RNG = np.random.default_rng(3)
X = RNG.standard_normal((120, 4)) * [1.0, 10.0, 0.01, 1.0]
NOISY = X @ [1.0, -0.1, 30.0, 0.0] + 2 * RNG.standard_normal(120) + 0.5


def targets(loss):
    return np.sign(NOISY) if loss in SIGNED else NOISY


def total(loss, rows, weights):
    v = 1.0 if rows.weights is None else rows.weights
    return float(np.sum(v * losses.get(loss).value(rows.targets, predictions(rows, weights))))


# Duality, from its definition


@given(st.sampled_from(SIGNED + REAL), st.floats(0, 1), st.floats(-50, 50), st.booleans())
def test_conjugate_is_a_supremum(name, part, p, positive):
    loss = losses.get(name)
    y = np.array([1.0 if positive else -1.0])
    low, high = (np.nan_to_num(limit, posinf=9.0, neginf=-9.0) for limit in domain(loss, y))
    g = low + part * (high - low)
    paid = loss.value(y, np.array([p]))
    assert g * p - paid <= conjugate(loss, y, g) + 1e-12 * (1 + abs(p))
    grid = np.linspace(-120, 120, 480_001)
    reached = np.max(g * grid - loss.value(y, grid))
    assert reached == pytest.approx(float(conjugate(loss, y, g)[0]), abs=1e-6)


@pytest.mark.parametrize("name", SIGNED + REAL)
def test_lower_bound_is_below_all_weights_and_can_be_far(name):
    loss, y, v = losses.get(name), targets(name), RNG.uniform(0.1, 3, len(X))
    made = design(X, intercept=True)
    Z = made.Z
    g = RNG.uniform(-1, 1, len(y))  # slopes that have nothing to do with a solution
    lower = lower_bound(loss, Z, made.columns, y, v, g, radius=100.0)
    best = best_comparator(loss, as_rows(X, y, v)).loss
    assert lower < best - 1  # no proof without a solution
    for size in np.geomspace(1e-3, 50, 100):
        w = RNG.standard_normal(Z.shape[1]) * size / math.sqrt(Z.shape[1])
        assert np.sum(v * loss.value(y, Z @ w)) >= lower


# The best weights


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", SIGNED + REAL)
def test_gap(loss, intercept, weighted):
    v = RNG.uniform(0, 2, len(X)) * (RNG.random(len(X)) < 0.9) if weighted else None
    rows = as_rows(X, targets(loss), v)
    best = best_comparator(loss, rows, intercept=intercept)
    assert best.attained
    assert best.loss == pytest.approx(total(loss, rows, best.weights), rel=1e-12)
    assert abs(best.gap) <= 1e-8 * best.loss
    assert intercept or best.weights.intercept == 0.0
    for _ in range(100):
        other = best.weights.features * (1 + 0.1 * RNG.standard_normal(4))
        moved = best.weights._replace(features=other)
        assert total(loss, rows, moved) >= best.loss * (1 - 1e-12)


def test_against_scikit_learn():
    rows = as_rows(X, NOISY)
    linear = LinearRegression().fit(X, NOISY)
    best = best_comparator("squared", rows)
    np.testing.assert_allclose(best.weights.features, linear.coef_, rtol=1e-6)
    median = QuantileRegressor(quantile=0.9, alpha=0).fit(X, NOISY)
    pinball = losses.get("quantile(0.9)").value(NOISY, median.predict(X)).sum()
    assert best_comparator("quantile(0.9)", rows).loss == pytest.approx(pinball, rel=1e-8)
    logistic = LogisticRegression(C=np.inf, tol=1e-10, max_iter=10_000).fit(X, NOISY > 0)
    found = best_comparator("logistic", as_rows(X, np.sign(NOISY)))
    np.testing.assert_allclose(found.weights.features, logistic.coef_[0], rtol=1e-3)


@pytest.mark.parametrize("loss", SIGNED + REAL)
def test_sparse_missing_and_dependent_columns(loss):
    wide = np.column_stack([X, X[:, 0] - 2 * X[:, 1], np.zeros(len(X)), np.ones(len(X))])
    wide[RNG.random(wide.shape) < 0.5] = 0.0
    dense = best_comparator(loss, as_rows(wide, targets(loss)))
    sparse = best_comparator(loss, as_rows(sp.csr_array(wide), targets(loss)))
    missing = best_comparator(loss, as_rows(np.where(wide == 0, np.nan, wide), targets(loss)))
    assert sparse.loss == pytest.approx(dense.loss, rel=1e-9)
    assert missing.loss == pytest.approx(dense.loss, rel=1e-12)
    assert abs(dense.gap) <= 1e-8 * dense.loss
    assert dense.weights.features[5] == 0.0


@pytest.mark.parametrize("loss", SIGNED + REAL)
def test_sparse_without_a_basis(loss, monkeypatch):
    """The road of large sparse data, on data small enough to compare."""
    rows = as_rows(sp.csr_array(X * (RNG.random(X.shape) < 0.7)), targets(loss))
    dense = best_comparator(loss, rows)
    monkeypatch.setattr("unitless.regret.design.LARGEST_DENSE", 0)
    sparse = best_comparator(loss, rows)
    assert sparse.loss == pytest.approx(dense.loss, rel=1e-7)
    assert abs(sparse.gap) <= 1e-6 * sparse.loss


# Units


@pytest.mark.parametrize("loss", SIGNED + REAL)
def test_powers_of_two_change_no_bit(loss):
    units = 2.0 ** np.array([-400, 300, 7, -1])
    plain = best_comparator(loss, as_rows(X, targets(loss)))
    scaled = best_comparator(loss, as_rows(X * units, targets(loss)))
    assert scaled.loss == plain.loss
    assert scaled.gap == plain.gap
    assert np.array_equal(scaled.weights.features * units, plain.weights.features)


@pytest.mark.parametrize("loss", SIGNED + REAL)
def test_units_from_1e_150_to_1e150(loss):
    plain = best_comparator(loss, as_rows(X, targets(loss)))
    scaled = best_comparator(loss, as_rows(X * [1e-150, 1e150, 1e77, 1e-3], targets(loss)))
    assert scaled.loss == pytest.approx(plain.loss, rel=1e-9)
    assert abs(scaled.gap) <= 1e-8 * scaled.loss


@pytest.mark.parametrize("loss", ["logistic", "huber(0.5)", "squared"])
def test_linear_maps_leave_the_best_predictions_alone(loss):
    """Where the best predictions are unique: u of A x is A'^-1 u, and predicts the same."""
    A = np.random.default_rng(6).standard_normal((4, 4)) + 3 * np.eye(4)
    Z = X / X.std(axis=0)
    rows, mapped = as_rows(Z, targets(loss)), as_rows(Z @ A.T, targets(loss))
    plain, other = best_comparator(loss, rows), best_comparator(loss, mapped)
    assert other.loss == pytest.approx(plain.loss, rel=1e-9)
    np.testing.assert_allclose(
        predictions(mapped, other.weights), predictions(rows, plain.weights), rtol=0, atol=1e-5
    )
    np.testing.assert_allclose(A.T @ other.weights.features, plain.weights.features, atol=1e-5)


@pytest.mark.parametrize("loss", REAL)
def test_targets_of_any_size(loss):
    for unit in (1e-6, 1e6):
        scaled = loss.replace("0.5", f"{0.5 * unit:g}").replace("100", f"{100 * unit:g}")
        power = 2 if "huber" in loss or loss == "squared" else 1
        plain = best_comparator(loss, as_rows(X, NOISY)).loss
        best = best_comparator(scaled if "huber" in loss else loss, as_rows(X, NOISY * unit))
        assert best.loss == pytest.approx(plain * unit**power, rel=1e-6)
        assert abs(best.gap) <= 1e-7 * best.loss


# Separable data


def test_separable_data_have_no_best_weights():
    y = np.sign(X[:, 0] + 0.3)
    best = best_comparator("logistic", as_rows(X, y))
    assert (best.attained, best.infimum, best.lower, best.separated) == (False, 0.0, 0.0, 120)
    assert best.loss < 120 * math.exp(-25) * 1.01
    margins = y * predictions(as_rows(X), best.direction)
    assert np.all(margins > 0)


@pytest.mark.parametrize("sparse", [False, True])
def test_partly_separable_data(sparse):
    """A level that occurs with one label only; the others are coins: the infimum is 60 log 2."""
    level = np.repeat([0, 1, 2], 30)
    coins = np.tile([1.0, -1.0], 30)
    y = np.concatenate([coins, np.ones(30)])
    one_hot = np.eye(3)[level]
    best = best_comparator("logistic", as_rows(sp.csr_array(one_hot) if sparse else one_hot, y))
    assert (best.attained, best.separated) == (False, 30)
    assert best.infimum == pytest.approx(60 * math.log(2), rel=1e-12)
    assert best.lower == pytest.approx(60 * math.log(2), rel=1e-9)
    assert abs(best.gap) < 1e-8
    along = predictions(as_rows(one_hot), best.direction)
    np.testing.assert_allclose(along[:60], 0.0, atol=1e-9)
    assert np.all(along[60:] > 0.5)


def test_separable_up_to_one_row_is_not():
    y = np.sign(X[:, 0] + 0.3)
    y[np.argmax(X[:, 0])] *= -1
    best = best_comparator("logistic", as_rows(X[:, :1], y))
    assert best.attained
    assert best.infimum > 1
    assert abs(best.gap) <= 1e-8 * best.loss


@pytest.mark.parametrize("loss", ["hinge", "smoothed_hinge"])
def test_other_losses_attain_zero_on_separable_data(loss):
    best = best_comparator(loss, as_rows(X, np.sign(X[:, 0] + 0.3)))
    assert best.attained
    assert best.loss < 1e-9


def test_linear_loss_has_no_bottom():
    best = best_comparator("linear", as_rows(X, np.sign(NOISY)))
    assert (best.infimum, best.attained) == (-np.inf, False)
    assert np.sum(np.sign(NOISY) * predictions(as_rows(X), best.direction)) < 0
    flat = best_comparator("linear", as_rows([[1.0], [1.0]], [1.0, -1.0]))
    assert (flat.infimum, flat.attained) == (0.0, True)


def test_nothing_to_fit():
    assert best_comparator("logistic", as_rows(np.zeros((4, 2)), [1, 1, -1, -1])).loss == (
        pytest.approx(4 * math.log(2))
    )
    alone = best_comparator("absolute", as_rows(np.zeros((3, 1)), [1, 2, 3]), intercept=False)
    assert alone.loss == 6.0
    assert alone.gap == pytest.approx(0.0, abs=1e-12)


def test_targets_are_needed():
    with pytest.raises(ValueError, match="targets"):
        best_comparator("logistic", as_rows(X))


@pytest.mark.parametrize(
    ("data", "task", "loss"),
    [
        ("spambase", "binary", "logistic"), ("adult", "binary", "hinge"),
        ("german_credit", "binary", "smoothed_hinge"), ("htru2", "binary", "logistic"),
        ("california_housing", "regression", "huber(1000)"), ("cpu_act", "regression", "absolute"),
        ("protein_casp", "regression", "quantile(0.1)"), ("diamonds", "regression", "squared"),
    ],
)  # fmt: skip
def test_gap_on_real_data(data, task, loss):
    best = best_comparator(loss, as_rows(*real(data, 1000, task)))
    assert abs(best.gap) <= 1e-8 * best.loss


# Where the proof ends, and inputs that are hard to solve


def nearly_equal_columns(exponent, T=200):
    """u = 2^(3 - exponent) (-1, 1) predicts 8 y; a solver in float64 may not see it."""
    y = np.where(np.arange(T) % 2 == 0, 1.0, -1.0)
    return np.column_stack([np.ones(T), 1.0 + y * 2.0**exponent]), y


@pytest.mark.parametrize("exponent", [-52, -46, -43, -40])
def test_the_proof_covers_every_u_within_its_radius_and_says_so(exponent):
    X, y = nearly_equal_columns(exponent)
    best = best_comparator("logistic", as_rows(X, y), intercept=False)
    assert f"for sum |u_i| s_i <= {best.radius:.1e}" in str(best)
    size = best.radius / np.linalg.norm(X, axis=0).sum()
    for part in (1.0, 0.5, 1e-3):
        w = Fraction(size * part)
        rows = zip(X.tolist(), y.tolist(), strict=True)
        margins = [target * w * (Fraction(x[1]) - Fraction(x[0])) for x, target in rows]
        loss = math.fsum(math.log1p(math.exp(-float(m))) for m in margins)
        assert loss * (1 + 1e-15) >= best.lower


def test_the_radius_is_the_one_of_the_proof(monkeypatch):
    """Ten times the size of the weights found, or of the targets."""
    used = []

    def spy(*arguments):
        used.append(arguments[-1])
        return lower_bound(*arguments)

    monkeypatch.setattr("unitless.regret.comparator.lower_bound", spy)
    for y in (NOISY, 1e6 + 0.0 * NOISY):
        best = best_comparator("huber(0.5)", as_rows(X, y), intercept=False)
        size = float(np.sum(np.abs(best.weights.features) * np.linalg.norm(X, axis=0)))
        assert best.radius == used[-1]
        assert best.radius == pytest.approx(10 * max(size, np.linalg.norm(y)), rel=1e-12)


def test_the_proof_is_rounded_down():
    """Coins, x = 1: the best loss is T log 2, and slopes of +-1/2 prove it up to rounding."""
    loss = losses.get("logistic")
    for T in range(2, 80, 2):
        y = np.tile([1.0, -1.0], T // 2)
        Z = np.full((T, 1), 1 / math.sqrt(T))
        lower, within = (
            lower_bound(loss, Z, Z, y, np.ones(T), -y / 2, radius) for radius in (0.0, 1e6)
        )
        with mp.workdps(60):
            assert lower <= T * mp.log(2)
        assert lower == pytest.approx(T * math.log(2), rel=1e-12)
        # Z'g is computed as 0, but is a sum of T rounded terms
        assert within <= lower - 1e6 * T * 2.0**-53 * math.sqrt(T) / 2


def test_a_bound_without_its_radius_would_be_wrong():
    """Within the radius the loss does fall below what the slopes alone would prove."""
    X, y = nearly_equal_columns(-43)
    loss, made = losses.get("logistic"), design(X, intercept=False)
    g = loss.derivative(y, np.zeros(len(y)))
    v = np.ones(len(y))
    alone = lower_bound(loss, made.Z, made.columns, y, v, g, radius=0.0)
    far = 2.0**46 * np.linalg.norm(X, axis=0).sum()
    assert float(np.sum(loss.value(y, 8 * y))) < alone
    assert lower_bound(loss, made.Z, made.columns, y, v, g, radius=far) < 0.1


@pytest.mark.parametrize("loss", SIGNED + REAL)
def test_every_finite_input_has_an_answer(loss):
    """Outliers, sample weights from 1e-6 to 1e6, few rows, nearly separable data."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 40))
        Z = rng.standard_normal((n, 3))
        if seed % 3 == 0:
            Z[0] *= 1e8
        v = 10.0 ** rng.uniform(-6, 6, n) if seed % 2 else np.ones(n)
        y = Z[:, 0] + 0.1 * rng.standard_normal(n)
        y = np.sign(y) if loss in SIGNED else y
        best = best_comparator(loss, as_rows(Z, y, v))
        assert math.isfinite(best.loss)
        assert best.lower <= best.loss * (1 + 1e-9)
        assert best.loss <= total(loss, as_rows(Z, y, v), zero_weights()) * (1 + 1e-9)


def zero_weights():
    return Weights(0.0, np.zeros(3))


def test_an_outlier_does_not_hide_a_separable_rest():
    """Hinge with one row 10^8 times larger: the loss 0 is found, or the gap says that it may be."""
    found = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        Z = rng.standard_normal((40, 3))
        y = np.sign(Z[:, 0])
        Z[0] *= 1e8
        best = best_comparator("hinge", as_rows(Z, y))
        assert best.gap == pytest.approx(best.loss, abs=1e-6)  # 0 is not excluded
        found += best.loss < 1e-6
    assert found >= 8
