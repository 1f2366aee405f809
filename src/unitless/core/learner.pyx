"""The base class of all learners, and the contract that they fulfil.

A learner implements four methods::

    score(row, scores)   fill in the scores of a row; nothing that is kept changes
    begin(row, scores)   the same for a row that will be learned, from which the state may follow
    update(row, y)       learn the row that was begun
    reserve(columns)     make room for that many columns

A block is a loop over its rows and a single row is a loop of one, so all ways of calling a learner
run the same code and give the same bits:

- `predict(rows)` changes nothing: each row is scored as if it were the next trial.
- `learn(rows)` scores each row before it uses the row's target, in order. A block gives the same
  bits as its rows one by one, and the scores are those that `predict(fresh=True)` would have given.
- A call that raises an error leaves the learner as it was.
- `invariance` declares which changes of the features leave the scores unchanged.
- A learner is not thread-safe; estimators and models are.

`unitless.testing` checks all this.

**Units.** Learners square values, divide by sums of squares and take ratios. All of this fits into
float64 while values lie between 2^-255 and 2^255. Once a value is out of range, each column gets a
*unit*, a power of two by which its values are multiplied on arrival. A column that was seen before
keeps its values (unit 1); a new column gets the unit that brings its first value near 1. When a
column outgrows its unit, it gets another one and the state follows (`_rescale`). A scale-invariant
learner does not notice: powers of two change no bit of its scores. Learners that depend on units
get their values as they are; for them only infinite values are refused.
"""

import math
from copy import deepcopy
from typing import NamedTuple

import numpy as np

from libc.math cimport fabs, frexp, isfinite, ldexp

from unitless.core.arithmetic cimport MAX_VALUE, MIN_VALUE, clipped, extent_of
from unitless.core.array cimport Array, numbers
from unitless.core.losses cimport LARGEST, OUTSIDE, SOFTMAX, derivative, kept_slope, value
from unitless.core.pointers cimport numbers_in
from unitless.core.row cimport fill_slots, slots_of

from unitless import losses
from unitless.core.parameters import SignatureOfParameters, parameters_of
from unitless.rows import Block, Rows, check_weights, checked_weights
from unitless.state import Fact, Field, count, need, remembered, restore, switch_from_json

cdef int MAX_UNIT_EXPONENT = 1000        # units stay between 2^-1000 and 2^1000: normal numbers
cdef double MAX_TARGET = 2.0**240   # limit of targets: squares of y x stay within float64
cdef double KINK = 2.0**-40         # scores that are relatively this near to their target are on it
cdef double SHORT = 2.0**-300       # added to any sum of a formula, it changes no bit

UNITS = Field("units", "2^k", "factor of each coordinate's values on arrival", ("units",))
TRIALS = count("t", "rows learned")
TARGET_SIZE = Field("target_size", "y", "least |y| except 0, for losses with a kink", low=0)
COLUMNS = count("columns", "columns seen", 2.0**31 - 1)


class Weights(NamedTuple):
    """The score's coefficients at x = 0 with the current scales: score = intercept + features.x.

    Learners whose weights depend on x (both algorithms of the paper do) are linear only locally.
    """

    intercept: object
    features: object
    """By column, unit 1/[x_i]; with the softmax loss one row per column, one column per class."""


class Sums(NamedTuple):
    """The sums of a regret certificate (theory.md), by coordinate: regret(u) <= A + sum h_i u_i."""

    trials: int
    dimension: int
    """Coordinates with s > 0."""
    A: float
    """sum v g p, unit of the loss."""
    z: object
    """h / s with h = -sum v g x and g the loss's own derivative: unit of the loss."""
    s: object
    """sqrt(sum v^2 x^2), unit [x_i]."""
    damped: object = None
    """The sums of `unitless.learners.damped_sums`."""
    lost: object = None
    """Times s, a bound on what rounding dropped from h."""


class Diverged(ArithmeticError):
    """A scale-dependent learner refused a row after which its state would not be finite.

    The learner is as it was before the call.
    """

    def __init__(self, learner, row):
        super().__init__(
            f"row {row}: {learner} diverged; scale the features, lower its rate, or use a learner "
            "that does not depend on units"
        )
        self.learner = learner
        self.row = row

    def __reduce__(self):
        return Diverged, (self.learner, self.row)


