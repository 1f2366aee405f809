"""An anytime-valid test of whether the features carry information about the targets.

Null hypothesis: given the features, the targets are exchangeable. Then in a pair of rows (x, y) and
(x', y') the sign of y - y' is a fair coin, whatever the base rate and whatever x - x' is. Algorithm
2 bets on these signs: with instance x - x', gradient g = -sign(y - y'), linear loss and wealth 1,
its wealth 1 - sum g p never falls below 0 (Lemma 5) and is a martingale under the null hypothesis.
By Ville's inequality it ever reaches 1/a with a probability of at most a, so you may look at it
after every row. Disjoint pairs of consecutive rows are used; ties are skipped.
"""

from typing import Any, NamedTuple

import numpy as np

from unitless.learners.full import Full
from unitless.regret.design import matrix
from unitless.rows import Rows, as_rows
from unitless.state import Float

MOST_COLUMNS = 100
"""Of rows that `InformationTest.add` takes: Algorithm 2 takes O(d^2) per pair of rows."""
CERTAIN_WEALTH = 1e6
"""When its wealth has reached this, the test stops betting."""


class Information(NamedTuple):
    """What the test found so far; print it for a sentence."""

    pairs: int
    """Pairs of rows with different targets."""
    wealth: float
    """The e-value now."""
    largest: float
    """The largest wealth so far: 1 / largest is an anytime-valid p-value."""

    @property
    def p_value(self) -> float:
        """An upper bound on the probability of such a wealth, at any time, without information."""
        return min(1.0, 1 / self.largest)

    @property
    def is_found(self) -> bool:
        """Whether chance is an unlikely explanation: the p-value is at most 5 %."""
        return self.largest >= 20

    def __str__(self) -> str:
        found = self.is_found
        verdict = (
            "the features carry information" if found else "no information in the features yet"
        )
        rows = "1 pair of rows" if self.pairs == 1 else f"{self.pairs} pairs of rows"
        return f"{verdict}: e-value {self.largest:.3g} after {rows}"


class InformationTest:
    """The test as rows arrive: call `add` with each block, and read `result` at any time.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> test = InformationTest()
    >>> test.add(as_rows(X[:, :5], y))
    >>> print(test.result.largest > 1000)
    True
    """

    def __init__(self) -> None:
        self._learner = Full("linear", intercept=False)
        self._pairs = 0
        self._wealth = 1.0
        self._largest = 1.0
        self._waiting: tuple[Any, float] | None = None

    def add(self, rows: Rows) -> None:
        """Enter rows with targets; rows of weight 0 and rows without a target are left out.

        So is a block with too many columns, and everything after the test is certain.
        """
        if rows.targets is None:
            raise ValueError("the test needs targets: as_rows(X, targets)")
        if rows.columns > MOST_COLUMNS or self._largest >= CERTAIN_WEALTH:
            return
        kept = ~np.isnan(rows.targets)
        if rows.weights is not None:
            kept &= rows.weights > 0
        X = matrix(rows)[kept]
        y = rows.targets[kept]
        X = X if isinstance(X, np.ndarray) else X.toarray()
        if self._waiting is not None:
            x, target = self._waiting
            width = max(X.shape[1], len(x))
            X = np.vstack([_widened(x[None], width), _widened(X, width)])
            y = np.append(target, y)
        self._waiting = None
        if len(y) % 2:
            self._waiting = (X[-1], float(y[-1]))
            X = X[:-1]
            y = y[:-1]
        # of halves: the difference of two large values may exceed the largest float
        rises = y[::2] / 2 - y[1::2] / 2
        moves = X[::2] / 2 - X[1::2] / 2
        differs = rises != 0
        self._bet(moves[differs], -np.sign(rises[differs]))

    def _bet(self, X: Float, slopes: Float) -> None:
        p = self._learner.learn(as_rows(X, slopes))
        for gain in (slopes * p).tolist():
            self._pairs += 1
            self._wealth -= gain
            self._largest = max(self._largest, self._wealth)
            if self._largest >= CERTAIN_WEALTH:
                break

    @property
    def result(self) -> Information:
        """What was found in the rows so far."""
        return Information(self._pairs, self._wealth, self._largest)


def _widened(X: Float, width: int) -> Float:
    missing = width - X.shape[1]
    return np.pad(X, ((0, 0), (0, missing)))


def information_test(rows: Rows) -> Information:
    """Whether the features of the rows carry information about their targets.

    >>> import numpy as np
    >>> from unitless.rows import as_rows
    >>> rng = np.random.default_rng(0)
    >>> X, coins = rng.normal(size=(2000, 3)), rng.choice([-1.0, 1.0], 2000)
    >>> print(information_test(as_rows(X, coins)).p_value > 0.05)
    True
    """
    test = InformationTest()
    test.add(rows)
    return test.result
