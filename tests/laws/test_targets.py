"""Units of the target: a learner of the squared loss that declares `target_invariance` has none.

"unit": y -> a y gives a p, to the bit for powers of two; "affine": y -> y + b gives p + b as well,
to rounding. The first prediction, before any target is known, is 0 in every unit and origin.
"""

import numpy as np

from cases import in_one_test
from laws.streams import (
    accepts,
    close,
    each_form,
    each_learner_where,
    make,
    same_bits,
    tame,
    target_invariance,
)


def each_that_declares(*invariances):
    """Run a test for every learner of the squared loss that declares one of these."""
    return each_learner_where(
        lambda name: accepts(name, "squared") and target_invariance(name) in invariances
    )


with_and_without_intercept = in_one_test("intercept", [True, False])
weighted_or_not = in_one_test("weighted", [False, True])


@each_that_declares("unit", "affine")
@each_form
@weighted_or_not
@with_and_without_intercept
@in_one_test("factor", [2.0**-150, -1.0, 2.0**20, -(2.0**150)])
def test_powers_of_two(name, form, weighted, intercept, factor):
    stream = tame(name, "squared", weighted=weighted)
    one, two = (make(name, "squared", intercept=intercept) for _ in range(2))
    scores = one.learn(stream.rows(form))
    others = two.learn(stream._replace(y=stream.y * factor).rows(form))
    same_bits(others / factor + 0.0, scores + 0.0)  # 0 / -1 is -0
    same_bits(two.predict(stream.rows(form)) / factor + 0.0, one.predict(stream.rows(form)) + 0.0)
    same_bits(two.weights().features / factor + 0.0, one.weights().features + 0.0)


@each_that_declares("unit", "affine")
@in_one_test("factor", [1e-3, 7.0, -1e6])
def test_other_factors(name, factor):
    for seed in range(3):
        stream = tame(name, "squared", seed)
        scores = make(name, "squared").learn(stream.rows())
        others = make(name, "squared").learn(stream._replace(y=stream.y * factor).rows())
        close(others / factor, scores, 1e-9)


@each_that_declares("affine")
@weighted_or_not
@in_one_test("shift", [1.0, -30.0, 1e3])
def test_shifts(name, weighted, shift):
    """From the second prediction on: the first is 0, for there is no origin yet."""
    for seed in range(3):
        stream = tame(name, "squared", seed, weighted=weighted)
        first = 0 if stream.v is None else int(np.argmax(stream.v > 0))
        scores = make(name, "squared").learn(stream.rows())
        others = make(name, "squared").learn(stream._replace(y=stream.y + shift).rows())
        assert not scores[: first + 1].any()
        assert not others[: first + 1].any()
        close(others[first + 1 :] - shift, scores[first + 1 :], 1e-9 * (1 + abs(shift)))


@each_that_declares("unit")
def test_a_learner_declares_all_it_has(name):
    """Else the laws above would pass by testing too little."""
    stream = tame(name, "squared")
    scores = make(name, "squared").learn(stream.rows())
    others = make(name, "squared").learn(stream._replace(y=stream.y + 30).rows())
    assert np.abs(others - 30 - scores)[2:].max() > 1e-3 * np.abs(scores).max()
