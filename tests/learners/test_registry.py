"""The registry, and what a learner says when it cannot be made."""

import math
import re

import numpy as np
import pytest

from unitless import learners, losses
from unitless.core.coordinatewise import Coordinatewise
from unitless.core.learner import Learner
from unitless.learners import REGISTRY, get
from unitless.rows import as_rows
from unitless.state import Field, remembered, state_table

each_learner = pytest.mark.parametrize("name", sorted(REGISTRY))


@each_learner
def test_registered(name):
    learner = get(name)
    assert issubclass(learner, Learner)
    class_name = REGISTRY[name].rpartition(".")[2]
    assert (learner.name, learner.__name__) == (name, class_name)
    assert getattr(learners, class_name) is learner
    assert learner.invariance in ("linear", "affine", "unit", "rotation", "none")


@each_learner
def test_state_is_made_of_arrays(name):
    arrays, _ = remembered(get(name)())
    assert arrays
    assert all(array.dtype.kind in "fiu" for array in arrays.values())


def words_of(meaning):
    """The words of a meaning beside those of formulas."""
    return set(re.findall(r"\b[a-z]{3,}\b", meaning)) - {"sum", "max", "log", "eps", "of", "for"}


def test_formulas_are_not_words():
    assert not words_of("sum (g x_i)^2") | words_of("max |x_i|") | words_of("h' S^+ h - Gamma")
    assert words_of("sum of squares, sum x_i^2") == {"squares"}


@each_learner
def test_each_field_is_explained_in_words(name):
    """A letter of the paper has a word beside it, not a formula alone."""
    for field in get(name).saved:
        if isinstance(field, Field):
            assert words_of(field.meaning), f"{field.name}: {field.meaning}"


@each_learner
def test_each_field_has_a_meaning(name):
    """And a unit; those of a feature are declared once per coordinate, in `saved`."""
    learner = get(name)
    declared = [field for field in learner.saved if isinstance(field, Field)]
    assert {"units", "t"} <= {field.name for field in declared}
    assert all(field.meaning and field.unit for field in declared)
    table = state_table(declared)
    assert all(field.name in table and field.meaning in table for field in declared)
    if issubclass(learner, Coordinatewise):
        by_name = {field.name: field for field in declared}
        assert all(by_name[field.name].shape == ("coordinates",) for field in learner.fields)


def test_unknown_learner():
    with pytest.raises(
        ValueError, match=r"unknown learner 'nobody'; choose one of .*coordinate, .*full"
    ):
        get("nobody")
    with pytest.raises(AttributeError, match="Nobody"):
        _ = learners.Nobody


@each_learner
@pytest.mark.parametrize("loss", ["logistics", "quantile(2)", "huber(-1)", "", "hinge(1)"])
def test_unknown_loss(name, loss):
    with pytest.raises(ValueError, match="loss"):
        get(name)(loss)


@each_learner
def test_losses_a_learner_accepts(name):
    """A bounded derivative is all a learner may ask for, and it says so in one sentence."""
    if get(name).needs_lipschitz:
        with pytest.raises(ValueError, match=r"needs a loss with a bounded derivative.*'absolute'"):
            get(name)("squared")
        assert math.isinf(losses.get("squared").lipschitz)
    accepted = 0
    for loss in ("logistic", "hinge", "smoothed_hinge", "absolute", "quantile(0.1)", "squared"):
        try:
            learner = get(name)(loss)
        except ValueError as error:
            assert losses.get(loss).name in str(error)  # noqa: PT017
        else:
            assert learner.loss == losses.get(loss)
            accepted += 1
    assert accepted


@each_learner
def test_a_loss_may_be_given_itself(name):
    loss = get(name)().loss
    assert get(name)(losses.get(loss.name)).loss == loss


@pytest.mark.parametrize("alpha", [9 / 8, 1.0, 0.0, -1.0, math.inf, math.nan])
def test_alpha_of_algorithm_1(alpha):
    with pytest.raises(ValueError, match=r"it is a finite number > 9/8 .*Theorem 1"):
        get("coordinate")(alpha=alpha)
    get("coordinate")(alpha=math.nextafter(9 / 8, 2))


@pytest.mark.parametrize("alpha", [1.1148186546427590, 1.0, 0.0, -1.0, math.inf, math.nan])
def test_alpha_of_algorithm_2(alpha):
    with pytest.raises(ValueError, match=r"finite number >= 1\.1148186546427592 .*9/8"):
        get("full")(alpha=alpha)
    get("full")(alpha=1.1148186546427592)


@pytest.mark.parametrize("name", ["coordinate", "full"])
@pytest.mark.parametrize("wealth", [0.0, -1.0, math.inf, math.nan])
def test_wealth(name, wealth):
    with pytest.raises(ValueError, match="finite number > 0"):
        get(name)(wealth=wealth)


@pytest.mark.parametrize("d", [0, -3])
def test_dimension(d):
    with pytest.raises(ValueError, match=r"whole number >= 1, or None .*None counts them"):
        get("coordinate")(d=d)


def test_defaults_are_the_issue_s():
    coordinate, full = get("coordinate")(), get("full")()
    assert (coordinate.alpha, coordinate.wealth, coordinate.d) == (1.2, 1.0, None)
    assert (full.alpha, full.wealth) == (9 / 8, 1.0)
    assert coordinate.intercept
    assert full.intercept


def test_fixed_and_counted_d():
    """With all coordinates in the first row they are the same number, d."""
    X, y = np.random.default_rng(0).normal(size=(50, 3)), np.resize([1.0, -1.0, 1.0], 50)
    counted = get("coordinate")().learn(as_rows(X, y))
    fixed = get("coordinate")(d=4).learn(as_rows(X, y))
    np.testing.assert_array_equal(counted, fixed)
    more = get("coordinate")(d=8).learn(as_rows(X, y))
    assert 0 < np.abs(more).max() < np.abs(fixed).max()


@pytest.mark.parametrize("name", ["coordinate", "full"])
def test_wealth_scales_the_scores_of_linear_losses(name):
    X, y = np.random.default_rng(0).normal(size=(50, 3)), np.resize([1.0, -1.0, -0.5], 50)
    one, four = (get(name)("linear", wealth=w).learn(as_rows(X, y)) for w in (1.0, 4.0))
    np.testing.assert_array_equal(4 * one, four)


def test_zero_is_zero():
    rng = np.random.default_rng(0)
    rows = as_rows(rng.normal(size=(50, 3)), rng.choice([-1.0, 1.0], 50))
    learner = get("zero")()
    assert not learner.learn(rows).any()
    assert not learner.predict(rows).any()
    assert learner.sums().A == 0
    assert learner.sums().trials == 50
