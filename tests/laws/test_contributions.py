"""What features contribute to a score adds up to it, and has no unit."""

import numpy as np

from laws.streams import (
    BLIND,
    each_form,
    each_pair,
    each_pair_in_any_unit,
    each_pair_where,
    linear,
    make,
    powers_of_two,
    same_bits,
    snapshot,
    tame,
)


def trained(name, loss, stream, form="dense"):
    """A learner that knows the stream."""
    learner = make(name, loss)
    learner.learn(stream.rows(form))
    return learner


@each_pair
@each_form
def test_they_add_up(name, loss, form):
    stream = tame(name, loss, d=6)
    learner = trained(name, loss, stream, form)
    before = snapshot(learner)
    for t in range(10):
        row = stream[t : t + 1].rows(form)
        base, parts = learner.contributions(row)
        score = learner.predict(row)[0]
        assert parts.shape == (6, *score.shape)
        size = np.abs(base) + np.abs(parts).sum(axis=0)
        assert np.all(np.abs(base + parts.sum(axis=0) - score) <= 1e-12 * size)
    assert snapshot(learner) == before
    assert name in BLIND or parts.any() or not linear(name)


@each_pair_in_any_unit
def test_they_have_no_unit(name, loss):
    stream = tame(name, loss, d=6)
    factors = powers_of_two(np.random.default_rng(0), 6, name=name)
    other = stream._replace(X=stream.X * factors)
    one, two = trained(name, loss, stream), trained(name, loss, other)
    for t in range(10):
        a, b = (
            one.contributions(stream[t : t + 1].rows()),
            two.contributions(other[t : t + 1].rows()),
        )
        same_bits(a[0], b[0])
        same_bits(a[1] + 0.0, b[1] + 0.0)


@each_pair_where(linear)
def test_what_is_not_there_contributes_nothing(name, loss):
    """Zeros, missing values and columns never seen, to learners that are linear in x."""
    stream = tame(name, loss, d=6)
    learner = trained(name, loss, stream)
    X = np.column_stack([stream.X[:5], np.ones(5)])
    X[:, 1], X[:, 3] = 0, np.nan
    for t in range(5):
        _, parts = learner.contributions(stream[t : t + 1]._replace(X=X[t : t + 1]).rows())
        assert parts.shape[0] == 6
        assert not parts[[1, 3]].any()
