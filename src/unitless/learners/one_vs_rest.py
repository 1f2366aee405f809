"""Multiclass classification with one learner per class, coupled by softmax gradients.

The cross-entropy's derivative in the score of class c is softmax(p)_c - [y = c], within [-1, 1]. So
each learner faces linear losses, as in the paper, and its theorem holds for each class.
"""

from inspect import signature
from typing import Any

import numpy as np

from unitless.learners.base import Diverged, Learner
from unitless.learners.learner_group import LearnerGroup
from unitless.losses import MIN_SLOPE


def with_classes(kind: Any, classes: int, **settings: Any) -> Learner:
    """Make a learner with one score per class: its own softmax form, or one learner per class.

    >>> from unitless.learners import Coordinate, Nag
    >>> with_classes(Nag, 3).name, with_classes(Coordinate, 3).name
    ('nag', 'one_vs_rest')
    """
    try:
        if "classes" in signature(kind).parameters:
            return kind("softmax", classes=classes, **settings)
        return OneVsRest(kind, classes=classes, **settings)
    except ValueError as error:
        raise ValueError(
            f"{kind.name} supports only two classes ({error}); use 'blend' or 'coordinate'"
        ) from error


class OneVsRest(LearnerGroup):
    """One learner per class, coupled by the gradients of the softmax loss.

    Parameters
    ----------
    kind : type of a Learner that accepts the loss "linear"
    classes : int
    parameters
        Parameters of each learner: alpha, wealth, ...

    Examples
    --------
    >>> from unitless.learners import Full
    >>> from unitless.rows import as_rows
    >>> learner = OneVsRest(Full, classes=3)
    >>> scores = learner.learn(as_rows([[1.0], [2.0], [3.0], [1.0]], [0, 1, 2, 0]))
    >>> scores.argmax(axis=1)
    array([0, 0, 1, 0])
    """

    name = "one_vs_rest"
    _weighs_gradients = False

    def __init__(
        self, kind: type[Learner], *, classes: int, intercept: bool = True, **parameters: Any
    ) -> None:
        super().__init__("softmax", intercept=intercept, classes=classes)
        self.kind = kind
        self.parameters = parameters
        self.learners = [self._one() for _ in range(classes)]

    def _one(self) -> Learner:
        learner = self.kind("linear", intercept=self.intercept, **self.parameters)
        if self._weighs_gradients:
            learner.weigh_gradients()
        return learner

    def weigh_gradients(self) -> None:
        """See `Learner.weigh_gradients`."""
        super().weigh_gradients()
        self._weighs_gradients = True

    def add_class(self) -> None:
        """Add one class, whose score starts at 0."""
        super().add_class()
        self.learners.append(self._one())
        self.learners[-1]._reserve(self._columns)

    def _learn(self, block, targets, weights, scores):
        try:
            for r in range(len(scores)):
                row = block.cut(r, r + 1)
                own = weights[r : r + 1]
                self._learn_row(row, targets[r], own, scores[r : r + 1])
        except ArithmeticError as error:
            raise Diverged(self.kind.name, r) from error
        return scores

    def _learn_row(self, row, target, weights, scores):
        self._predict(row, weights, scores)
        slopes = self.loss.link(scores)[0]
        slopes[int(target)] -= 1
        slopes[np.abs(slopes) < MIN_SLOPE] = 0
        for learner, slope in zip(self.learners, slopes, strict=True):
            learner._learn(row, np.array([slope]), weights, np.empty(1))
