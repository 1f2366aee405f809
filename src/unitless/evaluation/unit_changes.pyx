"""The sizes of each feature's values, in which `alarms` looks for changes of unit; it explains them."""

import numpy as np

from libc.math cimport fabs, isfinite, log

from unitless.core.arithmetic cimport prefetch
from unitless.core.pointers cimport numbers_in
from unitless.core.row cimport Row, RowReader

cdef enum:
    AHEAD = 32              # values between the prefetch of a feature's record and its use
    RUN_MEDIANS = 9
    LASTING_MEDIANS = 100   # of a run with a ratio below `SURE_RATIO`
    MIN_MEDIANS = 20

cdef double GAP = 1.05
cdef double SURE_RATIO = 9.0      # not 10, a factor that is measured with some error


cdef struct Feature:
    double first            # two values that wait for a third,
    double second
    double start            # and the row of the first
    double low              # the smallest median
    double high             # the largest
    double sum              # of all medians
    double count            # their number
    double changes          # how many differ from the one before
    double last             # the last median, NEW_ALARM or REPORTED
    double run              # the medians of the present run, negative if they are below
    double run_sum          # the sum of all of them but the first
    double run_far          # the farthest


cdef struct Ratios:
    const double* logs      # logarithms of known ratios of units
    Py_ssize_t count


NEW_ALARM, REPORTED = -1.0, -2.0
"""In the place of the last median: the feature is no longer watched."""
FIELDS = ["first", "second", "start", "low", "high", "sum", "count", "changes", "last"]
RUN_FIELDS = ["run", "run_sum", "run_far"]
FEATURE = np.dtype([(name, "f8") for name in FIELDS + RUN_FIELDS])


def look(features, rows, Py_ssize_t first, known):
    """Take in rows, the first of which has that number; whether a run was long enough for an alarm.

    `known` has the logarithms of known ratios of units.
    """
    cdef RowReader reader = RowReader(rows.block, len(rows))
    cdef Feature* own = <Feature*>numbers_in(features)
    cdef Ratios ratios
    cdef Py_ssize_t r
    cdef bint found = False
    cdef Row row
    if len(features) < rows.columns:
        raise ValueError("there are fewer features than columns")
    ratios.logs = numbers_in(known)
    ratios.count = len(known)
    with nogil:
        for r in range(reader.rows):
            reader.find(r, &row)
            found |= look_at(own, &row, first + r, ratios)
    return found


cdef bint look_at(Feature* features, const Row* row, double number, Ratios known) noexcept nogil:
    """Take in a row; whether it completes a run that is an alarm."""
    cdef bint found = False
    cdef Feature* own
    cdef double size, one, two
    cdef Py_ssize_t k
    for k in range(row.n):
        if row.ids != NULL and k + AHEAD < row.n:
            prefetch(features + row.ids[k + AHEAD])
        size = fabs(row.values[k])
        if not size > 0 or size == 1:  # zero or missing, or a mark of presence
            continue
        own = features + (row.ids[k] if row.ids != NULL else k)
        one = own.first
        two = own.second
        if one == 0:
            own.first = size
            if own.run == 0:
                own.start = number
        elif two == 0:
            own.second = size
        else:
            own.first = 0
            own.second = 0
            found |= see(own, max(min(one, two), min(max(one, two), size)), known)
    return found


cdef bint see(Feature* own, double median, Ratios known) noexcept nogil:
    """Take in one median; whether it completes a run that is an alarm."""
    cdef int side = 0
    cdef double size
    if own.last < 0:  # reported
        return False
    own.changes += median != own.last
    own.last = median
    if own.count >= MIN_MEDIANS:
        side = (median > GAP * own.high) - (GAP * median < own.low)
    if own.run * side <= 0:
        end_run(own)
    if side == 0:
        own.high = max(own.high, median)
        own.low = min(own.low, median) if own.count > 0 else median
        own.sum += median
        own.count += 1
        return False
    if own.run != 0:  # two of the first three values may be from before
        own.run_sum += median
    own.run += side
    if side > 0 or own.run_far == 0:
        own.run_far = max(own.run_far, median)
    else:
        own.run_far = min(own.run_far, median)
    if fabs(own.run) != RUN_MEDIANS and fabs(own.run) != LASTING_MEDIANS:
        return False
    size = size_of_change(own, known)
    if not size > 0:
        end_run(own)
        return False
    if fabs(own.run) == RUN_MEDIANS and size < log(SURE_RATIO):  # it must last
        return False
    own.last = -1.0  # NEW_ALARM
    return True


cdef void end_run(Feature* own) noexcept nogil:
    """Count the medians of a run as past ones."""
    if own.run == 0:
        return
    if own.run > 0:
        own.high = own.run_far
    else:
        own.low = own.run_far
    own.sum += own.run_sum
    own.count += fabs(own.run) - 1
    own.run = 0
    own.run_sum = 0
    own.run_far = 0


cdef double size_of_change(const Feature* own, Ratios known) noexcept nogil:
    """The logarithm of the ratio of mean sizes.

    0 unless it is near a known factor, or large, beyond the spread, and no coincidence.
    """
    cdef double before = own.sum / own.count
    cdef double now = own.run_sum / (fabs(own.run) - 1)
    cdef double size, spread, error
    cdef bint is_known
    cdef Py_ssize_t k
    if not isfinite(before + now):  # sums of values beyond 1e300
        return 0.0
    size = fabs(log(now) - log(before))
    error = fabs(known.logs[0] - size)
    for k in range(1, known.count):
        error = min(error, fabs(known.logs[k] - size))
    spread = log(own.high) - log(own.low)
    is_known = error <= 0.04 + 0.15 * spread or size >= log(10.0)
    if own.changes >= (own.count + fabs(own.run)) / 4 and is_known and size > spread:
        return size
    return 0.0
