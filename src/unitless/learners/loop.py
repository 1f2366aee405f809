"""The loop of all coordinate-wise learners: load a row, predict, update.

Such a learner is a file with two functions, which the loop calls for every row::

    predict(parameters, totals, v, x, f, scratch) -> (p, score)
    update(parameters, totals, trial, x, f, scratch)

========== =====================================================================
parameters the learner's parameters (`Coordinatewise._parameters`)
totals     numbers that belong to no feature; totals[T] counts trials, with this
v          the sample weight; 1 if `scales_instance`, which multiplies x by it
x          the row: x[0] is the constant, then the values; zeros fill whole lanes
f          f[a, k] is field a of the feature of x[k]
scratch    an array as long as x that `predict` may leave to `update`
trial      (v, y, p, g): weight, target, prediction and g = loss'(y, p) / L
========== =====================================================================

Both may write into `totals` and `f`; the changes are discarded if the row is not learned. `p` is
where the gradient is taken and `score` is what the caller sees; they differ in learners that
moderate their scores. Each file ends in its own kernel, which is cached on disk (2 is the number of
fields)::

    @kernel
    def run(task, parameters, block, targets, weights, scores, state):
        return loop(predict, update, 2, task, parameters, block, targets, weights, scores, state)

With the softmax loss there is one learner per class, coupled by g_c = softmax(p)_c - [y = c].
"""

import math
from typing import NamedTuple

import numpy as np

from unitless.kernels.arithmetic import exp
from unitless.kernels.decorators import inlined
from unitless.kernels.simd import LANES, prefetch
from unitless.losses import SOFTMAX, derivative

T = 0
AHEAD = 64  # stored values between the prefetch of a record and its use
U = np.uint64  # unsigned indices need no test for wrapping around
LARGEST = float(np.finfo(np.float64).max)
MAX_TARGET = 2.0**480  # limit of targets: sums of their squares stay within float64


class Task(NamedTuple):
    """Settings of the loop, beside the parameters of the learner; kernels get them as an array."""

    loss: float
    loss_parameter: float
    slope: float
    """1 / L."""
    intercept: float
    """1, or 0 for none."""
    scales_instance: float
    """1 if a sample weight multiplies the row, else `update` sees it."""
    guarded: float
    """1 if a row is refused after which a field would not be finite."""


class Trial(NamedTuple):
    """What `update` learns of a row."""

    v: float
    y: float
    p: float
    g: float


@inlined
def loop(predict, update, fields, task, parameters, block, targets, weights, scores, state):
    """One trial per row; without targets nothing is learned.

    Returns the number of rows, or the row that could not be learned, before which the run stopped:
    it had no finite score or, guarded, would have left a state that is not finite.
    """
    task = Task(task[0], task[1], task[2], task[3], task[4], task[5])
    values, columns, starts = block
    totals, records = state
    classes = totals.shape[0]
    sparse = starts.size > 0
    longest = columns.size
    if sparse:
        longest = 0
        for r in range(starts.size - 1):
            longest = max(longest, starts[r + 1] - starts[r])
    size = _slots(longest)
    home = np.empty((classes, fields, size))
    other = np.empty((classes, fields, size))
    scratch = np.empty((classes + 1, size))
    now = np.empty(totals.shape)
    p = np.empty((2, classes))
    rows = scores.size // classes
    for r in range(rows):
        start = starts[r] if sparse else r * longest
        n = starts[r + 1] - start if sparse else longest
        origin = start if sparse else 0
        counts = weights.size == 0 or weights[r] > 0
        learns = targets.size > 0 and counts
        v = weights[r] if weights.size and counts else 1.0
        x = scratch[classes, : _slots(n)]
        if sparse or r == 0:  # dense rows leave their fields in place until the block ends
            _gather(fields, classes, columns, origin, n, records, home)
        f = home
        if not learns:
            f = other
            for c in range(classes):
                _copy(home[c], other[c])
        _copy(totals, now)
        _load(task, values, start, n, v, x)
        y = min(max(targets[r], -MAX_TARGET), MAX_TARGET) if learns else math.nan
        good = _predict_row(predict, task, parameters, v, x, f, now, scratch, p, scores, r)
        if good and learns:
            _update_row(update, task, parameters, v, y, x, f, now, scratch, p)
            good = task.guarded == 0 or (_finite(f, x.size) and _finite_totals(now))
        if learns:
            if not good:
                return r
            _copy(now, totals)
        if targets.size and (learns if sparse else r == rows - 1):
            _scatter(fields, classes, columns, origin, n, records, home)
    return rows


