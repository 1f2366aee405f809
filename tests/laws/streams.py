"""What the laws are tested on: every learner with the losses it accepts, tame streams and nasty
ones, and what it means for two runs to be the same.

A law reads from the class whom it binds: `invariance`, `scales_instance`, `target_invariance`, the
losses its constructor takes, whether it has sums. What no class declares is declared here.
"""

from collections import defaultdict
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cases import in_one_test
from unitless import losses
from unitless.core.coordinatewise import Coordinatewise
from unitless.core.learner import Diverged
from unitless.learners import REGISTRY, get
from unitless.learners.one_vs_rest import with_classes
from unitless.rows import as_rows
from unitless.state import remembered

# Learners and losses

NAMES = sorted(REGISTRY)
PAPER = ("coordinate", "full", "zero")
"""Learners that are a pure function of h and sums of x x', so NaN is 0 and v scales x."""
BLIND = ("tracker", "zero")
"""Learners that look at no feature."""
NEAR_TARGETS = ("blend", "linear_blend")
"""Learners that refuse targets whose squares would leave float64."""
SILENT = ("zero",)
"""Learners that no label moves."""
AFTER_TEN_ROWS = ("histogram_trees",)
"""Learners whose scores are 0 in the first ten rows."""
BASELINES = [name for name in NAMES if ".baselines." in REGISTRY[name]]

PARAMETERS = {"quantile(tau)": "quantile(0.9)", "huber(delta)": "huber(2)"}
LOSSES = [losses.get(PARAMETERS.get(name, name)).name for name in (*losses.NAMES, "softmax")]
SETTINGS = {"histogram_trees": {"first": 2}}
"""Parameters with which short streams reach all that a learner does: forests, from row 10 on."""
FEW_LOSSES = ("logistic", "absolute", "softmax")
"""One loss of each kind of target, for the sake of time: for baselines and a second Blend."""
CLASSES = 3


def make(name, loss=None, **parameters):
    """A fresh learner; without a loss, with the first that it accepts."""
    loss = loss or first_loss(name)
    if loss == "softmax":
        return classifier(name, **parameters)
    return get(name)(loss, **SETTINGS.get(name, {}) | parameters)


def classifier(name, classes=CLASSES, **parameters):
    """A fresh learner of several classes."""
    return with_classes(get(name), classes, **SETTINGS.get(name, {}) | parameters)


@cache
def accepts(name, loss):
    """Whether the learner can be made with the loss."""
    try:
        make(name, loss)
    except ValueError:
        return False
    return True


@cache
def losses_of(name):
    """The losses that the laws try the learner with."""
    accepted = [loss for loss in LOSSES if accepts(name, loss)]
    few = [loss for loss in accepted if loss in FEW_LOSSES]
    return few or accepted[:1] if name in (*BASELINES, "linear_blend") else accepted


@cache
def first_loss(name):
    """A loss of one score per row."""
    return next(loss for loss in LOSSES if accepts(name, loss))


PAIRS = [(name, loss) for name in NAMES for loss in losses_of(name)]


def in_any_unit(learner):
    """Whether the learner, or the one of that name, declares that no unit of a feature moves it."""
    kind = get(learner) if isinstance(learner, str) else learner
    return kind.invariance in ("unit", "affine", "linear")


@cache
def keeps_sums(name, loss=None):
    """Whether it has the sums of a certificate."""
    return make(name, loss).sums() is not None


def missing_is_zero(name):
    """Whether NaN and 0 are the same to it: it counts no rows in which a feature was there."""
    return name in PAPER or issubclass(get(name), Coordinatewise)


def linear(name):
    """Whether it declares its scores to be linear in x, for the scales of a moment."""
    return get(name).linear


def target_invariance(name):
    """How targets may change without moving it: "none", "unit" or "affine"."""
    return getattr(get(name), "target_invariance", "none")


def each_learner_where(fits):
    """Run a test for every learner that fits."""
    return pytest.mark.parametrize("name", [name for name in NAMES if fits(name)])


def each_pair_where(fits, of_loss=lambda loss: True):
    """Run a test for every learner that fits, with every loss it accepts and that fits."""
    return _pairs([(name, loss) for name, loss in PAIRS if fits(name) and of_loss(loss)])


def _pairs(chosen):
    """Run a test for every learner, with all its losses in one go."""
    losses_by_name = defaultdict(list)
    for name, loss in chosen:
        losses_by_name[name].append(loss)
    with_losses = in_one_test("loss", lambda name, **others: losses_by_name[name])

    def decorate(test):
        return pytest.mark.parametrize("name", list(losses_by_name))(with_losses(test))

    return decorate


