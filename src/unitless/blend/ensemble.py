"""The panel of a blend: from a block of rows to a table of the members' scores.

Rows come in any storage and leave in one: features get slots in the order in which they first are
there (so an unused column costs nothing and storage does not matter) and units in which they are
near 1. While the stream is *dense* a row is a full line of slots; later it is a list of what is
there.

Members cost what their view costs, so two running rules, which know nothing of blocks or storage,
end the membership of some, for good, before the row that breaks them is predicted::

    dense   d_t <= 1024, or at least 1/8 of all values so far are not 0
    small   d_t <= 256                                      (members with a d x d matrix)
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.blend.experts import Expert
from unitless.blend.threads import parallel_map
from unitless.learners.base import NO_INDICES, NO_STARTS, Learner
from unitless.learners.transitional import (
    coefficients,
    cut,
    learn_block,
    predict_block,
    rescale_columns,
)
from unitless.numerics import WIDE, flat, grown, inner, prefetch, shared
from unitless.rows import Block as RowBlock
from unitless.units import unit_of
from unitless.views import Moments, Normalised, Presence

FEW, SOME, SPARSE = 256, 1024, 8
TILE = 2**16  # values looked at together
AHEAD = 32  # stored values between a prefetch and its use
UNIT, SUM, SQUARES = 0, 1, 2  # a record of the profile, in the feature's own unit
T, D, NONZEROS, DENSE, SMALL = range(5)  # totals of the profile
DONE, RULE, ZERO_WEIGHT, TOO_WIDE = range(4)


Block = tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64], int]
"""Values, indices, starts and columns, as kernels take them."""
Float = NDArray[np.float64]


@shared
def _rules(totals, new, nonzeros):
    """(dense, small) with a row of so many new features and nonzeros counted."""
    t, d = totals[T] + 1, totals[D] + new
    full = d <= SOME or SPARSE * (totals[NONZEROS] + nonzeros) >= t * d
    return totals[DENSE] > 0 and full, totals[SMALL] > 0 and d <= FEW


@inner
def _count(values, indices, start, stop, sparse, slots, profile):
    """(new features, nonzeros) of a row; a missing value makes a feature known too."""
    new = nonzeros = 0
    for k in range(start, stop):
        if sparse:
            prefetch(slots, np.int64(indices[min(k + AHEAD, indices.size - 1)]))
        if values[k] != 0:
            column = indices[k] if sparse else k - start
            slot = slots[column] if column < slots.size else -1
            prefetch(profile, np.int64(max(slot, 0)))
            new += slot < 0
            nonzeros += values[k] == values[k]
    return new, nonzeros


@inner
def _list(values, indices, start, stop, sparse, slots, profile, known, n, out, places):
    """List a row from place n on, in slots and units: (end, features, whether a value is too wide).

    Features beyond the known ones get slots, which `_unlist` takes back.
    """
    wide = False
    for k in range(start, stop):
        if sparse:  # two steps ahead: where a feature's slot is, and where its record is
            prefetch(slots, np.int64(indices[min(k + AHEAD, indices.size - 1)]))
            soon = slots[indices[min(k + AHEAD // 2, indices.size - 1)]]
            prefetch(profile, np.int64(max(soon, 0)))
        if values[k] != 0:
            column = indices[k] if sparse else k - start
            slot = slots[column]
            if slot < 0:
                slot = slots[column] = np.int32(known)
                known += 1
            if values[k] == values[k]:
                if profile[slot, UNIT] == 0:
                    profile[slot, UNIT] = unit_of(values[k])
                x = values[k] * profile[slot, UNIT]
                wide |= abs(x) > WIDE
                out[n], places[n] = x, slot
                n += 1
    return n, known, wide


@inner
def _unlist(values, indices, start, stop, sparse, slots, profile, known):
    """Forget the features of a row that are not among the known ones."""
    for k in range(start, stop):
        column = indices[k] if sparse else k - start
        if slots[column] >= known:
            profile[slots[column], UNIT] = 0.0
            slots[column] = -1


@flat
def ingest(
    values, indices, starts, width, weights, first, most, slots, profile, totals, out, places, ends
):  # fmt: skip
    """Take in rows from `first` on, at most `most` values wide in all: (stop, why).

    They are listed in out, places and ends, as `to_csr` does it.
    """
    sparse, listed, n = starts.size > 0, 0, 0
    rows = starts.size - 1 if sparse else weights.size
    for r in range(first, rows):
        start = starts[r] if sparse else r * width
        stop = starts[r + 1] if sparse else start + width
        if weights[r] == 0:
            return r, ZERO_WEIGHT
        known = np.int64(totals[D])
        end, features, wide = _list(
            values, indices, start, stop, sparse, slots, profile, known, n, out, places
        )
        dense, small = _rules(totals, features - known, end - n)
        listed += end - n + 1
        size = (r + 1 - first) * (features + 1) if totals[DENSE] else listed
        breaks = dense != (totals[DENSE] > 0) or small != (totals[SMALL] > 0)
        full = r > first and size > most
        if breaks or full or wide:
            _unlist(values, indices, start, stop, sparse, slots, profile, known)
            return r, RULE if breaks else (DONE if full else TOO_WIDE)
        for k in range(n, end):
            record = profile[places[k]]
            record[SUM] += out[k]
            record[SQUARES] += out[k] * out[k]
        totals[D] = features
        totals[T] += 1
        totals[NONZEROS] += end - n
        ends[r + 1 - first] = n = end
    return rows, DONE


@flat
def dry_run(values, indices, starts, width, rows, slots, profile, totals, out):
    """out[r] = the new features of row r, or -1 where it would break a rule or a unit."""
    sparse = starts.size > 0
    for r in range(rows):
        start = starts[r] if sparse else r * width
        stop = starts[r + 1] if sparse else start + width
        new, nonzeros = _count(values, indices, start, stop, sparse, slots, profile)
        dense, small = _rules(totals, new, nonzeros)
        good = dense == (totals[DENSE] > 0) and small == (totals[SMALL] > 0)
        for k in range(start, stop):
            column = indices[k] if sparse else k - start
            if values[k] == values[k] and column < slots.size and slots[column] >= 0:
                good &= abs(values[k] * profile[slots[column], UNIT]) <= WIDE
        out[r] = new if good else -1


@flat
def to_dense(values, indices, starts, width, first, stop, slots, profile, known, columns, out):
    """Rows first to stop as full lines of slots; new features follow the known ones."""
    sparse = starts.size > 0
    for k in range(out.size):
        out[k] = 0.0
    for r in range(first, stop):
        start = starts[r] if sparse else r * width
        end = starts[r + 1] if sparse else start + width
        line = out[(r - first) * columns : (r - first + 1) * columns]
        new = known
        for k in range(start, end):
            if values[k] != 0:
                column = indices[k] if sparse else k - start
                slot = slots[column] if column < slots.size else -1
                unit = profile[slot, UNIT] if slot >= 0 else 0.0
                if slot < 0:
                    slot = new
                    new += 1
                if unit == 0 and values[k] == values[k]:
                    unit = unit_of(values[k])
                line[slot] = values[k] * unit


@flat
def to_csr(values, indices, starts, width, first, stop, slots, profile, known, out, places, ends):
    """The same rows as lists of what is there; the number of values."""
    sparse = starts.size > 0
    n = 0
    for r in range(first, stop):
        start = starts[r] if sparse else r * width
        end = starts[r + 1] if sparse else start + width
        new = known
        for k in range(start, end):
            if values[k] != 0 and values[k] == values[k]:
                column = indices[k] if sparse else k - start
                slot = slots[column] if column < slots.size else -1
                unit = profile[slot, UNIT] if slot >= 0 else 0.0
                if slot < 0:
                    slot = new
                    new += 1
                out[n] = values[k] * (unit if unit > 0 else unit_of(values[k]))
                places[n] = slot
                n += 1
        ends[r - first + 1] = n
    return n


class Ensemble:
    """Members, their views, and the features they have met."""

    def __init__(self, members: list[Expert], **common: Any) -> None:
        self.members = members
        self.learners: list[Learner | None] = [
            member.kind(**{**common, **member.parameters}) for member in members
        ]
        self.slots = np.full(0, -1, dtype=np.int32)
        self.profile = np.zeros((0, 3))
        self.totals = np.array([0.0, 0.0, 0.0, 1.0, 1.0])
        self.moments, self.normalised, self.presence = Moments(), Normalised(), Presence()

    @property
    def alive(self) -> NDArray[np.bool_]:
        """Which members there still are."""
        return np.array([learner is not None for learner in self.learners])

    @property
    def dense(self) -> bool:
        """Whether rows are still full lines of features."""
        return bool(self.totals[DENSE])

    # Learning

    def learn(self, block: Block, targets: Float, weights: Float, tell: Any) -> None:
        """Show the rows to the members, stretch by stretch: tell(first, last, scores, weights).

        `tell` is called in the order of the rows, with scores=None for rows of weight 0, which are
        to be predicted and left out, and after members have left.
        """
        values, indices, starts, columns = block
        self._reserve(columns)
        each = weights if len(weights) else np.ones(len(targets))
        longest = int(np.diff(starts).max(initial=0)) if len(starts) else columns
        room = min(len(values), TILE + longest)
        out, places = np.empty(room), np.empty(room, dtype=np.int32)
        ends = np.zeros(len(targets) + 1, dtype=np.int64)
        first = 0
        while first < len(targets):
            stop, why = ingest(
                values, indices, starts, columns, each, first, TILE, self.slots, self.profile,
                self.totals, out, places, ends,
            )  # fmt: skip
            if stop > first:
                own = each[first:stop] if len(weights) else weights
                if self.dense:
                    rows = self._lines(block, first, stop)
                else:
                    n = ends[stop - first]
                    rows = out[:n], places[:n], ends[: stop - first + 1], int(self.totals[D])
                tell(first, stop, self._learn(rows, targets[first:stop], own))
            first = stop
            if why == RULE:
                self._drop(*self._rules_with(block, stop))
            elif why == TOO_WIDE:
                self._widen(block, stop)
            elif why == ZERO_WEIGHT:
                tell(stop, stop + 1, None)
                first += 1

    def _lines(self, block: Block, first: int, stop: int) -> Block:
        """Rows first to stop as full lines; moments count rows, so no line is empty."""
        known = int(self.totals[D])
        return self._rows(block, first, stop, known, max(known, 1))

    def _learn(self, rows: Block, targets: Float, weights: Float) -> Float:
        shown, n = self._views(*rows, learn=True), len(targets)
        return self._scores(
            lambda learner, view: _learn(learner, shown[view], targets, weights, n), n
        )

    def _scores(
        self, run: Callable[[Learner, str], NDArray[Any]], rows: int
    ) -> NDArray[np.float64]:
        def scores_of(k: int) -> NDArray[Any]:
            learner = self.learners[k]
            return np.zeros(0) if learner is None else run(learner, self.members[k].view)

        parts = parallel_map(scores_of, range(len(self.members)), rows)
        shape = next(part.shape for part in parts if part.size) if rows else (0,)
        scores = np.zeros((rows, len(parts), *shape[1:]))
        for k, part in enumerate(parts):
            if part.size:
                scores[:, k] = part
        return scores

    # Predicting

    def predict(
        self, block: Block, weights: Float, rows: int
    ) -> list[tuple["Ensemble", NDArray[Any], NDArray[Any]]]:
        """(panel, row numbers, scores) of rows that are alike: a row that would end a membership is
        seen by a panel in which it has ended.
        """
        new = np.empty(rows, dtype=np.int64)
        dry_run(*block, rows, self.slots, self.profile, self.totals, new)
        found = [(self, *self._predict(block, weights, np.flatnonzero(new >= 0), new))]
        for r in np.flatnonzero(new < 0):
            other, row = deepcopy(self), cut(*block, weights, r, r + 1)
            other._reserve(max(block[3], int(np.max(row[1], initial=-1)) + 1))
            other._drop(*other._rules_with(row[:4], 0))
            other._widen(row[:4], 0)
            _, _, scores = other.predict(row[:4], row[4], 1)[0]
            found.append((other, np.array([r]), scores))
        return found

    def _predict(self, block, weights, chosen, new):
        pieces, known = [], int(self.totals[D])
        if len(chosen) < len(new):
            block, weights = pick(block, weights, chosen)
        first, width = 0, known + int(new[chosen].max(initial=0))
        while first < len(chosen):
            stop = self._tile(block, first, len(chosen), width)
            shown = self._views(*self._rows(block, first, stop, known, width), learn=False)
            own = weights[first:stop] if len(weights) else weights
            pieces.append(
                self._scores(
                    lambda learner, view: _predict(learner, *shown[view], own, stop - first),  # noqa: B023
                    stop - first,
                )
            )
            first = stop
        return chosen, np.concatenate(pieces) if pieces else np.zeros((0, len(self.members)))

    def _tile(self, block: Block, first: int, rows: int, width: int) -> int:
        """The end of the rows from `first` on that are looked at together."""
        _, _, starts, columns = block
        if self.dense or not len(starts):
            return min(rows, first + max(1, TILE // ((width if self.dense else columns) + 1)))
        stop = int(np.searchsorted(starts, starts[first] + TILE, side="right")) - 1
        return min(rows, first + TILE, max(first + 1, stop))

    # Rows and views

    def _reserve(self, columns: int) -> None:
        if columns > len(self.slots):
            self.slots = grown(self.slots, columns, fill=-1)
        if columns > len(self.profile):
            self.profile = grown(self.profile, columns)

    def _rows(self, block, first, stop, known, columns):
        if self.totals[DENSE]:
            out = np.empty((stop - first) * columns)
            to_dense(*block, first, stop, self.slots, self.profile, known, columns, out)
            return out, NO_INDICES, NO_STARTS, columns
        _, _, starts, width = block
        room = int(starts[stop] - starts[first]) if len(starts) else (stop - first) * width
        out, places = np.empty(room), np.empty(room, dtype=np.int32)
        ends = np.zeros(stop - first + 1, dtype=np.int64)
        n = to_csr(*block, first, stop, self.slots, self.profile, known, out, places, ends)
        return out[:n], places[:n], ends, columns

    def _views(
        self, values: Any, indices: Any, starts: Any, columns: int, *, learn: bool
    ) -> dict[str, Any]:
        """The rows as each view shows them, by the view's name."""
        shape = indices, starts, columns
        wanted = {
            member.view
            for member, learner in zip(self.members, self.learners, strict=True)
            if learner is not None
        }
        shown = {"raw": (values, *shape), "none": (np.zeros(0), NO_INDICES, NO_STARTS, 0)}
        if wanted & {"centred", "squashed"}:
            both = (self.moments.learn if learn else self.moments.look)(values, columns)
            shown["centred"], shown["squashed"] = ((part, *shape) for part in both)
        if "normalised" in wanted:
            look = self.normalised.learn if learn else self.normalised.look
            shown["normalised"] = (look(values, *shape), *shape)
        if "presence" in wanted:
            shown["presence"] = (self.presence.look(values, *shape), *shape)
        return shown

    def parts(self, block: Block, z: NDArray[Any]) -> Float:
        """(members, slots[, classes]): what each feature adds to each member's score of one row.

        A member's weights times what its view shows, in proportion to the score they make up.
        """
        known = int(self.totals[D])
        new = np.empty(1, dtype=np.int64)
        dry_run(*block, 1, self.slots, self.profile, self.totals, new)
        rows = self._rows(block, 0, 1, known, known + max(int(new[0]), 0))
        shown = self._views(*rows, learn=False)
        out = np.zeros((len(self.members), known, *z.shape[1:]))
        for k, (member, learner) in enumerate(zip(self.members, self.learners, strict=True)):
            if learner is not None and member.view != "none":
                out[k] = _parts(learner, shown[member.view], z[k], known)
        return out

    # What changes

    def _rules_with(self, block: Block, row: int) -> tuple[bool, bool]:
        """(dense, small) as the row would have them."""
        values, indices, _, _, _ = cut(*block, np.empty(0), row, row + 1)
        columns = indices if len(indices) else np.arange(len(values))
        there = values != 0
        new = int((self.slots[columns[there]] < 0).sum())
        return _rules(self.totals, new, int((there & (values == values)).sum()))

    def _drop(self, dense: bool, small: bool) -> None:
        self.totals[DENSE], self.totals[SMALL] = dense, small
        for k, member in enumerate(self.members):
            if (member.dense and not dense) or (member.small and not small):
                self.learners[k] = None

    def _widen(self, block: Block, row: int) -> None:
        """Choose units in which the row's values are no longer wide."""
        values, indices, _, _, _ = cut(*block, np.empty(0), row, row + 1)
        slots = self.slots[indices if len(indices) else np.arange(len(values))]
        values, slots = values[slots >= 0], slots[slots >= 0]
        units = self.profile[slots, UNIT]
        with np.errstate(over="ignore", invalid="ignore"):
            wide = (np.abs(values * units) > WIDE) & (units > 0)
        values, slots, units = values[wide], slots[wide], units[wide]
        exponents = np.frexp(values)[1] + np.frexp(units)[1] - 1
        exponents = np.minimum(exponents, np.frexp(units)[1] + 1000)
        self.profile[slots, UNIT] = np.ldexp(units, -exponents)
        self.rescale(slots, np.ldexp(1.0, -np.minimum(exponents, 1000)))

    def rescale(self, slots: NDArray[Any], factors: NDArray[Any]) -> None:
        """From now on these slots arrive multiplied by these factors, in their units."""
        self.profile[slots, SUM] *= factors
        self.profile[slots, SQUARES] *= factors**2
        if self.totals[DENSE]:
            self.moments.reserve(int(self.totals[D]))
            self.moments.rescale(slots, factors)
        self.normalised.reserve(int(self.totals[D]))
        self.normalised.rescale(slots, factors)
        for member, learner in zip(self.members, self.learners, strict=True):
            if learner is not None and member.view in ("raw", "centred", "normalised"):
                _rescale(learner, slots, factors, int(self.totals[D]))
            elif learner is not None and member.view == "squashed":
                _rescale(learner, slots, np.sign(factors), int(self.totals[D]))


