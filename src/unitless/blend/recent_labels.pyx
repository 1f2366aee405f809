"""What recent labels say: the inputs of the experts that follow them, and whether they pay.

The answer *without recent labels* uses the row only. The answer *with the last label known* also
knows the targets y and the residuals r of the rows before, where r is minus the slope of the loss at
the answer s without recent labels (squared loss: r = y - s). From the last row and from running
means at the rates 0.3, 0.1 and 0.02 (m <- m + rate (y - m)), these inputs are made for each output::

    s,  last s,  last y,  last r,  three means of y,  three means of r,
    s times last y,  s times last r,  s times the mean of r at the rate 0.1

**Whether the past pays.** The residuals of neighbouring rows are independent if recent labels say
nothing more. With A the sum of their products and V the sum of the squared products, the past pays
once A > 4 sqrt(V), after 64 rows, and then for good.

**Late labels.** With a delay of N rows, the last label known is N + 1 rows old. A label is learned
at once, with the past that its prediction saw: `seen` follows `known` N labels later.
"""

import numpy as np

cimport cython
from libc.math cimport fabs, log

from unitless.core.arithmetic cimport MAX_VALUE, MIN_VALUE, clipped
from unitless.core.array cimport numbers, records
from unitless.core.losses cimport HINGE, LOGISTIC, SOFTMAX, sigmoid, softmax_slopes

from unitless.state import Component, Field, count, need

cdef double CLIP = 8.0                  # nats: limit of logits among the inputs
cdef double FIRST_ROWS = 64
cdef double[3] RATES = [0.3, 0.1, 0.02]
cdef double[2] KEPT = [0.5, 0.9]        # of the counts of labels
SIGNALS_OF_OUTPUT = np.dtype(
    [("score", "d"), ("target", "d"), ("residual", "d"), ("targets", "3d"), ("residuals", "3d")]
)
COUNTS_OF_LABEL = np.dtype([("seen", "2d")])
assert SIGNALS_OF_OUTPUT.itemsize == sizeof(Signals) and COUNTS_OF_LABEL.itemsize == sizeof(Counts)


cdef void residuals(
    int code, Py_ssize_t outputs, double y, const double* score, double* r
) noexcept nogil:
    """Minus the slope of the loss at the score; of losses of real targets, the squared loss."""
    cdef Py_ssize_t c
    if code == SOFTMAX:
        softmax_slopes(score, <int>outputs, <int>y, r)
        for c in range(outputs):
            r[c] = -r[c]
    elif code == LOGISTIC or code == HINGE:
        r[0] = y * sigmoid(-y * score[0])
    else:
        r[0] = y - score[0]


cdef inline double tame(double x) noexcept nogil:
    """An input that can be squared."""
    return clipped(x, MAX_VALUE) if fabs(x) >= MIN_VALUE else 0.0


@cython.final
cdef class Past(Stateful):
    """Targets, residuals and answers of the rows up to the last one whose label is known."""

    saved = (
        Field("signals", "y", "signals of the last row, and their running means", ("outputs",)),
        Field("counts", "1", "recent labels of each kind", ("labels",)),
        count("known", "labels taken in"),
        Field("last_target", "y", "the last target"),
        Field("mean_target", "y", "running mean of targets at the rate 0.1"),
    )

    def __init__(self, int code, Py_ssize_t outputs):
        self.code = code
        self.outputs = outputs
        self.signals = records(SIGNALS_OF_OUTPUT, outputs)
        self.counts = records(COUNTS_OF_LABEL, max(outputs, 2))

    def _arguments(self):
        return {"code": self.code, "outputs": self.outputs}

    def _sizes(self):
        return {"outputs": self.outputs, "labels": max(self.outputs, 2)}

    def _loaded(self):
        for array in (np.array(self.signals), np.array(self.counts)):
            for name in array.dtype.names:
                need(np.isfinite(array[name]).all(), f"{name} of the past is not finite")
        need((np.array(self.counts)["seen"] >= 0).all(), "a count of labels is negative")

    def add_class(self):
        """Make room for one more class."""
        self.outputs += 1
        self.signals.resize(self.outputs)
        self.counts.resize(max(self.outputs, 2))

    cdef void see(self, double y, double v, const double* score, const double* r) noexcept nogil:
        """Take in a target, the answer without recent labels to its row, and the residual."""
        cdef Signals* own
        cdef Counts* counts = <Counts*>self.counts.at
        cdef Py_ssize_t labels = max(self.outputs, 2)
        cdef Py_ssize_t c, label
        cdef int k
        for c in range(self.outputs):
            own = <Signals*>self.signals.at + c
            own.score = score[c]
            own.target = y
            if self.code == SOFTMAX:
                own.target = 1.0 if c == y else 0.0
            own.residual = r[c]
            for k in range(3):
                self._follow(&own.targets[k], own.target, RATES[k])
                self._follow(&own.residuals[k], own.residual, RATES[k])
        self._follow(&self.mean_target, y, RATES[1])
        self.last_target = y
        label = <Py_ssize_t>y if self.code == SOFTMAX else (0 if y > 0 else 1)
        for c in range(labels):
            for k in range(2):
                counts[c].seen[k] *= KEPT[k]
        for k in range(2):
            counts[label].seen[k] += v
        self.known += 1

    cdef void _follow(self, double* mean, double x, double rate) noexcept nogil:
        """A running mean, which starts at the first value."""
        mean[0] = x if self.known == 0 else mean[0] + rate * (x - mean[0])

    cdef void inputs(self, const double* score, double* x) noexcept nogil:
        """The inputs of experts on the past for a row with this answer without recent labels."""
        cdef bint is_logit = self.code in (LOGISTIC, SOFTMAX)
        cdef const Signals* own
        cdef double now
        cdef Py_ssize_t c
        cdef int k
        for c in range(self.outputs):
            own = <const Signals*>self.signals.at + c
            now = clipped(score[c], CLIP) if is_logit else score[c]
            x[0] = now
            x[1] = clipped(own.score, CLIP) if is_logit else own.score
            x[2] = own.target
            x[3] = own.residual
            for k in range(3):
                x[4 + k] = own.targets[k]
                x[7 + k] = own.residuals[k]
            x[10] = now * own.target
            x[11] = now * own.residual
            x[12] = now * own.residuals[1]
            for k in range(INPUTS):
                x[k] = tame(x[k])
            x += INPUTS

    cdef void columns(self, double* x) noexcept nogil:
        """The columns that come before those of a row."""
        x[0] = self.last_target
        x[1] = self.mean_target

    cdef void tracked(self, int rate, double* scores) noexcept nogil:
        """Scores from recent labels alone: the estimator of Krichevsky and Trofimov, forgetting."""
        cdef const Counts* counts = <const Counts*>self.counts.at
        cdef Py_ssize_t c
        if self.code != SOFTMAX:
            scores[0] = log((counts[0].seen[rate] + 0.5) / (counts[1].seen[rate] + 0.5))
            return
        for c in range(self.outputs):
            scores[c] = log(counts[c].seen[rate] + 0.5)