def anyone(name):
    """Every learner."""
    return True


def one_score(loss):
    """Whether a row has one score."""
    return loss != "softmax"


each_learner = each_learner_where(anyone)
each_learner_in_any_unit = each_learner_where(in_any_unit)
each_pair = each_pair_where(anyone)
each_pair_in_any_unit = each_pair_where(in_any_unit)
each_pair_with_sums = _pairs([pair for pair in PAIRS if keeps_sums(*pair)])
each_form = in_one_test("form", ["dense", "csr"])
GROUPS = [(name,) for name in NAMES if name not in BASELINES]
GROUPS += [tuple(BASELINES[k : k + 4]) for k in range(0, len(BASELINES), 4)]
each_group = pytest.mark.parametrize("names", GROUPS, ids="+".join)
"""Of those that share a property-based test, for the sake of time."""


# Streams


class Stream(NamedTuple):
    """Rows, targets and weights (None: all 1)."""

    X: np.ndarray
    y: np.ndarray
    v: np.ndarray | None = None

    def rows(self, form="dense"):
        """The stream as a block."""
        return as_rows(self.X if form == "dense" else sp.csr_array(self.X), self.y, self.v)

    def __getitem__(self, span):
        return Stream(self.X[span], self.y[span], None if self.v is None else self.v[span])


def targets(loss, rng, n):
    """Targets the loss accepts."""
    kind = losses.get(loss).targets
    if kind == "signs":
        return rng.choice([-1.0, 1.0], n)
    if kind == "classes":
        return rng.integers(0, CLASSES, n).astype(float)
    return rng.uniform(-1, 1, n) if kind == "slopes" else rng.normal(1, 2, n)


