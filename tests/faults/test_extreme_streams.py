"""Short streams of extreme numbers; `benchmarks/reliability.py extremes` tries many more."""

import pytest

from faults.extreme_streams import check
from laws.streams import PAIRS

FOUND = [
    ("vaw", "squared", range(90)),
    ("vaw", "squared", range(266, 270)),
    ("coordinate", "huber(2)", range(20)),
    ("coordinate", "huber(2)", range(170, 176)),
    ("coordinate", "absolute", range(30)),
    ("coordinate", "quantile(0.9)", range(42)),
    ("coordinate", "softmax", range(26)),
    ("inag", "huber(2)", [20]),
    ("nag", "squared", [55]),
    ("ridge", "squared", [58]),
    ("kt", "softmax", [45]),
]
"""Learner, loss and seeds where this search found: a prediction that lost its digits in the unit of
the next target, contributions that overflow, sums that make a file unreadable, digits of g x that
depend on the unit of x, squares of g x or y x beyond float64, and warnings of overflow."""


@pytest.mark.parametrize(("name", "loss"), PAIRS)
def test_every_learner(name, loss):
    for seed in range(1 if "blend" in name else 6):
        check(name, loss, seed)


@pytest.mark.parametrize(("name", "loss", "seeds"), FOUND)
def test_what_was_found_once(name, loss, seeds):
    for seed in seeds:
        check(name, loss, seed)
