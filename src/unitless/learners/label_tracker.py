"""The label tracker: predicts from recent labels alone, for streams whose class rates drift.

    z = ln(a / b);   a <- 1/2 + gamma (a - 1/2) + [y = +1],   b the same with [y = -1]

a and b start at 1/2 (the estimator of Krichevsky and Trofimov, forgetting by gamma). With softmax
the score of class c is ln a_c. A sample weight counts as that many labels. Features are
ignored.

===== ========= ================================ =====
paper field     meaning                          unit
===== ========= ================================ =====
a     totals[1] recent labels + 1, beyond 1/2    rows
b     totals[2] recent labels - 1, beyond 1/2    rows
===== ========= ================================ =====
"""

import math
from typing import Any, ClassVar

import numpy as np

from unitless.kernels.decorators import inlined, kernel
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, loop
from unitless.losses import LOGISTIC, SOFTMAX, Loss


@inlined
def predict(parameters, totals, v, x, f, scratch):
    z = math.log(totals[1] + 0.5)
    if parameters[1] == LOGISTIC:
        z -= math.log(totals[2] + 0.5)
    return z, z


@inlined
def update(parameters, totals, trial, x, f, scratch):
    gamma = parameters[0]
    totals[1] = gamma * totals[1] + trial.v * (trial.y > 0)
    totals[2] = gamma * totals[2] + trial.v * (trial.y < 0)


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 1, task, parameters, block, targets, weights, scores, state)


class Tracker(Coordinatewise):
    """Predict from recent labels; features are ignored.

    >>> from unitless.rows import as_rows
    >>> Tracker(gamma=0.5).learn(as_rows([[0.0]] * 4, [1, 1, 1, -1])).round(2)
    array([0.  , 1.1 , 1.39, 1.5 ])
    """

    name: ClassVar[str] = "tracker"
    linear: ClassVar[bool] = False
    invariance: ClassVar[Any] = "linear"
    fields: ClassVar[tuple[Field, ...]] = (Field("none", "1", "features are not looked at"),)
    totals: ClassVar[tuple[Field, ...]] = (
        Field("a", "1", "recent labels + 1, beyond 1/2"),
        Field("b", "1", "recent labels - 1, beyond 1/2"),
    )
    kernel: ClassVar[Any] = staticmethod(run)

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        gamma: float = 0.9,
        intercept: bool = True,
        classes: int = 0,
    ) -> None:
        super().__init__(loss, intercept=intercept, classes=classes)
        if self.loss.code not in (LOGISTIC, SOFTMAX):
            raise ValueError(
                f"the tracker counts classes: it does not support the {self.loss.name} loss"
            )
        if not 0 <= gamma <= 1:
            raise ValueError(f"gamma = {gamma}: the discount factor must lie in [0, 1]")
        self.gamma = float(gamma)
        self._prepare()

    def _parameters(self) -> tuple[float, ...]:
        return self.gamma, float(self.loss.code)

    def _weights_at(self, records: Any, totals: Any) -> Any:
        return np.zeros(records.shape[1])
