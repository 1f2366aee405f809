"""A change of units in mid-stream: predictions go on as if the past had been in the new unit.

Learners that depend on units cannot, and say so.
"""

from contextlib import suppress

import numpy as np
import pytest

from cases import in_one_test
from laws.streams import (
    Stream,
    close,
    dicts,
    each_form,
    each_learner,
    each_learner_in_any_unit,
    each_learner_where,
    each_pair_in_any_unit,
    in_any_unit,
    late,
    learn_dicts,
    linear_map,
    make,
    powers_of_two,
    same_bits,
    snapshot,
    tame,
    targets,
)
from unitless.learners import get
from unitless.rows import as_rows


def continued(learner, stream, factors, form="dense"):
    """Scores of a run whose second half comes in other units."""
    first, second = stream[:30], stream[30:]
    scores = learner.learn(first.rows(form))
    assert learner.rescale(factors) is learner
    other = second._replace(X=second.X * factors)
    return np.concatenate([scores, learner.learn(other.rows(form))])


@each_pair_in_any_unit
@each_form
@in_one_test("intercept", [True, False])
def test_powers_of_two(name, loss, form, intercept):
    """With features not yet seen when the unit changes."""
    for seed, most in enumerate((400, 200, 50)):
        stream = tame(name, loss, seed, d=10)
        stream = stream._replace(X=late(stream.X))
        factors = powers_of_two(np.random.default_rng(seed), 10, most)
        straight = make(name, loss, intercept=intercept).learn(stream.rows(form))
        same_bits(continued(make(name, loss, intercept=intercept), stream, factors, form), straight)


@each_pair_in_any_unit
@each_form
def test_other_factors(name, loss, form):
    for seed in range(3):
        stream, rng = tame(name, loss, seed, d=10), np.random.default_rng(seed)
        factors = 10.0 ** rng.uniform(-120, 120, 10) * rng.choice([-1, 1], 10)
        straight = make(name, loss).learn(stream.rows(form))
        close(continued(make(name, loss), stream, factors, form), straight, 1e-9)


@each_pair_in_any_unit
@each_form
def test_columns_may_come_afterwards(name, loss, form):
    stream = tame(name, loss, d=10)
    stream = stream._replace(X=late(stream.X))
    straight, learner = make(name, loss), make(name, loss)
    factors = powers_of_two(np.random.default_rng(0), 10)
    factors[7:] = 1
    scores = learner.learn(stream[:30]._replace(X=stream.X[:30, :7]).rows(form))
    rest = stream[30:]._replace(X=stream.X[30:] * factors)
    scores = np.concatenate([scores, learner.rescale(factors[:7]).learn(rest.rows(form))])
    same_bits(scores, straight.learn(stream.rows(form)))


@each_pair_in_any_unit
@in_one_test("steps", [2, 4])
def test_there_and_back(name, loss, steps):
    """Up by 2^400 each step, down twice as far, and up again.

    Two steps stay within float64. Four do not: a learner refuses them or comes back right.
    """
    stream = tame(name, loss, d=4)
    straight, learner = make(name, loss), make(name, loss)
    straight.learn(stream[:30].rows())
    learner.learn(stream[:30].rows())
    for exponent in [400] * steps + [-400] * 2 * steps + [400] * steps:
        before = snapshot(learner)
        try:
            learner.rescale(np.full(4, 2.0**exponent))
        except ValueError:
            assert steps == 4
            assert snapshot(learner) == before
            return
    same_bits(learner.learn(stream[30:].rows()), straight.learn(stream[30:].rows()))


@each_pair_in_any_unit
def test_by_name(name, loss):
    stream = tame(name, loss, d=4)
    rows = [{f"x{j}": x for j, x in row.items()} for row in dicts(stream.X)]
    other = [row | {"x2": row["x2"] * 1024, "x0": -row["x0"]} for row in rows]
    straight = learn_dicts(make(name, loss), rows, stream.y)
    learner = make(name, loss)
    scores = learn_dicts(learner, rows[:30], stream.y[:30])
    learner.rescale({"x2": 1024.0, "x0": -1})
    scores = np.concatenate([scores, learn_dicts(learner, other[30:], stream.y[30:])])
    same_bits(scores, straight)


@each_pair_in_any_unit
def test_by_column(name, loss):
    stream = tame(name, loss, d=4)
    one, two = make(name, loss), make(name, loss)
    for learner in (one, two):
        learner.learn(stream[:30].rows())
    one.rescale({2: 1024.0})
    two.rescale([1, 1, 1024.0, 1])
    same_bits(one.learn(stream[30:].rows()), two.learn(stream[30:].rows()))


@each_pair_in_any_unit
def test_weights_move_the_other_way(name, loss):
    """A weight has the unit 1 / [x]."""
    stream = tame(name, loss, d=10)
    learner = make(name, loss)
    learner.learn(stream.rows())
    before, factors = learner.weights(), powers_of_two(np.random.default_rng(0), 10)
    after = learner.rescale(factors).weights()
    same_bits(after.intercept, before.intercept)
    same_bits(after.features + 0.0, (before.features.T / factors).T + 0.0)  # 0 / -2 is -0


# Algorithm 2 takes any invertible matrix


