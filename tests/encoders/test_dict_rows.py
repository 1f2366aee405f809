"""Dict rows that are refused leave the learner as it was."""

import math
from decimal import Decimal

import numpy as np
import pytest

from unitless.learners import Coordinate
from unitless.state import remembered


def state(learner):
    """All that it has learned, as bytes."""
    arrays, facts = remembered(learner)
    return {name: array.tobytes() for name, array in arrays.items()}, facts


REFUSED = [math.nan, math.inf, -math.inf, 10**400, "1", None, [1], 1j]


@pytest.mark.parametrize("y", REFUSED, ids=repr)
@pytest.mark.parametrize("loss", ["logistic", "absolute", "linear"])
def test_a_target_that_is_refused_changes_nothing(loss, y):
    learner = Coordinate(loss)
    learner.learn_one({"a": 1.0}, 1)
    before = state(learner), learner.predict_one({"a": 1.0})
    for x in ({"a": 1.0}, {"a": 1.0, "new": 2.0}):
        with pytest.raises(ValueError, match=r"^row 0: target .* does not fit"):
            learner.learn_one(x, y)
    assert (state(learner), learner.predict_one({"a": 1.0})) == before
    assert [*learner.names.columns] == ["a"]


@pytest.mark.parametrize("loss", ["logistic", "linear"])
def test_a_target_outside_its_domain(loss):
    learner = Coordinate(loss)
    learner.learn_one({"a": 1.0}, 1)
    before = state(learner)
    with pytest.raises(ValueError, match=r"target 1\.5 does not fit"):
        learner.learn_one({"a": 1.0}, 1.5)
    assert state(learner) == before


@pytest.mark.parametrize("y", [True, np.int8(1), np.True_, Decimal(1), np.array(1.0)], ids=repr)
def test_other_kinds_of_one(y):
    learner, plain = Coordinate(), Coordinate()
    for _ in range(2):
        assert learner.learn_one({"a": 1.0}, y) == plain.learn_one({"a": 1.0}, 1)


def test_an_infinite_value_changes_nothing():
    learner = Coordinate()
    learner.learn_one({"a": 1.0}, 1)
    before = state(learner)
    for x in ({"a": math.inf}, {"a": 1.0, "b": -math.inf}):
        for call in (lambda x=x: learner.learn_one(x, 1), lambda x=x: learner.predict_one(x)):
            with pytest.raises(ValueError, match="inf is not a number to learn from"):
                call()
    assert state(learner) == before
    assert [*learner.names.columns] == ["a"]
