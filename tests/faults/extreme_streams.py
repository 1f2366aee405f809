"""Random short streams of extreme numbers, and what must hold for every learner on each of them.

Scores are finite, and what `predict` says of a row is what `learn` then says, in blocks and row by
row. Weights, contributions and deviations are finite. The file of the learner loads and predicts
the same. Powers of two change no bit of a scale-invariant learner, which never diverges.
"""

import os
import tempfile

import numpy as np
import scipy.sparse as sp

from laws.streams import CLASSES, NEAR_TARGETS, in_any_unit, make, symmetric
from unitless import losses, persistence
from unitless.core.learner import Diverged
from unitless.rows import as_rows

LARGEST = np.finfo(float).max
SMALLEST_NORMAL = np.finfo(float).smallest_normal
EXPONENTS = [0, 0, 500, -500, 760, -760, -1000, -1070, 1000, 254, 256, -254, -256, 510, -510, -998]
"""Powers of two around which the values of a column lie: around 1, 1e150, 1e230, the limits of the
range without units, and both ends of float64."""
FAR_APART, TOO_FAR = 250, 400
"""If the exponents of a column's values differ by more, scores may differ in their last digits in
other units; by still more, the first values are nothing beside the later ones."""


def powers(exponents):
    with np.errstate(over="ignore", under="ignore"):
        return np.clip(np.exp2(np.clip(exponents, -1074, 1023.9)), 5e-324, LARGEST)


def extreme_values(rng):
    """Up to 13 rows; zeros, missing values, whole powers of two, columns that grow or shrink."""
    shape = n, d = int(rng.integers(1, 14)), int(rng.choice([1, 2, 3, 5, 9]))
    middle, spread = rng.choice(EXPONENTS, d), rng.choice([0, 2, 50, 500, 1200], d)
    drift = rng.choice([0, 20, -20]) * np.arange(n)[:, None]
    X = powers(middle + spread * rng.uniform(-0.5, 0.5, shape) + drift)
    if rng.random() < 0.3:
        X = np.exp2(np.floor(np.log2(X)))
    X *= rng.choice([-1, 1], shape)
    X[rng.random(shape) < rng.choice([0, 0.3, 0.7, 0.9])] = 0
    if rng.random() < 0.2:
        X[rng.random(shape) < 0.2] = np.nan
    return X


def extreme_targets(rng, name, loss, n):
    kind = losses.get(loss).targets
    if kind == "signs":
        return rng.choice([-1.0, 1.0], n)
    if kind == "classes":
        return rng.integers(0, CLASSES, n).astype(float)
    if kind == "slopes":
        return rng.uniform(-1, 1, n)
    if name in NEAR_TARGETS or rng.random() < 0.5:
        return rng.normal(1, 2, n)
    return rng.choice([-1, 1], n) * powers(rng.uniform(-1070, 1023, n))


class Extreme:
    """A learner and a stream, made of a seed."""

    def __init__(self, name, loss, seed):
        self.rng = rng = np.random.default_rng([seed, sum(map(ord, name + loss))])
        self.name, self.loss = name, loss
        self.X = extreme_values(rng)
        self.y = extreme_targets(rng, name, loss, len(self.X))
        self.v = None
        if rng.random() < 0.3:
            self.v = rng.choice([0, 1, 0.3, 7, 2.0**-200, 2.0**200], len(self.X))
        self.is_sparse = rng.random() < 0.5
        self.intercept = bool(rng.random() < 0.7)

    def learner(self):
        return make(self.name, self.loss, intercept=self.intercept)

    def rows(self, X=None, span=slice(None)):
        X = (self.X if X is None else X)[span]
        v = None if self.v is None else self.v[span]
        return as_rows(sp.csr_array(X) if self.is_sparse else X, self.y[span], v)

    def learned(self):
        """A learner, and its scores; where it diverges, it has learned the rows before."""
        learner = self.learner()
        try:
            return learner, learner.learn(self.rows())
        except Diverged as error:
            if in_any_unit(self.name):
                raise AssertionError(str(error)) from error
            return learner, learner.learn(self.rows(span=slice(error.row)))

    def in_other_units(self):
        """The values times powers of two; None if they leave the normal numbers."""
        d = self.X.shape[1]
        exponents = self.rng.integers(-900, 900, d)
        if self.rng.random() < 0.5:
            exponents[:] = exponents[0]
        with np.errstate(over="ignore", under="ignore"):
            moved = np.ldexp(self.X, exponents)
        if symmetric(self.name):
            moved = moved * self.rng.choice([-1.0, 1.0], d)
        is_value = (self.X != 0) & ~np.isnan(self.X)
        sizes = np.abs(np.concatenate([self.X[is_value], moved[is_value]]))
        fits = np.isfinite(sizes).all() and sizes.min(initial=1) >= SMALLEST_NORMAL
        return moved if fits else None

    def widest_column(self):
        """The largest difference of two exponents in a column."""
        exponents = np.where((self.X != 0) & ~np.isnan(self.X), np.frexp(self.X)[1], np.nan)
        known = exponents[:, ~np.isnan(exponents).all(axis=0)]
        return np.max(np.nanmax(known, axis=0) - np.nanmin(known, axis=0), initial=0)


def is_same(a, b):
    return np.array_equal(np.asarray(a) + 0.0, np.asarray(b) + 0.0)  # 0 has no sign


def check(name, loss, seed):
    """Raise an AssertionError if something does not hold."""
    case = Extreme(name, loss, seed)
    learner, scores = case.learned()
    assert np.isfinite(scores).all()
    check_rows(case, scores)
    weights = learner.weights()
    parts = learner.contributions(case.rows(span=slice(1)))
    sizes = learner.deviations()
    for numbers in (weights.features, weights.intercept, *parts, 0.0 if sizes is None else sizes):
        assert np.isfinite(numbers).all()
    check_file(learner, case)
    moved = case.in_other_units() if in_any_unit(name) else None
    if moved is not None:
        again = case.learner().learn(case.rows(moved))
        width = case.widest_column()
        size = np.abs(scores).max(initial=0)
        assert width > FAR_APART or is_same(again, scores)
        assert width > TOO_FAR or np.abs(again - scores).max(initial=0) <= 1e-9 * size


def check_rows(case, scores):
    """Predict and learn row by row."""
    learner = case.learner()
    for t in range(len(scores)):
        row = case.rows(span=slice(t, t + 1))
        predicted = learner.predict(row)
        learned = learner.learn(row)
        assert is_same(predicted, learned)
        assert is_same(learned[0], scores[t])
    assert np.isfinite(learner.predict(case.rows())).all()  # also of a row that was refused


def check_file(learner, case):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model")
        persistence.save(learner, path)
        found = persistence.load(path)
    assert is_same(found.predict(case.rows()), learner.predict(case.rows()))
