"""Several targets: one learner per target, side by side."""

from typing import Any, ClassVar

import numpy as np

from unitless.core.learner import Diverged, Learner, Weights
from unitless.core.names import DictEncoder
from unitless.core.parameters import parameters_of
from unitless.encoders.dict_encoder import rows_of_dicts
from unitless.rows import Rows
from unitless.state import Component, Float, remembered, restore


class MultiOutput(Learner):
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

    name: ClassVar[str] = "multi_output"
    needs_lipschitz: ClassVar[bool] = False
    saved: ClassVar[tuple[Any, ...]] = (*Learner.saved, Component("learners"))

    def __init__(self, learners: list[Learner]) -> None:
        self.learners = learners
        self._set_loss(learners[0].loss, learners[0].intercept)

    def _arguments(self) -> dict[str, Any]:
        return {"learners": [type(learner)(**parameters_of(learner)) for learner in self.learners]}

    def _more(self) -> dict[str, object]:
        return {"names": self.names}

    @property
    def invariance(self) -> str:  # type: ignore[override]
        """The invariance of the learners."""
        return self.learners[0].invariance

    @property
    def linear(self) -> bool:  # type: ignore[override]
        """Whether the scores of the learners are linear in x."""
        return self.learners[0].linear

    @property
    def trials(self) -> int:
        """The most rows that one of the learners has learned."""
        return max(learner.trials for learner in self.learners)

    @property
    def outputs(self) -> int:
        """Scores per row."""
        return len(self.learners)

    def _room(self, rows: int) -> Float:
        return np.empty((rows, self.outputs))

    def weigh_gradients(self) -> None:
        """See `Learner.weigh_gradients`."""
        for learner in self.learners:
            learner.weigh_gradients()

    def predict(self, rows: Rows, fresh: bool = False) -> Float:
        """Score the rows, each as if it were the next trial; one column per target."""
        return np.column_stack([learner.predict(rows, fresh) for learner in self.learners])

    def learn(self, rows: Rows, not_fresh: Float | None = None) -> Float:
        """Score each row before its targets are used, then learn it; returns the scores."""
        targets = rows.targets
        if targets is None or targets.ndim != 2 or targets.shape[1] != len(self.learners):
            raise ValueError(f"{len(self.learners)} targets per row were expected")
        own = [_with_target(rows, k) for k in range(len(self.learners))]
        for learner, each in zip(self.learners, own, strict=True):  # all or none of them learn
            learner.check(each)
        before = remembered(self)
        try:
            others = [np.empty(len(rows)) for _ in self.learners]
            pairs = zip(self.learners, own, others, strict=True)
            scores = [learner.learn(each, other) for learner, each, other in pairs]
        except Diverged:
            restore(self, *before)
            raise
        self.columns = max(self.columns, rows.columns)
        if not_fresh is not None:
            not_fresh[...] = np.column_stack(others)
        return np.column_stack(scores)

    def _check_targets(self, targets: Float, weights: Float | None) -> None:
        given = 1.0 if weights is None or not len(weights) else weights
        for k, learner in enumerate(self.learners):
            known = ~np.isnan(targets[:, k])
            own = np.where(known, targets[:, k], 1.0)
            learner._check_targets(own, np.where(known, given, 0.0))

    def predict_one(self, x: object, weight: float = 1.0, fresh: bool = False) -> Float:
        """Score one dict row."""
        return self.predict(self._rows_of(x, weight)[0], fresh)[0]

    def learn_one(self, x: object, y: Any, weight: float = 1.0) -> Float:
        """Score one dict row, then learn from its targets; returns the scores."""
        rows, names = self._rows_of(x, weight)
        scores = self.learn(rows.with_targets([y]))[0]
        self.names = names
        return scores

    def _rows_of(self, x: Any, weight: float) -> tuple[Rows, DictEncoder]:
        return rows_of_dicts([x], self.names, [weight])

    def _reserve(self, columns: int) -> None:
        self.columns = max(self.columns, columns)
        for learner in self.learners:
            learner._reserve(columns)

    def rescale(self, factors: Any) -> "MultiOutput":
        """See `Learner.rescale`."""
        for learner in self.learners:
            learner.names = self.names
            learner.rescale(factors)
        return self

    def weights(self) -> Weights:
        """The coefficients at x = 0, one column per target."""
        each = [learner.weights() for learner in self.learners]
        intercepts = np.array([own.intercept for own in each])
        return Weights(intercepts, np.column_stack([own.features for own in each]))

    def deviations(self) -> Float | None:
        """See `Learner.deviations`."""
        return self.learners[0].deviations()

    def contributions(self, rows: Rows) -> tuple[object, Float]:
        """See `Learner.contributions`; one column per target."""
        bases, parts = zip(*(each.contributions(rows) for each in self.learners), strict=True)
        return np.array(bases), np.column_stack(parts)

    def sums(self) -> None:
        """There is one certificate per target: see the sums of the `learners`."""


def _with_target(rows: Rows, k: int) -> Rows:
    """The rows with one of their targets; where it is not known, a row of weight 0."""
    assert rows.targets is not None
    own = np.ascontiguousarray(rows.targets[:, k])
    known = ~np.isnan(own)
    weights = np.ones(len(own)) if rows.weights is None else rows.weights
    if known.all():
        return Rows(*rows.parts, own, rows.weights)
    return Rows(*rows.parts, np.where(known, own, 1.0), np.where(known, weights, 0.0))