def _learn(learner, view, targets, weights, rows):
    return learn_block(learner, RowBlock(*view), targets, weights)


def _predict(learner, values, indices, starts, columns, weights, rows):
    return predict_block(learner, RowBlock(values, indices, starts, columns), weights, rows)


def _parts(learner, row, z, known):
    values, indices, starts, columns = row
    x = np.zeros(1 + columns)
    x[1 + (indices if len(starts) else np.arange(columns))] = np.nan_to_num(values)
    if hasattr(learner, "parts"):
        x[0] = 0
        return learner.parts(x != 0)[1 : 1 + known]
    x[0] = learner.intercept
    w = coefficients(learner)
    w = np.concatenate([w, np.zeros((max(0, 1 + columns - len(w)), *w.shape[1:]))])[: 1 + columns]
    terms = (w.T * x).T
    whole = terms.sum(axis=0)
    ratio = np.divide(z, whole, out=np.ones_like(whole), where=whole != 0)
    return (terms * np.where(np.abs(ratio) <= 2, ratio, 1.0))[1 : 1 + known]


def _rescale(learner, slots, factors, columns):
    rescale_columns(learner, slots, factors, columns)


def pick(block, weights, chosen):
    """Some rows of a block."""
    values, indices, starts, columns = block
    weights = weights[chosen] if len(weights) else weights
    if len(starts) == 0:
        return (values.reshape(-1, columns)[chosen].reshape(-1), indices, starts, columns), weights
    spans = [np.arange(starts[r], starts[r + 1]) for r in chosen]
    places = np.concatenate([*spans, np.empty(0, dtype=np.int64)]).astype(np.int64)
    ends = np.concatenate([[0], np.cumsum([len(span) for span in spans])]).astype(np.int64)
    return (values[places], indices[places], ends, columns), weights
