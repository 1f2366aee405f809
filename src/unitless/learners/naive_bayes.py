"""Naive Bayes on the presence of features, damped, O(nonzeros) per row.

With counts N of rows and C_i of rows in which x_i is not 0, by class, and m nonzeros in the row::

    z = ln (N+ + a)/(N- + a) + m^(-1/2) sum_{x_i != 0} ln r_i
    r_i = [(C_i+ + a)(N- + 2a)] / [(C_i- + a)(N+ + 2a)]

The factor m^(-1/2) damps the sum, which would be overconfident: features are not independent. With
softmax the score of class c is the part of the formula that belongs to it. The constant 1 is in
neither sum nor m, a sample weight counts as that many rows, and values do not matter at all: the
learner is invariant under everything that keeps zeros zero.
"""

import math

import numpy as np
from numpy.typing import NDArray

from unitless.kernels.decorators import inlined, kernel
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, loop
from unitless.learners.declared import Declared, parameter
from unitless.losses import LOGISTIC, SOFTMAX

POSITIVE, NEGATIVE = 1, 2


@inlined
def predict(parameters, totals, v, x, f, scratch):
    a = parameters[0]
    binary = parameters[1] == LOGISTIC
    here = f[0]
    there = f[1]
    positive = totals[POSITIVE]
    negative = totals[NEGATIVE]
    bias = (negative + 2 * a) / (positive + 2 * a) if binary else 1 / (positive + 2 * a)
    present = 0
    logs = 0.0
    product = 1.0
    factors = 0
    for k in range(1, x.size):
        if x[k] != 0:
            ratio = (here[k] + a) * bias
            product *= ratio / (there[k] + a) if binary else ratio
            present += 1
            factors += 1
            if factors == 4:  # one logarithm for four; counts up to 2^220 leave room for no more
                logs += math.log(product)
                product = 1.0
                factors = 0
    logs += math.log(product)
    prior = (positive + a) / (negative + a) if binary else positive + a
    z = math.log(prior) + (logs / math.sqrt(present) if present else 0.0)
    return z, z


@inlined
def update(parameters, totals, trial, x, f, scratch):
    positive = trial.y > 0
    counts = f[0] if positive else f[1]
    totals[POSITIVE if positive else NEGATIVE] += trial.v
    for k in range(1, x.size):
        counts[k] += trial.v * (x[k] != 0)


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 2, task, parameters, block, targets, weights, scores, state)


class Bayes(Declared, Coordinatewise):
    """Naive Bayes on which features are present, damped for features that go together.

    >>> from unitless.rows import as_rows
    >>> learner = Bayes()
    >>> rows = as_rows([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [2.0, 0.0]], [1, -1, 1, 1])
    >>> learner.learn(rows).round(2)
    array([0.  , 0.61, 2.4 , 3.09])
    """

    a: float = parameter(0.1, "the initial value of every count")

    name = "bayes"
    linear = False
    invariance = "unit"
    takes_losses = ("logistic", "softmax")
    fields = (
        Field("positive", "1", "rows of the class with x_i != 0"),
        Field("negative", "1", "other rows with x_i != 0"),
    )
    totals = (
        Field("positive", "1", "rows of the class"),
        Field("negative", "1", "other rows"),
    )
    kernel = staticmethod(run)

    def parts(self, present: NDArray[np.bool_]) -> NDArray[np.float64]:
        """What each coordinate adds to the score of a row in which these are present."""
        records, totals, _ = self.state
        here = records[..., 0] + self.a
        there = records[..., 1] + self.a
        positive = totals[:, POSITIVE] + 2 * self.a
        negative = totals[:, NEGATIVE] + 2 * self.a
        logs = np.log(here / positive)
        if self.loss.code == LOGISTIC:
            logs -= np.log(there / negative)
        parts = np.zeros((len(present), self.classes))
        known = np.flatnonzero(present[: len(logs)])
        parts[known] = logs[known] / np.sqrt(max(present.sum(), 1))
        return parts if self.loss.code == SOFTMAX else parts[:, 0]
