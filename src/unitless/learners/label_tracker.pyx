"""The tracker: predicts from recent labels or targets alone, for streams that drift.

    z = ln(a / b);   a <- 1/2 + gamma (a - 1/2) + [y = +1],   b the same with [y = -1]

a and b start at 1/2 (the estimator of Krichevsky and Trofimov, forgetting by gamma). With softmax
the score of class c is ln a_c. With the squared loss it is the mean of the targets with weights
gamma^k, and with gamma = 0 the last target. A sample weight counts as that many labels. Features
are ignored.
"""

import numpy as np

cimport cython
from libc.math cimport log

from unitless.core.arithmetic cimport clipped
from unitless.core.learner cimport LEARNED, GradientLearner
from unitless.core.losses cimport LARGEST, LOGISTIC, SQUARED
from unitless.core.row cimport Row

from unitless.core.learner import COLUMNS, Learner
from unitless.core.parameters import Parameter
from unitless.state import Field, need


@cython.final
cdef class Tracker(GradientLearner):
    """Predict from recent labels or targets; features are ignored.

    >>> from unitless.rows import as_rows
    >>> Tracker(gamma=0.5).learn(as_rows([[0.0]] * 4, [1, 1, 1, -1])).round(2)
    array([0.  , 1.1 , 1.39, 1.5 ])
    """

    name = "tracker"
    needs_lipschitz = False
    linear = False
    invariance = "linear"
    takes_losses = ("logistic", "softmax", "squared")
    parameters = (
        Parameter("gamma", 0.9, "the discount factor of earlier labels", "number from 0 to 1"),
    )
    saved = (
        *Learner.saved,
        COLUMNS,
        Field("a", "1", "recent labels +1, beyond the prior 1/2; squared loss: sum of recent targets"),
        Field(
            "b",
            "1",
            "recent labels -1, beyond the prior 1/2; squared loss: number of recent rows",
            low=0.0,
        ),
    )

    cdef public double gamma
    cdef public double a
    cdef public double b

    def _seen(self):
        return np.zeros(1 + self.columns, dtype=bool)

    def _loaded(self):
        super()._loaded()
        need(self.a >= 0 or self.code == SQUARED, "a is negative")

    cdef int score(self, const Row* row, double* scores) except -1 nogil:
        if self.code == SQUARED:
            self.p = self.a / self.b if self.b > 0 else 0.0
        else:
            self.p = log(self.a + 0.5)
            if self.code == LOGISTIC:
                self.p -= log(self.b + 0.5)
        scores[0] = clipped(self.p + 0.0, LARGEST)  # no -0
        return 0

    cdef int step(self, const Row* row, double y, double g) except -1 nogil:
        cdef double v = self.weight_of(row)
        if self.code == SQUARED:
            self.a = self.gamma * self.a + v * y
            self.b = self.gamma * self.b + v
        else:
            self.a = self.gamma * self.a + v * (1.0 if y > 0 else 0.0)
            self.b = self.gamma * self.b + v * (1.0 if y < 0 else 0.0)
        self.t += 1
        return LEARNED