def tame(name, loss=None, seed=0, n=60, d=5, density=0.7, weighted=False):
    """Ordinary numbers, some of them 0, in columns of different sizes; for learners that depend
    on units, which may know no number above 1, in columns of one size.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, d)
    if not in_any_unit(name):
        X = np.clip(X / np.abs(X).max(axis=0, initial=0) * 1.5, -1, 1)
    X[rng.random((n, d)) >= density] = 0
    v = rng.choice([0, 0.25, 1, 3], n) if weighted else None
    return Stream(X, targets(loss or first_loss(name), rng, n), v)


def late(X, columns=3):
    """The same rows with features that first appear half way."""
    X = X.copy()
    X[: len(X) // 2, -columns:] = 0
    return X


def powers_of_two(rng, d, most=400, name="zero"):
    """Factors 2^-most to 2^most, both ends among them; of either sign where a sign is none."""
    exponents = rng.integers(-most, most + 1, d)
    exponents[:2] = -most, most
    factors = rng.permutation(2.0**exponents) * rng.choice([-1.0, 1.0], d)
    return factors if symmetric(name) else np.abs(factors)


def symmetric(name):
    """Whether it declares that signs and order of the columns do not matter."""
    return make(name).symmetric


def linear_map(rng, d, condition):
    """A random matrix of that condition; of condition 1, a rotation."""
    U, V = (np.linalg.qr(rng.normal(size=(d, d)))[0] for _ in range(2))
    return U * np.geomspace(1, 1 / condition, d) @ V


NUMBERS = st.one_of(
    st.sampled_from([0.0, np.nan, 1.0, 1e-300, 5e-324, 1e300, -1.7e308]),
    st.floats(-1e3, 1e3),
    st.floats(allow_nan=False, allow_infinity=False),
)
WEIGHTS = st.sampled_from([0.0, 1.0, 1.0, 0.3, 7.0, 2.0**-200, 2.0**200])
TARGETS = {
    "signs": st.sampled_from([-1.0, 1.0]),
    "slopes": st.floats(-1, 1),
    "reals": st.one_of(st.floats(-10, 10), st.floats(allow_nan=False, allow_infinity=False)),
    "classes": st.integers(0, CLASSES - 1).map(float),
}
MODEST_NUMBERS = st.one_of(st.sampled_from([0.0, np.nan, 1.0, 5e-324]), st.floats(-1, 1))
MODEST_WEIGHTS = st.sampled_from([0.0, 1.0, 1.0, 0.3, 7.0])
MODEST_TARGETS = TARGETS | {"reals": st.integers(-9999, 9999).map(lambda y: y / 1000)}


class Case(NamedTuple):
    """A learner to be made and a nasty stream for it."""

    name: str
    loss: str
    intercept: bool
    stream: Stream

    def learner(self):
        """A fresh one."""
        return make(self.name, self.loss, intercept=self.intercept)


@st.composite
def cases(draw, names):
    """Every number float64 has, missing values, weights, no rows, no columns.

    Learners that depend on units get numbers they can hold: the others are in `test_extremes`.
    """
    name = draw(st.sampled_from(names))
    loss = draw(st.sampled_from(losses_of(name)))
    numbers, weights = (NUMBERS, WEIGHTS) if in_any_unit(name) else (MODEST_NUMBERS, MODEST_WEIGHTS)
    modest = name in NEAR_TARGETS or not in_any_unit(name)
    labels = MODEST_TARGETS if modest else TARGETS
    n, d = draw(st.integers(0, 6)), draw(st.sampled_from([0, 1, 2, 9]))  # 9: beyond eight lanes
    X = draw(arrays(float, (n, d), elements=numbers, fill=st.just(0.0)))
    y = draw(arrays(float, n, elements=labels[losses.get(loss).targets], fill=st.nothing()))
    v = draw(st.none() | arrays(float, n, elements=weights, fill=st.nothing()))
    return Case(name, loss, draw(st.booleans()), Stream(X, y, v))


def dicts(X, absent=()):
    """Rows as dicts by column number, without the values in `absent`."""
    return [{j: x for j, x in enumerate(row) if x not in absent} for row in X.tolist()]


def shuffled(rows, seed=0):
    """The same dicts, each with its keys in another order."""
    rng = np.random.default_rng(seed)
    return [{key: row[key] for key in rng.permutation(list(row)).tolist()} for row in rows]


def learn_dicts(learner, rows, y, v=None):
    """Scores of dict rows, each learned in turn."""
    v = np.ones(len(y)) if v is None else v
    scores = [learner.learn_one(*trial) for trial in zip(rows, y, v, strict=True)]
    return np.reshape(scores, learner._room(len(y)).shape)


# Sameness


def same_bits(a, b):
    """Assert that two runs agree to the bit."""
    a, b = (np.ascontiguousarray(x, dtype=np.float64) for x in (a, b))
    np.testing.assert_array_equal(a, b)  # the clearer message
    np.testing.assert_array_equal(a.view(np.int64), b.view(np.int64))


def close(a, b, tolerance):
    """Assert that two runs agree, each score relative to itself.

    Where terms cancel, what is left is right only relative to the terms: scores below a
    hundredth of the stream's largest are compared with that.
    """
    a, b = np.asarray(a), np.asarray(b)
    assert np.isfinite(a).all()
    size = np.maximum(np.abs(a), 0.01 * np.abs(a).max(initial=0))
    assert (np.abs(a - b) <= tolerance * size).all(), np.max(np.abs(a - b) / size)


def snapshot(learner):
    """Everything that a refused or pure call must leave alone."""
    arrays, facts = remembered(learner)
    kept = {path: (a.dtype.str, a.shape, a.tobytes()) for path, a in arrays.items()}
    return kept, facts, dict(learner.names.columns)


def or_diverged(learner, call):
    """What the call returns; None if it diverges, as a learner that depends on units may."""
    before = snapshot(learner)
    try:
        return call()
    except Diverged as error:
        refusal = error
    assert not in_any_unit(learner)
    assert str(refusal).startswith(f"row {refusal.row}: {refusal.learner} diverged; ")
    assert snapshot(learner) == before
    return None


def outlook(learner, columns):
    """All a learner would answer now: scores of probes, certificate sums and weights."""
    rng = np.random.default_rng(columns)
    probes = rng.normal(size=(6, columns + 2)) * 10.0 ** rng.integers(-9, 9, (6, 1))
    probes[0] = 0
    if not in_any_unit(learner):
        probes = np.clip(probes, -1, 1)
    sums, weights = learner.sums(), learner.weights()
    answers = [learner.predict(as_rows(probes)), weights.intercept]
    answers.append(_padded(weights.features, columns))
    if sums is not None:
        answers += [sums.trials, sums.dimension, sums.A]
        answers += [_padded(array, columns + 1) for array in (sums.z, sums.s)]
    return np.concatenate([np.ravel(answer) for answer in answers])


def _padded(array, size):
    """Columns that were never seen hold 0, whether there is room for them or not."""
    assert not array[size:].any()
    return np.pad(array[:size], [(0, max(size - len(array), 0))] + [(0, 0)] * (array.ndim - 1))
