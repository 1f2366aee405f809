"""Learn from decisions that another system logged, and value policies by them.

Rows are learned in pieces, which are short at the beginning (`piece_end`). The learned policy
chooses, for each row, the action with the largest estimate of the models before the row's piece;
the same estimates are those of the doubly robust values. Until an action was learned, it follows
the log.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from unitless.decisions.bandit import OnlineBandit
from unitless.decisions.contexts import Contexts, Features
from unitless.decisions.exploration import Float, Ints
from unitless.decisions.off_policy import Value, value
from unitless.labels import text_of

LONGEST = 1024
"""Rows of a piece."""
PIECE_DIVISOR = 16
"""A piece has at most 1 / PIECE_DIVISOR of the rows before it, and at least one."""
LEARNED = "learned policy"
GIVEN = "given policy"
Compared = tuple[str, Hashable, Float]
"""A policy: its name, its key, and its probability of the logged action in each row."""


class Logged(NamedTuple):
    """Some rows of a log."""

    contexts: Contexts
    """A data frame."""
    actions: Sequence[Hashable]
    rewards: Float
    probabilities: Float | None
    choices: Sequence[Hashable] | None = None
    """What a given policy chooses,"""
    matches: Float | None = None
    """or the probability with which it chooses the logged action."""
    offered: Sequence[Mapping[str, Features]] | None = None
    """The possible actions, each with the features of the context and its own; see `OfferedLog`."""

    def cut(self, start: int, stop: int) -> "Logged":
        """Return the rows from `start` to `stop`."""
        p, choices, matches = self.probabilities, self.choices, self.matches
        offered = self.offered
        return Logged(
            self.contexts[start:stop],
            self.actions[start:stop],
            self.rewards[start:stop],
            None if p is None else p[start:stop],
            None if choices is None else choices[start:stop],
            None if matches is None else matches[start:stop],
            None if offered is None else offered[start:stop],
        )


class PolicyValue(NamedTuple):
    """What a policy would have earned per decision, and how that is known."""

    policy: str
    value: Value
    direct: float | None
    """The mean estimate of the models alone, which is biased as far as these are wrong."""


class LogEvaluation:
    """A bandit that learns from a log, and values of policies.

    Parameters
    ----------
    bandit : OnlineBandit
        It learns from the log; its actions may come and go.
    alpha : the probability that a confidence sequence is wrong at any time
    bounds : the least and the largest possible reward; by default of the log itself

    Examples
    --------
    >>> import polars
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=2000)
    >>> shown = rng.integers(0, 2, 2000)
    >>> clicked = ((x > 0) == shown).astype(float)
    >>> log = LogEvaluation(OnlineBandit())
    >>> log.add(Logged(polars.DataFrame({"x": x}), shown.tolist(), clicked, np.full(2000, 0.5)))
    >>> for policy, found, _ in log.values():
    ...     print(f"{policy}: {found.dr:.2f}, from {found.low:.2f} to {found.high:.2f}")
    learned policy: 1.00, from 0.94 to 1.00
    always 1: 0.48, from 0.41 to 0.58
    always 0: 0.52, from 0.46 to 0.59
    """

    def __init__(
        self,
        bandit: OnlineBandit,
        *,
        alpha: float = 0.05,
        bounds: tuple[float, float] | None = None,
    ) -> None:
        self.bandit = bandit
        self.alpha = alpha
        self.bounds = bounds
        self.codes: dict[Hashable, int] = {}
        """The actions, by order of appearance."""
        self._shown: list[Ints] = []
        self._rewards: list[Float] = []
        self._probabilities: list[Float] = []
        self._matches: defaultdict[str, list[Float]] = defaultdict(list)
        """With which probability policies choose the logged action."""
        self._direct: dict[Hashable, float] = {}
        """Sums of the parts of the doubly robust estimates that do not depend on the reward."""
        self._plain: dict[Hashable, float] = {}
        """Sums of the estimates alone."""
        self._before = 0.0
        """That of an action that has not appeared: its estimate is the mean reward."""
        self.rows = 0

    def add(self, logged: Logged) -> None:
        """Value and learn rows of the log."""
        for piece in self._pieces(logged):
            self._add_piece(piece)

    def _pieces(self, logged: Logged) -> Iterator[Logged]:
        """Pieces end where `piece_end` says, and at the end of these rows."""
        start = 0
        while start < len(logged.rewards):
            left = piece_end(self.rows) - self.rows
            stop = min(start + left, len(logged.rewards))
            yield logged.cut(start, stop)
            start = stop

    def _add_piece(self, logged: Logged) -> None:
        bandit = self.bandit
        rows = len(logged.rewards)
        known = [*bandit.models]
        mean = bandit.mean_reward
        estimates = bandit.estimates(logged.contexts, known) if known else np.zeros((rows, 0))
        bandit.learn(logged.contexts, logged.actions, logged.rewards, logged.probabilities)
        for action in logged.actions:
            if action not in self.codes:
                self.codes[action] = len(self.codes)
                self._direct[action] = self._plain[action] = self._before
        new = [action for action in self.codes if action not in known]
        columns = [*known, *new]
        estimates = np.column_stack([estimates, np.full((rows, len(new)), mean)])
        own = np.arange(rows)
        places = np.array([columns.index(action) for action in logged.actions])
        codes = np.array([self.codes[action] for action in columns])
        p = np.ones(rows) if logged.probabilities is None else logged.probabilities
        of_logged = estimates[own, places]
        best = estimates[:, : len(known)].argmax(axis=1) if known else places
        self._count(LEARNED, estimates[own, best], (best == places) / p, of_logged)
        for k, action in enumerate(columns):
            self._count(action, estimates[:, k], (places == k) / p, of_logged)
        self._before += rows * mean
        if logged.choices is not None:
            where = {action: k for k, action in enumerate(columns)}
            chosen = np.array([where.get(action, -1) for action in logged.choices])
            self._add_choices(chosen, estimates, places, p)
        self._matches[LEARNED].append((best == places).astype(np.float64))
        self._keep(logged, codes[places], p)

    def _keep(self, logged: Logged, shown: Ints, p: Float) -> None:
        """Keep what the values of policies need of each row."""
        self._shown.append(shown)
        self._rewards.append(np.asarray(logged.rewards, dtype=np.float64))
        self._probabilities.append(p)
        if logged.matches is not None:
            self._matches[GIVEN].append(np.asarray(logged.matches, dtype=np.float64))
        self.rows += len(shown)

    def _add_choices(self, chosen: Ints, estimates: Float, places: Ints, p: Float) -> None:
        """Count a policy that is given by its choices; one that never appeared has the mean."""
        own = np.arange(len(places))
        found = np.where(chosen >= 0, estimates[own, chosen], self.bandit.mean_reward)
        matches = (chosen == places).astype(np.float64)
        self._count(GIVEN, found, matches / p, estimates[own, places])
        self._matches[GIVEN].append(matches)

    def _count(self, key: Hashable, own: Float, weights: Float, of_logged: Float) -> None:
        self._plain[key] = self._plain.get(key, 0.0) + float(own.sum())
        self._direct[key] = self._direct.get(key, 0.0) + float((own - weights * of_logged).sum())

    # What was found

    @property
    def mean(self) -> float:
        """The mean reward of the log."""
        return float(np.concatenate(self._rewards).mean())

    @property
    def counts(self) -> Mapping[Hashable, int]:
        """How often each action was shown."""
        shown = np.bincount(np.concatenate(self._shown), minlength=len(self.codes))
        return dict(zip(self.codes, shown.tolist(), strict=True))

    def means(self) -> Mapping[Hashable, float]:
        """The mean reward of each action where it was shown."""
        shown, rewards = np.concatenate(self._shown), np.concatenate(self._rewards)
        sums = np.bincount(shown, rewards, len(self.codes))
        return dict(zip(self.codes, (sums / [*self.counts.values()]).tolist(), strict=True))

    def values(self) -> list[PolicyValue]:
        """The values of the learned policy, of those it is compared with, and of the given one."""
        if not self.rows:
            raise ValueError("the log has no rows")
        rewards, p = np.concatenate(self._rewards), np.concatenate(self._probabilities)
        bounds = self.bounds or (float(rewards.min()), float(rewards.max()))
        found: list[Compared] = [(LEARNED, LEARNED, np.concatenate(self._matches[LEARNED]))]
        found += self._compared()
        if self._matches[GIVEN]:
            found.append((GIVEN, GIVEN, np.concatenate(self._matches[GIVEN])))
        made = []
        for name, key, matches in found:
            weights = matches / p
            direct = self._direct.get(key)
            shares = None if direct is None else np.full(self.rows, direct / self.rows)
            own = value(weights, rewards, shares, bounds=bounds, alpha=self.alpha)
            plain = self._plain.get(key)
            made.append(PolicyValue(name, own, None if plain is None else plain / self.rows))
        return made

    def _compared(self) -> Iterator[Compared]:
        """Each constant action."""
        shown = np.concatenate(self._shown)
        for action, code in self.codes.items():
            yield f"always {named(action)}", action, (shown == code).astype(np.float64)

    def curve(self) -> tuple[Float, Ints]:
        """The mean reward after each row, and the shown action of each row."""
        rewards = np.concatenate(self._rewards)
        return np.cumsum(rewards) / np.arange(1, len(rewards) + 1), np.concatenate(self._shown)


def named(action: Hashable) -> str:
    """An action for a table: 1.0 is 1.

    >>> named(1.0), named("A"), named(("A", 2))
    ('1', 'A', "('A', 2)")
    """
    return text_of(action) if isinstance(action, str | float | bool) else str(action)


def piece_end(row: int) -> int:
    """Where the piece that contains a row ends.

    >>> piece_end(0), piece_end(16), piece_end(40), piece_end(50_000)
    (1, 17, 42, 50377)
    """
    start = 0
    while True:
        length = min(max(start // PIECE_DIVISOR, 1), LONGEST)
        if length == LONGEST:
            return start + (row - start) // LONGEST * LONGEST + LONGEST
        if row < start + length:
            return start + length
        start += length
