"""What a learner declares invariant does not move; what it does not declare does."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import in_one_test
from laws.streams import (
    GROUPS,
    close,
    each_form,
    each_learner_where,
    each_pair_in_any_unit,
    each_pair_where,
    each_pair_with_sums,
    first_loss,
    in_any_unit,
    linear_map,
    make,
    powers_of_two,
    same_bits,
    symmetric,
    tame,
    targets,
)
from unitless.learners import get
from unitless.rows import as_rows


def each_pair_of(*invariances):
    """Run a test for every pair whose learner declares one of these."""
    return each_pair_where(lambda name: get(name).invariance in invariances)


with_and_without_intercept = in_one_test("intercept", [True, False])
groups_in_any_unit = [tuple(filter(in_any_unit, names)) for names in GROUPS]
each_group_in_any_unit = pytest.mark.parametrize(
    "names", [names for names in groups_in_any_unit if names], ids="+".join
)


@each_pair_in_any_unit
@each_form
@with_and_without_intercept
@in_one_test("weighted", [False, True])
def test_powers_of_two_change_no_bit(name, loss, form, intercept, weighted):
    for seed, most in enumerate((400, 200, 50)):  # with squares beyond float64, far off, and not
        stream = tame(name, loss, seed, d=10, weighted=weighted)
        factors = powers_of_two(np.random.default_rng(seed), 10, most, name)
        other = stream._replace(X=stream.X * factors)
        one, two = (make(name, loss, intercept=intercept) for _ in range(2))
        same_bits(one.learn(stream.rows(form)), two.learn(other.rows(form)))
        same_bits(one.predict(stream.rows(form)), two.predict(other.rows(form)))


@each_group_in_any_unit
@given(st.data())
def test_no_power_of_two_is_special(names, data):
    """Also where a column's own numbers are 2^100 apart, and whatever comes first."""
    name = data.draw(st.sampled_from(names))
    sizes = st.integers(-50, 50).map(lambda e: 1.37 * 2.0**e)
    values = st.one_of(st.just(0.0), sizes, sizes.map(lambda x: -x))
    X = np.array(data.draw(st.lists(st.tuples(values, values), min_size=1, max_size=8)))
    exponents = data.draw(st.tuples(st.integers(-400, 400), st.integers(-400, 400)))
    y = targets(first_loss(name), np.random.default_rng(0), len(X))
    other = X * 2.0 ** np.array(exponents)
    one, two = (make(name).learn(as_rows(Z, y)) for Z in (X, other))
    same_bits(one, two)


@each_learner_where(lambda name: in_any_unit(name) and symmetric(name))
@in_one_test("d", [2, 7, 20])
def test_signs_of_small_sparse_integers(name, d):
    """Exact ties and exact zeros abound here: a rounding that looks at a sign would show."""
    rng = np.random.default_rng(d)
    for _ in range(20):
        X = rng.integers(-2, 3, (4 * d, d)) * (rng.random((4 * d, d)) < 0.3)
        y, flips = rng.choice([-1.0, 1.0], 4 * d), rng.choice([-1.0, 1.0], d)
        scores = make(name).learn(as_rows(X, y))
        assert np.array_equal(scores, make(name).learn(as_rows(X * flips, y)))


@each_pair_with_sums
def test_what_is_certified_has_no_unit(name, loss):
    stream = tame(name, loss, d=10)
    factors = powers_of_two(np.random.default_rng(1), 10, name=name)
    one, two = make(name, loss), make(name, loss)
    one.learn(stream.rows())
    two.learn(stream._replace(X=stream.X * factors).rows())
    a, b = one.sums(), two.sums()
    assert (a.trials, a.dimension, a.A) == (b.trials, b.dimension, b.A)
    same_bits(a.z * np.sign([1, *factors]), b.z)
    same_bits(a.s * np.abs([1, *factors]), b.s)


