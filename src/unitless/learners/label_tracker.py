"""The tracker: predicts from recent labels or targets alone, for streams that drift.

    z = ln(a / b);   a <- 1/2 + gamma (a - 1/2) + [y = +1],   b the same with [y = -1]

a and b start at 1/2 (the estimator of Krichevsky and Trofimov, forgetting by gamma). With softmax
the score of class c is ln a_c. With the squared loss it is the mean of the targets with weights
gamma^k, and with gamma = 0 the last target. A sample weight counts as that many labels. Features
are ignored.
"""

import math

from unitless.kernels.decorators import inlined, kernel
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, loop
from unitless.learners.declared import Declared, parameter
from unitless.losses import LOGISTIC, SQUARED


@inlined
def predict(parameters, totals, v, x, f, scratch):
    if parameters[1] == SQUARED:
        z = totals[1] / totals[2] if totals[2] > 0 else 0.0
        return z, z
    z = math.log(totals[1] + 0.5)
    if parameters[1] == LOGISTIC:
        z -= math.log(totals[2] + 0.5)
    return z, z


@inlined
def update(parameters, totals, trial, x, f, scratch):
    gamma = parameters[0]
    if parameters[1] == SQUARED:
        totals[1] = gamma * totals[1] + trial.v * trial.y
        totals[2] = gamma * totals[2] + trial.v
        return
    totals[1] = gamma * totals[1] + trial.v * (trial.y > 0)
    totals[2] = gamma * totals[2] + trial.v * (trial.y < 0)


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 1, task, parameters, block, targets, weights, scores, state)


class Tracker(Declared, Coordinatewise):
    """Predict from recent labels or targets; features are ignored.

    >>> from unitless.rows import as_rows
    >>> Tracker(gamma=0.5).learn(as_rows([[0.0]] * 4, [1, 1, 1, -1])).round(2)
    array([0.  , 1.1 , 1.39, 1.5 ])
    """

    gamma: float = parameter(0.9, "the discount factor of earlier labels", "number from 0 to 1")

    name = "tracker"
    needs_lipschitz = False
    linear = False
    invariance = "linear"
    takes_losses = ("logistic", "softmax", "squared")
    fields = (Field("none", "1", "features are not looked at"),)
    totals = (
        Field("a", "1", "recent labels + 1, beyond 1/2; squared: recent targets"),
        Field("b", "1", "recent labels - 1, beyond 1/2; squared: recent rows"),
    )
    kernel = staticmethod(run)
