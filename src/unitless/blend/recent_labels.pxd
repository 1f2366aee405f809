cimport cython

from unitless.core.array cimport Array
from unitless.core.stateful cimport Stateful


cdef enum:
    INPUTS = 13             # numbers per output that experts on the past are given
    COLUMNS_OF_PAST = 2     # columns that come before those of a row


cdef struct Signals:
    double score                # the answer without recent labels to the last row
    double target               # its target; 0 or 1 for each of several classes
    double residual             # minus the slope of the loss at the score
    double[3] targets           # running means, the fastest first
    double[3] residuals


cdef struct Counts:
    double[2] seen              # recent labels of this kind, by rate of forgetting


@cython.final
cdef class Past(Stateful):
    cdef readonly Py_ssize_t outputs
    cdef readonly Array signals     # by output
    cdef readonly Array counts      # by label
    cdef public double known        # labels taken in
    cdef public double last_target
    cdef public double mean_target
    cdef int code                   # of the loss

    cdef void see(self, double y, double v, const double* score, const double* r) noexcept nogil
    cdef void _follow(self, double* mean, double x, double rate) noexcept nogil
    cdef void inputs(self, const double* score, double* x) noexcept nogil
    cdef void columns(self, double* x) noexcept nogil
    cdef void tracked(self, int rate, double* scores) noexcept nogil


@cython.final
cdef class RecentLabels(Stateful):
    cdef readonly Py_ssize_t delay
    cdef readonly Past known        # all labels that were learned
    cdef readonly Past seen         # those that the prediction of the next row will have seen
    cdef readonly Array waiting     # labels, weights and scores on the way from one to the other
    cdef public double rows         # labels learned
    cdef public double product      # sum of products of residuals, delay + 1 rows apart
    cdef public double squares      # sum of their squares
    cdef public double pays         # 1 once the past pays, for good
    cdef Array residual             # of the row at hand

    cdef bint learn(self, double y, double v, const double* score) noexcept nogil


cdef void residuals(
    int code, Py_ssize_t outputs, double y, const double* score, double* r
) noexcept nogil