@inlined
def _predict_row(predict, task, parameters, v, x, f, now, scratch, p, scores, r):
    """Score a row; whether all its scores are finite."""
    scale = v if task.scales_instance else 1.0
    good = True
    for c in range(f.shape[0]):
        now[c, T] += 1
        inner, score = predict(parameters, now[c], v / scale, x, f[c], scratch[c])
        p[0, c] = inner / scale
        score = score / scale + 0.0  # no -0
        scores[r * f.shape[0] + c] = _nearest_finite(score)
        good &= abs(score) < math.inf and abs(p[0, c]) < math.inf
    return good


@inlined
def _nearest_finite(score):
    """The nearest number that float64 has; 0 where terms of both signs overflow."""
    return min(max(score, -LARGEST), LARGEST) if score == score else 0.0


@inlined
def _update_row(update, task, parameters, v, y, x, f, now, scratch, p):
    """Learn the row that was just scored."""
    scale = v if task.scales_instance else 1.0
    softmax = task.loss == SOFTMAX
    if softmax:
        softmax_slopes(p[0], y, p[1])
    else:
        p[1, 0] = derivative(int(task.loss), task.loss_parameter, y, p[0, 0]) * task.slope
    for c in range(f.shape[0]):
        label = y
        if softmax:
            label = 1.0 if c == y else -1.0
        update(parameters, now[c], Trial(v / scale, label, p[0, c], p[1, c]), x, f[c], scratch[c])


@inlined
def _slots(n):
    """The slots of a row of n values and the constant, rounded up to whole lanes."""
    return (n + LANES) // LANES * LANES


@inlined
def _load(task, values, start, n, v, x):
    """x = the constant and the values; 0 for NaN and in the slots that round the row up."""
    scale = v if task.scales_instance else 1.0
    x[0] = task.intercept * scale
    for k in range(n):
        value = values[U(start + k)]
        x[U(k + 1)] = value * scale if value == value else 0.0
    for k in range(n + 1, x.size):
        x[k] = 0.0


@inlined
def _gather(fields, classes, columns, origin, n, records, f):
    """f = the records of the row's features; zeros for those without one."""
    last = columns.size - 1
    for k in range(n + 1):
        if last >= 0:
            soon = columns[U(min(origin + k + AHEAD, last))]
            prefetch(records, (np.int64(soon) + 1) * (fields * classes))
        i = np.int64(columns[U(origin + k - 1)]) + 1 if k else 0
        _read(fields, classes, records, i, f, k)
    for c in range(classes):
        for a in range(fields):
            for k in range(n + 1, _slots(n)):
                f[c, a, k] = 0.0


@inlined
def _read(fields, classes, records, i, f, k):
    at = U(i * (fields * classes))
    if at >= U(records.size):
        for c in range(classes):
            for a in range(fields):
                f[U(c), U(a), U(k)] = 0.0
    elif classes == 1:  # a loop over one class would cost as much as the fields
        for a in range(fields):
            f[U(0), U(a), U(k)] = records[at + U(a)]
    else:
        for c in range(classes):
            for a in range(fields):
                f[U(c), U(a), U(k)] = records[at + U(c * fields + a)]


@inlined
def _scatter(fields, classes, columns, origin, n, records, f):
    """Write the fields of a row back to its records."""
    for k in range(n + 1):
        i = np.int64(columns[U(origin + k - 1)]) + 1 if k else 0
        at = U(i * (fields * classes))
        if classes == 1:
            for a in range(fields):
                records[at + U(a)] = f[U(0), U(a), U(k)]
        else:
            for c in range(classes):
                for a in range(fields):
                    records[at + U(c * fields + a)] = f[U(c), U(a), U(k)]


@inlined
def softmax_slopes(p, y, g):
    """g = softmax(p) - e_y, the gradient of the cross-entropy."""
    top = p[0]
    for c in range(1, p.size):
        top = max(top, p[c])
    total = 0.0
    for c in range(p.size):
        g[c] = exp(p[c] - top)
        total += g[c]
    for c in range(p.size):
        g[c] = g[c] / total - (1.0 if c == y else 0.0)


@inlined
def _copy(a, b):
    """b = a."""
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            b[U(i), U(k)] = a[U(i), U(k)]


@inlined
def _finite(f, n):
    """Whether the fields of a row are finite."""
    good = True
    for c in range(f.shape[0]):
        for a in range(f.shape[1]):
            for k in range(n):
                good &= abs(f[c, a, k]) < math.inf
    return good


@inlined
def _finite_totals(totals):
    good = True
    for c in range(totals.shape[0]):
        for a in range(totals.shape[1]):
            good &= abs(totals[c, a]) < math.inf
    return good
