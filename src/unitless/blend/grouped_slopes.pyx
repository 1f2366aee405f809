"""Sums from which the certificate of a Blend follows (docs/explanation/theory.md, section 4).

Any slopes g within the domain of the loss's conjugate give a bound on the regret. Two forecasters
provide slopes: the Blend itself and its linear Newton expert. The trials are divided into groups,
by time (each period twice as long as the one before), by label and by the margin of the Blend. Per
group and forecaster are kept h = -sum v g x and, with q = |g|, the sums of v q^k and v q ln q, from
which the sum of conjugates at any multiple of g follows. The certificate then chooses for each
group the forecaster and the multiple that are best for the comparator asked for.
"""

import numpy as np

cimport cython
from libc.math cimport fabs, frexp, log1p

from unitless.core.arithmetic cimport fast_exp
from unitless.core.array cimport numbers, records

from unitless.state import Field, count

FORECASTER = "Newton, centred"
"""The expert whose slopes are kept beside those of the Blend."""

cdef enum:
    NARROW = 256        # with more features all trials are one group: h takes memory per group
    FIRST_PERIOD = 5           # the first period has 2^5 - 1 trials
    GROUPS = 8          # per period: two labels times four ranges of the margin
    HIGHEST_POWER = 9

POWERS = HIGHEST_POWER


cdef struct Sums:
    double entropy      # sum v q ln q
    double[9] powers    # sum v q^k, k = 1 to 9


SUMS = np.dtype([("entropy", "d"), ("powers", f"{HIGHEST_POWER}d")])


cdef Py_ssize_t groups_of(double trials) noexcept nogil:
    """The number of groups that this many trials fill."""
    cdef int exponent
    frexp(trials, &exponent)
    return GROUPS * (max(exponent - FIRST_PERIOD, 0) + 1)


@cython.final
cdef class GroupedSlopes(Stateful):
    """The sums of all groups, those of the trials with many features first."""

    saved = (
        Field(
            "sums",
            "1",
            "powers of slopes, sum v q ln q and sum v q^k, by group and forecaster",
            ("sums",),
        ),
        Field("narrow", "x", "sums of gradients, by group, forecaster and coordinate", ("narrow",)),
        Field("wide", "x", "sums of gradients of trials with many features", ("wide",)),
        count("t", "trials"),
        count("groups", "groups beside that of trials with many features", 2.0**16),
        count("narrow_coordinates", "coordinates of `narrow`", NARROW + 1),
        count("wide_coordinates", "coordinates of `wide`", 2.0**31),
    )

    def __init__(self, Py_ssize_t expert):
        self.expert = expert
        self.sums = records(SUMS, 2)
        self.narrow = numbers(0)
        self.wide = numbers(0)
        self.narrow_coordinates = 1

    def _arguments(self):
        return {"expert": self.expert}

    @property
    def trials(self):
        """Rows entered."""
        return int(self.t)

    def _sizes(self):
        groups = int(self.groups)
        return {
            "sums": 2 * (1 + groups),
            "narrow": 2 * groups * int(self.narrow_coordinates),
            "wide": 2 * int(self.wide_coordinates),
        }

    cdef bint has_room(self, double trials, Py_ssize_t columns) noexcept nogil:
        """Whether that many more trials of rows with so many columns find room."""
        if columns > NARROW:
            return self.wide_coordinates > columns
        return self.groups >= groups_of(self.t + trials) and self.narrow_coordinates > columns

    def reserve(self, double trials, Py_ssize_t columns):
        """Make room for that many more trials of rows with so many columns."""
        if columns > NARROW:
            if self.wide_coordinates <= columns:
                coordinates = 1 + columns + columns // 5  # growth stays linear
                wide = _widened(self._wide(), (2, coordinates))
                self.wide.replace(wide.reshape(-1))
                self.wide_coordinates = coordinates
            return
        groups = max(groups_of(self.t + trials), int(self.groups))
        coordinates = max(1 + columns, int(self.narrow_coordinates))
        narrow = _widened(self._narrow(), (groups, 2, coordinates))
        self.narrow.replace(narrow.reshape(-1))
        self.sums.resize(2 * (1 + groups))
        self.groups = groups
        self.narrow_coordinates = coordinates

    cdef void add(
        self, const Row* row, Py_ssize_t columns, double v, double y, double score, double other
    ) noexcept nogil:
        """Enter a trial: a row by feature, the scores of the Blend and of the expert."""
        cdef bint is_narrow = columns <= NARROW
        cdef Py_ssize_t group = -1
        cdef Py_ssize_t j, k, i
        cdef double margin, e, q, power, slope
        cdef Sums* own
        cdef double* h
        self.t += 1
        if is_narrow:
            margin = y * score
            group = groups_of(self.t) - (GROUPS if y <= 0 else GROUPS // 2)
            group += (margin > -0.5) + (margin > 0.5) + (margin > 2.0)
        for j in range(2):
            margin = y * (other if j else score)
            e = fast_exp(-fabs(margin))
            q = (e if margin >= 0 else 1.0) / (1.0 + e)
            own = <Sums*>self.sums.at + 2 * (group + 1) + j
            own.entropy -= v * q * (max(margin, 0.0) + log1p(e))
            power = v
            for k in range(HIGHEST_POWER):
                power *= q
                own.powers[k] += power
            slope = v * y * q
            if is_narrow:
                h = self.narrow.at + (2 * group + j) * <Py_ssize_t>self.narrow_coordinates
            else:
                h = self.wide.at + j * <Py_ssize_t>self.wide_coordinates
            h[0] += slope * row.x[0]
            for k in range(row.n):
                if row.values[k] == row.values[k]:
                    i = row.ids[k] if row.ids != NULL else k
                    h[i + 1] += slope * row.values[k]

    def rescale(self, features, factors):
        """From now on these features arrive multiplied by these factors."""
        narrow = self._narrow()
        wide = self._wide()
        for h in (narrow, wide):
            known = features + 1 < h.shape[-1]
            h[..., features[known] + 1] *= factors[known]

    def _narrow(self):
        """h by group, forecaster and coordinate."""
        return np.asarray(self.narrow).reshape(int(self.groups), 2, int(self.narrow_coordinates))

    def _wide(self):
        """h of trials with many features, by forecaster and coordinate."""
        return np.asarray(self.wide).reshape(2, int(self.wide_coordinates))

    def sums_by_group(self):
        """sum v q ln q and sum v q^k in one line: (1 + groups, 2, 1 + powers)."""
        sums = np.array(self.sums)
        lines = np.column_stack([sums["entropy"], sums["powers"]])
        return lines.reshape(-1, 2, 1 + HIGHEST_POWER)

    def h_by_group(self, width):
        """h of all groups, the wide one first, by forecaster and coordinate."""
        wide = self._wide()
        wide = _widened(wide, (2, max(width, wide.shape[1])))[None]
        narrow = self._narrow()
        narrow = _widened(narrow, (len(narrow), 2, max(width, narrow.shape[2])))
        return np.concatenate([wide[..., :width], narrow[..., :width]])


def _widened(array, shape):
    """The array with zeros behind it on each axis."""
    bigger = np.zeros(shape)
    bigger[tuple(slice(size) for size in array.shape)] = array
    return bigger
