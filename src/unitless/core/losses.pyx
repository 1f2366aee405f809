"""Losses of whole arrays, for `unitless.losses`; the formulas are in losses.pxd."""

from libc.math cimport exp, log1p

import numpy as np

from unitless.core.pointers cimport numbers_in


cdef object _over_arrays(int loss, double parameter, y, p, bint of_derivative):
    out = np.empty(len(p))
    cdef const double* targets = numbers_in(y)
    cdef const double* scores = numbers_in(p)
    cdef double* result = numbers_in(out)
    cdef Py_ssize_t i
    for i in range(len(p)):
        if of_derivative:
            result[i] = derivative(loss, parameter, targets[i], scores[i])
        else:
            result[i] = value(loss, parameter, targets[i], scores[i])
    return out


def values(int loss, double parameter, y, p):
    """The losses of the scores p for the targets y."""
    return _over_arrays(loss, parameter, y, p, False)


def derivatives(int loss, double parameter, y, p):
    """The derivatives of the losses in p."""
    return _over_arrays(loss, parameter, y, p, True)


def logistic_probability(double p):
    """1 / (1 + exp(-p)) of one number.

    >>> logistic_probability(0.0)
    0.5
    """
    return sigmoid(p)


def sigmoids(p):
    """1 / (1 + exp(-p))."""
    out = np.empty(len(p))
    cdef const double* scores = numbers_in(p)
    cdef double* result = numbers_in(out)
    cdef Py_ssize_t i
    for i in range(len(p)):
        result[i] = sigmoid(scores[i])
    return out


def cross_entropies(y, p):
    """log sum_c exp(p_rc) - p_ry, with its digits where p_ry is far above the others."""
    cdef Py_ssize_t rows = p.shape[0]
    cdef Py_ssize_t classes = p.shape[1]
    out = np.empty(rows)
    cdef const double* targets = numbers_in(y)
    cdef const double* scores = numbers_in(p)
    cdef const double* own
    cdef double* result = numbers_in(out)
    cdef Py_ssize_t r, c, top
    cdef double rest
    for r in range(rows):
        own = scores + r * classes
        top = 0
        for c in range(1, classes):
            top = c if own[c] > own[top] else top
        rest = 0.0
        for c in range(classes):
            rest += exp(own[c] - own[top]) if c != top else 0.0
        result[r] = clipped(own[top] - own[<Py_ssize_t>targets[r]], LARGEST) + log1p(rest)
    return out
