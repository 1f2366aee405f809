"""Mixing forecasts of several classes: stack the log-probabilities, then mix.

The stacker has one weight per member, the same for all classes, on log-probabilities that are
clipped and centred over classes, f_c = (f_1c, ..., f_Kc). Its Newton step uses the Hessian of the
cross-entropy in w and its gradient. Both are sums over the classes in any order (most probable
first), so that the step is one of `newton` per class, each about class j against the later ones,
with m_j the mean of f over the classes j, j+1, ... and r_j = q_j / (q_j + q_j+1 + ...)::

    Hessian  = sum_j q_j (1 - r_j) g_j g_j',   g_j = f_j - m_j+1
    gradient = sum_{j <= y} (r_j - [j = y]) g_j
"""

import numpy as np

cimport cython
from libc.math cimport log
from libc.string cimport memset

from unitless.blend.mixture cimport StackedMixture
from unitless.core.arithmetic cimport dot, fast_exp, fused
from unitless.core.array cimport Array, numbers, records
from unitless.core.curvature cimport moderated

cdef double CLASS_CLIP = 12.0                     # nats
cdef double LEAST_LOGARITHM = -500.0
cdef double RARE = 1e-4     # classes less probable together are one, unless the label is among them
cdef double LATE = 250.0                    # trials after which late members count half
LATE_VARIANCE = 0.3


cdef void log_probabilities(double* z, Py_ssize_t classes) noexcept nogil:
    """z - ln sum exp(z), in place."""
    cdef double top = z[0]
    cdef double total = 0.0
    cdef Py_ssize_t c
    for c in range(1, classes):
        top = max(top, z[c])
    for c in range(classes):
        total += fast_exp(z[c] - top)
    top += log(total)
    for c in range(classes):
        z[c] = max(z[c] - top, LEAST_LOGARITHM)


@cython.final
cdef class SoftmaxMixture(StackedMixture):
    """Stack, then mix, for several classes."""

    cdef Array logs         # by member and class: log-probabilities
    cdef Array f            # by class and member: inputs of the stacker
    cdef Array z            # the stacker's scores by class, before they are moderated
    cdef Array q            # probabilities of the classes
    cdef Array order        # classes, most probable first
    cdef Array mass         # of classes j, j+1, ...
    cdef Array means        # of f over classes j, j+1, ...
    cdef Array w0           # the stacker's weights before the row
    cdef Array g

    def _start_stacker(self, w, D):
        self._make_room()
        late = np.array(self.late)
        main = np.array(self.stacked) * (1 - late)
        w[:] = main / main.sum()
        D[:] = np.where(late, LATE_VARIANCE, main)

    def _make_room(self):
        """Room for the classes there are now."""
        cdef Py_ssize_t C = self.outputs
        self.logs = numbers(self.m * C)
        self.f = numbers(C * self.m)
        self.z = numbers(C)
        self.q = numbers(C)
        self.order = records("i", C)
        self.mass = numbers(C + 1)
        self.means = numbers((C + 1) * self.m)
        self.w0 = numbers(self.m)
        self.g = numbers(self.m)

    def add_class(self):
        """Make room for one more class."""
        self.outputs += 1
        self._make_room()

    cdef int score(
        self, const double* Z, Py_ssize_t stride, double v, double* scores, bint learns
    ) except -1 nogil:
        cdef Py_ssize_t K = self.experts
        cdef Py_ssize_t C = self.outputs
        cdef Py_ssize_t m = self.m
        cdef double* logs = self.logs.at
        cdef double* z = self.z.at
        cdef double* q = self.q.at
        cdef double* own
        cdef Py_ssize_t k, c
        cdef double share, mean
        for k in range(K):
            share = self.t / (self.t + LATE) if self.late.at[k] > 0 else 1.0
            share *= self.stacked.at[k]
            own = logs + k * C
            for c in range(C):
                own[c] = Z[k * stride + c]
            log_probabilities(own, C)
            mean = 0.0
            for c in range(C):
                mean += max(own[c], -CLASS_CLIP) / C
            for c in range(C):
                self.f.at[c * m + k] = (max(own[c], -CLASS_CLIP) - mean) * share
        for c in range(C):
            own = self.f.at + c * m
            z[c] = dot(self.stacker.w.at, own, m)
            logs[K * C + c] = moderated(z[c], self.stacker.look(own))
        log_probabilities(logs + K * C, C)
        for c in range(C):
            q[c] = 0.0
            for k in range(K + 1):
                q[c] += self.W.at[k] * fast_exp(logs[k * C + c])
            scores[c] = log(q[c])
        return 0

    cdef int update(self, double y, double v) except -1 nogil:
        cdef Py_ssize_t C = self.outputs
        cdef Py_ssize_t label = <Py_ssize_t>y
        cdef Py_ssize_t k
        for k in range(self.experts + 1):
            self.losses.at[k] = -self.logs.at[k * C + label]
        self.reweigh(v, 0.0, -log(self.q.at[label]))
        log_probabilities(self.z.at, C)
        self._newton(v, label)
        return 0

    cdef void _newton(self, double v, Py_ssize_t y) noexcept nogil:
        """The stacker's step, from its log-probabilities z and inputs f."""
        cdef Py_ssize_t C = self.outputs
        cdef Py_ssize_t m = self.m
        cdef int* order = <int*>self.order.at
        cdef const double* z = self.z.at
        cdef const double* f
        cdef const double* after
        cdef double* mean
        cdef double* mass = self.mass.at
        cdef double* w = self.stacker.w.at
        cdef double* w0 = self.w0.at
        cdef double* g = self.g.at
        cdef double part, c, slope, e
        cdef Py_ssize_t j, k
        cdef bint ahead = True  # the label is still to come
        self._sort()
        mass[C] = 0.0
        for k in range(m):
            w0[k] = w[k]
        memset(self.means.at + C * m, 0, m * sizeof(double))
        for j in range(C - 1, -1, -1):  # of the classes j, j+1, ... together
            mass[j] = mass[j + 1] + fast_exp(z[order[j]])
            part = fast_exp(z[order[j]]) / mass[j]
            f = self.f.at + order[j] * m
            after = self.means.at + (j + 1) * m
            mean = self.means.at + j * m
            for k in range(m):
                mean[k] = fused(part, f[k] - after[k], after[k])
        for j in range(C - 1):
            if not ahead and mass[j] <= RARE:
                break
            part = fast_exp(z[order[j]]) / mass[j]
            c = part * mass[j + 1]
            slope = part - (1.0 if order[j] == y else 0.0) if ahead else 0.0
            f = self.f.at + order[j] * m
            after = self.means.at + (j + 1) * m
            for k in range(m):
                g[k] = f[k] - after[k]
            self.stacker.look(g)
            e = -v * (slope + c * (dot(w, g, m) - dot(w0, g, m)))
            self.stacker.step(&e, v * c, 0)
            ahead = ahead and order[j] != y

    cdef void _sort(self) noexcept nogil:
        """The classes, most probable first; equal ones in their own order."""
        cdef int* order = <int*>self.order.at
        cdef const double* z = self.z.at
        cdef Py_ssize_t j
        cdef int c
        for c in range(<int>self.outputs):
            j = c
            while j > 0 and z[order[j - 1]] < z[c]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = c
