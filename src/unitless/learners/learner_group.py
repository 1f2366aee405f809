"""Learners that see the same rows side by side: one per class, or one per target."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.learners.base import Block, Float, Learner
from unitless.state import COLUMNS, Component, need


class LearnerGroup(Learner):
    """Base of learners that consist of others of one kind, with one score per row from each."""

    saved = (*Learner.saved, COLUMNS, Component("learners"))
    needs_lipschitz = False
    learners: list[Learner]
    _columns: Any = 0

    @property
    def invariance(self) -> str:  # type: ignore[override]
        """The invariance of the learners."""
        return self.learners[0].invariance

    @property
    def linear(self) -> bool:  # type: ignore[override]
        """Whether the scores of the learners are linear in x."""
        return self.learners[0].linear

    @property
    def state(self) -> tuple[Any, ...]:
        """The states of the learners."""
        return tuple(learner.state for learner in self.learners)

    @property
    def trials(self) -> int | None:
        """The most rows that one of the learners has learned."""
        return max((learner.trials or 0 for learner in self.learners), default=None)

    def weigh_gradients(self) -> None:
        """See `Learner.weigh_gradients`."""
        for learner in self.learners:
            learner.weigh_gradients()

    def _root_mean_squares(self) -> Float | None:
        return self.learners[0]._root_mean_squares()

    def _loaded(self) -> None:
        room = min(learner._columns for learner in self.learners)
        need(self._columns <= room, f"there is no room for {self._columns} columns")

    def _reserve(self, columns: int) -> None:
        self._columns = max(self._columns, columns)
        for learner in self.learners:
            learner._reserve(columns)

    def _seen(self) -> NDArray[np.bool_]:
        return np.any([learner._seen() for learner in self.learners], axis=0)

    def _room(self, rows: int) -> Float:
        return np.empty((rows, len(self.learners)))

    def _score_of_one(self) -> Float:
        return self._room(1)

    def _predict(self, block: Block, weights: Float, scores: Float) -> Float:
        for k, learner in enumerate(self.learners):
            scores[:, k] = learner._predict(block, weights, np.empty(len(scores)))
        return scores

    def _before(self, block: Block) -> Any:
        return self._columns, [learner._before(block) for learner in self.learners]

    def _put_back(self, before: Any) -> None:
        self._columns, own = before
        for learner, each in zip(self.learners, own, strict=True):
            learner._put_back(each)

    def _rescale(self, columns: NDArray[Any], factors: Float) -> None:
        for learner in self.learners:
            learner._rescale(columns, factors)

    def _coefficients(self) -> Float:
        return np.column_stack([learner._coefficients() for learner in self.learners])


class MultiOutput(LearnerGroup):
    """One learner per target, each as if it were alone; targets have one column per learner.

    NaN is a target that is not known: the learner of that column only predicts the row.

    >>> from unitless.learners import Coordinate
    >>> from unitless.rows import as_rows
    >>> learner = MultiOutput([Coordinate("absolute"), Coordinate("absolute")])
    >>> rows = as_rows([[1.0], [2.0], [3.0]]).with_targets([[1.0, 5.0], [2.0, np.nan], [3.0, 5.0]])
    >>> learner.learn(rows).round(2)
    array([[0.  , 0.  ],
           [0.28, 0.28],
           [0.34, 0.25]])
    """

    name = "multi_output"

    def __init__(self, learners: list[Learner]) -> None:
        super().__init__(learners[0].loss, intercept=learners[0].intercept)
        self.learners = learners

    def _check_targets(self, targets: Float, weights: Float) -> None:
        if targets.ndim != 2 or targets.shape[1] != len(self.learners):
            raise ValueError(f"{len(self.learners)} targets per row were expected")
        for k, learner in enumerate(self.learners):
            learner._check_targets(*_column(targets, weights, k))

    def _learn(self, block: Block, targets: Float, weights: Float, scores: Float) -> Float:
        for k, learner in enumerate(self.learners):
            own = _column(targets, weights, k)
            scores[:, k] = learner._learn(block, *own, np.empty(len(scores)))
        return scores

    def sums(self) -> None:
        """There is one certificate per target: see the sums of the `learners`."""


def _column(targets: Float, weights: Float, k: int) -> tuple[Float, Float]:
    """One target of each row and its weight: a row of weight 0 is scored and not learned."""
    own = np.ascontiguousarray(targets[:, k])
    known = ~np.isnan(own)
    if known.all():
        return own, weights
    if not len(weights):
        weights = np.ones(len(own))
    return np.where(known, own, 1.0), np.where(known, weights, 0.0)
