"""Strictly sequential: no score knows its own label, nor anything that comes later."""

import numpy as np

from laws.streams import (
    BLIND,
    CLASSES,
    SILENT,
    each_form,
    each_learner,
    each_pair,
    in_any_unit,
    make,
    same_bits,
    tame,
)
from unitless import losses

ROWS = (0, 1, 2, 17, 38, 39)  # first and last, both halves of a pair, of a block of 40


FAR, NEAR = np.array([1e9, -1, 0, 1e-9, 1e200, 1]), np.array([0.5, -1, 0, 1e-9, 1, 1])


def other_targets(y, loss):
    """Targets that differ from y and fit the same loss; one of them has another slope."""
    if losses.get(loss).targets == "reals":
        return [y - 1e3, y + 1e3]
    return [(y + 1) % CLASSES] if loss == "softmax" else [-y]


@each_pair
@each_form
def test_a_label_moves_only_later_scores(name, loss, form):
    stream = tame(name, loss, n=40, d=6, density=1.0)
    one = make(name, loss).learn(stream.rows(form))
    for t in ROWS:
        moved = False
        for other in other_targets(stream.y[t], loss):
            y = np.where(np.arange(40) == t, other, stream.y)
            two = make(name, loss).learn(stream._replace(y=y).rows(form))
            same_bits(one[: t + 1], two[: t + 1])
            moved |= (one[t + 1 :] != two[t + 1 :]).any()
        assert moved or name in SILENT or t >= 38


@each_pair
@each_form
def test_a_row_moves_no_earlier_score(name, loss, form):
    stream = tame(name, loss, n=40, d=6, density=1.0)
    one = make(name, loss).learn(stream.rows(form))
    for t in ROWS:
        X = stream.X.copy()
        X[t] *= FAR if in_any_unit(name) else NEAR
        two = make(name, loss).learn(stream._replace(X=X).rows(form))
        same_bits(one[:t], two[:t])
        if name not in (*BLIND, "boosted_trees") and 0 < t < 38:  # trees wait for more rows
            assert (one[t:] != two[t:]).any()


@each_learner
@each_form
def test_a_weight_moves_no_earlier_score(name, form):
    stream = tame(name, n=40, weighted=True)
    v = stream.v.copy()
    v[17] = 100
    one = make(name).learn(stream.rows(form))
    two = make(name).learn(stream._replace(v=v).rows(form))
    same_bits(one[:17], two[:17])
    assert name in SILENT or (one[17:] != two[17:]).any()


@each_learner
def test_the_inputs_are_not_written_to(name):
    stream = tame(name, n=40, weighted=True)
    copies = [array.copy() for array in stream]
    learner = make(name)
    learner.learn(stream.rows())
    learner.predict(stream.rows())
    for array, copy in zip(stream, copies, strict=True):
        np.testing.assert_array_equal(array, copy)
