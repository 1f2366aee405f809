"""Losses against their definitions in 60 digits, on and beside their kinks, up to the largest p."""

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import losses as naive
from naive.digits import precision
from unitless import losses
from unitless.learners import get
from unitless.learners.one_vs_rest import with_classes
from unitless.rows import as_rows

LARGEST = float(np.finfo(np.float64).max)
NAMES = [
    "logistic", "hinge", "smoothed_hinge", "absolute", "quantile(0.9)", "quantile(0.2)",
    "huber(2)", "huber(0.01)", "squared", "linear",
]  # fmt: skip
EVERY_LOSS = pytest.mark.parametrize("name", NAMES)
TARGETS = {
    "signs": [-1.0, 1.0],
    "slopes": [-1.0, -0.3, 0.0, 0.7, 1.0],
    "reals": [0.0, -1.0, 3.7, 1e-300, 1e15, -1e308, LARGEST],
}
SIZES = [
    0.0, 5e-324, 1e-300, 1e-17, 1e-9, 0.3, 0.5, math.nextafter(1, 0), 1.0, math.nextafter(1, 2),
    2.0, 3.7, 30.0, 37.0, 700.0, 708.0, 745.0, 1e3, 1e15, 1e154, 1.4e154, 1e200, 1e308, LARGEST,
]  # fmt: skip
SCORES = np.array([sign * size for size in SIZES for sign in (1, -1)])


def grid(loss):
    """Every target with every score, and with the scores a float beside the target."""
    pairs = [(y, p) for y in TARGETS[loss.targets] for p in SCORES]
    for y in TARGETS[loss.targets]:
        pairs += [(y, y), (y, math.nextafter(y, 0)), (y, y + 2), (y, y - 2)]
    return np.array([(y, p) for y, p in pairs if math.isfinite(p)]).T


def saturated(number):
    return max(-LARGEST, min(LARGEST, float(number)))


def bits(array):
    """Equal bits, so that -0.0 differs from 0.0."""
    return np.asarray(array, dtype=np.float64).view(np.int64)


@EVERY_LOSS
@pytest.mark.parametrize("what", ["value", "derivative"])
def test_definition(name, what):
    """To 4 units in the last place, whatever the size of the score, while p - y is a float.

    The absolute slack is for the logistic derivative, whose exp is clamped at exp(-700) = 1e-304,
    and for values that are denormal.
    """
    loss = losses.get(name)
    y, p = grid(loss)
    y, p = np.transpose(
        [(a, b) for a, b in zip(y, p, strict=True) if abs(b / 2 - a / 2) < LARGEST / 2]
    )
    found = getattr(loss, what)(y, p)
    with precision(60):
        formula = getattr(naive.get(name), what)
        exact = [saturated(formula(Decimal(a), Decimal(b))) for a, b in zip(y, p, strict=True)]
    np.testing.assert_allclose(found, exact, rtol=1e-15, atol=1e-304)


@EVERY_LOSS
def test_the_definition_of_the_derivative(name):
    """The twin's own derivative is the slope of the twin's value."""
    loss = naive.get(name)
    with precision(60):
        step = Decimal("1e-20")
        for y in map(Decimal, TARGETS[losses.get(name).targets][:3]):
            for p in map(Decimal, ("-7.1", "-0.4", "0.003", "0.6", "5.3")):
                slope = (loss.value(y, p + step) - loss.value(y, p - step)) / (2 * step)
                assert abs(slope - loss.derivative(y, p)) < Decimal("1e-18")


@pytest.mark.parametrize("name", [*NAMES, "huber(1e200)", "huber(1e308)"])
def test_nothing_is_infinite(name):
    loss = losses.get(name)
    y, p = grid(loss)
    assert np.isfinite(loss.value(y, p)).all()
    assert np.isfinite(loss.derivative(y, p)).all()
    assert np.isfinite(loss.link(p)).all()


