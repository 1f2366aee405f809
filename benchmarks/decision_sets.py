"""The data sets of `decisions.py`: contexts, and the reward of every action.

Classification sets: the reward is 1 for the right class and 0 for others. They come from
../shared/data, scikit-learn and River's generators; of regression sets, the classes are the
quantiles of the target. Sets of real rewards, in odd units: an action is a price, which is earned
if the target is at least as high; or a guess of the target, whose reward is minus the distance.
Rows are shuffled, and at most `CAP` are used.
"""

from collections.abc import Callable
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from data import sources
from sklearn import datasets

CAP = 5000


class Decisions(NamedTuple):
    """A stream of decisions."""

    name: str
    X: np.ndarray
    rewards: np.ndarray
    """One column per action."""

    @property
    def classes(self) -> np.ndarray:
        """The best action of each row."""
        return self.rewards.argmax(axis=1)


def shared(name: str) -> tuple[Any, np.ndarray]:
    X, y, _ = sources()[name]()
    return X, np.unique(y, return_inverse=True)[1]


def bins(name: str, count: int) -> tuple[Any, np.ndarray]:
    X, y, _ = sources()[name]()
    return X, np.searchsorted(np.quantile(y, np.arange(1, count) / count), y)


def generated(name: str, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    from river.datasets import synth

    rows = [*islice(iter(getattr(synth, name)(**options)), CAP)]
    X = np.array([[float(value) for value in x.values()] for x, _ in rows])
    return X, np.unique([y for _, y in rows], return_inverse=True)[1]


def of_scikit_learn(name: str, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    found = getattr(datasets, name)(**options)
    return found[0], found[1]


SEVERAL: dict[str, Callable[[], tuple[Any, np.ndarray]]] = {
    "digits": lambda: shared("digits"),
    "image_segments": lambda: shared("image_segments"),
    "satimage": lambda: shared("satimage"),
    "letter": lambda: shared("letter"),
    "wine": lambda: of_scikit_learn("load_wine", return_X_y=True),
    "iris": lambda: of_scikit_learn("load_iris", return_X_y=True),
    "LED": lambda: generated("LED", seed=1),
    "RandomRBF": lambda: generated(
        "RandomRBF", seed_model=1, seed_sample=1, n_classes=5, n_features=10
    ),
    "RandomTree": lambda: generated("RandomTree", seed_tree=1, seed_sample=1, n_classes=4),
    "Waveform": lambda: generated("Waveform", seed=1),
    "gaussian_quantiles": lambda: of_scikit_learn(
        "make_gaussian_quantiles", n_samples=CAP, n_features=5, n_classes=4, random_state=0
    ),
    "clusters": lambda: of_scikit_learn(
        "make_classification",
        n_samples=CAP,
        n_features=20,
        n_informative=8,
        n_classes=6,
        random_state=0,
    ),
    "california_4": lambda: bins("california_housing", 4),
    "bike_4": lambda: bins("bike_hour", 4),
    "cpu_5": lambda: bins("cpu_act", 5),
    "diamonds_5": lambda: bins("diamonds", 5),
}
"""Sets with three or more classes."""
TWO = [
    "adult",
    "magic04",
    "spambase",
    "htru2",
    "german_credit",
    "breast_cancer",
    "online_shoppers",
    "credit_default",
]
"""Sets with two classes."""
PRICES = {"california_housing": 1.0, "diamonds": 7e-6, "bike_hour": 1e9}
GUESSES = {"power_plant": 1e-12, "cpu_act": 3e7}
"""Sets of real rewards, and the factor of their unit."""
LEVELS = 5
"""Prices, or guesses."""


def classification(name: str, seed: int) -> Decisions:
    X, y = SEVERAL[name]() if name in SEVERAL else shared(name)
    order = np.random.default_rng(seed).permutation(len(y))[:CAP]
    X = X.toarray() if hasattr(X, "toarray") else X
    y = np.unique(y[order], return_inverse=True)[1]
    return Decisions(name, np.asarray(X, dtype=float)[order], np.eye(y.max() + 1)[y])


def real(name: str, seed: int) -> Decisions:
    X, y, _ = sources()[name]()
    order = np.random.default_rng(seed).permutation(len(y))[:CAP]
    levels = np.quantile(y, (np.arange(LEVELS) + 0.5) / LEVELS)
    X, y = X[order], y[order, None]
    rewards = np.where(y >= levels, levels, 0.0) if name in PRICES else -np.abs(y - levels)
    return Decisions(name, X, rewards * (PRICES | GUESSES)[name])
