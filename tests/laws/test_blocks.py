"""A block is its rows one by one, and `predict` is what `learn` then uses, to the bit."""

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cases import in_one_test
from laws.streams import (
    cases,
    dicts,
    each_form,
    each_group,
    each_learner,
    each_pair,
    late,
    make,
    or_diverged,
    outlook,
    same_bits,
    shuffled,
    snapshot,
    tame,
)
from unitless.rows import as_rows

FORMS = st.sampled_from(["dense", "csr"])


def in_pieces(learner, rows, cuts):
    """Learn the runs between the cuts, one after another."""
    edges = [0, *sorted(cuts), len(rows)]
    pieces = [learner.learn(rows[a:b]) for a, b in pairwise(edges)]
    return np.concatenate(pieces)


# Splits


@each_pair
@each_form
@in_one_test("weighted", [False, True])
def test_every_split_of_tame_streams(name, loss, form, weighted):
    stream = tame(name, loss, n=50, d=10, weighted=weighted)
    stream = stream._replace(X=late(stream.X))
    rows, rng = stream.rows(form), np.random.default_rng(0)
    whole = make(name, loss)
    scores = whole.learn(rows)
    for cuts in (range(1, 50), range(2, 50, 2), rng.integers(0, 51, 7), rng.integers(0, 51, 3)):
        learner = make(name, loss)
        same_bits(in_pieces(learner, rows, cuts), scores)
        same_bits(outlook(learner, 10), outlook(whole, 10))


@each_group
@given(st.data(), FORMS)
def test_every_split_of_nasty_streams(names, data, form):
    case = data.draw(cases(names))
    rows = case.stream.rows(form)
    cuts = data.draw(st.lists(st.integers(0, len(rows)), max_size=4))
    whole, pieces, single = (case.learner() for _ in range(3))
    scores = whole.learn(rows)
    same_bits(in_pieces(pieces, rows, cuts), scores)
    same_bits(in_pieces(single, rows, range(1, len(rows))), scores)
    probe = as_rows(np.ones((1, case.stream.X.shape[1])))
    same_bits(pieces.predict(probe), whole.predict(probe))
    same_bits(single.predict(probe), whole.predict(probe))


# predict is what learn uses


@each_pair
@each_form
@in_one_test("weighted", [False, True])
def test_predict_is_what_learn_uses(name, loss, form, weighted):
    stream = tame(name, loss, n=50, d=10, weighted=weighted)
    rows = stream._replace(X=late(stream.X)).rows(form)
    learner = make(name, loss)
    for t in range(len(rows)):
        same_bits(learner.predict(rows[t : t + 1]), learner.learn(rows[t : t + 1]))


@each_group
@given(st.data(), FORMS)
def test_predict_is_pure_and_what_learn_uses(names, data, form):
    """Nasty rows: no number, weight or unseen column leaves a trace in the learner."""
    case = data.draw(cases(names))
    rows, learner = case.stream.rows(form), case.learner()
    for t in range(len(rows)):
        before = snapshot(learner)
        scores = learner.predict(rows[t:])
        assert snapshot(learner) == before
        same_bits(learner.learn(rows[t : t + 1]), scores[:1])


@each_group
@given(st.data())
def test_predict_one_is_pure_and_what_learn_one_uses(names, data):
    case = data.draw(cases(names))
    learner, stream = case.learner(), case.stream
    v = np.ones(len(stream.y)) if stream.v is None else stream.v
    for x, y, weight in zip(dicts(stream.X, absent=(0,)), stream.y, v, strict=True):
        before = snapshot(learner)
        score = learner.predict_one(x, weight)
        assert snapshot(learner) == before
        same_bits([learner.learn_one(x, y, weight)], [score])


@each_pair
def test_looking_first_changes_no_bit(name, loss):
    """Neither a score nor the number of a column depends on what was only looked at."""
    stream = tame(name, loss, n=50, d=20, density=0.5)
    rows = dicts(stream.X, absent=(0,))
    blind, looking = make(name, loss), make(name, loss)
    for row, other, y in zip(shuffled(rows), shuffled(rows, seed=1), stream.y, strict=True):
        looking.predict_one(other)
        same_bits([looking.learn_one(row, y)], [blind.learn_one(row, y)])
        assert looking.names.columns == blind.names.columns


@each_pair
@each_form
def test_predict_leaves_no_trace(name, loss, form):
    stream = tame(name, loss, n=40, d=6, weighted=True)
    learner = make(name, loss)
    learner.learn(stream.rows(form))
    extremes = np.array([[1e300] * 9, [5e-324] * 9, [0.0] * 9, [np.nan] * 9, [1.0] * 9])
    before = snapshot(learner)
    extreme = tame(name, loss, seed=1, n=5, d=9)._replace(X=extremes).rows(form)
    or_diverged(learner, lambda: learner.predict(extreme))
    weighted = as_rows(extremes, weights=[0, 1, 2.0**200, 2.0**-200, 0])
    or_diverged(learner, lambda: learner.predict(weighted))
    learner.predict_one({"never seen": 1.0, "nor this": None})
    assert snapshot(learner) == before


@each_group
@given(st.data(), FORMS)
def test_rows_of_one_predict_call_are_independent(names, data, form):
    case = data.draw(cases(names))
    rows, learner = case.stream.rows(form), case.learner()
    learner.learn(rows[: len(rows) // 2])
    together = learner.predict(rows)
    for t in range(len(rows)):
        same_bits(learner.predict(rows[t : t + 1]), together[t : t + 1])


@each_learner
def test_the_answer_is_the_caller_s(name):
    """Scores are not a view of something the next call overwrites."""
    learner, rows = make(name), tame(name).rows()
    first = learner.learn(rows)
    kept = first.copy()
    learner.learn(rows)
    learner.predict(rows)
    same_bits(first, kept)