cdef class Learner(Stateful):
    """Base of all learners; see the module's docstring for the contract."""

    name = "learner"
    invariance = "none"
    """"linear", "affine", "unit", "rotation" or "none"."""
    parameters = ()
    """Declared parameters (`unitless.core.parameters`)."""
    has_classes = False
    """Whether it scores several classes itself; else `with_classes` makes one learner per class."""
    default_loss = "logistic"
    needs_lipschitz = True
    takes_losses = ()
    """Names of the losses it takes, if it does not take all."""
    linear = True
    """Whether scores are linear in x, for the scales of a moment."""
    symmetric = True
    """Whether the signs and the order of the columns leave the scores unchanged, too."""
    scales_instance = False
    """Whether a sample weight v makes the row v x; else it multiplies the gradient."""
    theorem = None
    """The regret theorem that holds for it, if one does."""
    needs = ()
    has_two_answers = False
    """Whether recent labels may change its answer; see `predict`."""
    saved = (
        UNITS,
        TRIALS,
        TARGET_SIZE,
        Fact("weighs_gradients", "see `weigh_gradients`", bool, switch_from_json),
    )
    __signature__ = SignatureOfParameters()

    def __cinit__(self, *args, **given):
        self.x = numbers(8)
        self.units = numbers(0)
        self.in_units = numbers(0)
        self.names = DictEncoder()
        self.classes = 1
        self.outputs = 1

    def __init__(self, *args, **given):
        arguments = type(self).__signature__.bind(*args, **given)
        arguments.apply_defaults()
        values = arguments.arguments
        for parameter in self.parameters:
            setattr(self, parameter.name, parameter.checked(values[parameter.name]))
        self._set_loss(values["loss"], values["intercept"], values.get("classes", 0))
        self._prepare()

    def _set_loss(self, loss, intercept=True, classes=0):
        """Take over the parameters that all learners have."""
        self.loss = losses.get(loss)
        self.code = self.loss.code
        self.loss_parameter = self.loss.parameter
        self.intercept = bool(intercept)
        if not 0 <= classes < 2**31 or classes != int(classes):
            raise ValueError(f"classes = {classes}: a number of classes is a whole number >= 0")
        self.classes = classes or 1
        self.outputs = self.classes
        if self.has_classes and (self.code == SOFTMAX) != (classes > 0):
            raise ValueError(
                f"classes = {classes} with the {self.loss.name} loss: the softmax loss needs the "
                "number of classes, and no other loss has classes"
            )
        if self.needs_lipschitz and math.isinf(self.loss.lipschitz):
            raise ValueError(
                f"{type(self).__name__} needs a loss with a bounded derivative, and the "
                f"{self.loss.name} loss has none: use 'absolute' or 'huber(delta)', or a learner "
                "made for it"
            )
        kind = self.loss.name.partition("(")[0]
        if self.takes_losses and kind not in self.takes_losses:
            known = " or the ".join(self.takes_losses)
            raise ValueError(f"{self.name} takes the {known} loss, not {self.loss.name!r}")
        self.per_slope = 1.0 if math.isinf(self.loss.lipschitz) else 1.0 / self.loss.lipschitz
        self.has_kink = self.loss.has_kink
        self.is_bounded = not math.isinf(self.loss.lipschitz) and self.loss.targets != "slopes"
        self.scale_free = self.scale_invariant
        self.scales_row = self.scales_instance
        self.guarded = not self.scale_free

    def _prepare(self):
        """Make the empty state, from the parameters."""

    def __repr__(self):
        given = ", ".join(f"{name}={value!r}" for name, value in parameters_of(self).items())
        return f"<{type(self).__name__}({given}): {self.trials} rows learned>"

    def _arguments(self):
        return parameters_of(self)

    def _more(self):
        return super()._more() | {"names": self.names}

    @property
    def trials(self):
        """Rows learned."""
        return int(self.t)

    @property
    def scale_invariant(self):
        """Whether the scores do not depend on the units of the features."""
        return self.invariance in ("unit", "affine", "linear")

    @property
    def takes_every_target(self):
        """Whether it takes every target that its loss takes; see `_check`."""
        return True

    def _sizes(self):
        return {
            "columns": self.columns,
            "coordinates": 1 + self.columns,
            "units": 1 + self.columns if len(self.units) else 0,
            "classes": self.classes,
        }

    # What a learner implements.

    cdef int score(self, const Row* row, double* scores) except -1 nogil:
        scores[0] = 0.0
        return 0

    cdef int begin(self, const Row* row, double* scores) except -1 nogil:
        return self.score(row, scores)

    cdef int update(self, const Row* row, double y) except -1 nogil:
        self.t += 1
        return LEARNED

    cdef int reserve(self, Py_ssize_t columns) except -1 nogil:
        self.columns = max(columns, self.columns)
        return 0

    cdef void expect(self, const int* ids, Py_ssize_t n) noexcept nogil:
        """A sparse row with these columns comes soon: prefetch what is known of them."""

    # Rows

    cdef int load(self, Row* row) except -1 nogil:
        """Fill in the slots of a row that was found; they are valid until the next is loaded."""
        cdef Py_ssize_t slots = slots_of(row.n)
        if slots > self.x.size:
            self.x.resize(slots)
        fill_slots(self.x.at, 1.0 if self.intercept else 0.0, row.values, row.n)
        row.x = self.x.at
        row.slots = slots
        return 0

    cdef int run_row(self, Row* row, const double* y, double* scores) except -1 nogil:
        """Score a row and, with a target, learn it."""
        self.load(row)
        if y == NULL:
            self.score(row, scores)
            return LEARNED
        self.begin(row, scores)
        return self.update(row, y[0])

    cdef int run(self, RowReader rows, double* scores) except -1:
        """Score rows and learn those with a target and a positive weight."""
        cdef Py_ssize_t r
        cdef Row row, soon
        cdef const double* y
        cdef int outcome
        with nogil:
            for r in range(rows.rows):
                if rows.ids != NULL:
                    rows.find(min(r + 2, rows.rows - 1), &soon)
                    self.expect(soon.ids, soon.n)
                rows.find(r, &row)
                y = rows.targets + r if rows.learns(r) else NULL
                outcome = self.run_row(&row, y, scores + r * self.outputs)
                if outcome == NOT_FINITE:
                    with gil:
                        raise Diverged(self.name, r)
        return 0

    def predict(self, rows, fresh=False):
        """Score the rows, each as if it were the next trial; the learner does not change.

        With `fresh`, the labels of the rows just before are known and may be used, as `learn` does.
        Only a learner with two answers, the Blend, makes a difference.
        """
        weights = checked_weights(rows)
        in_range = self._in_range(rows.extent, rows.refuse_infinity)
        scores = self._room(len(rows))
        self.fresh = fresh
        self._run(rows.block, None, weights, scores, in_range)
        return scores

    def learn(self, rows, not_fresh=None):
        """Score each row before its target is used, then learn it; returns the scores.

        They are those of `predict(fresh=True)`. An array of the same shape, if given, is filled
        with those of `predict(fresh=False)`.
        """
        weights, in_range = self.check(rows)
        scores = self._room(len(rows))
        before = remembered(self) if self.guarded or self.code == OUTSIDE else None
        self.fresh = True  # rows of weight 0 are only scored
        self._reserve(rows.columns)
        try:
            self._run(rows.block, rows.targets, weights, scores, in_range, not_fresh)
        except BaseException:
            if before is not None:
                restore(self, *before)
            raise
        return scores

    def learn_both(self, rows):
        """Learn rows; returns the scores of `learn`, and those without recent labels."""
        not_fresh = self._room(len(rows))
        return self.learn(rows, not_fresh), not_fresh

    def check(self, rows):
        """Refuse rows that cannot be learned, before anything changes.

        Returns their weights, and whether their values need no units.
        """
        weights = checked_weights(rows)
        in_range = self._in_range(rows.extent, rows.refuse_infinity)
        if rows.targets is None:
            raise ValueError("learning needs targets: as_rows(X, targets)")
        self._check_targets(rows.targets, weights)
        return weights, in_range

    def _run(self, block, targets, weights, scores, in_range, not_fresh=None):
        """Score a block into `scores` and, with targets, learn it."""
        cdef Py_ssize_t count = len(scores)
        cdef RowReader rows = RowReader(block, count, targets, weights)
        cdef double* out = numbers_in(scores)
        cdef Py_ssize_t r
        cdef Row row
        if not_fresh is not None:
            if not_fresh.shape != scores.shape:
                raise ValueError(f"not_fresh has shape {not_fresh.shape}, and not {scores.shape}")
            self.first_score = out
            self.first_not_fresh = numbers_in(not_fresh)
        try:
            if in_range:
                self.run(rows, out)
            else:
                for r in range(count):
                    rows.find(r, &row)
                    self.run_row_in_units(
                        &row, rows.targets + r if rows.learns(r) else NULL, out + r * self.outputs
                    )
        finally:
            self.first_not_fresh = NULL
        if not_fresh is not None and not self.has_two_answers:
            not_fresh[...] = scores

    def _reserve(self, Py_ssize_t columns):
        """Make room for that many columns, if there is less."""
        if columns > self.columns:
            self.reserve(columns)
        if len(self.units):
            self.units.resize(1 + self.columns)

    def _check_targets(self, targets, weights):
        """Refuse targets before anything changes."""
        if self.code == SOFTMAX and not self.has_classes:
            raise ValueError(
                f"{self.name} has one score: `with_classes` makes one of them for each class"
            )
        losses.check_targets(self.loss, targets, self.classes)
        self._check(targets, weights)

    def _check(self, targets, weights):
        """Refuse targets that the learner does not support, before anything changes."""

    def _in_range(self, sizes, refuse_infinity):
        """Whether the learner can take values of these sizes; infinite ones are refused."""
        smallest, largest = sizes
        if largest <= MAX_VALUE and smallest >= MIN_VALUE and not len(self.units):
            return True
        if largest == math.inf:
            refuse_infinity()
        return not self.scale_free

    def _room(self, rows):
        """An array for scores: one per row or, for several outputs, one per row and output."""
        return np.empty((rows, self.outputs) if self._has_columns() else rows)

    def _has_columns(self):
        """Whether scores have one column per output."""
        return self.has_classes and self.code == SOFTMAX

    # One row, a dict of named features

    def predict_one(self, x, double weight=1.0, fresh=False):
        """Score one dict row. Absent is 0, None and NaN are missing, new names are fine."""
        if weight != 1:
            check_weights(np.array([weight]))
        self.fresh = fresh
        self.names.load(x)
        return self._run_one(NULL, weight or 1.0)

    def learn_one(self, x, y, double weight=1.0):
        """Score one dict row, then learn from its target; returns the score."""
        cdef double target
        if weight != 1:
            check_weights(np.array([weight]))
        if self._has_columns() or self.code == SOFTMAX or not (y == 1 or y == -1):
            self._check_targets(np.array([losses.as_target(self.loss, y, self.classes)]), None)
        elif not self.takes_every_target:
            self._check(np.array([float(y)]), None)
        if weight == 0:
            return self.predict_one(x, fresh=True)
        target = y
        unknown = self.names.load(x)
        may_fail = self.guarded or self.code == OUTSIDE
        before = self._before_one() if may_fail else None
        try:
            score = self._run_one(&target, weight)
        except BaseException:
            if may_fail:
                self._undo_one(before)
            raise
        if unknown:
            self.names.add_unknown()
        return score

    def _before_one(self):
        """What has to be known to undo the learning of the row that `names` has loaded."""
        return remembered(self)

    def _undo_one(self, before):
        """Become as before a row that was refused."""
        restore(self, *before)

    cdef object _run_one(self, const double* y, double weight):
        """Score the row that `names` has loaded and, with a target, learn it."""
        cdef Row row
        cdef double smallest, largest
        cdef double score = 0.0
        cdef double* out = &score
        cdef DictEncoder names = self.names
        cdef int outcome
        scores = None
        if self.outputs > 1 or self._has_columns():
            scores = np.empty(self.outputs)
            out = numbers_in(scores)
        row.values = names.numbers.at
        row.ids = names.ids_or_null()
        row.n = names.n
        row.weight = weight
        extent_of(row.values, row.n, &smallest, &largest)
        in_range = (
            largest <= MAX_VALUE and smallest >= MIN_VALUE and self.units.size == 0
        ) or self._in_range((smallest, largest), names.refuse_infinity)
        if y != NULL:
            self._reserve(names.count)
        if in_range:
            outcome = self.run_row(&row, y, out)
            if outcome == NOT_FINITE:
                raise Diverged(self.name, 0)
        else:
            self.run_row_in_units(&row, y, out)
        return score if scores is None else scores

    # Units

    cdef bint to_units(self, Row* row, bint keeps) except -1 nogil:
        """Multiply the values of a row by their units; whether one has outgrown its unit.

        With `keeps`, columns that are nonzero for the first time are given a unit.
        """
        cdef bint outgrown = False
        cdef Py_ssize_t k, i
        cdef double unit, value
        cdef double* out
        cdef double* units = self.units.at
        if row.n > self.in_units.size:
            self.in_units.resize(row.n)
        out = self.in_units.at
        for k in range(row.n):
            i = 1 + (row.ids[k] if row.ids != NULL else k)
            unit = units[i] if i < self.units.size else 0.0
            value = row.values[k]
            if unit == 0 and value == value and value != 0:
                unit = unit_of(value)
                if keeps:
                    units[i] = unit
            out[k] = value * unit if value != 0 else 0.0
            outgrown |= fabs(out[k]) > MAX_VALUE
        row.values = out
        return outgrown

    cdef int run_row_in_units(self, Row* row, const double* y, double* scores) except -1:
        """Score a row in units and, with a target, learn it."""
        cdef Row given = row[0]
        cdef Learner other
        if y == NULL:
            if not self.units.size and covered(&given):
                return self.run_row(row, NULL, scores)
            other = self if self.units.size else self._with_units()
            if other.to_units(row, False):  # scored by a copy in other units
                other = deepcopy(self) if other is self else other
                other._reserve(1 + _last_column(&given))
                other._grow_units(*_as_arrays(&given))
                row[0] = given
                other.to_units(row, True)
            return other.run_row(row, NULL, scores)
        if not self.units.size:
            if covered(&given):
                return self.run_row(row, y, scores)
            self.units.replace(self._first_units())
        if self.to_units(row, True):
            self._grow_units(*_as_arrays(&given))
            row[0] = given
            self.to_units(row, True)
        return self.run_row(row, y, scores)

    def _with_units(self):
        """A copy that has units."""
        other = deepcopy(self)
        (<Learner>other).units.replace(self._first_units())
        return other

    def _first_units(self):
        """The units of a learner that had none: 1 for every column it has seen."""
        units = np.zeros(1 + self.columns)
        seen = self._seen()
        units[: len(seen)][seen[: len(units)]] = 1.0
        units[0] = 1.0
        return units

    def _seen(self):
        """By coordinate: whether it has been seen (used when units are first assigned)."""
        raise NotImplementedError

    def _grow_units(self, columns, values):
        """Choose units in which these values of these columns are no longer out of range."""
        units = np.array(self.units)
        own = units[columns + 1]
        with np.errstate(over="ignore"):
            outgrown = (np.abs(values * own) > MAX_VALUE) & (own > 0)
        columns = columns[outgrown]
        exponents_of_own = np.frexp(own[outgrown])[1]
        exponents = np.frexp(values[outgrown])[1] + exponents_of_own - 1
        exponents = np.minimum(exponents, exponents_of_own + MAX_UNIT_EXPONENT)
        units[columns + 1] = np.ldexp(own[outgrown], -exponents)
        self.units.replace(units)
        self._rescale(columns, np.ldexp(1.0, -np.minimum(exponents, MAX_UNIT_EXPONENT)))

    def rescale(self, factors):
        """From now on column i arrives multiplied by factors[i]: continue as if it always had.

        Exact to the bit for powers of two.
        """
        by_column = _factors_by_column(factors, self.names.columns, self.columns)
        if not self.scale_free:
            raise ValueError(
                f"{self.name} depends on units and cannot be rescaled; "
                "train a new one, or use a scale-invariant learner"
            )
        # Powers of two go into the units, so that they change no bit; the rest into the state.
        mantissas, exponents = np.frexp(by_column)
        mantissas *= 2  # 1 <= |mantissa| < 2
        exponents -= 1
        if not len(self.units) and not exponents.any():
            columns = np.flatnonzero(mantissas != 1)
            self._rescale(columns, mantissas[columns])
            return self
        units = np.array(self.units) if len(self.units) else self._first_units()
        seen = np.flatnonzero(units[1:])
        own = np.frexp(units[1:][seen])[1]
        beyond = np.abs(own - exponents[seen]) > MAX_UNIT_EXPONENT + 10
        if beyond.any():
            column = int(seen[np.argmax(beyond)])
            raise ValueError(f"column {column}: in that unit its values leave the range of float64")
        units[1:][seen] = np.ldexp(units[1:][seen], -exponents[seen])
        self.units.replace(units)
        new = units[1:] == 0  # without a size yet, but with a sign, which some learners care about
        mantissas[new] = np.sign(mantissas[new])
        changed = seen if self.symmetric else np.flatnonzero(~new | (mantissas < 0))
        self._rescale(changed, mantissas[changed])
        return self

    def _rescale(self, columns, factors):
        """From now on the values of these columns are multiplied by these nonzero factors."""
        for field in self.saved:
            if isinstance(field, Field) and field.shape[:1] == ("coordinates",):
                values = self.read(field.name)
                if field.unit != "1":
                    own = values[columns + 1]
                    values[columns + 1] = field.rescaled(own.T, factors).T
                    self.write(field.name, values)

    def _loaded(self):
        need(len(self.units) in (0, 1 + self.columns), "units do not fit the columns")

    # Weights and explanations

    def weights(self):
        """The coefficients at x = 0 (see `Weights`)."""
        w = self._coefficients()
        if len(self.units):
            units = np.asarray(self.units)
            with np.errstate(over="ignore"):
                w = (w[: len(units)].T * units[: len(w)]).T
            w = np.clip(w, -LARGEST, LARGEST)
        return Weights(w[0], w[1:])

    def _coefficients(self):
        """The weights at x = 0 by coordinate; with the softmax loss one column per class.

        They are the scores of short unit vectors: only `score` has the formula of the weights.
        """
        cdef Py_ssize_t i
        cdef Row row
        cdef int column
        cdef double[8] x = [0, 0, 0, 0, 0, 0, 0, 0]
        scores = self._room(1 + self.columns)
        cdef double* out = numbers_in(scores)
        if not self.linear:
            scores[:] = 0
            return scores
        for i in range(1 + self.columns):
            x[0] = 0.0 if i or not self.intercept else SHORT
            x[1] = SHORT if i else 0.0
            column = <int>(i - 1)
            row.values = &x[1]
            row.ids = &column
            row.n = 1 if i else 0
            row.x = x
            row.slots = 8
            row.weight = 1.0
            self.score(&row, out + i * self.outputs)
        with np.errstate(over="ignore"):
            return np.nan_to_num(scores / SHORT)

    def deviations(self):
        """The root mean square of each column, if known; the Blend has standard deviations."""
        sizes = self._root_mean_squares()
        return None if sizes is None else np.minimum(self._in_own_unit(sizes)[1:], LARGEST)

    def _root_mean_squares(self):
        """The root of the mean square of each coordinate, as the learner sees the values."""
        return None

    def _in_own_unit(self, sizes):
        """Sizes by coordinate as callers pass the values; one may exceed the largest float."""
        if not len(self.units):
            return sizes
        units = np.array(self.units)[: len(sizes)]
        with np.errstate(over="ignore"):
            return np.divide(sizes, units, out=np.zeros(len(sizes)), where=units > 0)

    def contributions(self, rows):
        """Explain the score of one row: (base, by column), which add up to it."""
        w = self._coefficients()[1:]
        block = rows.block
        _, columns = block.positions()
        known = columns < len(w)
        x = np.zeros(len(w))
        x[columns[known]] = np.nan_to_num(block.values[known])
        largest = LARGEST / (2 + len(w))
        with np.errstate(over="ignore"):
            if len(self.units):  # a value may have outgrown its unit
                x = np.clip(x * np.asarray(self.units)[1 : 1 + len(x)], -LARGEST, LARGEST)
            parts = np.clip((w.T * x).T, -largest, largest)
            base = np.clip(self.predict(rows)[0] - parts.sum(axis=0), -LARGEST, LARGEST)
        return base, parts

    def weigh_gradients(self):
        """From now on sample weights, of at most 1, multiply the derivative of the loss.

        Most learners do so already. In Algorithms 1 and 2 and others a sample weight v is a row
        v x.
        """
        self.weighs_gradients = True

    def add_class(self):
        """Add one class, whose score starts at 0; for the softmax loss."""
        if not self._has_columns():
            raise ValueError(f"{self.name} has no classes to add to")
        self.classes += 1
        self.outputs = self.classes

    def sums(self):
        """The sums of a regret certificate; None for learners that do not keep them."""
        return None


