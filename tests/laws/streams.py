"""What the laws are tested on: every learner with every loss it accepts, tame streams and nasty
ones, and what it means for two runs to be the same.
"""

from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from unitless import losses
from unitless.learners import REGISTRY, get
from unitless.rows import as_rows

NAMES = sorted(REGISTRY)
PARAMETERS = {"quantile(tau)": "quantile(0.9)", "huber(delta)": "huber(2)"}
LOSSES = [losses.get(PARAMETERS.get(name, name)).name for name in losses.NAMES]
PAPER = ("coordinate", "full", "zero")
"""Learners that are a pure function of h and sums of x x', so NaN is 0 and v scales x."""


def accepts(name, loss):
    """Whether the learner can be made with the loss."""
    try:
        get(name)(loss)
    except ValueError:
        return False
    return True


PAIRS = [(name, loss) for name in NAMES for loss in LOSSES if accepts(name, loss)]
each_learner = pytest.mark.parametrize("name", NAMES)
each_pair = pytest.mark.parametrize(("name", "loss"), PAIRS)
each_form = pytest.mark.parametrize("form", ["dense", "csr"])


def pairs_of(*invariances):
    """The pairs whose learner declares one of these."""
    return [pair for pair in PAIRS if get(pair[0]).invariance in invariances]


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
    return rng.uniform(-1, 1, n) if kind == "slopes" else rng.normal(1, 2, n)


def tame(loss="logistic", seed=0, n=60, d=5, density=0.7, weighted=False):
    """Ordinary numbers, some of them 0, in columns of different sizes."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, d)
    X[rng.random((n, d)) >= density] = 0
    v = rng.choice([0, 0.25, 1, 3], n) if weighted else None
    return Stream(X, targets(loss, rng, n), v)


def late(X, columns=3):
    """The same rows with features that first appear half way."""
    X = X.copy()
    X[: len(X) // 2, -columns:] = 0
    return X


def powers_of_two(rng, d, most=400):
    """Factors 2^-most to 2^most, both ends among them, of either sign."""
    exponents = rng.integers(-most, most + 1, d)
    exponents[:2] = -most, most
    return rng.permutation(2.0**exponents) * rng.choice([-1.0, 1.0], d)


def linear_map(rng, d, condition):
    """A random matrix of that condition."""
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
}


class Case(NamedTuple):
    """A learner to be made and a nasty stream for it."""

    name: str
    loss: str
    intercept: bool
    stream: Stream

    def learner(self):
        """A fresh one."""
        return get(self.name)(self.loss, intercept=self.intercept)


@st.composite
def cases(draw, name):
    """Every number float64 has, missing values, weights, no rows, no columns."""
    loss = draw(st.sampled_from([loss for other, loss in PAIRS if other == name]))
    n, d = draw(st.integers(0, 6)), draw(st.sampled_from([0, 1, 2, 9]))  # 9: beyond eight lanes
    X = draw(arrays(float, (n, d), elements=NUMBERS, fill=st.just(0.0)))
    y = draw(arrays(float, n, elements=TARGETS[losses.get(loss).targets], fill=st.nothing()))
    v = draw(st.none() | arrays(float, n, elements=WEIGHTS, fill=st.nothing()))
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
    return [learner.learn_one(*trial) for trial in zip(rows, y, v, strict=True)]


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


def leaves(state):
    """The arrays of a state."""
    if isinstance(state, np.ndarray):
        return [state]
    return [leaf for part in state for leaf in leaves(part)]


def snapshot(learner):
    """Everything a refused or pure call must leave alone."""
    arrays = [(a.dtype.str, a.shape, a.tobytes()) for a in leaves(learner.state)]
    return arrays, dict(learner.names.columns)


def outlook(learner, columns):
    """All a learner would answer now: scores of probes, certificate sums and weights."""
    rng = np.random.default_rng(columns)
    probes = rng.normal(size=(6, columns + 2)) * 10.0 ** rng.integers(-9, 9, (6, 1))
    probes[0] = 0
    sums, weights = learner.sums(), learner.weights()
    by_column = [_padded(a, columns + 1) for a in (sums.z, sums.s)]
    scalars = [sums.trials, sums.dimension, sums.A, weights.intercept]
    features = _padded(weights.features, columns)
    return np.concatenate([learner.predict(as_rows(probes)), scalars, *by_column, features])


def _padded(array, size):
    """Columns nobody has seen yet hold 0, whether there is room for them or not."""
    assert not array[size:].any()
    return np.pad(array[:size], (0, max(size - len(array), 0)))
