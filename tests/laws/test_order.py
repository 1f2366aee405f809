"""Strictly sequential: no score knows its own label, nor anything that comes later."""

import numpy as np
import pytest

from laws.streams import each_form, each_learner, each_pair, same_bits, tame
from unitless.learners import get

ROWS = (0, 1, 2, 17, 38, 39)  # first and last, both halves of a pair, of a block of 40


def other_targets(y):
    """Targets that differ from y and fit the same loss: all domains are symmetric."""
    return -y


@each_pair
@each_form
@pytest.mark.parametrize("t", ROWS)
def test_a_label_moves_only_later_scores(name, loss, form, t):
    stream = tame(loss, n=40, d=6, density=1.0)
    y = stream.y.copy()
    y[t] = other_targets(y[t])
    one = get(name)(loss).learn(stream.rows(form))
    two = get(name)(loss).learn(stream._replace(y=y).rows(form))
    same_bits(one[: t + 1], two[: t + 1])
    if name != "zero" and t < 38:
        assert (one[t + 1 :] != two[t + 1 :]).any()


@each_pair
@each_form
@pytest.mark.parametrize("t", ROWS)
def test_a_row_moves_no_earlier_score(name, loss, form, t):
    stream = tame(loss, n=40, d=6, density=1.0)
    X = stream.X.copy()
    X[t] *= [1e9, -1, 0, 1e-9, 1e200, 1]
    one = get(name)(loss).learn(stream.rows(form))
    two = get(name)(loss).learn(stream._replace(X=X).rows(form))
    same_bits(one[:t], two[:t])
    if name != "zero" and 0 < t < 38:
        assert (one[t:] != two[t:]).any()


@each_learner
@each_form
def test_a_weight_moves_no_earlier_score(name, form):
    stream = tame(n=40, weighted=True)
    v = stream.v.copy()
    v[17] = 100
    one = get(name)().learn(stream.rows(form))
    two = get(name)().learn(stream._replace(v=v).rows(form))
    same_bits(one[:17], two[:17])


@each_learner
def test_the_inputs_are_not_written_to(name):
    stream = tame(n=40, weighted=True)
    copies = [array.copy() for array in stream]
    learner = get(name)()
    learner.learn(stream.rows())
    learner.predict(stream.rows())
    for array, copy in zip(stream, copies, strict=True):
        np.testing.assert_array_equal(array, copy)
