"""Views: online transformations of rows, with the invariance that each one keeps.

A view transforms a block of rows to values of the same shape, which a learner may get instead of
the raw ones.

========== ============================================ ==================== =================
view       of x_i                                       rows                 invariance
========== ============================================ ==================== =================
raw        x_i                                          dense or sparse      of the learner
centred    c_i = x_i - mean_i                           dense                affine
squashed   c_i / sqrt(var_i + c_i^2), within (-1, 1)    dense                affine
normalised x_i / sqrt(sum_j (x_j / M_j)^2)              dense or sparse      of the learner
presence   1 where x_i is not 0                         dense or sparse      of the learner
========== ============================================ ==================== =================

M_j = max |x_j|. Means, variances and M are over all rows so far, this one included. Absent values
count as 0, missing ones (NaN) not at all. The constant that learners add to a row is in no view.
"""

import math

import numpy as np

from unitless.kernels.arithmetic import grown
from unitless.kernels.decorators import kernel
from unitless.kernels.simd import fma
from unitless.rows import Block, row_count, row_span
from unitless.state import Field, Float, Stateful


@kernel
def show_moments(values, width, learns, moments, centred, squashed):
    """Fill in the rows centred and squashed; with `learns`, bring the moments up to date.

    Welford's update, which does not cancel. A feature that comes late has been 0 before.
    """
    mean, m2, missing, totals = moments
    for r in range(values.size // max(width, 1)):
        t = totals[0] + 1
        x = values[r * width : (r + 1) * width]
        c = centred[r * width : (r + 1) * width]
        u = squashed[r * width : (r + 1) * width]
        for k in range(width):
            value = x[k]
            old = mean[k]
            present = value == value
            n = t - missing[k]
            delta = value - old if present else 0.0
            now = old + delta / n if present else old
            m = fma(delta, value - now, m2[k]) if present else m2[k]
            away = value - now if present else 0.0
            root = math.sqrt(m / max(n, 1.0) + away * away)
            c[k] = away
            u[k] = away / (root if root > 0 else 1.0)
            if learns:
                mean[k] = now
                m2[k] = m
                missing[k] += 0.0 if present else 1.0
        if learns:
            totals[0] = t


@kernel
def show_normalised(block, learns, M, out):
    """Fill in the rows normalised, 0 for an empty row; with `learns`, bring M up to date."""
    values, indices, starts, _ = block
    sparse = starts.size > 0
    for r in range(row_count(block)):
        start, stop = row_span(block, r)
        total = 0.0
        for k in range(start, stop):
            i = indices[k] if sparse else k - start
            size = abs(values[k]) if values[k] == values[k] else 0.0
            largest = max(M[i] if i < M.size else 0.0, size)
            if learns:
                M[i] = largest
            ratio = size / (largest if largest > 0 else 1.0)
            total += ratio * ratio
        factor = 1.0 / math.sqrt(total) if total > 0 else 0.0
        for k in range(start, stop):
            out[k] = values[k] * factor if values[k] == values[k] else 0.0


class Views(Stateful):
    """The views of a stream.

    >>> views = Views()
    >>> block = Block(np.array([1.0, 3.0, 5.0]), np.empty(0, np.int32), np.empty(0, np.int64), 1)
    >>> views.show(block, dense=True, learn=True)["centred"].values
    array([0., 1., 2.])
    """

    saved = (
        Field("mean", "x", "running mean", ("n",)),
        Field("m2", "x^2", "sum of squared deviations", ("n",)),
        Field("missing", "1", "rows in which x_i was missing", ("n",)),
        Field("M", "|x|", "max |x_i|"),
        Field("totals", "1", "rows", (1,)),
    )

    def __init__(self) -> None:
        self.mean = np.zeros(0)
        self.m2 = np.zeros(0)
        self.missing = np.zeros(0)
        self.M = np.zeros(0)
        self.totals = np.zeros(1)

    def _sizes(self) -> dict[str, int]:
        return {"n": len(self.mean)}

    def reserve(self, columns: int) -> None:
        """Make room for that many columns."""
        self.mean, self.m2, self.missing = self._moments(columns)
        self.M = grown(self.M, columns)

    def _moments(self, columns: int) -> list[Float]:
        return [grown(each, columns) for each in (self.mean, self.m2, self.missing)]

    def show(self, block: Block, *, dense: bool, learn: bool) -> dict[str, Block]:
        """The rows as each view shows them, each as if it were the next.

        With `learn` the rows are taken in one after another.
        """
        x = block.values
        present = (x != 0) & (x == x)
        values = {"raw": x, "presence": present.astype(np.float64)}
        values["normalised"] = np.empty(len(x))
        if learn:
            self.M = grown(self.M, block.columns)
        show_normalised(tuple(block), learn, self.M, values["normalised"])
        if dense:
            moments = self._moments(block.columns)
            if learn:
                self.mean, self.m2, self.missing = moments
            values["centred"] = np.empty(len(x))
            values["squashed"] = np.empty(len(x))
            both = values["centred"], values["squashed"]
            show_moments(x, block.columns, learn, (*moments, self.totals), *both)
        return {name: block._replace(values=own) for name, own in values.items()}
