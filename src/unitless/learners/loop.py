"""The loop of all coordinate-wise learners: load a row, predict, update.

Such a learner is a file with two functions, which the loop calls for every row::

    predict(parameters, totals, v, x, f, scratch) -> (p, score)
    update(parameters, totals, trial, x, f, scratch)

========== =====================================================================
parameters the learner's parameters (`Coordinatewise._parameters`), then the loss
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
from numba import carray  # type: ignore[attr-defined]

from unitless.kernels.arithmetic import clipped, exp
from unitless.kernels.decorators import inlined, pasted
from unitless.kernels.simd import LANES, pointer, prefetch
from unitless.losses import SOFTMAX, derivative, kept_slope

T = 0
AHEAD = 96  # stored values between the prefetch of a record and its use
VALUES_AHEAD = 512  # the same for the values, which come from further away
U = np.uint64  # unsigned indices need no test for wrapping around
LARGEST = float(np.finfo(np.float64).max)
MAX_TARGET = 2.0**240  # limit of targets: squares of y x stay within float64


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
    scales_gradient: float = 0.0
    """1 if a sample weight multiplies g, and nothing else."""


class Trial(NamedTuple):
    """What `update` learns of a row."""

    v: float
    y: float
    p: float
    g: float


@pasted
def loop(predict, update, fields, task, parameters, block, targets, weights, scores, state):
    """One trial per row; without targets nothing is learned.

    Returns the number of rows, or the row that could not be learned, before which the run stopped:
    it had no finite score or, guarded, would have left a state that is not finite.
    """
    task = Task(task[0], task[1], task[2], task[3], task[4], task[5], task[6])
    values, columns, starts = block
    totals = state[0]
    records = state[1]
    classes = totals.shape[0]
    sparse = starts.size > 0
    longest = _longest_row(starts) if sparse else columns.size
    size = _slots(longest)
    memory = np.empty((2 * fields + 1) * classes * size + size + totals.size + 2 * classes)
    home, end = _take(memory, 0, (classes, fields, size))
    other, end = _take(memory, end, (classes, fields, size))
    scratch, end = _take(memory, end, (classes + 1, size))
    now, end = _take(memory, end, totals.shape)
    p, end = _take(memory, end, (2, classes))
    rows = scores.size // classes
    kept = 0  # leading columns of a sparse row whose fields the row before has left in place
    for r in range(rows):
        start = starts[r] if sparse else r * longest
        n = starts[r + 1] - start if sparse else longest
        origin = start if sparse else 0
        counts = weights.size == 0 or weights[r] > 0
        learns = targets.size > 0 and counts
        v = weights[r] if weights.size and counts else 1.0
        factor = 1.0
        if task.scales_gradient:
            factor, v = v, 1.0
        x = scratch[classes, : _slots(n)]
        if sparse or r == 0:  # dense rows leave their fields in place until the block ends
            _gather(fields, classes, columns, origin, kept, n, records, home)
        f = home
        if not (learns or sparse):
            f = other
            for c in range(classes):
                _copy(home[c], other[c])
        _copy(totals, now)
        _load(task, values, start, n, v, x)
        y = clipped(targets[r], MAX_TARGET) if learns else math.nan
        good = _predict_row(predict, task, parameters, v, x, f, now, scratch, p, scores, r)
        if good and learns:
            _update_row(update, task, parameters, (v, factor), y, x, f, now, scratch, p)
            good = task.guarded == 0 or _is_finite(f, now, x.size)
        if learns:
            if not good:
                return r
            _copy(now, totals)
        if targets.size and (learns if sparse else r == rows - 1):
            kept = 0
            if sparse and r < rows - 1 and (weights.size == 0 or weights[r + 1] > 0):
                kept = _shared_columns(columns, starts, r)
            _scatter(fields, classes, columns, origin, kept, n, records, home)
    memory[0] = 0.0  # the last use frees it: views made by `carray` do not keep it alive
    return rows


@inlined
def _longest_row(starts):
    longest = 0
    for r in range(starts.size - 1):
        longest = max(longest, starts[r + 1] - starts[r])
    return longest


@inlined
def _shared_columns(columns, starts, r):
    """The leading columns that row r and the next one have in common: the numbers of a frame."""
    first = starts[r]
    second = starts[r + 1]
    n = min(second - first, starts[r + 2] - second)
    k = 0
    while k < n and columns[U(first + k)] == columns[U(second + k)]:
        k += 1
    return k


@inlined
def _slots(n):
    """The slots of a row of n values and the constant, rounded up to whole lanes."""
    return (n + LANES) // LANES * LANES


@inlined
def _take(memory, start, shape):
    """A view of a piece of the memory, and where it ends.

    Parts of the view are not reference-counted, which would cost a tenth of the time of a row.
    """
    size = 1
    for n in shape:
        size *= n
    return carray(pointer(memory, start), shape), start + size


@pasted
def _predict_row(predict, task, parameters, v, x, f, now, scratch, p, scores, r):
    """Score a row; whether all its scores are finite."""
    scale = v if task.scales_instance else 1.0
    good = True
    for c in range(f.shape[0]):
        now[c, T] += 1
        inner, score = predict(parameters, now[c], v / scale, x, f[c], scratch[c])
        p[0, c] = inner / scale
        score = score / scale + 0.0  # no -0
        good &= abs(score) < math.inf and abs(p[0, c]) < math.inf
        if score != score:
            score = 0.0  # terms of both signs overflowed
        scores[r * f.shape[0] + c] = clipped(score, LARGEST)
    return good


@pasted
def _update_row(update, task, parameters, weights, y, x, f, now, scratch, p):
    """Learn the row that was just scored; weights are its sample weight and a factor of g."""
    v, factor = weights
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
        g = kept_slope(int(task.loss), p[1, c]) * factor
        trial = Trial(v / scale, label, p[0, c], g)
        update(parameters, now[c], trial, x, f[c], scratch[c])


@inlined
def _load(task, values, start, n, v, x):
    """x = the constant and the values; 0 for NaN and in the slots that round the row up."""
    scale = v if task.scales_instance else 1.0
    x[0] = task.intercept * scale
    for k in range(0, n, LANES):  # eight values are a cache line
        prefetch(values, start + k + VALUES_AHEAD)
    for k in range(n):
        value = values[U(start + k)]
        x[U(k + 1)] = value * scale if value == value else 0.0
    for k in range(n + 1, x.size):
        x[k] = 0.0


@inlined
def _gather(fields, classes, columns, origin, kept, n, records, f):
    """f = the records of the row's features; zeros for those without one."""
    stride = fields * classes
    for c in range(classes):
        first = c * fields
        for a in range(fields):
            f[c, a, 0] = records[first + a]
            for k in range(n + 1, _slots(n)):
                f[c, a, k] = 0.0
        for k in range(kept, n, 2 * LANES):  # sixteen columns are a cache line
            prefetch(columns, origin + k + VALUES_AHEAD)
        for k in range(kept, n):
            soon = columns[U(min(origin + k + AHEAD, columns.size - 1))]
            prefetch(records, (np.int64(soon) + 1) * stride)
            at = U((np.int64(columns[U(origin + k)]) + 1) * stride + first)
            known = at < U(records.size)
            for a in range(fields):
                f[U(c), U(a), U(k + 1)] = records[at + U(a)] if known else 0.0


@inlined
def _scatter(fields, classes, columns, origin, kept, n, records, f):
    """Write the fields of a row back to its records."""
    stride = fields * classes
    for c in range(classes):
        first = c * fields
        for a in range(fields):
            records[first + a] = f[c, a, 0]
        for k in range(kept, n):
            at = U((np.int64(columns[U(origin + k)]) + 1) * stride + first)
            for a in range(fields):
                records[at + U(a)] = f[U(c), U(a), U(k + 1)]


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
def _is_finite(f, totals, n):
    """Whether the totals and the fields of a row with n slots are finite."""
    good = True
    for c in range(f.shape[0]):
        for a in range(f.shape[1]):
            for k in range(n):
                good &= abs(f[c, a, k]) < math.inf
        for a in range(totals.shape[1]):
            good &= abs(totals[c, a]) < math.inf
    return good
