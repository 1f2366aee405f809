"""After any accepted input every later prediction is finite, and no theorem is broken.

Learners that depend on units may refuse instead, with `Diverged`, and are then as they were.
"""

import inspect
import math

import numpy as np
import pytest

from cases import in_one_test
from laws.streams import (
    NEAR_TARGETS,
    PAPER,
    Stream,
    accepts,
    anyone,
    close,
    dicts,
    each_form,
    each_learner_where,
    each_pair,
    each_pair_where,
    in_any_unit,
    keeps_sums,
    learn_dicts,
    make,
    or_diverged,
    outlook,
    snapshot,
    tame,
    targets,
)
from unitless import losses
from unitless.core.learner import Diverged
from unitless.learners import get
from unitless.regret import bounds
from unitless.rows import as_rows

LARGEST = np.finfo(float).max


def extreme_rows():
    """name -> X"""
    rng = np.random.default_rng(0)
    Z, signs = rng.normal(size=(60, 3)), rng.choice([-1.0, 1.0], (60, 2))
    sizes = 2.0 ** rng.uniform(-1074, 1023.99, (60, 2))
    constant = np.column_stack([np.full(600, 3.7), rng.normal(size=600)])
    constant[545:, 0] = rng.normal(size=55)
    giant = Z.copy()
    giant[30] *= 1e9
    gaps = Z * [1, 0, 1]
    gaps[::3] = 0
    one_hot = np.eye(5)[rng.integers(0, 5, 60)]
    return {
        "1e-300 beside 1e300": Z * [1e-300, 1e300, 1],
        "denormals": rng.integers(-50, 50, (60, 2)) * 5e-324,
        "one denormal for ever": np.full((60, 1), 5e-324),
        "from 5e-324 to 1.7e308 in a column": signs * sizes,
        "growing from 5e-324 to 1.7e308": signs * np.sort(sizes, axis=0),
        "shrinking from 1.7e308 to 5e-324": signs * np.sort(sizes, axis=0)[::-1],
        "the largest numbers": signs * LARGEST,
        "the largest and the smallest in turn": signs * np.resize([LARGEST, 5e-324], (60, 1)),
        "constant for 545 rows": constant,
        "one row a billion times larger": giant,
        "zero rows and columns": gaps,
        "only zeros": np.zeros((20, 3)),
        "one-hot": one_hot,
        "one-hot twice, in other units": np.column_stack([one_hot, one_hot * 1e-200]),
        "duplicated columns": np.column_stack([Z, Z, -2 * Z[:, 0]]),
        "one row": Z[:1],
        "one row of the largest numbers": np.full((1, 3), LARGEST),
        "no columns": np.zeros((20, 0)),
        "no rows": np.zeros((0, 3)),
    }


def signs(loss):
    """Whether targets are -1 and 1."""
    return losses.get(loss).targets == "signs"


def reals(loss):
    """Whether targets are any numbers."""
    return losses.get(loss).targets == "reals"


def takes_slopes(name):
    """Whether a caller may give the gradients."""
    return accepts(name, "linear")


def has_wealth(name):
    """Whether the initial wealth is a parameter."""
    return "wealth" in inspect.signature(get(name)).parameters


EXTREME = extreme_rows()
PROBES = np.array([[1.0] * 11, [1e300] * 11, [5e-324] * 11, [0.0] * 11, [-LARGEST] * 11])


MOST_AGAINST_ZERO = {
    "coordinate": lambda learner, T: bounds.additive(T, learner.alpha, 1.0, growing=True),
    "full": lambda learner, T: 1.0,
    "zero": lambda learner, T: 0.0,
}


def keeps_its_theorem(learner):
    """Assert that sum v g p is at most what the theorem allows, with u = 0, of the wealth."""
    with np.errstate(over="ignore"):  # s, which is not looked at, may be beyond float64
        sums = learner.sums()
    if sums is None:
        return
    most = MOST_AGAINST_ZERO.get(learner.name, lambda learner, T: math.inf)
    limit = most(learner, sums.trials) * learner.loss.lipschitz
    assert limit * (1 + 1e-9) >= sums.A


def finite_or_diverged(learner, call):
    """Assert that the call returns finite scores, or that a learner that may refuses."""
    scores = or_diverged(learner, call)
    assert scores is None or np.isfinite(scores).all()


def survives(learner, stream, form="dense"):
    """All scores finite, now and later; at most the initial wealth lost."""
    more = tame("zero", learner.loss.name, seed=1, d=3)
    for rows in (stream.rows(form), more.rows(form)):
        finite_or_diverged(learner, lambda rows=rows: learner.learn(rows))
        keeps_its_theorem(learner)
        finite_or_diverged(learner, lambda: learner.predict(as_rows(PROBES)))


@each_pair
@in_one_test("X", EXTREME)
def test_rows(name, loss, X):
    y = targets(loss, np.random.default_rng(0), len(X))
    for form in ("dense", "csr"):
        survives(make(name, loss), Stream(X, y), form)


def shrinks_weights(name):
    """Whether a weight learned while x was tiny becomes so when x grows; sNAG leaves it alone."""
    return in_any_unit(name) and name != "snag"


@each_pair_where(shrinks_weights)
@each_form
def test_a_column_may_grow_as_far_as_it_likes(name, loss, form):
    """What was tiny is nothing beside the rest, by 2^-200 or by more than squares can hold."""
    stream = tame(name, loss, d=4, density=1.0)
    scores = []
    for exponent in (-200, -300, -600, -900):
        X = stream.X.copy()
        X[:30, 1] *= 2.0**exponent
        scores.append(make(name, loss).learn(stream._replace(X=X).rows(form)))
        close(learn_dicts(make(name, loss), dicts(X), stream.y), scores[-1], 1e-12)
        close(scores[-1], scores[0], 1e-9)