@pytest.mark.parametrize(
    ("name", "y", "kink", "below", "above"),
    [
        ("hinge", 1.0, 1.0, -1.0, 0.0),
        ("hinge", -1.0, -1.0, 0.0, 1.0),
        ("absolute", 0.3, 0.3, -1.0, 1.0),
        ("absolute", -1e300, -1e300, -1.0, 1.0),
        ("absolute", 0.0, 0.0, -1.0, 1.0),
        ("quantile(0.9)", 0.3, 0.3, -0.9, 1 - 0.9),
        ("quantile(0.25)", -4.0, -4.0, -0.25, 0.75),
    ],
)
def test_kinks(name, y, kink, below, above):
    """0 on the kink, the full slope a float beside it."""
    scores = [math.nextafter(kink, -math.inf), kink, math.nextafter(kink, math.inf)]
    np.testing.assert_array_equal(losses.get(name).derivative(y, scores), [below, 0.0, above])


@pytest.mark.parametrize(
    ("name", "y", "joint", "slope"),
    [
        ("smoothed_hinge", 1.0, 0.0, -1.0),
        ("smoothed_hinge", 1.0, 1.0, 0.0),
        ("smoothed_hinge", -1.0, 0.0, 1.0),
        ("smoothed_hinge", -1.0, -1.0, 0.0),
        ("huber(2)", 1.0, 3.0, 2.0),
        ("huber(2)", 1.0, -1.0, -2.0),
    ],
)
def test_smooth_joints(name, y, joint, slope):
    loss = losses.get(name)
    assert loss.derivative(y, joint) == slope
    beside = [math.nextafter(joint, -math.inf), math.nextafter(joint, math.inf)]
    np.testing.assert_allclose(loss.derivative(y, beside), slope, atol=1e-15)
    np.testing.assert_allclose(loss.value(y, beside), loss.value(y, joint), atol=1e-15)


SCORE = st.floats(-1e6, 1e6)


@EVERY_LOSS
@given(data=st.data(), p=SCORE, q=SCORE)
def test_the_derivative_is_a_subgradient(name, data, p, q):
    """value(q) >= value(p) + derivative(p) (q - p): convexity, which the regret bounds stand on."""
    loss = losses.get(name)
    reals = st.floats(-1e3, 1e3) | st.just(p) | st.just(q)
    y = data.draw(reals if loss.targets == "reals" else st.sampled_from(TARGETS[loss.targets]))
    rise = loss.derivative(y, p) * (q - p)
    here, there = loss.value(y, [p, q])
    rounding = 1e-14 * (abs(here) + abs(there) + abs(rise))
    rounding += 1e-304 * abs(q - p)  # exp is clamped there, and so is the logistic derivative
    assert there >= here + rise - rounding


@EVERY_LOSS
def test_lipschitz_constant(name):
    """Attained and never exceeded, by no bit: the learners divide by it and rely on |g| <= 1."""
    loss = losses.get(name)
    slopes = np.abs(loss.derivative(*grid(loss)))
    if name == "squared":
        assert loss.lipschitz == math.inf
        assert slopes.max() == LARGEST
    else:
        assert slopes.max() == loss.lipschitz


@pytest.mark.parametrize("tau", [1e-300, 1e-17, 0.1, 0.3, 0.5, 0.7, 1 - 2**-53])
def test_lipschitz_constant_of_quantiles(tau):
    loss = losses.quantile(tau)
    assert np.abs(loss.derivative(0.0, [-1.0, 1.0])).max() == loss.lipschitz


def test_logistic_link():
    """P(y = +1) with all its digits at the small end, where 1 / (1 + exp(-p)) has them."""
    p = np.array([-700.0, -300.0, -40.0, -1.0, -1e-9, 0.0, 1e-9, 1.0, 40.0, 1e308])
    with precision(60):
        exact = [float(1 / (1 + (-Decimal(v)).exp())) for v in p[:-1]] + [1.0]
    np.testing.assert_allclose(losses.get("logistic").link(p), exact, rtol=1e-15)
    assert 0 <= losses.get("logistic").link(-1e308) < 1e-300