def mapped(X, y, M, loss="logistic", intercept=True):
    """Scores of a run whose second half comes as M x, for the first columns of x."""
    learner, d = get("full")(loss, intercept=intercept), len(M)
    scores = learner.learn(as_rows(X[:30, :d], y[:30]))
    rest = np.column_stack([X[30:, :d] @ M.T, X[30:, d:]])
    return np.append(scores, learner.rescale(M).learn(as_rows(rest, y[30:])))


@in_one_test("loss", ["logistic", "absolute"])
@in_one_test("condition", [1.0, 1e2, 1e4])
@in_one_test("intercept", [True, False])
def test_full_by_a_matrix(loss, condition, intercept):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(60, 5)), targets(loss, rng, 60)
        M = linear_map(rng, 5, condition)
        straight = get("full")(loss, intercept=intercept).learn(as_rows(X, y))
        close(mapped(X, y, M, loss, intercept), straight, 1e-9)


def test_full_by_a_matrix_before_all_directions_are_seen():
    """A feature that never moved, two that moved together, and two still to come."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 7))
    X[:30, 0], X[:30, 2], X[:30, 5:] = 0, 2 * X[:30, 1], 0
    y = targets("logistic", rng, 60)
    M = rng.integers(-4, 5, (5, 5)) + 20.0 * np.eye(5)
    close(mapped(X, y, M), get("full")().learn(as_rows(X, y)), 1e-9)


MATRICES = {
    "permutation": np.eye(5)[[3, 1, 4, 0, 2]],
    "units": np.diag([1e-3, 1e3, -1.0, 1.0, 7.0]),
    "far units": np.diag([1e-100, 1e100, -1.0, 1.0, 1e-20]),
    "far units, mixed": np.diag([1e-100, 1, 1, 1, 1e100]) @ (np.eye(5) + np.eye(5, k=1)),
}


@in_one_test("M", MATRICES)
def test_full_by_matrices_with_units(M):
    """Whether a matrix can be inverted does not depend on units either."""
    stream = tame("full", d=5)
    close(mapped(stream.X, stream.y, M), get("full")().learn(stream.rows()), 1e-9)


# What cannot be a change of units


BAD_FACTORS = {
    "zero": ([1.0, 0.0, 1.0], "column 1"),
    "infinite": ([1.0, 1.0, np.inf], "column 2"),
    "missing": ([np.nan, 1.0, 1.0], "column 0"),
    "too few": ([1.0, 1.0], "3 columns need 3 factors"),
    "too many": ([1.0] * 4, "3 columns need 3 factors"),
    "an unknown name": ({"weight": 2.0}, "'weight'"),
    "an unknown column": ({7: 2.0}, "7"),
    "a negative column": ({-1: 2.0}, "-1"),
    "zero by column": ({1: 0.0}, "column 1"),
}


def refuses(learner, factors, words):
    """The factors are refused, and nothing has changed."""
    before = snapshot(learner)
    with pytest.raises(ValueError, match=words):
        learner.rescale(factors)
    assert snapshot(learner) == before


@each_learner
@in_one_test("bad", BAD_FACTORS)
def test_bad_factors(name, bad):
    learner = make(name)
    learner.learn(tame(name, d=3).rows())
    refuses(learner, *bad)


@each_learner
def test_bad_names(name):
    learner = make(name)
    learner.learn_one({"a": 1.0, "b": 0.5}, 1)
    refuses(learner, {"a": 2.0, "c": 3.0}, "'c'")
    refuses(learner, {"b": 0.0}, "factor of 0")


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (np.ones((3, 3)), "not invertible"),
        (np.full((3, 3), np.nan), "not invertible"),
        (np.eye(2), "3 x 3"),
        (np.ones((3, 2)), "3 x 3"),
    ],
)
def test_bad_matrices(matrix, words):
    learner = get("full")()
    learner.learn(tame("full", d=3).rows())
    refuses(learner, matrix, words)


@each_learner_in_any_unit
def test_nothing_to_rescale(name):
    learner = make(name).rescale([])
    same_bits(learner.learn(tame(name).rows()), make(name).learn(tame(name).rows()))


@each_learner_where(lambda name: not in_any_unit(name))
@in_one_test("factors", [[1, 1024, 1], [-1, 1, 1], {2: 1e-3}])
def test_who_depends_on_units_says_so(name, factors):
    learner = make(name)
    learner.learn(tame(name, d=3).rows())
    refuses(learner, factors, f"{name} depends on units.* learner")


@each_learner_in_any_unit
@in_one_test("factor", [1e300, 1e-300])
def test_finite_after_any_change(name, factor):
    """A unit no float64 can be in is refused, or the feature is lost; the learner never is."""
    stream = tame(name, d=3)
    learner = make(name)
    learner.learn(stream[:30].rows())
    with suppress(ValueError):
        learner.rescale([factor, 1, 1]).rescale([factor, 1, 1])
    nasty = Stream(np.array([[1.0, 1, 1], [1e300, 1, 1], [5e-324, 1, 1]]), np.ones(3))
    assert np.isfinite(learner.learn(nasty.rows())).all()
    assert np.isfinite(learner.learn(stream[30:].rows())).all()
