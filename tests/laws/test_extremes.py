"""After any accepted input every later prediction is finite, and no theorem is broken."""

import math

import numpy as np
import pytest

from laws.streams import PAIRS, Stream, each_form, each_learner, each_pair, outlook, tame, targets
from unitless import losses
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


def pairs_with(kind):
    """The pairs whose loss has that kind of target."""
    return [pair for pair in PAIRS if losses.get(pair[1]).targets == kind]


WEALTHY = ("coordinate", "full")
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
    most = MOST_AGAINST_ZERO.get(learner.name, lambda learner, T: math.inf)
    limit = most(learner, sums.trials) * learner.loss.lipschitz
    assert limit * (1 + 1e-9) >= sums.A


def survives(learner, stream, form="dense"):
    """All scores finite, now and later; at most the initial wealth lost."""
    assert np.isfinite(learner.learn(stream.rows(form))).all()
    keeps_its_theorem(learner)
    assert np.isfinite(learner.predict(as_rows(PROBES))).all()
    more = tame(learner.loss.name, seed=1, d=3)
    assert np.isfinite(learner.learn(more.rows(form))).all()
    keeps_its_theorem(learner)
    assert np.isfinite(learner.predict(as_rows(PROBES))).all()


@each_pair
@each_form
@pytest.mark.parametrize("X", EXTREME.values(), ids=EXTREME)
def test_rows(name, loss, form, X):
    y = targets(loss, np.random.default_rng(0), len(X))
    survives(get(name)(loss), Stream(X, y), form)


@each_pair
@each_form
@pytest.mark.parametrize(
    "X", [EXTREME["growing from 5e-324 to 1.7e308"], EXTREME["the largest numbers"], tame().X]
)
def test_weights(name, loss, form, X):
    rng = np.random.default_rng(0)
    v = 2.0 ** rng.uniform(-200, 200, len(X))
    v[:4] = 2.0**200, 2.0**-200, 0, 2.0**200
    survives(get(name)(loss), Stream(X, targets(loss, rng, len(X)), v), form)


@each_learner
def test_sums_beyond_float64(name):
    """s may be larger than any float64. A caller gets the nearest there is, and no warning."""
    learner = get(name)()
    learner.learn(as_rows(EXTREME["the largest numbers"], np.ones(60)))
    sums = learner.sums()
    assert np.all(sums.s[1:] >= LARGEST)
    assert np.isfinite(sums.z).all()


@pytest.mark.parametrize(("name", "loss"), [pair for pair in PAIRS if pair[0] in WEALTHY])
@pytest.mark.parametrize("wealth", [1e-300, 1e300])
def test_wealth(name, loss, wealth):
    learner = get(name)(loss, wealth=wealth)
    assert np.isfinite(learner.learn(tame(loss, n=200).rows())).all()
    assert np.isfinite(learner.predict(as_rows(PROBES))).all()


@pytest.mark.parametrize(("name", "loss"), pairs_with("reals"))
@pytest.mark.parametrize("X", [tame(n=300).X, EXTREME["1e-300 beside 1e300"]])
def test_targets_up_to_the_largest(name, loss, X):
    y = np.random.default_rng(0).choice([-1e308, 1e308, LARGEST, -LARGEST, 1.0, 0.0], len(X))
    survives(get(name)(loss), Stream(X, y))
    survives(get(name)(loss), Stream(X, np.abs(y)))


@each_learner
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("X", [np.ones((20_000, 1)), np.eye(3)[np.arange(20_000) % 3]])
def test_gradients_that_never_turn(name, sign, X):
    """h'S^+h grows like T: exp of it leaves float64 after 1700 rows, a score must not."""
    learner = get(name)("linear")
    scores = learner.learn(as_rows(X, np.full(20_000, -sign)))
    assert np.isfinite(scores).all()
    assert (sign * scores >= 0).all()
    assert np.isfinite(learner.predict(as_rows(PROBES))).all()


ADVERSARIES = {
    "to hurt": lambda p: 1.0 if p >= 0 else -1.0,
    "to flatter": lambda p: -1.0 if p >= 0 else 1.0,
}


@each_learner
@pytest.mark.parametrize("choose", ADVERSARIES.values(), ids=ADVERSARIES)
def test_gradients_by_the_sign_of_the_score(name, choose):
    rng = np.random.default_rng(0)
    learner = get(name)("linear")
    scores = []
    for x in rng.normal(size=(20_000, 2)).tolist():
        row = dict(enumerate(x))
        scores.append(learner.predict_one(row))
        assert learner.learn_one(row, choose(scores[-1])) == scores[-1]
    assert np.isfinite(scores).all()
    keeps_its_theorem(learner)
    assert np.isfinite(outlook(learner, 2)).all()


@pytest.mark.parametrize(("name", "loss"), pairs_with("signs"))
def test_constant_then_moving_stays_calm(name, loss):
    """River 332: their scaler gave 33 sigma and the intercept swung to 1e9."""
    X = EXTREME["constant for 545 rows"]
    y = targets(loss, np.random.default_rng(3), 600)
    scores = get(name)(loss).learn(as_rows(X, y))
    assert np.abs(scores[545:]).max() < 10
