"""The candidates for the next split of a leaf of the boosted trees, and what they would gain.

A leaf has twelve candidates `x[column] <= threshold`. It sums a few amounts over its rows, and each
candidate sums the same amounts over those rows that it sends to the left::

    logistic   COUNT: curvatures h;  SLOPES: slopes e
    squared    COUNT: rows;          SLOPES: residuals e;   SQUARES: e^2
    softmax    one sum per group of classes: sqrt(1 - q) of the class that came

A candidate counts from the row on at which it became ready: `before` is the leaf's total then.
"""

from libc.math cimport NAN, log

from unitless.core.arithmetic cimport Values
from unitless.core.losses cimport SOFTMAX, SQUARED


cdef enum:
    CANDIDATES = 12
    GROUPS = 8              # of classes, at most, when splits are judged
    COUNT = 0
    SLOPES = 1
    SQUARES = 2


cdef struct Candidates:
    double[12] threshold    # NaN until the candidate is ready
    long long rows          # of the leaf, since it became one
    long long draws         # columns drawn
    int[12] column
    int unready             # candidates that are not ready


cdef struct Sum:
    double total            # of all rows of the leaf
    double[12] left         # of those to the left of each candidate, since it became ready


cdef struct First:
    double[12] value        # of each candidate's column; NaN before one is drawn


cdef struct Before:
    double[12] total        # of the leaf, when each candidate became ready


cdef inline int sums_of(int loss) noexcept nogil:
    """How many amounts a leaf sums."""
    return GROUPS if loss == SOFTMAX else (3 if loss == SQUARED else 2)


cdef inline void forget(Candidates* own, First* first) noexcept nogil:
    """Candidates have yet to draw their columns."""
    cdef int k
    own.unready = CANDIDATES
    for k in range(CANDIDATES):
        own.threshold[k] = NAN
        first.value[k] = NAN


cdef inline void find_sides(const Candidates* own, Values x, double* goes_left) noexcept nogil:
    """1 for each candidate that sends the row to the left; 0 also if it is not ready."""
    cdef int k
    for k in range(CANDIDATES):
        goes_left[k] = 1.0 if x[own.column[k]] <= own.threshold[k] else 0.0


cdef inline void add(Sum* sum, Values goes_left, double amount) noexcept nogil:
    """Add the amount of a row."""
    cdef int k
    sum.total += amount
    for k in range(CANDIDATES):
        sum.left[k] += goes_left[k] * amount


cdef inline double since_ready(const Sum* sum, const Before* before, int k) noexcept nogil:
    """The sum of all rows since candidate k became ready."""
    return sum.total - before.total[k]


cdef inline double right_of(const Sum* sum, const Before* before, int k) noexcept nogil:
    """The sum of the rows to the right of candidate k."""
    return since_ready(sum, before, k) - sum.left[k]


cdef inline double entropy_term(double a) noexcept nogil:
    return a * log(a) if a > 0 else 0.0


cdef inline double gain_in_curvature(const Sum* sum, const Before* before, int k) noexcept nogil:
    """The nats of logistic loss that candidate k would have saved, by a second-order expansion."""
    cdef double n1 = sum[COUNT].left[k]
    cdef double n2 = max(right_of(sum + COUNT, before + COUNT, k), 0.0)
    cdef double e1 = sum[SLOPES].left[k]
    cdef double e2 = right_of(sum + SLOPES, before + SLOPES, k)
    cdef double e0 = e1 + e2
    cdef double left = e1 * (e1 / (n1 + 1))
    cdef double right = e2 * (e2 / (n2 + 1))
    cdef double both = e0 * (e0 / (n1 + n2 + 1))
    return (left + right - both) / 2


cdef inline double gain_in_variance(const Sum* sum, const Before* before, int k) noexcept nogil:
    """The nats that candidate k would have saved, for residuals that are normal on each side."""
    cdef double n1 = sum[COUNT].left[k]
    cdef double n2 = right_of(sum + COUNT, before + COUNT, k)
    cdef double e1 = sum[SLOPES].left[k]
    cdef double e2 = right_of(sum + SLOPES, before + SLOPES, k)
    cdef double e0 = e1 + e2
    cdef double n0 = n1 + n2
    cdef double variance, explained, rest
    if n1 < 2 or n2 < 2:
        return 0.0
    variance = since_ready(sum + SQUARES, before + SQUARES, k) - e0 * (e0 / n0)
    explained = e1 * (e1 / n1) + e2 * (e2 / n2) - e0 * (e0 / n0)
    rest = variance - explained
    return n0 / 2 * log(variance / max(rest, 1e-6 * variance)) if variance > 0 else 0.0


cdef inline double gain_in_entropy(const Sum* sum, const Before* before, int k) noexcept nogil:
    """The nats that candidate k takes from the entropy of the groups of classes."""
    cdef double saved = 0.0
    cdef double n1 = 0.0
    cdef double n2 = 0.0
    cdef double a, b
    cdef int group
    for group in range(GROUPS):
        a = sum[group].left[k]
        b = max(right_of(sum + group, before + group, k), 0.0)
        saved += entropy_term(a) + entropy_term(b) - entropy_term(a + b)
        n1 += a
        n2 += b
    return saved + entropy_term(n1 + n2) - entropy_term(n1) - entropy_term(n2)


cdef inline double entropy_of(const Sum* sum) noexcept nogil:
    """The entropy of the groups of a leaf, in nats: no split gains more."""
    cdef double nats = 0.0
    cdef double n = 0.0
    cdef int group
    for group in range(GROUPS):
        nats -= entropy_term(sum[group].total)
        n += sum[group].total
    return nats + entropy_term(n)


cdef inline int best_of(
    int loss, const Candidates* own, const Sum* sum, const Before* before, double least
) noexcept nogil:
    """The candidate that gains the most nats, or -1 if none gains more than `least`.

    Among equals it is the first: a later one must gain clearly more than rounding could add.
    """
    cdef int best = -1
    cdef double nats
    cdef int k
    if loss == SOFTMAX and not entropy_of(sum) > least:
        return -1
    for k in range(CANDIDATES):
        if own.threshold[k] != own.threshold[k]:
            continue
        if loss == SOFTMAX:
            nats = gain_in_entropy(sum, before, k)
        elif loss == SQUARED:
            nats = gain_in_variance(sum, before, k)
        else:
            nats = gain_in_curvature(sum, before, k)
        if nats > (1 + 1e-9) * least:
            best = k
            least = nats
    return best
