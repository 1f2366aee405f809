# cython: embedsignature=False
"""The Blend: a scale-invariant ensemble whose loss is close to that of its best member, untuned.

Five steps per row (docs/explanation/blend.md has the reasons and what each part is worth)::

    features  columns become features, in the order in which they are first nonzero
    views     transformations of the row, each for the experts that are made for it
    experts   learners of different kinds give a score each
    mixture   a stacker learns how to combine their scores, and the mixture weighs the stacker and
              the experts by their losses so far; the loss of the Blend is close to the best of
              them, with a bound on the difference that is known at any time
    followers once recent labels pay (see `recent_labels`), experts that follow them correct this
              answer; a second mixture weighs them and the answer itself

So there are two answers: *without recent labels*, for rows whose predecessors' labels are not known
when they are predicted, and *with the last label known* (`fresh`). Both learn from every row, and
until recent labels pay they are the same. Experts whose weights follow recent targets (iNAG, NAG,
neighbours) then serve only the second.

For the logistic loss Algorithms 1 and 2 of the paper are among the experts, which gives the Blend
Theorems 1 and 2, with that bound added. Experts that would cost too much are dropped (see
`features`).

Rows go through it in tiles. Experts do not see each other or the mixture, so each takes all rows of
a tile in turn, which keeps its state in the cache and lets experts run on threads. A single row is
a tile of one.
"""

import os
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from inspect import Parameter as Argument
from inspect import Signature

import numpy as np

from libc.string cimport memcpy

from unitless.blend.features cimport Features
from unitless.blend.grouped_slopes cimport GroupedSlopes
from unitless.blend.mixture cimport Mixture
from unitless.blend.pairs_of_bins cimport CELLS, PAIRS_AT_MOST, PairsOfBins
from unitless.blend.recent_labels cimport COLUMNS_OF_PAST, INPUTS, Past, RecentLabels
from unitless.blend.target_scaler cimport TargetScaler
from unitless.blend.views cimport (
    CENTRED, NORMALISED, NOTHING, PAIRS, PRESENCE, RAW, SQUASHED, VIEWS, Views, room_for_views,
)
from unitless.core.array cimport Array, numbers, records
from unitless.core.learner cimport LEARNED, Learner
from unitless.core.losses cimport (
    ABSOLUTE, HINGE, HUBER, LOGISTIC, QUANTILE, SOFTMAX, SQUARED,
)
from unitless.core.row cimport Row, RowReader, fill_slots, slots_of

from unitless.blend import explaining
from unitless.blend.experts import ANSWER, BY_VIEWS, MAX_MEMORY, TREES_ON_PAST, followers
from unitless.blend.grouped_slopes import FORECASTER
from unitless.blend.hedge import HedgeMixture
from unitless.blend.logistic import LogisticMixture
from unitless.blend.mixture import Guarantee
from unitless.blend.softmax import SoftmaxMixture
from unitless.blend.squared import SquaredMixture
from unitless.core.learner import COLUMNS
from unitless.state import Component, Field, need

cdef enum Source:
    OF_ANSWER
    OF_LABELS
    OF_EXPERT
    ON_PAST
    ON_ROW_AND_PAST

MIXTURES = {
    LOGISTIC: LogisticMixture,
    SQUARED: SquaredMixture,
    SOFTMAX: SoftmaxMixture,
    **dict.fromkeys((HINGE, ABSOLUTE, QUANTILE, HUBER), HedgeMixture),
}
VIEW_BY_NAME = {
    "raw": RAW,
    "normalised": NORMALISED,
    "presence": PRESENCE,
    "centred": CENTRED,
    "squashed": SQUASHED,
    "pairs": PAIRS,
    "none": NOTHING,
}

SOURCES = {
    "answer": OF_ANSWER,
    "labels": OF_LABELS,
    "expert": OF_EXPERT,
    "past": ON_PAST,
    "row and past": ON_ROW_AND_PAST,
}
"""Where the score of a follower comes from, by its view."""

cdef enum:
    TILE = 16384            # values that are learned or predicted together
    MOST_ROWS = 1024        # rows of a tile
    MOST_EXPERTS = 32
    ROWS_WORTH_THREADS = 256
    MOST_THREADS = 4        # more do not help: the longest expert is about a quarter of the work


