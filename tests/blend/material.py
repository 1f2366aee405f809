"""What the blend is tested on: tables of experts, streams on which members leave, real sets."""

import math
from decimal import Decimal
from itertools import pairwise

import numpy as np
import scipy.sparse as sp

from naive.digits import precision
from unitless import losses
from unitless.blend.blend import Blend
from unitless.blend.experts import Expert
from unitless.blend.hedge import HedgeMixture
from unitless.blend.logistic import LogisticMixture
from unitless.blend.softmax import SoftmaxMixture
from unitless.blend.squared import SquaredMixture
from unitless.learners.coordinate import Zero
from unitless.rows import as_rows

CLASSES = 3
LOSSES = ["logistic", "squared", "softmax", "hinge", "absolute", "quantile(0.9)", "huber(2)"]
FEW_LOSSES = ["logistic", "squared", "softmax", "hinge", "absolute"]
"""One of each kind of mixer and of target."""
REALS = ("squared", "absolute", "quantile(0.9)", "huber(2)")
MIXERS = {"logistic": LogisticMixture, "squared": SquaredMixture, "softmax": SoftmaxMixture}


# Mixers fed with tables


def members(roles):
    """Members that exist by name and role only."""
    return [Expert(f"expert {k}", "raw", Zero, role=role) for k, role in enumerate(roles)]


def mixer_of(loss, roles, steep=None):
    """A mixer of experts with these roles, of which one may be steep."""
    experts = [each._replace(steep=k == steep) for k, each in enumerate(members(roles))]
    classes = CLASSES if loss == "softmax" else 1
    return MIXERS.get(loss, HedgeMixture)(experts, losses.get(loss), classes)


def mixed(mixer, Z, y, v=None, drops=None):
    """Scores of the table's rows, each learned; drops is {row: who is still there}."""
    scores = []
    edges = sorted({0, len(Z), *(drops or {})})
    for first, last in pairwise(edges):
        if first in (drops or {}):
            mixer.drop(np.array(drops[first]))
        own = None if v is None else v[first:last]
        scores.append(mixer.learn(Z[first:last], y[first:last], own))
    return np.concatenate(scores)


def targets_of(loss, rng, n):
    """Targets that the loss accepts."""
    kind = losses.get(loss).targets
    if kind == "signs":
        return rng.choice([-1.0, 1.0], n)
    return rng.integers(0, CLASSES, n).astype(float) if kind == "classes" else rng.normal(1, 2, n)


def forecasts(loss, y, skill, rng):
    """A table of experts: `skill` of each is how much of the target it knows."""
    n, K = len(y), len(skill)
    if loss == "softmax":
        right = np.eye(CLASSES)[y.astype(int)][:, None, :]
        return 2 * right * np.reshape(skill, (1, K, 1)) + rng.normal(size=(n, K, CLASSES))
    if losses.get(loss).targets == "signs":
        return 2 * y[:, None] * skill + rng.normal(size=(n, K))
    return y[:, None] * skill + rng.normal(size=(n, K))


# Comparing with exact numbers


def worst(found, exact, floor=0.01):
    """The largest relative error; of numbers below `floor` of the largest, relative to that."""
    found, exact = np.ravel(found), list(flat(exact))
    assert len(found) == len(exact)
    assert np.isfinite(found).all()
    with precision(50):
        largest = max(map(abs, exact), default=Decimal(0))
        if largest == 0:
            return 0.0 if not found.any() else math.inf
        least = Decimal(floor) * largest
        return max(
            float(abs(Decimal(float(a)) - b) / max(abs(b), least))
            for a, b in zip(found, exact, strict=True)
        )


def flat(nested):
    """The numbers in lists of lists, as decimals."""
    for item in nested:
        if isinstance(item, list | tuple):
            yield from flat(item)
        else:
            yield Decimal(item)


def same_bits(a, b):
    """Assert that two runs agree to the bit."""
    a, b = (np.ascontiguousarray(x, dtype=np.float64) for x in (a, b))
    np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(a.view(np.int64), b.view(np.int64))


def error(a, b):
    """The largest difference, relative to the largest score."""
    a, b = np.asarray(a), np.asarray(b)
    assert np.isfinite(a).all()
    return np.abs(a - b).max() / np.abs(b).max()


# Streams


def blend(loss="logistic", **parameters):
    """A fresh blend."""
    if loss == "softmax":
        parameters["classes"] = CLASSES
    return Blend(loss, **parameters)


def tame(loss, seed=0, n=300, d=6, noise=0.5):
    """Dense rows in columns of different sizes, and targets with a signal."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, d))
    signal = Z @ rng.normal(size=d) + noise * rng.normal(size=n)
    X = Z * 10.0 ** rng.integers(-3, 4, d) + rng.integers(0, 3, d)
    kind = losses.get(loss).targets
    if kind == "signs":
        return X, np.where(signal > 0, 1.0, -1.0)
    if kind == "classes":
        return X, np.digitize(signal, [-0.5, 0.5]).astype(float)
    return X, 20 + 3 * signal


def widening(loss, kind, seed=0):
    """(CSR matrix, targets, row): rows that bring new features, until members leave at the row.

    "small": d crosses 256 while dense; "dense": d crosses 1024, and most values are 0; "falling":
    many features from the first row on, whose density falls below 1/8 later.
    """
    rng = np.random.default_rng(seed)
    n, d, each = {"small": (90, 330, 8), "dense": (60, 1400, 40), "falling": (60, 1500, 0)}[kind]
    X = np.zeros((n, d))
    for t in range(n):
        if kind == "falling":
            chosen = np.arange(d) if t < 4 else rng.choice(d, 30)
        else:
            known = min(d, 20 + t * each)
            chosen = np.append(rng.choice(known, 10), np.arange(max(0, known - each), known))
        X[t, chosen] = rng.normal(size=len(chosen)) * 10.0 ** (chosen % 5 - 2)
    return sp.csr_array(X), targets_of(loss, rng, n)


def dicts(X):
    """Rows as dicts of what is not 0."""
    X = sp.csr_array(X)
    return [
        dict(zip(row.indices.tolist(), row.data.tolist(), strict=True))
        for row in (X[t : t + 1] for t in range(X.shape[0]))
    ]


# Real sets


def real_sets(folder):
    """name -> (task, rows): a few hundred rows of each, in the order of the benchmark."""
    for path in sorted(folder.glob("*.npz")):
        with np.load(path, allow_pickle=False) as kept:
            X = (
                kept["X"]
                if "X" in kept
                else sp.csr_array(
                    (kept["data"], kept["indices"], kept["indptr"]), shape=tuple(kept["shape"])
                )
            )
            order = np.random.default_rng(0).permutation(X.shape[0])[:300]
            yield path.stem, str(kept["task"]), X[order], kept["y"][order].astype(float)


def rows_of(X, y, v=None):
    """A block."""
    return as_rows(X, y, v)
