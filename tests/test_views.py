"""Views of a row, against their definitions, and what each keeps when units or origins change."""

import math

import numpy as np
import pytest

from blend.material import error, same_bits, worst
from naive import streams
from naive import views as naive_views
from unitless.blend.views import Views
from unitless.learners import get
from unitless.rows import as_rows

NAMES = ["raw", "centred", "squashed", "normalised", "presence"]
RNG = np.random.default_rng(7)
STREAMS = streams.ordinary(RNG, 60) | streams.deficient(RNG, 40)
each_view = pytest.mark.parametrize("name", NAMES)
affine_views = pytest.mark.parametrize("name", ["centred", "squashed"])


def shown(name, X, views=None, learn=True):
    """The rows as a view shows them."""
    return (views or Views()).tables(X, learn)[name]


def through(name, X, y, learner, **parameters):
    """A learner's scores of rows as a view shows them."""
    return get(learner)(**parameters).learn(as_rows(shown(name, X), y))


@each_view
@pytest.mark.parametrize("stream", STREAMS)
def test_definitions(name, stream):
    """Measured: 4e-16 of the column's largest value for centred (the mean is a running sum of n
    roundings), 3e-13 for squashed where a column 100 times as large as its deviations is centred,
    2e-16 for the others.
    """
    X = STREAMS[stream]
    found = shown(name, X)
    exact = np.array(getattr(naive_views, name)(X.tolist()), dtype=object)
    if name == "centred":
        size = np.abs(X).max(axis=0)
        size[size == 0] = 1
        assert np.abs((found - exact.astype(float)) / size).max() < 1e-14
    else:
        assert worst(found, exact.tolist()) < (2e-12 if name == "squashed" else 1e-15)


@each_view
def test_missing_values(name):
    """They are 0 in every view, and teach nothing."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)) + np.array([0, 3, 0])
    X[rng.random(X.shape) < 0.3] = np.nan
    X[:5, 2] = np.nan
    exact = getattr(naive_views, name)(X.tolist())
    if name == "raw":
        np.testing.assert_array_equal(shown(name, X), X)
        return
    assert worst(shown(name, X), exact) < 1e-13


def test_a_constant_column_is_0_to_the_bit():
    """Its mean must not be rounded away from it: squashed, 1e-17 would be as good as 1."""
    X = np.full((1000, 2), [0.1, 1e300 / 3])
    assert not shown("centred", X).any()
    assert not shown("squashed", X).any()


def test_squashed_lies_within_1():
    X = np.random.default_rng(0).standard_cauchy((500, 4)) * [1e-120, 1, 1e9, 1e120]
    u = shown("squashed", X)
    assert np.abs(u).max() <= 1
    assert np.isfinite(u).all()


def test_a_late_feature_has_been_0():
    X = np.zeros((10, 2))
    X[9] = 1.0, 0.0
    views = Views()
    early = shown("centred", X[:9, 1:], views)
    late = shown("centred", X[9:, ::-1], views)
    assert not early.any()
    assert late[0, 1] == pytest.approx(0.9, rel=1e-15)


@each_view
def test_a_row_is_shown_as_learning_would_show_it(name):
    X = STREAMS["late features"]
    views = Views()
    for t in range(len(X)):
        ahead = shown(name, X[t:], views, learn=False)
        same_bits(ahead[:1], shown(name, X[t : t + 1], views))


@each_view
def test_blocks_are_rows(name):
    X = STREAMS["shifted"]
    whole = shown(name, X)
    views = Views()
    for first, last in ((0, 7), (7, 8), (8, 60)):
        same_bits(shown(name, X[first:last], views), whole[first:last])


@each_view
def test_units(name):
    """Powers of two, signs included: a view keeps the unit of its column or has none."""
    X = STREAMS["shifted"]
    factors = np.array([2.0**-150, -1.0, -(2.0**30), 2.0**150])
    plain, other = shown(name, X), shown(name, X * factors)
    if name == "presence":
        same_bits(other, plain)
    else:
        turned = plain * (np.sign(factors) if name == "squashed" else factors)
        same_bits(other + 0.0, turned + 0.0)  # -1 times 0 is -0


@each_view
def test_rescale_in_mid_stream(name):
    X = STREAMS["shifted"]
    factors = np.array([2.0**-50, -1.0, -(2.0**30), 2.0**50])
    straight, views = shown(name, X * factors), Views()
    shown(name, X[:30], views)
    views.rescale(np.arange(4), factors)
    same_bits(shown(name, X[30:] * factors, views) + 0.0, straight[30:] + 0.0)


@affine_views
def test_shifts(name):
    """Measured: 4e-16 of the shift for centred, 1e-10 for squashed after a shift by 1e6."""
    X = np.random.default_rng(1).normal(size=(200, 3))
    plain = shown(name, X)
    for shift in (3.0, -1e3, 1e6):
        other = shown(name, X + shift)
        limit = 1e-15 if name == "centred" else 1e-12
        assert np.abs(other - plain).max() < limit * abs(shift) + 1e-13


# Learners that stand behind them


@pytest.mark.parametrize(
    ("name", "learner"),
    [
        ("centred", "newton"),
        ("squashed", "newton"),
        ("squashed", "diagonal"),
        ("squashed", "inag"),
        ("centred", "diagonal"),
        ("centred", "inag"),
    ],
)
@pytest.mark.parametrize("shift", [3.0, -100.0, 1e4])
def test_a_learner_of_units_becomes_affine(name, learner, shift):
    """x -> a x + b moves no score but by rounding, which is the shift's. Measured: 2e-12 of the
    largest score for a shift of 1e4.
    """
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 4)) * [1, 10, 0.1, 1]
    y = np.where(X @ [1, 0.1, 10, 0] + rng.normal(size=300) > 0, 1.0, -1.0)
    plain = through(name, X, y, learner)
    other = through(name, X * [8, -0.5, 2, 1] + shift * np.array([1, 10, 0.1, -1]), y, learner)
    assert error(other, plain) < 1e-13 * abs(shift) + 1e-12


def test_raw_and_normalised_learners_are_not_affine():
    """Else the law above would test nothing."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 4))
    y = rng.choice([-1.0, 1.0], 300)
    for name, learner in (("raw", "scinol2"), ("raw", "newton"), ("normalised", "inag")):
        assert error(through(name, X + 3, y, learner), through(name, X, y, learner)) > 1e-2
    assert math.isfinite(error(through("squashed", X, y, "newton"), np.ones(300)))
