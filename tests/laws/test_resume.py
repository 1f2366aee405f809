"""A learner copied or pickled in mid-stream goes on as if nothing had happened, to the bit."""

import copy
import pickle

import numpy as np

from cases import in_one_test
from laws.streams import (
    CLASSES,
    dicts,
    each_form,
    each_pair,
    each_pair_in_any_unit,
    late,
    learn_dicts,
    linear,
    make,
    outlook,
    same_bits,
    shuffled,
    snapshot,
    tame,
    target_invariance,
)

COPIES = {
    "deepcopy": copy.deepcopy,
    "pickle": lambda learner: pickle.loads(pickle.dumps(learner)),
}
each_copy = in_one_test("copied", COPIES)


def growing(name, loss, n=120):
    """Blocks of ten rows, two of each width, with features that first appear half way.

    Two, so that a copy learns at one width before it needs another.
    """
    stream = tame(name, loss, n=n, d=15, weighted=True)
    X = late(stream.X, columns=4)
    starts = range(0, n, 10)
    return [stream._replace(X=X[:, : 10 + t // 20])[t : t + 10] for t in starts]


@each_pair
@each_form
@each_copy
def test_blocks(name, loss, form, copied):
    """Copied after every block: room for more columns must not be shared, lost or stale."""
    straight, resumed = make(name, loss), make(name, loss)
    for block in growing(name, loss):
        scores = straight.learn(block.rows(form))
        resumed = copied(resumed)
        same_bits(resumed.learn(block.rows(form)), scores)
    same_bits(outlook(resumed, 20), outlook(straight, 20))


@each_pair
@each_copy
def test_copied_once(name, loss, copied):
    """Several blocks on one copy: it grows from what it learned, not from what was copied."""
    blocks = growing(name, loss)
    straight = make(name, loss)
    for block in blocks[:3]:
        straight.learn(block.rows())
    resumed = copied(straight)
    for block in blocks[3:]:
        same_bits(resumed.learn(block.rows()), straight.learn(block.rows()))
    same_bits(outlook(resumed, 20), outlook(straight, 20))


@each_pair_in_any_unit
@each_copy
def test_in_other_units(name, loss, copied):
    """Copied after a change of units, and the columns grow afterwards."""
    blocks = growing(name, loss)
    straight = make(name, loss)
    straight.learn(blocks[0].rows())
    straight.rescale(np.full(10, 2.0**300))
    resumed = copied(straight)
    for block in blocks[1:]:
        same_bits(resumed.learn(block.rows()), straight.learn(block.rows()))
    same_bits(outlook(resumed, 20), outlook(straight, 20))


@each_pair
@each_copy
def test_dicts_with_names(name, loss, copied):
    stream = tame(name, loss, n=60, d=10, density=0.3)
    rows = [{f"feature {j}": x for j, x in row.items()} for row in dicts(stream.X, absent=(0,))]
    straight = make(name, loss)
    learn_dicts(straight, rows[:20], stream.y[:20])
    resumed = copied(straight)
    assert list(resumed.names.columns) == list(straight.names.columns)
    scores = learn_dicts(straight, rows[20:], stream.y[20:])
    same_bits(learn_dicts(resumed, rows[20:], stream.y[20:]), scores)
    same_bits(outlook(resumed, 10), outlook(straight, 10))


@each_pair
@each_copy
def test_dicts_whose_keys_come_in_any_order(name, loss, copied):
    """Sums run in the order of keys: of this row's, not of one that a copy has not seen."""
    stream = tame(name, loss, n=25, d=20, density=1.0)
    straight, resumed = make(name, loss), make(name, loss)
    for row, y in zip(shuffled(dicts(stream.X)), stream.y, strict=True):
        resumed = copied(resumed)
        same_bits([resumed.learn_one(row, y)], [straight.learn_one(row, y)])


@each_pair_in_any_unit
@each_copy
def test_beyond_the_range_of_squares(name, loss, copied):
    stream = tame(name, loss, n=40, d=4)
    stream = stream._replace(X=stream.X * [1e-300, 1.0, 1e200, 1e-310])
    straight = make(name, loss)
    straight.learn(stream[:20].rows())
    resumed = copied(straight)
    same_bits(resumed.learn(stream[20:].rows()), straight.learn(stream[20:].rows()))


@each_pair
@each_copy
def test_a_copy_goes_its_own_way(name, loss, copied):
    blocks = growing(name, loss)
    learner = make(name, loss)
    for block in blocks[:3]:
        learner.learn(block.rows())
    before, twin = snapshot(learner), copied(learner)
    assert snapshot(twin) == before
    for block in blocks[3:]:
        twin.learn(block.rows())
    assert snapshot(learner) == before
    assert snapshot(twin) != before


@each_pair
@each_copy
def test_parameters_survive(name, loss, copied):
    learner = copied(make(name, loss, intercept=False))
    assert (learner.loss.name, learner.intercept) == (loss, False)
    shape = (60, CLASSES) if loss == "softmax" else (60,)
    assert learner.learn(tame(name, loss).rows()).shape == shape
    if linear(name) and target_invariance(name) != "affine":
        assert not np.any(learner.weights().intercept)
