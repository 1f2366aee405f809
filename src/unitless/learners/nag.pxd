"""Formulas of NAG that its siblings share."""

from libc.math cimport sqrt


cdef inline double over_root(double x, double S) noexcept nogil:
    """x / sqrt(S), 0 where S is 0 (where g x is 0 as well)."""
    return x / sqrt(S if S > 0 else 1.0) if S > 0 else 0.0


cdef inline double root_of_ratio(double t, double N) noexcept nogil:
    """sqrt(t / N), 0 while every x is 0."""
    return sqrt(t / N) if N > 0 else 0.0