@pytest.mark.parametrize("order", ["C", "F"])
def test_logistic_link_keeps_shape_and_input(order):
    p = np.asfortranarray([[0.0, 1.0, 2.0], [-1.0, -2.0, -3.0]]).copy(order)
    before = p.copy()
    found = losses.get("logistic").link(p)
    np.testing.assert_allclose(found, 1 / (1 + np.exp(-before)), rtol=1e-15)
    np.testing.assert_array_equal(p, before)
    assert losses.get("logistic").link(0.0) == 0.5


@pytest.mark.parametrize("name", [name for name in NAMES if name != "logistic"])
def test_other_links_are_the_score(name):
    np.testing.assert_array_equal(losses.get(name).link(SCORES), SCORES)


@EVERY_LOSS
def test_an_array_is_its_numbers(name):
    """To the bit, however the compiler vectorises the loop and whatever is left at its end."""
    loss, rng = losses.get(name), np.random.default_rng(0)
    y = rng.choice(TARGETS[loss.targets], 999)
    p = rng.normal(size=999) * 10.0 ** rng.integers(-3, 4, 999)
    y, p = np.concatenate([(y, p), grid(loss)], axis=1)
    pairs = list(zip(y, p, strict=True))
    for what in ("value", "derivative"):
        function = getattr(loss, what)
        one_by_one = [function(a, b) for a, b in pairs]
        np.testing.assert_array_equal(bits(function(y, p)), bits(one_by_one))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "squared"])
def test_learners_use_the_derivative(name):
    """To the bit: one step of plain gradient descent from w = 0, and a second one from there.

    A score that is its target but for rounding has the slope 0, where a loss has a kink.
    """
    loss, rng = losses.get(name), np.random.default_rng(0)
    for y in rng.choice(TARGETS[loss.targets], (20, 2)):
        learner = get("ogd")(loss, rate=1.0, intercept=False)
        learner.learn(as_rows([[1.0]], y[:1]))
        g = float(loss.derivative(y[0], 0.0)) * (1 / loss.lipschitz)
        w = 0.0 - g if abs(g) >= losses.MIN_SLOPE else 0.0
        assert learner.weights().features[0] == w
        learner.learn(as_rows([[1.0]], y[1:]))
        slope = float(loss.derivative(y[1], w))
        least = min((min(abs(each), 2.0**240) for each in y if each), default=0.0)
        nearest = 2.0**-40 * max(min(abs(y[1]), 2.0**240), least)
        if name.startswith(("hinge", "absolute", "quantile")) and abs(w - y[1]) <= nearest:
            slope = 0.0
        w -= slope * (1 / loss.lipschitz) * (1 / math.sqrt(2))
        assert learner.weights().features[0] == pytest.approx(w, rel=1e-15, abs=1e-15)


def test_broadcasting():
    loss = losses.get("absolute")
    assert loss.value([[0.0], [1.0]], [1.0, 2.0, 3.0]).tolist() == [[1, 2, 3], [0, 1, 2]]
    assert loss.derivative(0, 5).shape == ()
    assert loss.value([], []).shape == (0,)


def test_parameters_in_the_name():
    assert losses.get("quantile(0.9)") == losses.quantile(0.9)
    assert losses.get("quantile") == losses.quantile(0.5)
    assert losses.get("huber(1e-3)") == losses.huber(0.001)
    assert losses.get("huber") == losses.huber(1)
    made = losses.huber(3.5)
    assert losses.get(made) is made


@pytest.mark.parametrize("made", [losses.quantile(0.123456789), losses.huber(1 / 3)])
def test_the_name_gives_the_loss_back(made):
    assert losses.get(made.name) == made


@pytest.mark.parametrize(
    "name", ["", "Logistic", "log", "logistic(2)", "hinge(", "huberish(2)", "None"]
)
def test_unknown_names(name):
    with pytest.raises(ValueError, match="unknown loss") as error:
        losses.get(name)
    assert repr(name) in str(error.value)
    for known in ("logistic", "quantile(tau)", "huber(delta)"):
        assert known in str(error.value)


