"""Several classes for learners of one score: one learner a class, coupled by softmax gradients.

The cross-entropy's derivative in the score of class c is softmax(p)_c - [y = c], within [-1, 1]. So
each class's learner plays the paper's game with linear losses, and its theorem holds class by
class.
"""

from collections.abc import Callable, Hashable, Mapping
from copy import deepcopy
from inspect import signature
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless.learners.base import Learner, Weights
from unitless.learners.scaled import cut
from unitless.rows import Rows


def with_classes(kind: type[Learner], classes: int) -> Learner:
    """A learner of that kind with a score a class: its own softmax form, or one learner a class.

    >>> from unitless.learners import Coordinate, Nag
    >>> with_classes(Nag, 3).name, with_classes(Coordinate, 3).name
    ('nag', 'one_a_class')
    """
    try:
        if "classes" in signature(kind).parameters:
            return kind("softmax", classes=classes)
        return OneAClass(kind, classes=classes)
    except ValueError as error:
        raise ValueError(
            f"{kind.name} knows no more than two classes ({error}); use 'blend' or 'coordinate'"
        ) from error


class OneAClass(Learner):
    """One learner a class.

    Parameters
    ----------
    kind : type of a Learner that accepts the loss "linear"
    classes : int
    parameters
        Of the kind: alpha, wealth, ...

    >>> from unitless.learners import Full
    >>> from unitless.rows import as_rows
    >>> learner = OneAClass(Full, classes=3)
    >>> scores = learner.learn(as_rows([[1.0], [2.0], [3.0], [1.0]], [0, 1, 2, 0]))
    >>> scores.argmax(axis=1)
    array([0, 0, 1, 0])
    """

    name: ClassVar[str] = "one_a_class"

    def __init__(
        self, kind: type[Learner], *, classes: int, intercept: bool = True, **parameters: Any
    ) -> None:
        super().__init__("softmax", intercept=intercept, classes=classes)
        self.kind, self.parameters, self._columns = kind, parameters, 0
        self.learners = [self._one() for _ in range(classes)]

    def _one(self) -> Learner:
        return self.kind("linear", intercept=self.intercept, **self.parameters)

    @property
    def invariance(self) -> str:  # type: ignore[override]
        """That of the kind."""
        return self.kind.invariance

    @property
    def linear(self) -> bool:  # type: ignore[override]
        """That of the kind."""
        return self.kind.linear

    @property
    def state(self) -> tuple[Any, ...]:
        """The states of the learners."""
        return tuple(learner.state for learner in self.learners)

    def add_class(self) -> None:
        """One class more; it starts at score 0."""
        self.classes += 1
        self.learners.append(self._one())
        self.learners[-1]._reserve(self._columns)

    def learn(self, rows: Rows) -> NDArray[np.float64]:
        """Scores made before each row's target was used; then the row is learned."""
        with self._turn:
            return self._or_nothing(super().learn, rows)

    def learn_one(self, x: Mapping[Hashable, Any], y: float, weight: float = 1.0) -> Any:
        """Score one dict row, then learn from its target; returns the scores."""
        with self._turn:
            return self._or_nothing(super().learn_one, x, y, weight)

    def _or_nothing(self, learn: Callable[..., Any], *given: Any) -> Any:
        """Learn; learners that depend on units may diverge, and are then as they were."""
        if self.invariance in ("linear", "affine", "unit"):
            return learn(*given)
        before = deepcopy((self.learners, self.names)), self._columns
        try:
            return learn(*given)
        except ArithmeticError:
            (self.learners, self.names), self._columns = before
            raise

    def _reserve(self, columns: int) -> None:
        self._columns = max(self._columns, columns)
        for learner in self.learners:
            learner._reserve(columns)

    def _predict(self, values, indices, starts, columns, weights, scores):
        for c, learner in enumerate(self.learners):
            block = values, indices, starts, columns, weights
            scores[:, c] = learner._predict(*block, np.empty(len(scores)))
        return scores

    def _learn(self, values, indices, starts, columns, targets, weights, scores):
        for r in range(len(scores)):
            row = cut(values, indices, starts, columns, weights, r, r + 1)
            self._predict(*row, scores[r : r + 1])
            slopes = self.loss.link(scores[r : r + 1])[0]
            slopes[int(targets[r])] -= 1
            for learner, slope in zip(self.learners, slopes, strict=True):
                learner._learn(*row[:4], np.array([slope]), row[4], np.empty(1))
        return scores

    def rescale(self, factors: ArrayLike | Mapping[Any, float]) -> Self:
        """From now on column i arrives multiplied by factors[i]."""
        scaled = deepcopy(self.learners)
        for learner in scaled:
            learner.names = self.names
            learner.rescale(factors)
        self.learners = scaled
        return self

    def weights(self) -> Weights:
        """A column a class."""
        each = [learner.weights() for learner in self.learners]
        return Weights(
            np.array([w.intercept for w in each]), np.column_stack([w.features for w in each])
        )