cdef class Blend(Learner):
    """The default learner: an ensemble whose loss stays close to that of its best member.

    Parameters
    ----------
    loss : str or Loss
        The loss to be small, such as "logistic" or "squared".
    views : "all", "smooth" or "linear"
        "smooth" leaves out the experts for steps and interactions, boosted trees and pairs of
        bins: a row costs a fifth to a half. "linear" keeps to experts whose scores are linear in
        x (raw and centred values).
    intercept : bool
        Whether experts add a constant feature.
    classes : int
        The number of classes, for the softmax loss only.
    delay : int
        How many rows later a label arrives than it would if it were known before the next row is
        predicted. The past that predictions use is then that much older, in learning as in use.
    max_memory : float
        The megabytes that the model may take for what grows with the number of rows: the rows that
        histogram trees are grown from. Everything else depends on the number of columns only.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X, 2 * y - 1)
    >>> learner = Blend()
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.1325
    """

    name = "blend"
    has_classes = True
    linear = False
    invariance = "unit"
    needs_lipschitz = False
    has_two_answers = True
    target_invariance = "affine"
    saved = (
        *Learner.saved,
        COLUMNS,
        Component("features"),
        Component("shown"),
        Component("pairs"),
        Component("experts"),
        Component("mixture"),
        Component("target_scaler"),
        Component("grouped_slopes"),
        Component("recent"),
        Component("followers"),
        Component("fresh_mixture"),
        Field("loss_before", "loss", "loss until recent labels paid", low=0),
    )
    __signature__ = Signature(
        [
            Argument("loss", Argument.POSITIONAL_OR_KEYWORD, default="logistic"),
            Argument("views", Argument.KEYWORD_ONLY, default="all"),
            Argument("intercept", Argument.KEYWORD_ONLY, default=True),
            Argument("classes", Argument.KEYWORD_ONLY, default=0),
            Argument("delay", Argument.KEYWORD_ONLY, default=0),
            Argument("max_memory", Argument.KEYWORD_ONLY, default=MAX_MEMORY),
        ]
    )

    cdef readonly str views
    cdef readonly list members              # what each expert is (`experts.py`)
    cdef readonly list experts              # the learners, None where one has left
    cdef readonly Features features
    cdef readonly Views shown
    cdef readonly PairsOfBins pairs         # or None
    cdef readonly Mixture mixture
    cdef readonly TargetScaler target_scaler        # or None
    cdef readonly GroupedSlopes grouped_slopes   # or None
    cdef readonly RecentLabels recent
    cdef readonly Py_ssize_t delay
    cdef readonly double max_memory         # megabytes
    cdef readonly list fresh_members        # what each follower is
    cdef readonly list followers            # learners; None where there is none or it left
    cdef readonly Mixture fresh_mixture
    cdef public double loss_before          # loss until recent labels paid
    cdef void* follower[32]                 # the learners again, for code without the GIL
    cdef int[32] source                     # of each follower
    cdef int[32] detail                     # its rate of forgetting, or the number of its expert
    cdef bint[32] corrects                  # whether it predicts what the first answer lacks
    cdef int fresh_count                    # followers
    cdef Array answer                       # without recent labels, of the row at hand
    cdef Array fresh_scores                 # by follower and class, of the row at hand
    cdef Array past_room                    # for the inputs of followers
    cdef Array row_room
    cdef Row past_row
    cdef Row row_and_past
    cdef void* expert[32]                   # the learners again, for code without the GIL
    cdef int[32] view                       # of each expert
    cdef int count                          # experts
    cdef Py_ssize_t width                   # features of the tile at hand
    cdef bint knew_target                   # whether a target was known before it
    cdef Array found                        # Row by place in the tile: as given
    cdef Array tile                         # Row by place in the tile and by view
    cdef Array room                         # the numbers of all views
    cdef Array ids                          # features of sparse rows, cells of pairs
    cdef Array scores                       # by expert, place and class
    cdef Array targets                      # by place, scaled

    def __init__(
        self,
        loss="logistic",
        *,
        views="all",
        intercept=True,
        classes=0,
        delay=0,
        max_memory=MAX_MEMORY,
    ):
        self.views = views
        self.max_memory = float(max_memory)
        if not 0 <= delay < 2**31 or delay != int(delay):
            raise ValueError(f"delay = {delay}: a number of rows is a whole number >= 0")
        self.delay = int(delay)
        self._set_loss(loss, intercept, classes)
        if self.code not in MIXTURES:
            raise ValueError(
                f"there is no blend for the {self.loss.name} loss: use a learner that follows the "
                "slope of any loss, such as 'coordinate' or 'full'"
            )
        if views not in BY_VIEWS[self.code]:
            raise ValueError(f"views = {views!r}: choose 'all', 'smooth' or 'linear'")
        self.members = [each.within(self.max_memory) for each in BY_VIEWS[self.code][views]]
        several = {"classes": classes} if classes else {}
        self.experts = [
            member.make(loss=self.loss, intercept=self.intercept, **several)
            for member in self.members
        ]
        self.features = Features()
        self.shown = Views()
        if any(member.view == "pairs" for member in self.members):
            self.pairs = PairsOfBins()
        self.mixture = MIXTURES[self.code](self.members, self.loss, self.classes)
        if self.code == LOGISTIC:
            names = [member.name for member in self.members]
            self.grouped_slopes = GroupedSlopes(names.index(FORECASTER))
        if self.loss.targets == "reals":
            # The delta of Huber's loss is in the unit of the targets, which therefore stays.
            self.target_scaler = TargetScaler(1.0 if self.code == HUBER else 0.0)
        self.recent = RecentLabels(self.code, self.classes, self.delay)
        self.fresh_members = followers(self.code, views)
        if self.delay:  # what they learned from the rows just before is not known when it is used
            self.fresh_members = [each for each in self.fresh_members if each.view != "expert"]
        self.followers = [
            None if each.kind is None or each.view == "expert"
            else each.make(loss=self.loss, intercept=self.intercept, **several)
            for each in self.fresh_members
        ]
        self.fresh_mixture = MIXTURES[self.code](self.fresh_members, self.loss, self.classes)
        self.past_room = numbers(0)
        self.row_room = numbers(0)
        self._make_room_for_classes()
        self.found = records(f"V{sizeof(Row)}", 0)
        self.tile = records(f"V{sizeof(Row)}", 0)
        self.room = numbers(0)
        self.ids = records("i", 0)
        self.scores = numbers(0)
        self.targets = numbers(0)
        self._point()

    def _point(self):
        """Take the addresses of the experts."""
        self.count = len(self.experts)
        need(self.count <= MOST_EXPERTS, f"{self.count} experts; {MOST_EXPERTS} are possible")
        for k, learner in enumerate(self.experts):
            self.expert[k] = NULL if learner is None else <void*>learner
            self.view[k] = VIEW_BY_NAME[self.members[k].view]
        names = [member.name for member in self.members]
        self.fresh_count = len(self.fresh_members)
        for k, (member, learner) in enumerate(zip(self.fresh_members, self.followers)):
            self.follower[k] = NULL if learner is None else <void*>learner
            self.source[k] = SOURCES[member.view]
            # The steps of trees would be coarse for the target itself, if it is a real number.
            self.corrects[k] = member.name == TREES_ON_PAST.name and self.target_scaler is not None
            self.detail[k] = 0
            if member.view == "labels":
                self.detail[k] = member.parameters["rate"]
            elif member.view == "expert":
                self.detail[k] = names.index(member.name)

    def _make_room_for_classes(self):
        self.answer = numbers(self.classes)
        self.fresh_scores = numbers(len(self.fresh_members) * self.classes)

    def _loaded(self):
        super()._loaded()
        self._point()
        features = self.features
        need(len(features.ids) >= self.columns, "features of columns are missing")
        width = max(int(features.count), 1)  # an empty row is shown as one with one feature
        need(self.shown.features <= width, "views have more features than there are")
        if self.pairs is not None:
            need(self.pairs.features <= width, "pairs have more features than there are")
        for k, learner in enumerate(self.experts):
            if learner is not None:
                need(not len(learner.units), "an expert has units of its own")
                most = PAIRS_AT_MOST * CELLS if self.view[k] == PAIRS else width
                need(learner.columns <= most, "an expert has columns that no view has")
        for member, learner in zip(self.fresh_members, self.followers):
            if learner is not None:
                need(not len(learner.units), "a follower has units of its own")
                most = INPUTS * self.classes
                if member.view == "row and past":
                    most = COLUMNS_OF_PAST + width
                need(learner.columns <= most, "a follower has columns that it is not given")

    @property
    def symmetric(self):
        """Whether signs and order of the columns do not matter: without trees they do not."""
        return self.views != "all"

    @property
    def takes_every_target(self):
        """Whether it takes every target that its loss takes."""
        return self.target_scaler is None

    def _check(self, targets, weights):
        if self.target_scaler is not None:
            self.target_scaler.check(targets, weights)

    def weigh_gradients(self):
        """See `Learner.weigh_gradients`."""
        self.weighs_gradients = True
        stackers = [*getattr(self.mixture, "stackers", ())]
        stackers += getattr(self.fresh_mixture, "stackers", ())
        for learner in (*self.experts, *self.followers, *stackers):
            if learner is not None:
                learner.weigh_gradients()

    def add_class(self):
        """Add one class, whose score starts at 0."""
        super().add_class()
        for learner in (*self.experts, *self.followers):
            if learner is not None:
                learner.add_class()
        self.mixture.add_class()
        self.fresh_mixture.add_class()
        self.recent.add_class()
        self._make_room_for_classes()

    # Rows

    cdef int reserve(self, Py_ssize_t columns) except -1 nogil:
        if columns > self.columns:
            self.features.reserve(columns)
            self.columns = columns
        return 0

    cdef int run_row(self, Row* row, const double* y, double* scores) except -1 nogil:
        cdef Py_ssize_t new, nonzeros
        cdef int regime
        self.features.look(row, &new, &nonzeros)
        regime = self.features.regime_with(new, nonzeros)
        if regime != self._regime():
            with gil:
                if y == NULL:
                    return (<Blend>self.in_regime(regime)).run_row(row, NULL, scores)
                self._enter(regime)
        if y != NULL:
            self.features.add(row, nonzeros)
            new = 0
        self.width = max(<Py_ssize_t>self.features.count + new, 1)
        self._show_tile(row, 1, y)
        self._run_experts(1, y != NULL)
        self._mix_tile(1, y, scores)
        return LEARNED

    cdef int run(self, RowReader rows, double* scores) except -1:
        cdef Py_ssize_t first = 0
        cdef Py_ssize_t count
        cdef Row* row
        cdef const double* y
        cdef double* out
        cdef bint learns
        others = {}
        threads = _threads() if rows.rows >= ROWS_WORTH_THREADS else 1
        self.found.resize(MOST_ROWS)
        row = <Row*>self.found.at
        while first < rows.rows:
            learns = rows.learns(first)
            y = rows.targets + first if learns else NULL
            out = scores + first * self.outputs
            with nogil:
                count = self._next_tile(rows, first, learns)
            if count == 0:  # experts have to leave before this row
                rows.find(first, row)
                if learns:
                    self.run_row(row, y, out)
                else:
                    self._other(row, others).run_row(row, NULL, out)
                first += 1
                continue
            with nogil:
                self._show_tile(row, count, y)
            if threads > 1 and count >= ROWS_WORTH_THREADS:
                self._run_experts_on_threads(threads, count, learns)
            else:
                with nogil:
                    self._run_experts(count, learns)
            with nogil:
                self._mix_tile(count, y, out)
            first += count
        return 0

    cdef Blend _other(self, const Row* row, dict others):
        """A copy that experts have left as they would before this row."""
        cdef Py_ssize_t new, nonzeros
        self.features.look(row, &new, &nonzeros)
        regime = self.features.regime_with(new, nonzeros)
        if regime not in others:
            others[regime] = self.in_regime(regime)
        return others[regime]

    cdef Py_ssize_t _next_tile(self, RowReader rows, Py_ssize_t first, bint learns) noexcept nogil:
        """Find the rows from `first` on that are run together, all learned or all only scored.

        Their features are taken in if they are learned. Before a row of another regime a tile
        ends; returns the number of rows, which may be 0.
        """
        cdef Row* row = <Row*>self.found.at
        cdef Py_ssize_t last = min(first + MOST_ROWS, rows.rows)
        cdef Py_ssize_t size = 0
        cdef Py_ssize_t most = 0
        cdef Py_ssize_t r = first
        cdef Py_ssize_t new, nonzeros
        while r < last and rows.learns(r) == learns:
            rows.find(r, &row[r - first])
            self.features.look(&row[r - first], &new, &nonzeros)
            if self.features.dense:
                size = (r + 1 - first) * (<Py_ssize_t>self.features.count + max(new, most) + 1)
            else:
                size += nonzeros + 1
            if r > first and size > TILE:
                break
            if self.features.regime_with(new, nonzeros) != self._regime():
                break
            if learns:
                self.features.add(&row[r - first], nonzeros)
            else:
                most = max(most, new)
            r += 1
        self.width = max(<Py_ssize_t>self.features.count + most, 1)  # no row is empty
        return r - first

    cdef int _show_tile(self, const Row* found, Py_ssize_t count, const double* y) except -1 nogil:
        """Fill in the views of the rows, and scale their targets."""
        cdef bint dense = self.features.dense > 0
        cdef bint learns = y != NULL
        cdef Py_ssize_t numbers_needed = 0
        cdef Py_ssize_t ids_needed = 0
        cdef Py_ssize_t r
        cdef double* room
        cdef int* ids
        cdef Row* shown
        if self.features.any_turned:
            with gil:
                self._turn_new_features()
        self.tile.resize(count * VIEWS)
        self.targets.resize(count)
        for r in range(count):
            numbers_needed += _room_for(self.width if dense else found[r].n)
            ids_needed += PAIRS_AT_MOST if dense else found[r].n
        self.room.resize(numbers_needed)
        self.ids.resize(ids_needed)
        self.shown.reserve(self.width)
        if self.pairs is not None:
            self.pairs.reserve(self.width)
        room = self.room.at
        ids = <int*>self.ids.at
        for r in range(count):
            shown = <Row*>self.tile.at + r * VIEWS
            self._show_row(&found[r], shown, room, ids, dense, learns)
            room += _room_for(self.width if dense else found[r].n)
            ids += PAIRS_AT_MOST if dense else found[r].n
            if learns:
                self.targets.at[r] = y[r]
        return 0

    cdef void _show_row(
        self, const Row* found, Row* shown, double* room, int* ids, bint dense, bint learns
    ) noexcept nogil:
        """Fill in the views of one row."""
        cdef Row* raw = &shown[<int>RAW]
        cdef Py_ssize_t n = self.width
        if dense:
            self.features.as_line(found, room, n)
        else:
            n = self.features.as_list(found, room, ids)
        raw.values = room
        raw.ids = NULL if dense else ids
        raw.n = n
        raw.slots = slots_of(n)
        raw.weight = found.weight
        raw.x = room + raw.slots
        fill_slots(room + raw.slots, 1.0 if self.intercept else 0.0, room, n)
        room += 2 * raw.slots
        self.shown.show(shown, room, dense, learns)
        if dense and self.pairs is not None:
            room += room_for_views(n)
            self.pairs.show(&shown[<int>SQUASHED], &shown[<int>PAIRS], room, ids, learns)

    cdef int _run_experts(self, Py_ssize_t count, bint learns) except -1 nogil:
        cdef int k
        self.scores.resize(self.count * count * self.outputs)
        if learns:
            self._encode_targets(count)
        for k in range(self.count):
            self._run_expert(k, count, learns)
        return 0

    def _run_experts_on_threads(self, threads, Py_ssize_t count, bint learns):
        self.scores.resize(self.count * count * self.outputs)
        if learns:
            self._encode_targets(count)
        with ThreadPoolExecutor(threads) as pool:  # one per tile: a process can fork between calls
            futures = [
                pool.submit(self._run_one_expert, k, count, learns) for k in range(self.count)
            ]
            for future in futures:
                future.result()

    def _run_one_expert(self, int k, Py_ssize_t count, bint learns):
        with nogil:
            self._run_expert(k, count, learns)

    cdef int _run_expert(self, int k, Py_ssize_t count, bint learns) except -1 nogil:
        """Let an expert score, and learn, the rows of a tile in turn."""
        cdef const Row* row = <const Row*>self.tile.at + self.view[k]
        cdef double* scores = self.scores.at + k * count * self.outputs
        cdef Py_ssize_t r
        if self.expert[k] == NULL:
            for r in range(count * self.outputs):
                scores[r] = 0.0
            return 0
        if not learns:
            for r in range(count):
                (<Learner>self.expert[k]).score(row + r * VIEWS, scores + r * self.outputs)
            return 0
        if self.view[k] == PAIRS:
            (<Learner>self.expert[k]).reserve(PAIRS_AT_MOST * CELLS)
        elif self.view[k] != NOTHING:
            (<Learner>self.expert[k]).reserve(self.width)
        for r in range(count):
            (<Learner>self.expert[k]).begin(row + r * VIEWS, scores + r * self.outputs)
            (<Learner>self.expert[k]).update(row + r * VIEWS, self.targets.at[r])
        return 0

    cdef void _encode_targets(self, Py_ssize_t count) noexcept nogil:
        """Targets as the experts see them."""
        cdef Py_ssize_t r
        self.knew_target = True
        if self.target_scaler is not None:
            self.knew_target = self.target_scaler.known > 0
            for r in range(count):
                self.targets.at[r] = self.target_scaler.encode(self.targets.at[r])

    cdef int _mix_tile(self, Py_ssize_t count, const double* y, double* scores) except -1 nogil:
        """Combine the experts' scores of each row and, with targets, learn from them."""
        cdef Py_ssize_t C = self.outputs
        cdef bint learns = y != NULL
        cdef double* answer = self.answer.at
        cdef bint follows
        cdef Py_ssize_t r
        cdef const Row* row
        cdef const double* Z
        cdef double* out
        cdef double target, other
        cdef bint keeps_slopes = learns and self.grouped_slopes is not None
        if keeps_slopes and not self.grouped_slopes.has_room(count, self.width):
            with gil:
                self.grouped_slopes.reserve(count, self.width)
        for r in range(count):
            row = <const Row*>self.tile.at + r * VIEWS
            Z = self.scores.at + r * C
            out = scores + r * C
            follows = self.recent.pays > 0 and (learns or self.fresh)
            self.mixture.score(Z, count * C, row.weight, answer, learns)
            memcpy(out, answer, C * sizeof(double))
            if follows:
                self._score_followers(row, Z, count * C, learns)
                self.fresh_mixture.score(self.fresh_scores.at, C, row.weight, out, learns)
            if learns:
                target = self.targets.at[r]
                if keeps_slopes:
                    other = Z[self.grouped_slopes.expert * count]
                    self.grouped_slopes.add(row, self.width, row.weight, y[r], answer[0], other)
                self.mixture.update(target, row.weight)
                if follows:
                    self._teach_followers(target)
                    self.fresh_mixture.update(target, row.weight)
                if self.recent.learn(target, row.weight, answer):
                    with gil:
                        self._begin_to_follow()
                self.t += 1
            self._decode(out)
            if self.first_not_fresh != NULL:
                self._decode(answer)
                memcpy(
                    self.first_not_fresh + (out - self.first_score), answer, C * sizeof(double)
                )
        if learns and not self.knew_target:  # before any target is known
            scores[0] = 0.0
            if self.first_not_fresh != NULL:
                self.first_not_fresh[scores - self.first_score] = 0.0
        return 0

    cdef void _decode(self, double* score) noexcept nogil:
        """Scores of real targets in the unit of the targets."""
        if self.target_scaler is not None:
            score[0] = self.target_scaler.decode(score[0])

    # Followers of recent labels

    cdef int _score_followers(
        self, const Row* row, const double* Z, Py_ssize_t stride, bint learns
    ) except -1 nogil:
        """Fill in the scores of the members of the answer with the last label known."""
        # A label is learned with the past that the prediction of its row has seen.
        cdef bint late = learns and self.delay > 0
        cdef void* past = <void*>self.recent.seen if late else <void*>self.recent.known
        cdef Py_ssize_t C = self.outputs
        cdef double* out
        cdef const Row* given
        cdef int k
        self._show_past(past, row)
        for k in range(self.fresh_count):
            out = self.fresh_scores.at + k * C
            if self.source[k] == OF_LABELS:
                if self.detail[k] < 0:
                    out[0] = (<Past>past).last_target
                else:
                    (<Past>past).tracked(self.detail[k], out)
            elif self.source[k] == OF_EXPERT:
                memcpy(out, Z + self.detail[k] * stride, C * sizeof(double))
            elif self.follower[k] == NULL:  # the answer itself; and those that left are not mixed
                memcpy(out, self.answer.at, C * sizeof(double))
            else:
                given = &self.past_row if self.source[k] == ON_PAST else &self.row_and_past
                if learns:
                    (<Learner>self.follower[k]).reserve(given.n)
                    (<Learner>self.follower[k]).begin(given, out)
                else:
                    (<Learner>self.follower[k]).score(given, out)
                if self.corrects[k]:
                    out[0] += self.answer.at[0]
        return 0

    cdef int _teach_followers(self, double y) except -1 nogil:
        """Learn the row whose scores were filled in."""
        cdef const Row* given
        cdef int k
        for k in range(self.fresh_count):
            if self.follower[k] != NULL:
                given = &self.past_row if self.source[k] == ON_PAST else &self.row_and_past
                (<Learner>self.follower[k]).update(
                    given, y - self.answer.at[0] if self.corrects[k] else y
                )
        return 0

    cdef int _show_past(self, void* past, const Row* row) except -1 nogil:
        """Fill in the rows that followers are given."""
        cdef Py_ssize_t n = INPUTS * self.outputs
        cdef double* room
        self.past_room.resize(n + slots_of(n))
        room = self.past_room.at
        (<Past>past).inputs(self.answer.at, room)
        self._as_row(&self.past_row, room, n, row.weight)
        if row.ids != NULL:  # rows of a sparse stream are not shown
            return 0
        n = COLUMNS_OF_PAST + row.n
        self.row_room.resize(n + slots_of(n))
        room = self.row_room.at
        (<Past>past).columns(room)
        memcpy(room + COLUMNS_OF_PAST, row.values, row.n * sizeof(double))
        self._as_row(&self.row_and_past, room, n, row.weight)
        return 0

    cdef void _as_row(self, Row* row, double* room, Py_ssize_t n, double weight) noexcept nogil:
        """A row of the n values at the beginning of the room; its slots come after them."""
        row.values = room
        row.ids = NULL
        row.n = n
        row.x = room + n
        row.slots = slots_of(n)
        row.weight = weight
        fill_slots(room + n, 1.0 if self.intercept else 0.0, room, n)

    def _begin_to_follow(self):
        """Recent labels pay from now on: experts that follow targets leave the answer without."""
        self.loss_before = max(self.mixture.guarantees().values(), key=_last_trial).loss
        if self.delay:
            left = [None if member.follows else learner
                    for member, learner in zip(self.members, self.experts)]
            if any(learner is not None for learner in left):
                self.experts = left
                self._point()
        self.mixture.drop(self._in_answer())

    def _in_answer(self):
        """By expert: whether it is a member of the answer without recent labels."""
        there = np.array([learner is not None for learner in self.experts])
        slow = there & [not member.follows for member in self.members]
        return slow if self.recent.pays and slow.any() else there

    # Regimes and units

    cdef int _regime(self) noexcept nogil:
        return 2 * (self.features.dense > 0) + (self.features.small > 0)

    def in_regime(self, int regime):
        """A copy that experts have left as they would before a row of that regime."""
        cdef Blend other = deepcopy(self)
        other._enter(regime)
        other.fresh = self.fresh
        return other

    def _enter(self, int regime):
        """Experts that the regime does not allow leave for good (see `features`)."""
        self.features.dense = regime // 2
        self.features.small = regime % 2
        for k, member in enumerate(self.members):
            if (member.dense and regime < 2) or (member.small and regime % 2 == 0):
                self.experts[k] = None
        for k, member in enumerate(self.fresh_members):
            if (member.dense and regime < 2) or (member.small and regime % 2 == 0):
                self.followers[k] = None
        self._point()
        self.mixture.drop(self._in_answer())
        self.fresh_mixture.drop(np.array([self._is_there(k) for k in range(self.fresh_count)]))

    def _is_there(self, k):
        """Whether follower k has not left."""
        if self.source[k] == OF_EXPERT:
            return self.expert[self.detail[k]] != NULL
        return self.follower[k] != NULL or self.source[k] in (OF_ANSWER, OF_LABELS)

    def _seen(self):
        return self.features.seen()

    def _rescale(self, columns, factors):
        features, factors = self.features.rescale(columns, factors)
        width = int(self.features.count)
        self.shown.rescale(features, factors)
        if self.pairs is not None:
            self.pairs.turn(features, factors)
        if self.grouped_slopes is not None:
            self.grouped_slopes.rescale(features, factors)
        for member, learner in zip(self.members, self.experts):
            if learner is None or member.view in ("none", "presence", "pairs"):
                continue
            learner._reserve(width)
            learner._rescale(features, np.sign(factors) if member.view == "squashed" else factors)
        for learner in self._on_rows():
            learner._reserve(COLUMNS_OF_PAST + width)
            learner._rescale(COLUMNS_OF_PAST + features, factors)

    def _on_rows(self):
        """The learners of followers that are given rows."""
        return [
            learner
            for member, learner in zip(self.fresh_members, self.followers)
            if learner is not None and member.view == "row and past"
        ]

    def _turn_new_features(self):
        """Turn features whose columns changed their sign before they were first seen."""
        features = self.features.take_turned()
        if not len(features):
            return
        signs = np.full(len(features), -1.0)
        if self.pairs is not None:
            self.pairs.turn(features, signs)
        for learner in self.experts:
            if learner is not None and not learner.symmetric:
                learner._reserve(int(self.features.count))
                learner._rescale(features, signs)
        for learner in self._on_rows():
            learner._reserve(COLUMNS_OF_PAST + int(self.features.count))
            learner._rescale(COLUMNS_OF_PAST + features, signs)

    # What it has learned

    def mixture_weights(self, fresh=False):
        """The weight of each expert, and of the stacker, in the mixture now.

        With `fresh`, in the mixture of the answer with the last label known.
        """
        if fresh and self.recent.pays:
            return self.fresh_mixture.mixture_weights()
        return self.mixture.mixture_weights()

    def history(self):
        """The mixture weights after 1, 2, 4, 8, ... trials."""
        return self.mixture.weight_history()

    def guarantees(self, fresh=False):
        """By expert: the Blend's loss is at most the expert's plus an overhead, both in numbers.

        They are about the answer without recent labels or, with `fresh`, about the one with the
        last label known. The second is a mixture of which the first is a member, so its overhead
        over an expert is the sum of two.

        With real targets, and hinge loss, the loss of an expert is that of its forecasts clipped
        to the range of the targets seen before, or to [-1, 1], as they enter the mixture. The
        first target of a regression is not counted: no expert has a loss in its trial.
        """
        guarantees = self.mixture.guarantees()
        if fresh and self.recent.pays:
            guarantees = self._chained(guarantees)
        if self.target_scaler is None:
            return guarantees
        size = 1.0 / self.target_scaler.factor
        again = size if self.code == SQUARED else 1.0
        return {name: each.times(size).times(again) for name, each in guarantees.items()}

    def _chained(self, guarantees):
        """The guarantees of the answer with the last label known, from those without."""
        kept = self.fresh_mixture.guarantees()[ANSWER.name]
        last = int(self.t)
        loss = self.loss_before + kept.loss
        own = self.loss_before + kept.member_loss
        made = {kept.member: Guarantee(kept.member, loss, own, kept.overhead, last)}
        for name, each in guarantees.items():
            if each.last == last:
                overhead = each.overhead + kept.overhead
                made[name] = Guarantee(name, loss, each.member_loss, overhead, last)
        return made

    def _root_mean_squares(self):
        """The standard deviation of each coordinate, 0 for the constant."""
        _, deviation = explaining.means_and_deviations(self)
        return np.append(0.0, deviation)

    def _coefficients(self):
        return explaining.coefficients(self)

    def contributions(self, rows):
        """Explain the score of one row: (base, by column), which add up to it.

        The part of column i is sum_k slope_k z_{k,i} over the experts k, where z_{k,i} is what
        feature i adds to the score of expert k, and slope_k what that score adds to the Blend's, on
        average on the way from 0. The base is the rest: intercepts, trackers and the mixing itself.
        """
        score = self.predict(rows)[0]
        by_column = explaining.contributions(self, rows)
        return score - by_column.sum(axis=0), by_column


