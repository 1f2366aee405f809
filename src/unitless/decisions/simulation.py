"""Play classification as decisions: the reward of the right class is 1, and others are never seen.

The bandit chooses a class for each row and learns whether it was right. Beside it, a classifier
learns the class of every row: full information.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from unitless.decisions.bandit import Decisions, OnlineBandit
from unitless.decisions.contexts import Contexts, new_classifier, rows_of_contexts
from unitless.labels import codes_of


class Played(NamedTuple):
    """One decision of the simulation."""

    chosen: Hashable
    right: Hashable
    explored: bool
    """Whether another action had a larger estimate."""
    informed: bool
    """Whether the classifier with all labels was right."""


class Simulation:
    """Classes as actions.

    >>> import polars
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=400)
    >>> game = Simulation(["small", "large"])
    >>> game.add(polars.DataFrame({"x": x}), np.where(x > 0, "large", "small").tolist())
    >>> print(f"{game.reward:.2f} with all labels {game.informed:.2f}")
    0.99 with all labels 0.99
    """

    def __init__(self, classes: Sequence[Hashable], bandit: OnlineBandit | None = None) -> None:
        self.classes = [*classes]
        self.bandit = OnlineBandit(self.classes) if bandit is None else bandit
        self.classifier = new_classifier(self.classes)
        self.classifier.encoder = self.bandit.encoding.encoder
        self.played: list[Played] = []

    def add(self, contexts: Contexts, labels: Sequence[Hashable]) -> None:
        """Play the rows of a frame in order."""
        for k, label in enumerate(labels):
            self._play(contexts[k : k + 1], label)

    def _play(self, context: Contexts, label: Hashable) -> None:
        decision = self.bandit.choose(context)
        assert isinstance(decision, Decisions)
        chosen = decision.action.tolist()[0]
        self.bandit.learn(context, [chosen], [float(chosen == label)], decision.probability)
        rows = rows_of_contexts(self.bandit.encoding, context, False).rows
        codes, _ = codes_of([label], self.classifier.task, self.classifier.labels)
        not_fresh = self.classifier.learn_rows(rows.with_targets(codes))[1]
        answer = self.classifier.answers(not_fresh)[0]
        explored = decision.actions[int(decision.estimates[0].argmax())] != chosen
        self.played.append(Played(chosen, label, explored, answer == label))

    @property
    def reward(self) -> float:
        """The share of right choices."""
        return float(np.mean([each.chosen == each.right for each in self.played]))

    @property
    def informed(self) -> float:
        """The share of right answers with all labels."""
        return float(np.mean([each.informed for each in self.played]))