@each_pair_where(lambda name: not in_any_unit(name))
@each_form
def test_rows_one_by_one_diverge_where_the_block_does(name, loss, form):
    """At the same row, and up to it nothing is lost."""
    X = np.random.default_rng(0).normal(size=(60, 3)) * np.geomspace(1, 1e300, 60)[:, None]
    rows = Stream(X, targets(loss, np.random.default_rng(0), 60)).rows(form)
    whole, single = make(name, loss), make(name, loss)
    before, last = snapshot(whole), 60
    try:
        whole.learn(rows)
    except Diverged as error:
        assert snapshot(whole) == before
        last = error.row
    for t in range(last):
        assert np.isfinite(single.learn(rows[t : t + 1])).all()
    if last < 60:
        with pytest.raises(Diverged, match="row 0"):
            single.learn(rows[last : last + 1])
        whole.learn(rows[:last])
        assert snapshot(single) == snapshot(whole)


@each_learner_where(lambda name: not in_any_unit(name))
def test_dicts_that_diverge_leave_no_name(name):
    """Nor room for one, as long as there is a finite number that is refused."""
    learner = make(name)
    learner.learn_one({"a": 1.0}, 1)
    for size in 10.0 ** np.arange(0, 309, 4):
        row = {"a": size, f"new at {size:g}": -size}
        finite_or_diverged(learner, lambda row=row: learner.learn_one(row, -1))
        finite_or_diverged(learner, lambda row=row: learner.predict_one(row))


@each_pair
@each_form
@in_one_test(
    "X", [EXTREME["growing from 5e-324 to 1.7e308"], EXTREME["the largest numbers"], tame("zero").X]
)
def test_weights(name, loss, form, X):
    rng = np.random.default_rng(0)
    v = 2.0 ** rng.uniform(-200, 200, len(X))
    v[:4] = 2.0**200, 2.0**-200, 0, 2.0**200
    survives(make(name, loss), Stream(X, targets(loss, rng, len(X)), v), form)


@each_learner_where(keeps_sums)
def test_sums_beyond_float64(name):
    """s may be larger than any float64. A caller gets the nearest there is, and no warning."""
    learner = make(name)
    learner.learn(as_rows(EXTREME["the largest numbers"], np.ones(60)))
    sums = learner.sums()
    assert np.all(sums.s[1:] >= LARGEST)
    assert np.isfinite(sums.z).all()


@each_pair_where(has_wealth)
@in_one_test("wealth", [1e-300, 1e300])
def test_wealth(name, loss, wealth):
    learner, rows = make(name, loss, wealth=wealth), tame(name, loss, n=200).rows()
    finite_or_diverged(learner, lambda: learner.learn(rows))
    finite_or_diverged(learner, lambda: learner.predict(as_rows(PROBES)))


@each_pair_where(anyone, reals)
@in_one_test("X", [tame("zero", n=300).X, EXTREME["1e-300 beside 1e300"]])
def test_targets_up_to_the_largest(name, loss, X):
    y = np.random.default_rng(0).choice([-1e308, 1e308, LARGEST, -LARGEST, 1.0, 0.0], len(X))
    for stream in (Stream(X, y), Stream(X, np.abs(y))):
        learner = make(name, loss)
        if name in NEAR_TARGETS:
            before = snapshot(learner)
            with pytest.raises(ValueError, match=r"row \d+: target .*e\+308"):
                learner.learn(stream.rows())
            assert snapshot(learner) == before
        else:
            survives(learner, stream)


@each_learner_where(takes_slopes)
@in_one_test("sign", [1, -1])
@in_one_test("X", [np.ones((20_000, 1)), np.eye(3)[np.arange(20_000) % 3]])
def test_gradients_that_never_turn(name, sign, X):
    """h'S^+h grows like T: exp of it leaves float64 after 1700 rows, a score must not."""
    learner = make(name, "linear")
    scores = or_diverged(learner, lambda: learner.learn(as_rows(X, np.full(20_000, -sign))))
    assert scores is None or (sign * scores >= 0).all()
    assert scores is None or np.isfinite(scores).all()
    finite_or_diverged(learner, lambda: learner.predict(as_rows(PROBES)))


ADVERSARIES = {
    "to hurt": lambda p: 1.0 if p >= 0 else -1.0,
    "to flatter": lambda p: -1.0 if p >= 0 else 1.0,
}


@each_learner_where(takes_slopes)
@in_one_test("choose", ADVERSARIES)
def test_gradients_by_the_sign_of_the_score(name, choose):
    rng = np.random.default_rng(0)
    learner = make(name, "linear")
    X = rng.normal(size=(20_000 if name in PAPER else 1000, 2))
    for x in (X if in_any_unit(name) else np.clip(X, -1, 1)).tolist():
        row = dict(enumerate(x))
        score = or_diverged(learner, lambda row=row: learner.predict_one(row))
        if score is None:
            return
        assert math.isfinite(score)
        assert learner.learn_one(row, choose(score)) == score
    keeps_its_theorem(learner)
    assert np.isfinite(outlook(learner, 2)).all()


@each_pair_where(in_any_unit, signs)
def test_constant_then_moving_stays_calm(name, loss):
    """River 332: their scaler gave 33 sigma and the intercept swung to 1e9."""
    X = EXTREME["constant for 545 rows"]
    y = targets(loss, np.random.default_rng(3), 600)
    scores = make(name, loss).learn(as_rows(X, y))
    assert np.abs(scores[545:]).max() < 10
