"""Nearest neighbours: a twin from the definition, what is stored, and what they can learn."""

import math

import numpy as np
import pytest

from unitless.learners import Neighbours
from unitless.rows import as_rows

CLASSES = 3


class Twin:
    """Neighbours as the page describes them, in plain Python."""

    def __init__(self, loss):
        self.loss, self.seen, self.rows = loss, [], []
        self.most, self.numbers = (4096, 2**16) if loss == "softmax" else (1024, 2**15)

    def squashed(self, x):
        self.seen.append(x)
        seen = np.array(self.seen)
        known = (~np.isnan(seen)).sum(axis=0).clip(min=1)
        mean = np.nansum(seen, axis=0) / known
        c = np.nan_to_num(x - mean)
        size = np.sqrt(np.nansum((seen - mean) ** 2, axis=0) / known + c * c)
        return np.divide(c, size, out=np.zeros_like(c), where=size > 0)

    def votes(self, u):
        ordered = sorted((float(((u - row) ** 2).sum()), k) for k, (row, _, _) in self.rows)
        farthest = ordered[7][0] if len(ordered) > 7 else math.inf
        found = dict(self.rows)
        for q, k in ordered[:7]:
            _, y, v = found[k]
            yield y, v * (1.1 - q / farthest)

    def learn(self, x, y, v):
        u = self.squashed(x)
        votes = list(self.votes(u))
        if self.loss == "squared":
            score = sum(w * y for y, w in votes) / sum(w for _, w in votes) if votes else 0.0
            hard = True
        else:
            names = range(CLASSES) if self.loss == "softmax" else (-1.0, 1.0)
            p = {c: 0.35 / len(names) + sum(w for y, w in votes if y == c) for c in names}
            score = [math.log(each / sum(p.values())) for each in p.values()]
            hard = p[y] / sum(p.values()) < 0.8
            score = score if self.loss == "softmax" else score[1] - score[0]
        if hard:
            self.rows.append((len(self.seen), (u, y, v)))
            columns = int(np.nan_to_num(np.array(self.seen)).any(axis=0).sum())
            most = min(self.most, self.numbers // columns) // 8 * 8
            self.rows = self.rows[-most:]
        return score


def stream(loss, n, d, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4, size=d)
    X[rng.random((n, d)) < 0.1] = math.nan
    signal = np.nan_to_num(X / np.nanstd(X, axis=0))[:, :2].prod(axis=1)
    y = {"squared": signal, "logistic": np.where(signal > 0, 1.0, -1.0)}
    y["softmax"] = np.searchsorted([-0.5, 0.5], signal).astype(float)
    return X, y[loss], rng.choice([0.5, 1.0, 2.0], n)


@pytest.mark.parametrize("loss", ["logistic", "squared", "softmax"])
@pytest.mark.parametrize(("n", "d"), [(400, 3), (320, 240)])
def test_twin(loss, n, d):
    """With 240 columns, the oldest rows are replaced."""
    X, y, v = stream(loss, n, d)
    several = {"classes": CLASSES} if loss == "softmax" else {}
    learner = Neighbours(loss, **several)
    scores = learner.learn(as_rows(X, y, v))
    twin = Twin(loss)
    expected = np.array([twin.learn(*row) for row in zip(X, y, v, strict=True)])
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9)
    assert learner.used == len(twin.rows)


def test_only_hard_rows_are_stored():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    learner = Neighbours()
    learner.learn(as_rows(X, np.where(X[:, 0] > 0, 1.0, -1.0)))
    assert learner.used < 600


def test_room_for_rows_does_not_grow_for_ever():
    rng = np.random.default_rng(0)
    learner = Neighbours("squared")
    for _ in range(3):
        learner.learn(as_rows(rng.normal(size=(1000, 2)), rng.normal(size=1000)))
    assert learner.used == 1024
    assert len(learner.stored) == 1024 * 2


def test_too_many_columns():
    with pytest.raises(ValueError, match="at most 4096"):
        Neighbours().learn(as_rows(np.ones((1, 4097)), [1.0]))
