"""The short way of a dict row is the careful way: same bits, same refusals, nothing half done."""

import math
from decimal import Decimal

import numpy as np
import pytest

from unitless.learners import Coordinate
from unitless.learners.transitional import OldLearner

LARGEST = np.finfo(float).max


def rows(n=300):
    """Dict rows: usual ones, and all that is not."""
    rng = np.random.default_rng(0)
    for k in range(n):
        x = {f"x{j}": float(v) for j, v in enumerate(rng.normal(size=5))}
        if k % 7 == 0:
            x[f"new{k}"] = 1
        if k % 11 == 0:
            x["x1"] = None
        if k % 13 == 0:
            x["x2"] = rng.choice([1e300, -LARGEST, 5e-324, 0.0])
        yield x, int(rng.choice([-1, 1])), float(rng.choice([1.0, 1.0, 0.5, 0.0]))


@pytest.mark.parametrize("loss", ["logistic", "absolute", "linear"])
def test_short_and_careful_give_the_same_bits(loss):
    short, careful = Coordinate(loss), Coordinate(loss)
    for x, y, weight in rows():
        expected = OldLearner.predict_one(careful, x)
        assert short.predict_one(x) == expected
        expected = OldLearner.learn_one(careful, x, y, weight)
        assert short.learn_one(x, y, weight) == expected
    assert [a.tobytes() for a in short.state] == [a.tobytes() for a in careful.state]
    assert short.state.units.size > 0


REFUSED = [math.nan, math.inf, -math.inf, 10**400, "1", None, [1], 1j]


@pytest.mark.parametrize("y", REFUSED, ids=repr)
@pytest.mark.parametrize("loss", ["logistic", "absolute", "linear"])
def test_a_target_that_is_refused_changes_nothing(loss, y):
    learner = Coordinate(loss)
    learner.learn_one({"a": 1.0}, 1)
    before = learner._memory.tobytes(), learner.predict_one({"a": 1.0})
    for x in ({"a": 1.0}, {"a": 1.0, "new": 2.0}):
        with pytest.raises(ValueError, match=r"^row 0: target .* does not fit"):
            learner.learn_one(x, y)
    assert (learner._memory.tobytes(), learner.predict_one({"a": 1.0})) == before
    assert [*learner.names.columns] == ["a"]


@pytest.mark.parametrize("loss", ["logistic", "linear"])
def test_a_target_outside_its_domain(loss):
    learner = Coordinate(loss)
    learner.learn_one({"a": 1.0}, 1)
    before = learner._memory.tobytes()
    with pytest.raises(ValueError, match=r"target 1\.5 does not fit"):
        learner.learn_one({"a": 1.0}, 1.5)
    assert learner._memory.tobytes() == before


@pytest.mark.parametrize("y", [True, np.int8(1), np.True_, Decimal(1), np.array(1.0)], ids=repr)
def test_other_kinds_of_one(y):
    learner, plain = Coordinate(), Coordinate()
    for _ in range(2):
        assert learner.learn_one({"a": 1.0}, y) == plain.learn_one({"a": 1.0}, 1)


def test_an_infinite_value_changes_nothing():
    learner = Coordinate()
    learner.learn_one({"a": 1.0}, 1)
    before = learner._memory.tobytes()
    for x in ({"a": math.inf}, {"a": 1.0, "b": -math.inf}):
        for call in (lambda x=x: learner.learn_one(x, 1), lambda x=x: learner.predict_one(x)):
            with pytest.raises(ValueError, match="inf is not a number to learn from"):
                call()
    assert learner._memory.tobytes() == before
    assert [*learner.names.columns] == ["a"]
