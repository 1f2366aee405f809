"""Reproducible arithmetic; the comments are in arithmetic.h."""

from libc.stdint cimport int64_t, uint64_t


cdef extern from "arithmetic.h" nogil:
    ctypedef const double* Values
    ctypedef double* Room
    const double MAX_VALUE
    const double MIN_VALUE
    double fused(double a, double b, double c) noexcept
    double clipped(double x, double limit) noexcept
    double bounded_exp(double x) noexcept
    double fast_exp(double x) noexcept
    double total(const double* lanes) noexcept
    double dot(const double* a, const double* b, Py_ssize_t n) noexcept
    double lane_sum(const double* terms, Py_ssize_t n) noexcept
    bint all_finite(const double* v, Py_ssize_t n) noexcept
    uint64_t hashed(int64_t a, int64_t b, int64_t c) noexcept
    void prefetch(const void* at) noexcept
    void extent_of(
        const double* values, Py_ssize_t n, double* smallest, double* largest
    ) noexcept
    void gather_records(
        const double* records, Py_ssize_t known, const int* ids, Py_ssize_t n, Py_ssize_t slots,
        int fields, double* own,
    ) noexcept
    void scatter_records(
        double* records, const int* ids, Py_ssize_t n, int fields, const double* own
    ) noexcept
