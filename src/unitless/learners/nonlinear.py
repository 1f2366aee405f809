"""Base of the boosted trees and the neighbours: no weights, and memory that grows with the rows."""

from abc import abstractmethod
from copy import copy
from typing import Any

import numpy as np

from unitless.learners.base import EMPTY, NO_INDICES, Block, Float, Learner
from unitless.learners.declared import Declared
from unitless.learners.diagonal import CURVED
from unitless.state import COLUMNS


class Nonlinear(Declared, Learner):
    """Base of learners without weights, whose kernel returns before a row that has no room."""

    symmetric = False
    linear = False
    needs_lipschitz = False
    takes_losses = CURVED
    saved = (*Learner.saved, COLUMNS)
    _columns: Any = 0

    @abstractmethod
    def make_room(self) -> None:
        """Make room for more rows."""

    @abstractmethod
    def _run(self, block: Block, targets: Float, weights: Float, scores: Float) -> int:
        """Score and learn rows while there is room; returns how many."""

    def _predict(self, block: Block, weights: Float, scores: Float) -> Float:
        learner = self
        if block.columns > self._columns:
            learner = copy(self)
            learner._reserve(block.columns)
        learner._run(block, EMPTY, weights, scores)
        return scores

    def _learn(self, block: Block, targets: Float, weights: Float, scores: Float) -> Float:
        done = self._run(block, targets, weights, scores)
        while done < len(scores):
            self.make_room()
            rest = block.cut(done, len(scores))
            done += self._run(rest, targets[done:], weights[done:], scores[done:])
        return scores

    def _coefficients(self) -> Float:
        """There are no weights; the intercept is the score of the row of zeros."""
        zeros = Block(EMPTY, NO_INDICES, np.zeros(2, np.int64), self._columns)
        coefficients = np.zeros_like(self._room(1 + self._columns))
        self._predict(zeros, EMPTY, coefficients[:1])
        return coefficients
