"""A short part of the search for the worst numbers; `benchmarks/reliability.py search` goes on."""

import numpy as np
import pytest

from faults.search import PAIRS, climbed, height

FOUND = [
    ("nag", "squared", 40, 0), ("inag", "squared", 40, 0), ("diagonal", "logistic", 20, 2),
    ("newton", "squared", 20, 1), ("newton", "logistic", 60, 13),
]  # fmt: skip
"""Learner, loss, streams and seed with which the search found sums of squares to overflow, and
of Newton the weights (by a new prior) and the covariance (by units that grow)."""


@pytest.mark.parametrize(("name", "loss"), PAIRS)
def test_nothing_found(name, loss):
    found = climbed(name, loss, 1 if name == "blend" else 3)
    assert found["bad"] == []


@pytest.mark.parametrize(("name", "loss", "streams", "seed"), FOUND)
def test_what_was_found_once(name, loss, streams, seed):
    assert climbed(name, loss, streams, seed)["bad"] == []


def test_a_learner_that_depends_on_units_is_found_out():
    found = climbed("ogd", "absolute", 20)
    assert len(found["bad"]) > 10
    assert found["rows"] == 20 * 200


def test_height():
    assert height([np.array([0.0, -3.0]), np.array([2.0**100])]) == 101
    assert height([np.zeros(3), np.array([1.0, np.nan])]) == np.inf
    assert height([np.array([-np.inf])]) == np.inf