@pytest.mark.parametrize(
    "name",
    ["quantile(0)", "quantile(1)", "quantile(-0.1)", "quantile(1.5)", "quantile(nan)",
     "quantile(x)", "quantile()", "huber(0)", "huber(-1)", "huber(inf)", "huber(nan)",
     "huber(2, 3)"],
)  # fmt: skip
def test_bad_parameters(name):
    with pytest.raises(ValueError, match=r"^loss ") as error:
        losses.get(name)
    assert repr(name) in str(error.value)


@pytest.mark.parametrize("make", [losses.quantile, losses.huber])
@pytest.mark.parametrize("parameter", [0, -1, math.inf, math.nan])
def test_bad_parameters_of_the_makers(make, parameter):
    with pytest.raises(ValueError, match=f"{make.__name__} needs"):
        make(parameter)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("logistic", [-1, 1], [0, 2, 0.999, math.nan, math.inf]),
        ("hinge", [-1, 1], [0, -2, math.nan]),
        ("smoothed_hinge", [-1, 1], [0, math.nan]),
        ("absolute", [0, -1e308, LARGEST], [math.inf, -math.inf, math.nan]),
        ("quantile(0.9)", [0, LARGEST], [math.inf, math.nan]),
        ("huber(2)", [0, LARGEST], [math.inf, math.nan]),
        ("squared", [0, LARGEST], [math.inf, math.nan]),
        ("linear", [-1, -0.3, 0, 1], [1.0000001, -2, math.nan]),
    ],
)
def test_targets_outside_the_domain_name_their_row(name, good, bad):
    loss = losses.get(name)
    losses.check_targets(loss, np.array(good, dtype=float))
    losses.check_targets(loss, np.empty(0))
    for target in bad:
        targets = np.array([*good, target, *good, target], dtype=float)
        with pytest.raises(ValueError, match=f"^row {len(good)}: target") as error:
            losses.check_targets(loss, targets)
        assert repr(float(target)) in str(error.value)
        assert loss.name in str(error.value)
        with pytest.raises(ValueError, match=r"^row 0: target"):
            losses.check_target(loss, target)
    for target in good:
        losses.check_target(loss, target)


# Softmax: a score a class


SOFTMAX = losses.get("softmax")
CLASS_SCORES = np.array(
    [
        [0.0, 0.0, 0.0],
        [1.0, -2.0, 0.5],
        [40.0, 0.0, -1.0],
        [-700.0, 0.0, 3.0],
        [1e300, 1e300, 0.0],
        [5e-324, 0.0, 1.0],
        [LARGEST, -LARGEST, 0.0],
    ]
)


def cross_entropy(y, p):
    """log sum exp(p_c - p_y), in decimals."""
    return sum(((Decimal(a) - Decimal(p[y])).max(Decimal(-(10**5)))).exp() for a in p).ln()


@pytest.mark.parametrize("y", [0, 1, 2])
def test_softmax_definition(y):
    """With all digits where the class is almost sure, and finite where it is ruled out."""
    rows = CLASS_SCORES[:-3]
    with precision(60):
        exact = [float(cross_entropy(y, p)) for p in rows]
    np.testing.assert_allclose(SOFTMAX.value(np.full(len(rows), y), rows), exact, rtol=1e-15)
    assert SOFTMAX.value([y], [[1e300, 1e300, 0.0]])[0] == [math.log(2), math.log(2), 1e300][y]
    assert SOFTMAX.value([y], [[LARGEST, -LARGEST, 0.0]])[0] == [0.0, LARGEST, LARGEST][y]