cdef class GradientLearner(Learner):
    """Base of learners with one score that learn from the slope of the loss, g = loss'(y, p) / L.

    `score` sets `p`, where the slope is taken, and `step` takes the slope. `OneVsRest` couples
    several such learners, with a slope of the softmax loss for each.
    """

    takes_slopes = True
    """Whether `step` is implemented."""

    cdef int update(self, const Row* row, double y) except -1 nogil:
        cdef double g
        y = clipped(y, MAX_TARGET)
        if self.guarded and not isfinite(self.p):
            return NOT_FINITE
        if self.code == OUTSIDE:
            self.ask_outside(y)
            g = self.slope_outside
        else:
            g = derivative(self.code, self.loss_parameter, y, self.p)
        g *= self.per_slope
        if self.is_bounded:
            g = kept_slope(g)
        if self.has_kink:
            # A score that is its target but for rounding would have another slope in other units.
            if y != 0 and (self.target_size == 0 or fabs(y) < self.target_size):
                self.target_size = fabs(y)
            if fabs(self.p - y) <= KINK * max(fabs(y), self.target_size):
                g = 0.0
        if self.scales_row and self.weighs_gradients:
            g *= row.weight
        return self.step(row, y, g)

    cdef double loss_without_slope(self, double y) noexcept nogil:
        """The loss of a trial whose slope was taken as 0, for a loss with a kink.

        It is 0 but for rounding. There the slope 0 is not quite a subderivative; certificates add
        this loss, which is all that the trial can add to the regret.
        """
        if not self.has_kink:
            return 0.0
        if self.code == OUTSIDE:
            return self.value_outside
        return value(self.code, self.loss_parameter, y, self.p)

    cdef int ask_outside(self, double y) except -1 nogil:
        """Find the slope at p of a loss from outside the package and, with a kink, its value."""
        with gil:
            self.slope_outside = self.loss.derivative_at(y, self.p)
            self.value_outside = self.loss.value_at(y, self.p) if self.has_kink else 0.0
        return 0

    cdef int step(self, const Row* row, double y, double g) except -1 nogil:
        """Learn the row that was begun, whose loss has the slope g at p; counts the row."""
        self.t += 1
        return LEARNED

    cdef double weight_of(self, const Row* row) noexcept nogil:
        """The sample weight, unless it multiplies the row or the slope already."""
        return 1.0 if self.scales_row else row.weight

    cdef double scale_of(self, const Row* row) noexcept nogil:
        """The factor of the row, from its sample weight."""
        return row.weight if self.scales_row and not self.weighs_gradients else 1.0


