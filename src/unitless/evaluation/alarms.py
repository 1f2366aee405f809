"""Alarms for features whose unit seems to have changed.

A learner continues after a change of unit, but what it learned before does not apply to the new
values. A `Watch` looks at the sizes |x| of a feature's values except 0, 1 and missing ones, which
have no unit (1 is how a category or a word is marked as present). It takes the median of every
three of them, so that single outliers do not matter, and raises an alarm when nine medians in a row
(29 values at most) all lie above all of the n >= 20 medians before, or all below them, and if
besides

- they are apart from them by 5 % or more,
- the ratio of the mean sizes is near a known factor (`KNOWN`), or at least 10,
- it is larger than that of the largest to the smallest median before: little spread in size, and
- the feature varies: at least a quarter of its medians differ from the one before.

If the ratio is below 9, the change must also last: the run must reach 100 medians (300 values) and
fulfil the conditions again. Rows often come in groups, and the values of a new patient, sensor or
customer may well be twice as large for a while.

**False alarms.** If rows are independent and their distribution does not change, all orders of the
n + 9 medians are equally likely, whatever the distribution. Therefore such a run begins after n
medians with probability at most 2 / C(n + 9, 9), which is 2e-7 for n = 20: at most one false alarm
in 15 million values, and for one feature, over all n, 7.2e-7. The other conditions only make false
alarms rarer, above all where rows are not independent. Each feature is reported once.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.evaluation.metrics import grown
from unitless.evaluation.unit_changes import FEATURE, NEW_ALARM, REPORTED, look
from unitless.rows import Rows

KNOWN = {
    1.609344: "miles and kilometres",
    1 / 0.45359237: "pounds and kilograms",
    2.54: "inches and centimetres",
    1 / 0.3048: "feet and metres",
    3.6: "metres per second and kilometres per hour",
    10.0: "millimetres and centimetres",
    12.0: "inches and feet, or months and years",
    24.0: "hours and days",
    60.0: "seconds, minutes and hours",
    100.0: "metres and centimetres, or per cent",
    304.8: "feet and millimetres",
    1000.0: "thousands",
    3600.0: "seconds and hours",
    1e6: "millions",
    1e9: "billions",
}
"""Ratios of units, and examples of units."""
LOG_KNOWN = np.log(list(KNOWN))


class Alarm(NamedTuple):
    """A feature whose unit seems to have changed.

    >>> print(Alarm("height", 5001, 1.76, 177.4, 100.0))
    feature 'height': from about row 5001 on, its values are 101 times as large (typically 177.4
    instead of 1.76). Did its unit change (100: metres and centimetres, or per cent)? If so,
    continue with a model saved before that row, after `unitless rescale MODEL height=100`
    """

    feature: Any  # its name, or the number of its column
    row: int  # where the new values begin, counted from 1, up to two values early or late
    before: float  # the mean of the medians before
    now: float  # the mean of those since, without the first
    factor: float  # the known factor that is nearest to their ratio

    def __str__(self) -> str:
        ratio = self.now / self.before if self.before else math.inf
        known = KNOWN.get(self.factor if self.factor >= 1 else 1 / (self.factor or 1))
        units = f" ({self.factor:.10g}: {known})" if known else ""
        return (
            f"feature {self.feature!r}: from about row {self.row} on, its values are {ratio:.3g} "
            f"times as large (typically {self.now:.4g} instead of {self.before:.4g}). Did its unit "
            f"change{units}? If so, continue with a model saved before that row, after "
            f"`unitless rescale MODEL {self.feature}={self.factor:.10g}`"
        )


class Watch:
    """Watches for features whose sizes jump; it keeps twelve numbers per feature."""

    def __init__(self) -> None:
        self.rows = 0
        self.sizes = np.zeros((0, len(FEATURE.names or ())))

    def add(self, rows: Rows) -> list[Alarm]:
        """Take in more rows; returns alarms of columns not reported before.

        How rows are split into blocks changes only when an alarm is returned.
        """
        if len(self.sizes) < rows.columns:
            self.sizes = grown(self.sizes, rows.columns)
        first = self.rows + 1
        self.rows += len(rows)
        features = self.features
        if not look(self.sizes, rows, first, LOG_KNOWN):
            return []
        alarms = []
        for j in np.flatnonzero(features["last"] == NEW_ALARM).tolist():
            feature = features[j]
            before = float(feature["sum"] / feature["count"])
            now = float(feature["run_sum"] / (abs(feature["run"]) - 1))
            factor = nearest_known(math.log(now) - math.log(before))
            alarms.append(Alarm(j, int(feature["start"]), before, now, factor))
            feature["last"] = REPORTED
        return alarms

    @property
    def features(self) -> NDArray[Any]:
        """The numbers as one record per feature."""
        return self.sizes.view(FEATURE)[:, 0]

    def begin_file(self) -> None:
        """Count rows from 1 again; values that wait for a third are dropped."""
        self.rows = 0
        self.features["first"] = 0
        self.features["second"] = 0

    def forget_unseen(self) -> None:
        """Drop the features after the last that had a value; a model file need not keep them."""
        seen = np.flatnonzero(self.sizes.any(axis=1))
        self.sizes = self.sizes[: seen[-1] + 1 if len(seen) else 0]


def nearest_known(log_ratio: float) -> float:
    """Return the known factor, or power of ten, with the nearest logarithm."""
    size = abs(log_ratio)
    candidates = [*KNOWN, 10.0 ** min(round(size / math.log(10)), 300)]
    known = min(candidates, key=lambda each: abs(size - math.log(each)))
    return known if log_ratio > 0 else 1 / known