def test_softmax_of_two_classes_is_logistic():
    p = np.array([-30.0, -3.0, -0.1, 0.0, 0.7, 5.0, 36.0])
    scores, ones = np.column_stack([np.zeros(7), p]), np.ones(7)
    logistic = losses.get("logistic")
    np.testing.assert_allclose(SOFTMAX.value(ones, scores), logistic.value(ones, p), rtol=1e-15)
    slopes = SOFTMAX.derivative(ones, scores)[:, 1]
    np.testing.assert_allclose(slopes, logistic.derivative(ones, p), atol=1e-15)
    np.testing.assert_allclose(SOFTMAX.link(scores)[:, 1], logistic.link(p), rtol=1e-15)


def test_softmax_derivative_is_the_slope_of_the_value():
    rng = np.random.default_rng(0)
    p, y = rng.normal(size=(20, 4)) * 3, rng.integers(0, 4, 20)
    found = SOFTMAX.derivative(y, p)
    for c in range(4):
        step = 1e-6 * np.eye(4)[c]
        slope = (SOFTMAX.value(y, p + step) - SOFTMAX.value(y, p - step)) / 2e-6
        np.testing.assert_allclose(found[:, c], slope, atol=1e-9)
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-15)


@pytest.mark.parametrize("y", [0.0, 1.0, 2.0])
def test_softmax_derivative_is_what_learners_use(y):
    """One step of plain gradient descent from w = 0, and a second from where that led."""
    learner = with_classes(get("ogd"), 3, rate=1.0, intercept=False)
    rows = as_rows([[2.0], [1.0]], [y, 1.0])
    scores = learner.learn(rows)
    w = -2.0 * SOFTMAX.derivative([y], [[0.0, 0.0, 0.0]])[0]
    np.testing.assert_allclose(scores[1], w, rtol=1e-14)
    w -= SOFTMAX.derivative([1.0], [w])[0] / math.sqrt(2)
    np.testing.assert_allclose(learner.weights().features[0], w, rtol=1e-14)


def test_softmax_is_bounded():
    slopes = SOFTMAX.derivative(np.zeros(len(CLASS_SCORES)), CLASS_SCORES)
    assert np.abs(slopes).max() <= SOFTMAX.lipschitz
    link = SOFTMAX.link(CLASS_SCORES)
    np.testing.assert_allclose(link.sum(axis=1), 1, rtol=1e-15)
    assert ((link >= 0) & (link <= 1)).all()
    assert SOFTMAX.link(np.empty((0, 3))).shape == (0, 3)


@pytest.mark.parametrize("what", ["value", "derivative"])
def test_softmax_refuses_what_it_would_read_beyond(what):
    call = getattr(SOFTMAX, what)
    with pytest.raises(ValueError, match=r"row 1: target 3\.0 .* softmax .* below 3"):
        call([0, 3], np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"row 0: target -1\.0 .* class number"):
        call([-1], np.zeros((1, 3)))
    for shapes in ((2, (3, 3)), (3, (3,)), (1, (2, 3))):
        with pytest.raises(ValueError, match="one class number per row"):
            call(np.zeros(shapes[0]), np.zeros(shapes[1]))


def test_softmax_is_no_loss_of_one_score():
    assert "softmax" not in losses.NAMES
    assert losses.get("softmax") is SOFTMAX
    with pytest.raises(ValueError, match="softmax"):
        losses.get("nothing")


@pytest.mark.parametrize("target", [3, 3.0, -1, 0.5, math.nan, math.inf, "red", None, [1.0]])
def test_softmax_targets(target):
    for good in (0, 1, 2.0, np.float64(2), np.int64(1)):
        losses.check_target(SOFTMAX, good, classes=3)
    words = "below 3" if target in (3, math.inf) else "a class number"
    with pytest.raises(ValueError, match=r"row 7: target .* fit the softmax loss") as error:
        losses.check_target(SOFTMAX, target, row=7, classes=3)
    assert repr(target) in str(error.value)
    assert words in str(error.value)
    if isinstance(target, int | float):
        with pytest.raises(ValueError, match="row 2: target") as error:
            losses.check_targets(SOFTMAX, np.array([0.0, 2.0, target, target]), 3)
        assert repr(float(target)) in str(error.value)