cdef double unit_of(double x) noexcept nogil:
    """The power of two that brings |x| near 1, for any finite x except 0."""
    cdef int exponent
    frexp(x, &exponent)
    return ldexp(1.0, min(max(-exponent, -MAX_UNIT_EXPONENT), MAX_UNIT_EXPONENT))


cdef bint covered(const Row* row) noexcept nogil:
    """Whether no value of a row is out of range."""
    cdef double smallest, largest
    extent_of(row.values, row.n, &smallest, &largest)
    return largest <= MAX_VALUE and smallest >= MIN_VALUE


cdef Py_ssize_t _last_column(const Row* row) noexcept nogil:
    """The largest column of a row, -1 for an empty one."""
    cdef Py_ssize_t last = -1
    cdef Py_ssize_t k
    for k in range(row.n):
        last = max(last, row.ids[k] if row.ids != NULL else k)
    return last


cdef tuple _as_arrays(const Row* row):
    """(columns, values) of a row."""
    columns = np.empty(row.n, dtype=np.int64)
    values = np.empty(row.n)
    cdef Py_ssize_t k
    for k in range(row.n):
        columns[k] = row.ids[k] if row.ids != NULL else k
        values[k] = row.values[k]
    return columns, values


def _factors_by_column(factors, names, columns):
    """The factor of each column, from an array or from {name or column: factor}."""
    if hasattr(factors, "items"):
        full = np.ones(columns)
        for name, factor in factors.items():
            column = names.get(name, name if not names and isinstance(name, int) else None)
            if column is None or not 0 <= column < columns:
                raise ValueError(f"there is no feature {name!r} to rescale")
            full[column] = factor
    else:
        full = np.asarray(factors, dtype=np.float64)
        if full.shape != (columns,):
            raise ValueError(f"{columns} columns need {columns} factors, got shape {full.shape}")
    good = np.isfinite(full) & (full != 0)
    if not good.all():
        column = int(np.argmin(good))
        raise ValueError(f"column {column}: a unit cannot change by a factor of {full[column]:g}")
    return full
