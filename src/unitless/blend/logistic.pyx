"""Mixing forecasts of the logistic loss: stack the logits, then mix the stacker with its members.

The stacker is online Newton on clipped logits, without a constant. One more input is 2 tanh(2 z) of
a linear logit z: where labels are wrong now and then, even a row far from the boundary is not
certain, and no logit that grows with the distance is right. The mixture is Bayes' rule: with
P_k(y) = sigma(y z_k) and Q = sum_k W_k P_k the score is ln Q(+) / Q(-). The loss is -ln Q(y), so
eta = 1 and there is no slack.
"""

cimport cython
from libc.math cimport copysign, fabs, log

from unitless.blend.mixture cimport StackedMixture
from unitless.core.arithmetic cimport clipped, dot, fast_exp
from unitless.core.array cimport Array, numbers
from unitless.core.losses cimport LOGISTIC, derivative
from unitless.core.curvature cimport curvature, moderated

cdef double CLIP = 8.0              # nats
cdef double MAX_LOGIT = 500.0       # nats: logits are limited, so that exp stays a normal number
cdef double LATE = 250.0            # trials after which late members count half
VARIANCE = {"main": 1.0, "tracker": 0.09, "late": 0.3, "guarantee": 0.0}
"""The stacker's prior variance of a weight, by the role of its expert."""


@cython.final
cdef class LogisticMixture(StackedMixture):
    """Stack, then mix, for the logistic loss."""

    cdef Array z            # logits of the experts and of the stacker
    cdef Array up           # sigma(z)
    cdef Array down         # sigma(-z)
    cdef double plain       # the stacker's logit before it is moderated
    cdef double yes         # Q(+) of the row at hand
    cdef double no          # Q(-)

    def _start_stacker(self, w, D):
        self.z = numbers(self.m)
        self.up = numbers(self.m)
        self.down = numbers(self.m)
        roles = [member.role for member in self.members]
        for k, role in enumerate(roles):
            w[k] = 1.0 / roles.count("main") if role == "main" else 0.0
            D[k] = VARIANCE[role]
        if self.steep >= 0:
            D[len(roles)] = VARIANCE["late"]

    cdef int score(
        self, const double* Z, Py_ssize_t stride, double v, double* scores, bint learns
    ) except -1 nogil:
        cdef double* z = self.z.at
        cdef double* x = self.x.at
        cdef double* up = self.up.at
        cdef double* down = self.down.at
        cdef double* stacked = self.stacked.at
        cdef double share = self.t / (self.t + LATE)
        cdef Py_ssize_t K = self.experts
        cdef Py_ssize_t k
        cdef double q, s
        for k in range(K):
            z[k] = clipped(Z[k * stride], MAX_LOGIT)
            x[k] = clipped(z[k], CLIP) * stacked[k]
            if self.late.at[k] > 0:
                x[k] *= share
        if self.steep >= 0:  # the input number K, since the stacker is not stacked
            q = fast_exp(-4 * fabs(z[self.steep]))
            x[K] = copysign(2 * (1 - q) / (1 + q), z[self.steep]) * stacked[self.steep]
            x[K] *= share
        s = self.stacker.look(x)
        self.plain = dot(self.stacker.w.at, x, self.m)
        z[K] = moderated(self.plain, s)
        for k in range(self.m):
            q = fast_exp(-fabs(z[k]))
            up[k] = (1.0 if z[k] >= 0 else q) / (1.0 + q)
            down[k] = (q if z[k] >= 0 else 1.0) / (1.0 + q)
        self.yes = dot(self.W.at, up, self.m)
        self.no = dot(self.W.at, down, self.m)
        scores[0] = log(self.yes / self.no) + 0.0  # no -0
        return 0

    cdef int update(self, double y, double v) except -1 nogil:
        cdef const double* right = self.up.at if y > 0 else self.down.at
        cdef Py_ssize_t k
        cdef double g, e
        for k in range(self.m):
            self.losses.at[k] = -log(right[k])
        self.reweigh(v, 0.0, -log(self.yes if y > 0 else self.no))
        g = derivative(LOGISTIC, 0.0, y, self.plain)
        e = -v * g
        self.stacker.step(&e, v * curvature(g), 0)
        return 0