def _last_trial(guarantee):
    return guarantee.last


cdef Py_ssize_t _room_for(Py_ssize_t n) noexcept nogil:
    """The numbers that all views of a row of n values take."""
    return 2 * slots_of(n) + room_for_views(n) + slots_of(PAIRS_AT_MOST)


def _threads():
    """How many threads run experts: what the process may use, unless OMP_NUM_THREADS says less."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    limit = int(given) if given.isdigit() and int(given) else MOST_THREADS
    if hasattr(os, "sched_getaffinity"):
        return min(limit, MOST_THREADS, len(os.sched_getaffinity(0)))
    return min(limit, MOST_THREADS, os.cpu_count() or 1)


cdef class LinearBlend(Blend):
    """`Blend(views="linear")`: the Blend of members whose scores are linear in the features.

    Parameters
    ----------
    loss : str or Loss
        The loss to be small, such as "logistic" or "squared".
    intercept : bool
        Whether experts add a constant feature.
    classes : int
        The number of classes, for the softmax loss only.
    delay : int
        How many rows late labels arrive, see `Blend`.

    Examples
    --------
    >>> LinearBlend().views
    'linear'
    """

    name = "linear_blend"
    __signature__ = Signature(
        [
            Argument("loss", Argument.POSITIONAL_OR_KEYWORD, default="logistic"),
            Argument("intercept", Argument.KEYWORD_ONLY, default=True),
            Argument("classes", Argument.KEYWORD_ONLY, default=0),
            Argument("delay", Argument.KEYWORD_ONLY, default=0),
        ]
    )

    def __init__(self, loss="logistic", *, intercept=True, classes=0, delay=0):
        super().__init__(loss, views="linear", intercept=intercept, classes=classes, delay=delay)
