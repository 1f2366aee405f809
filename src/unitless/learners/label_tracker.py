"""The label tracker: a forecast from the last labels alone, for streams whose classes drift.

    z = ln(a / b);   a <- 1/2 + gamma (a - 1/2) + [y = +1],   b likewise with [y = -1]

a and b start at 1/2 (the estimator of Krichevsky and Trofimov, forgetting by gamma). With softmax
the score of class c is ln a_c. A sample weight counts as that many labels. Features are not looked
at.

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

from unitless.learners.coordinatewise import Rowwise
from unitless.learners.rules import TRACKER, House
from unitless.losses import LOGISTIC, SOFTMAX, Loss
from unitless.numerics import inner


@inner
def predict(rule, total, v, x, f, term):
    z = math.log(total[1] + 0.5)
    if rule.loss == LOGISTIC:
        z -= math.log(total[2] + 0.5)
    return z, z


@inner
def update(rule, total, v, y, p, g, x, f, term):
    total[1] = rule.knob * total[1] + v * (y > 0)
    total[2] = rule.knob * total[2] + v * (y < 0)


class Tracker(Rowwise):
    """Predict from the last labels.

    >>> from unitless.rows import as_rows
    >>> Tracker(gamma=0.5).learn(as_rows([[0.0]] * 4, [1, 1, 1, -1])).round(2)
    array([0.  , 1.1 , 1.39, 1.5 ])
    """

    name: ClassVar[str] = "tracker"
    linear: ClassVar[bool] = False
    invariance: ClassVar[Any] = "linear"
    fields: ClassVar[tuple[str, ...]] = ("none",)
    units: ClassVar[tuple[str, ...]] = ("1",)
    extra: ClassVar[int] = 2

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
                f"the tracker counts classes: it cannot serve the {self.loss.name} loss"
            )
        if not 0 <= gamma <= 1:
            raise ValueError(f"gamma = {gamma}: what is remembered of a label lies in [0, 1]")
        self.gamma = float(gamma)
        self._prepare()

    def _rule(self) -> House:
        return House(TRACKER, self.gamma, self.loss.code, self.loss.parameter)

    def _weights_at(self, records: Any, total: Any) -> Any:
        return np.zeros(records.shape[1])