@each_pair_in_any_unit
@each_form
@with_and_without_intercept
def test_other_factors(name, loss, form, intercept):
    for seed in range(3):
        stream = tame(name, loss, seed, d=10)
        factors = 10.0 ** np.random.default_rng(seed).uniform(-120, 120, 10)
        other = stream._replace(X=stream.X * factors)
        one, two = (make(name, loss, intercept=intercept) for _ in range(2))
        close(one.learn(stream.rows(form)), two.learn(other.rows(form)), 1e-9)


@each_pair_where(lambda name: in_any_unit(name) and symmetric(name))
@each_form
@with_and_without_intercept
def test_permutations(name, loss, form, intercept):
    for seed in range(3):
        stream = tame(name, loss, seed, d=20)
        other = stream._replace(X=np.random.default_rng(seed).permutation(stream.X, axis=1))
        one, two = (make(name, loss, intercept=intercept) for _ in range(2))
        close(one.learn(stream.rows(form)), two.learn(other.rows(form)), 1e-9)


@each_pair_of("linear")
@with_and_without_intercept
@in_one_test("condition", [1.0, 1e2, 1e4])
def test_linear_maps(name, loss, intercept, condition):
    """Followed by a change of units, which is a linear map of any condition."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(80, 5)), targets(loss, rng, 80)
        other = X @ linear_map(rng, 5, condition).T * 10.0 ** rng.uniform(-100, 100, 5)
        one, two = (make(name, loss, intercept=intercept).learn(as_rows(Z, y)) for Z in (X, other))
        close(one, two, 1e-9)


@each_pair_of("linear")
def test_linear_maps_of_dependent_columns(name, loss):
    """One-hot columns beside an intercept, and two that come late: rank 5 of 7."""
    rng = np.random.default_rng(0)
    X = np.eye(5)[rng.integers(0, 5, 80)]
    X = np.column_stack([X, X[:, 0] - X[:, 1], rng.normal(size=80) * (np.arange(80) > 40)])
    y = targets(loss, rng, 80)
    other = X @ linear_map(rng, 7, 1e4).T
    one, two = (make(name, loss).learn(as_rows(Z, y)) for Z in (X, other))
    close(one, two, 1e-9)


@each_pair_of("affine", "linear")
def test_shifts(name, loss):
    """With an intercept, x + b is a linear map of (1, x)."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(80, 5)), targets(loss, rng, 80)
        other = X + rng.uniform(-100, 100, 5)
        one, two = (make(name, loss).learn(as_rows(Z, y)) for Z in (X, other))
        close(one, two, 1e-9)


@each_pair_of("rotation")
@with_and_without_intercept
@in_one_test("weighted", [False, True])
def test_rotations(name, loss, intercept, weighted):
    for seed in range(3):
        stream = tame(name, loss, seed, d=10, weighted=weighted)
        other = stream._replace(X=stream.X @ linear_map(np.random.default_rng(seed), 10, 1.0))
        one, two = (make(name, loss, intercept=intercept) for _ in range(2))
        close(one.learn(stream.rows()), two.learn(other.rows()), 1e-9)


MOVES = {
    "units": lambda X: X * [2.0**-4, 1, 1],
    "a rotation": lambda X: X @ linear_map(np.random.default_rng(1), 3, 1.0),
    "a shift": lambda X: np.add(X, [1e8, -1e8, 1e8]),  # which 32-bit numbers do not survive
    "a map": lambda X: X @ [[1, 1, 0], [0, 1, 1], [0, 0, 1.0]],
}
UNDECLARED = {
    "none": ["units", "a rotation"],
    "rotation": ["units"],
    "unit": ["a shift"],
    "affine": ["a map"],
}


@each_pair_of(*UNDECLARED)
def test_a_learner_declares_all_it_has(name, loss):
    """Else the laws above would test too little: what is kept is kept to 1e-9, not to 1e-6."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(80, 3)) * (rng.random((80, 3)) < 0.8)
    y = targets(loss, rng, 80)
    one = make(name, loss).learn(as_rows(X, y))
    for move in UNDECLARED[get(name).invariance]:
        two = make(name, loss).learn(as_rows(MOVES[move](X), y))
        assert np.abs(one - two).max() > 1e-6 * np.abs(one).max(), move
