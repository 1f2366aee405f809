"""What learners of Newton's kind share: curvatures, and scores moderated by their uncertainty."""

from libc.math cimport M_PI, fabs, sqrt


cdef inline double moderated(double z, double s) noexcept nogil:
    """The mean of a sigmoid over a normal z of variance s, as a logit (MacKay 1992)."""
    return z / sqrt(1.0 + M_PI / 8 * s)


cdef inline double curvature(double g) noexcept nogil:
    """q (1 - q) of the logistic loss from its slope; at least 1e-3."""
    return max(fabs(g) * (1 - fabs(g)), 1e-3)


cdef inline double mean_curvature(const double* g, Py_ssize_t classes) noexcept nogil:
    """The mean of q (1 - q) over the classes, from the slopes of the softmax loss; at least 1e-3."""
    cdef double mean = 0.0
    cdef Py_ssize_t k
    for k in range(classes):
        mean += fabs(g[k]) * (1.0 - fabs(g[k])) / classes
    return max(mean, 1e-3)