@cython.final
cdef class RecentLabels(Stateful):
    """The labels that were learned, those that predictions have seen, and whether they pay."""

    saved = (
        Component("known"),
        Component("seen"),
        Field("waiting", "y", "target, weight and answer of labels not yet seen", ("waiting",)),
        count("rows", "labels learned"),
        Field("product", "z^2", "sum of products of residuals, delay + 1 rows apart"),
        Field("squares", "z^4", "sum of their squares", low=0.0),
        count("pays", "1 once the past pays", 1),
    )

    def __init__(self, int code, Py_ssize_t outputs, Py_ssize_t delay=0):
        self.delay = delay
        self.known = Past(code, outputs)
        # Without a delay predictions see all labels that were learned.
        self.seen = Past(code, outputs) if delay else None
        self.waiting = numbers(delay * (2 + outputs))
        self.residual = numbers(outputs)

    def _arguments(self):
        return {"code": self.known.code, "outputs": self.known.outputs, "delay": self.delay}

    def _sizes(self):
        return {"waiting": self.delay * (2 + self.known.outputs)}

    def _loaded(self):
        if self.seen is not None and self.known.code == SOFTMAX:
            labels = np.array(self.waiting).reshape(self.delay, -1)[:, 0]
            need(np.isin(labels, np.arange(self.known.outputs)).all(), "a label that waits is no class")

    def add_class(self):
        """Make room for one more class."""
        waiting = np.array(self.waiting).reshape(self.delay, 2 + self.known.outputs)
        for past in (self.known, self.seen):
            if past is not None:
                past.add_class()
        wider = np.pad(waiting, ((0, 0), (0, 1)))
        self.waiting.replace(wider.reshape(-1))
        self.residual = numbers(self.known.outputs)

    cdef bint learn(self, double y, double v, const double* score) noexcept nogil:
        """Take in a target and the answer without recent labels; whether the past pays only now."""
        cdef void* past = <void*>self.known if self.delay == 0 else <void*>self.seen
        cdef Py_ssize_t outputs = self.known.outputs
        cdef double* r = self.residual.at
        cdef double product = 0.0
        cdef double* oldest
        cdef Py_ssize_t c
        residuals(self.known.code, outputs, y, score, r)
        if (<Past>past).known > 0:
            for c in range(outputs):
                product += r[c] * (<Signals*>(<Past>past).signals.at)[c].residual
            self.product += product
            self.squares += product * product
        self.known.see(y, v, score, r)
        if self.delay > 0:
            oldest = self.waiting.at + (<Py_ssize_t>self.rows % self.delay) * (2 + outputs)
            if self.rows >= self.delay:
                residuals(self.known.code, outputs, oldest[0], oldest + 2, r)
                self.seen.see(oldest[0], oldest[1], oldest + 2, r)
            oldest[0] = y
            oldest[1] = v
            for c in range(outputs):
                oldest[2 + c] = score[c]
        self.rows += 1
        if self.pays or self.rows < FIRST_ROWS:
            return False
        self.pays = self.product > 0 and self.product * self.product > 16 * self.squares
        return self.pays > 0
