"""Several classes for learners of one score: one learner a class, coupled by softmax gradients.

The cross-entropy's derivative in the score of class c is softmax(p)_c - [y = c], within [-1, 1]. So
each class's learner plays the paper's game with linear losses, and its theorem holds class by class.
"""

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from unitless.learners.protocol import Learner, Weights
from unitless.learners.scaled import cut
from unitless.losses import get


class OneAClass(Learner):
    """One learner a class.

    Parameters
    ----------
    kind : type of a Learner that accepts the loss "linear"
    classes : int

    >>> from unitless.learners import Full
    >>> from unitless.rows import as_rows
    >>> learner = OneAClass(Full, classes=3)
    >>> scores = learner.learn(as_rows([[1.0], [2.0], [3.0], [1.0]], [0, 1, 2, 0]))
    >>> scores.argmax(axis=1)
    array([0, 0, 2, 0])
    """

    name: ClassVar[str] = "one_a_class"

    def __init__(self, kind: type[Learner], *, classes: int, intercept: bool = True) -> None:
        super().__init__("softmax", intercept=intercept, classes=classes)
        self.kind = kind
        self.learners = [kind("linear", intercept=intercept) for _ in range(classes)]

    @property
    def state(self) -> tuple[Any, ...]:
        """The states of the learners."""
        return tuple(learner.state for learner in self.learners)

    def add_class(self) -> None:
        """One class more; it starts at score 0."""
        self.classes += 1
        self.learners.append(self.kind("linear", intercept=self.intercept))

    def _reserve(self, columns: int) -> None:
        for learner in self.learners:
            learner._reserve(columns)

    def _predict(self, values, indices, starts, columns, weights, scores):
        for c, learner in enumerate(self.learners):
            block = values, indices, starts, columns, weights
            scores[:, c] = learner._predict(*block, np.empty(len(scores)))
        return scores

    def _learn(self, values, indices, starts, columns, targets, weights, scores):
        loss = get("softmax")
        for r in range(len(scores)):
            row = cut(values, indices, starts, columns, weights, r, r + 1)
            self._predict(*row, scores[r : r + 1])
            slopes = loss.link(scores[r : r + 1])[0]
            slopes[int(targets[r])] -= 1
            for learner, slope in zip(self.learners, slopes, strict=True):
                learner._learn(*row[:4], np.array([slope]), row[4], np.empty(1))
        return scores

    def rescale(self, factors: ArrayLike | Mapping[Any, float]) -> Self:
        """From now on column i arrives multiplied by factors[i]."""
        for learner in self.learners:
            learner.names = self.names
            learner.rescale(factors)
        return self

    def weights(self) -> Weights:
        """A column a class."""
        each = [learner.weights() for learner in self.learners]
        return Weights(
            np.array([w.intercept for w in each]), np.column_stack([w.features for w in each])
        )
