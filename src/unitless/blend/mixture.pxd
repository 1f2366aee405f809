from unitless.core.array cimport Array
from unitless.core.stateful cimport Stateful
from unitless.learners.gaussian cimport Posterior


cdef class Mixture(Stateful):
    cdef readonly list members
    cdef readonly object loss
    cdef public dict ended              # guarantees of experts that left
    cdef Py_ssize_t experts             # K
    cdef Py_ssize_t outputs             # scores per expert and row

    cdef int score(
        self, const double* Z, Py_ssize_t stride, double v, double* scores, bint learns
    ) except -1 nogil
    cdef int update(self, double y, double v) except -1 nogil


cdef class StackedMixture(Mixture):
    cdef readonly Posterior stacker     # over the weights of the experts' scores
    cdef readonly Py_ssize_t m          # experts and stacker, rounded up to whole lanes
    cdef readonly Array stacked         # 1 for experts that the stacker sees
    cdef readonly Array W               # weights of the mixture
    cdef readonly Array W0              # weights that it starts from
    cdef readonly Array start           # the first W0
    cdef readonly Array spent           # nats that shares had cost when W0 was last set
    cdef readonly Array lost            # losses of the experts
    cdef readonly Array history         # W after 1, 2, 4, ... trials
    cdef public double t                # trials
    cdef public double V                # the scale of losses
    cdef public double total            # loss of the mixture
    cdef public double excess           # loss of the mixture beyond the mix loss
    cdef public double since            # the trial in which W0 was set
    cdef Array late                     # 1 for experts that are stacked little by little
    cdef Py_ssize_t steep               # the expert whose sign is stacked, too; or -1
    cdef Array x                        # inputs of the stacker
    cdef Array losses                   # of the row at hand

    cdef void reweigh(self, double v, double nats, double loss) noexcept nogil


cdef double least(const double* L, const double* alive, Py_ssize_t n) noexcept nogil
cdef void set_weights(
    const double* L, const double* alive, Py_ssize_t n, double nats, double scale, double* W
) noexcept nogil
cdef void remember(
    const double* W, Py_ssize_t n, double trials, double* history
) noexcept nogil
