"""Algorithm 2 of the paper: invariant to linear maps of the features, O(d^2) per row.

Kotlowski, "Scale-Invariant Unconstrained Online Learning" (2017), Algorithm 2 and Theorem 2.
At trial t, with alpha >= alpha_0 (below) and initial wealth eps::

    S += x x'
    p  = eps / alpha * exp((h' S^+ h - Gamma) / (2 alpha)) * x' S^+ h
    g  = loss'(y, p) / L;   h -= g x;   Gamma += g^2 x' S^+ x

No inverse is ever formed: updating one loses all digits as soon as cond(S) nears 1e16. Since x and
h lie in range(S), all that is needed are R and q with S = R'R and h = R'q, and the exponent
E = h' S^+ h - Gamma. Givens rotations take [R; x'] to [R; 0], [q; 0] to [q'; ql] and the last
column of the identity matrix to [a; al]; then, exactly,

    E -= ql^2;   x' S^+ h = -al ql;   p from these;   q = q' - g a;   E -= 2 g x' S^+ h

`givens` leaves out square roots: R = D^(1/2) U, where U has ones on its diagonal, q = D^(1/2) z,
ql = delta^(1/2) wz and al = delta^(1/2) we. A sample weight v multiplies the instance.
"""

import math

import numpy as np

cimport cython
from libc.math cimport copysign, exp, fabs, log

from unitless.core.arithmetic cimport clipped
from unitless.core.array cimport Array, records
from unitless.core.learner cimport LEARNED
from unitless.core.losses cimport LARGEST, LINEAR, OUTSIDE, SOFTMAX
from unitless.core.row cimport Row
from unitless.learners.givens cimport Rest
from unitless.learners.damped_sums cimport DampedSums, add_trial
from unitless.learners.triangular_factor cimport FactorLearner

from unitless.core.learner import Sums
from unitless.core.parameters import AT_LEAST_ALPHA_0, Parameter
from unitless.learners.damped_sums import DAMPED_SUMS, RECORD
from unitless.state import Field


cdef inline double scaled_exp(double exponent, double s) noexcept nogil:
    """exp(exponent) s, finite even if a caller's gradients have made the exponent huge."""
    if exponent <= 500 or s == 0:
        return exp(min(exponent, 500.0)) * s
    return copysign(exp(min(exponent + log(fabs(s)), 600.0)), s)


@cython.final
cdef class Full(FactorLearner):
    """Algorithm 2 of the paper, invariant to every invertible linear map of the features.

    >>> from unitless.testing import example_loss
    >>> print(example_loss(Full()))
    0.3465
    """

    name = "full"
    theorem = "Theorem 2"
    parameters = (
        Parameter("alpha", 9.0 / 8, "larger ones shrink weights (paper: 9/8)", AT_LEAST_ALPHA_0),
        Parameter("wealth", 1.0, "eps, the initial wealth, which bounds the regret for u = 0"),
    )
    saved = (
        *FactorLearner.saved,  # S = U'DU and h = U'Dz
        Field("E", "1", "exponent of the potential, h' S^+ h - Gamma"),
        Field("A", "1", "sum of slopes times scores, sum v g p, for the certificate"),
        DAMPED_SUMS,
    )

    cdef public double alpha
    cdef public double wealth       # eps
    cdef public double E
    cdef public double A
    cdef readonly Array damped_sums
    # Of the row at hand:
    cdef double exponent            # h' S^+ h - Gamma, with x in S
    cdef double xSh                 # x' S^+ h
    cdef double scaled_p            # p times the sample weight

    def __cinit__(self, *args, **given):
        self.damped_sums = records(RECORD, 1)
        np.asarray(self.damped_sums)["product"] = 1.0

    cdef int score(self, const Row* row, double* scores) except -1 nogil:
        """p with S + x x', which is forgotten again."""
        cdef double v = self.scale_of(row)
        cdef Rest rest
        self.p = 0.0  # as for every row with a new direction
        if self.factor.load(row, v, False):
            rest = self.factor.add(False, self.t)
            self._predict(rest, v)
        scores[0] = self.p
        return 0

    cdef int begin(self, const Row* row, double* scores) except -1 nogil:
        cdef double v = self.scale_of(row)
        cdef Rest rest

        # S += x x'
        self.factor.load(row, v, True)
        rest = self.factor.add(True, self.t)

        self._predict(rest, v)
        scores[0] = self.p
        return 0

    cdef void _predict(self, Rest rest, double v) noexcept nogil:
        """p, where x is v times the instance; in a new direction delta is 0, and so is p."""
        self.exponent = self.E - rest.delta * rest.wz * rest.wz
        self.xSh = -rest.delta * rest.we * rest.wz

        # p = eps / alpha * exp((h' S^+ h - Gamma) / (2 alpha)) * x' S^+ h
        self.scaled_p = (
            self.wealth / self.alpha * scaled_exp(self.exponent / (2 * self.alpha), self.xSh)
        )
        self.p = self.scaled_p * (1.0 / v) + 0.0  # no -0
        self.p = clipped(self.p, LARGEST) if self.p == self.p else 0.0

    cdef int step(self, const Row* row, double y, double g) except -1 nogil:
        # h -= g x
        self.factor.move(g)

        # Gamma += g^2 x' S^+ x
        self.E = self.exponent - 2 * g * self.xSh

        self.t += 1
        self.A += g * self.scaled_p
        if g == 0:
            self.A += row.weight * self.loss_without_slope(y) * self.per_slope
        self._add_trial(row, y, g)
        return LEARNED

    cdef void _add_trial(self, const Row* row, double y, double g) noexcept nogil:
        """Enter the trial in the sums of the certificate."""
        cdef DampedSums* sums = <DampedSums*>self.damped_sums.at
        if self.code == SOFTMAX or self.code == OUTSIDE:
            g = (g / row.weight if self.weighs_gradients else g) / self.per_slope
            add_trial(sums, LINEAR, 0.0, row.weight, g, self.p)
        else:
            add_trial(sums, self.code, self.loss_parameter, row.weight, y, self.p)

    def _coefficients(self):
        """eps/alpha exp(E/(2 alpha)) S^+ h, zero where a feature adds no direction."""
        return self.potential() / self.alpha * self.factor.solution()

    def sums(self):
        """A, h / s and s, of the loss itself rather than of loss / L."""
        factor = self.factor
        lipschitz = self.loss.lipschitz
        norms = np.sqrt(factor.squares)
        divisors = np.where(norms > 0, norms, np.inf)
        h = (factor.R * factor.q[:, None]).sum(axis=0)
        z = factor.by_coordinate(h / divisors * lipschitz)
        s = self._in_own_unit(factor.by_coordinate(norms))
        lost = factor.by_coordinate(np.array(factor.lost) / divisors * lipschitz)
        damped = np.array(self.damped_sums)[0]
        return Sums(self.trials, len(norms), self.A * lipschitz, z, s, damped, lost)

    def potential(self):
        """psi = eps exp((h'S^+h - Gamma) / (2 alpha)): the wealth still to be lost."""
        return self.wealth * math.exp(min(self.E / (2 * self.alpha), 600.0))

    def norm_h(self):
        """|h| in the norm of S^+, of the loss itself: regret(u) <= A + |u|_S norm_h()."""
        return self.loss.lipschitz * float(np.sqrt((self.factor.q**2).sum()))

    def gamma(self):
        """Gamma = sum g^2 x'S^+x with g = loss' / L, the logarithmic term of Theorem 2."""
        return float((self.factor.q**2).sum() - self.E)
