"""fit_sharded: one model over many parts, where that is exact.

Two ways are: least squares (VAW), whose state is a sum over rows, and the members of a Blend, which
do not look at each other. For all else states of shards say nothing that could be added.
"""

import os
import warnings
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless import persistence
from unitless.blend.blend import Blend
from unitless.distributed.cluster import running
from unitless.distributed.learning import Score, Start, learned, naming, pieces, read, start_of
from unitless.distributed.merging import begun, merged, renumbered
from unitless.distributed.parts import Part, Source, as_source, named, parts_of, shards_of
from unitless.distributed.tasks import Crew, Watcher
from unitless.encoders import Columns
from unitless.encoders.placing import ManyLevels
from unitless.learners import get
from unitless.learners.base import Learner
from unitless.learners.vaw import COUNT, Vaw
from unitless.model import StreamModel

WHY = {
    "coordinate": "its weights grow with the exponential of its state, so adding the states of "
    "shards multiplies their wealth, and the loss explodes",
    "full": "its weights grow with the exponential of its state, so adding the states of shards "
    "multiplies their wealth, and the loss explodes",
    "scinol2": "each gradient depends on the weights of its moment, so that sums over shards are "
    "those of no run (12 to 88 % more loss at 4 shards)",
    "nag": "its weights are the end of one path, and the mean of several ends lies on none "
    "(1 to 60 % more loss)",
    "newton": "each step is taken around the weights and means of its moment, so that the matrices "
    "of shards belong to different frames",
}
OTHERS = (
    "its state depends on the order of all rows before, so the states of shards cannot be added"
)


@dataclass
class Sharded:
    """A model made from shards.

    ======== =============================================================================
    field    meaning
    ======== =============================================================================
    model    a `StreamModel` like any other; it goes on learning
    shards   into how many runs of parts the source was cut
    rows     rows learned
    losses   average loss, rows predicted before they were learned: by shard, each a stream
             of its own (VAW); of the blend and by member (Blend)
    ======== =============================================================================

    >>> made = Sharded(StreamModel("regression", Vaw()), 2, 9, {"shard 1": 0.5, "shard 2": 0.25})
    >>> made.shards, made.rows, made.losses["shard 2"]
    (2, 9, 0.25)
    """

    model: StreamModel
    shards: int
    rows: int
    losses: dict[str, float]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model; shards, rows and losses are among its notes."""
        notes = {"shards": self.shards, "rows": self.rows, "losses": self.losses}
        persistence.save(self.model, path, notes=notes)


def fit_sharded(
    learner: str | Learner,
    source: Source | str | os.PathLike[str],
    *,
    shards: int,
    address: str | None = None,
    retries: int = 3,
    workers: int | None = None,
    progress: Watcher | None = None,
) -> Sharded:
    """Learn one model from many parts, on all cores or on a cluster.

    Parameters
    ----------
    learner
        "vaw" or "blend", or a fresh one of these. VAW: shards are learned at the same time and
        joined, which differs from one pass by rounding. Blend: its members are learned at the same
        time, each over all rows, which does not differ in a bit.
    source
        A `Source`, or the path of one that needs no target (svmlight).
    shards
        Into how many runs of consecutive parts the source is cut. It is part of what is computed:
        the same source, shards and version give the same bits on any number of workers.
    address
        A Ray cluster to join; None: one is started on this machine and stopped at the end.
    retries
        How often a task is tried again after its worker died.
    workers
        Tasks at a time of the embedded Ray; by default as many as there are cores.
    progress
        Called with a `Progress` at least every second; an error that it raises ends the fit.

    Raises
    ------
    ValueError
        For a learner whose shards cannot be put together, and for a bad row, with file and part.
    OSError
        For a file that is not there, and `WorkerLost` if retries did not help.

    >>> fit_sharded("coordinate", "clicks.svm", shards=2)
    Traceback (most recent call last):
    ...
    ValueError: coordinate cannot be learned in shards: its weights grow with the exponential of \
its state, so adding the states of shards multiplies their wealth, and the loss explodes; use vaw, \
blend, or fit_by_key
    """
    source = as_source(source)
    kind = _mergeable(learner)
    if kind is Vaw and source.task == "auto":
        source = replace(source, task="regression")
    parts = parts_of(source)
    groups = shards_of(parts, shards)
    start = start_of(source, learner, parts)
    with running(address, workers) as ray:
        crew = Crew(ray, retries, progress)
        if kind is Vaw:
            return _Vaw(crew, source, groups).run(start)
        from unitless.distributed.members import by_members

        return Sharded(*by_members(crew, source, groups, start))


def _mergeable(learner: str | Learner) -> type[Learner]:
    """VAW or Blend; all others are refused with the reason."""
    kind = get(learner) if isinstance(learner, str) else type(learner)
    for good in (Vaw, Blend):
        if issubclass(kind, good):
            if isinstance(learner, Vaw) and learner.state.targets[COUNT]:
                raise ValueError("this VAW has learned already, and every shard would count that")
            return good
    raise ValueError(
        f"{kind.name} cannot be learned in shards: {WHY.get(kind.name, OTHERS)}; use vaw, blend, "
        "or fit_by_key"
    )


# VAW: learn shards, number their features alike, join them two by two


def learn_shard(
    start: Start, source: Source, parts: list[Part], first: float | None
) -> tuple[tuple[Score, Columns | None, dict[str, Any]], Vaw]:
    """A task: the rows of a shard, learned by themselves."""
    model, score = deepcopy(start.model), Score()
    assert isinstance(model.learner, Vaw)
    if first is not None:
        model.learner = begun(model.learner, first)
    for part in parts:
        for block in read(source, part, start.types):
            with naming(part, block):
                score = score.plus(learned(model, block))
    return (score, model.columns, model.position), model.learner


def join(one: Vaw, two: Vaw, columns: tuple[NDArray[np.int64] | None, ...], width: int) -> Vaw:
    """A task: two models as one. A shard's features still have to get their columns."""
    mine, others = (
        learner if places is None else renumbered(learner, places, width)
        for learner, places in zip((one, two), columns, strict=True)
    )
    return merged(mine, others)


@dataclass
class _Vaw:
    crew: Crew
    source: Source
    groups: list[list[Part]]

    def run(self, start: Start) -> Sharded:
        """Learn and join; again if columns turn out to have too many levels for one map."""
        reports, learners = self._map(start)
        columns, places = _numbered([report[1] for report in reports])
        if columns is not None and columns.overfull() and len(self.groups) > 1:
            warnings.warn(_MANY.format(columns.max_levels), ManyLevels, stacklevel=3)
            start = start._replace(model=replace(start.model, columns=columns.settled()))
            del learners
            reports, learners = self._map(start)
            columns, places = _numbered([report[1] for report in reports])
        model = replace(start.model, columns=columns, position=reports[-1][2])
        model.learner = self._joined(learners, places, 0 if columns is None else len(columns))
        model.rows = sum(score.rows for score, *_ in reports)
        losses = {f"shard {k}": report[0].mean for k, report in enumerate(reports, start=1)}
        return Sharded(model, len(self.groups), model.rows, losses)

    def _map(self, start: Start) -> tuple[list[Any], list[Any]]:
        """Reports of the shards, and references to their learners."""
        first = self._first_target(start)
        learn = self.crew.task(learn_shard, returns=2)
        shared = self.crew.ray.put(start)
        pairs = [
            learn.remote(shared, self.source, group, first if k else None)
            for k, group in enumerate(self.groups)
        ]
        names = {pair[0]: named(group) for pair, group in zip(pairs, self.groups, strict=True)}
        sizes = {pair[0]: len(group) for pair, group in zip(pairs, self.groups, strict=True)}
        reports, done, rows = {}, 0, 0
        self.crew.tell("learning", 0, sum(sizes.values()), 0)
        for ref, report in self.crew.finished(names):
            reports[ref], done, rows = report, done + sizes[ref], rows + report[0].rows
            self.crew.tell("learning", done, sum(sizes.values()), rows)
        return [reports[ref] for ref, _ in pairs], [learner for _, learner in pairs]

    def _first_target(self, start: Start) -> float | None:
        """The first target of all that counts; shards that come later count from it."""
        if len(self.groups) == 1:
            return None
        model = deepcopy(start.model)
        for group in self.groups:
            for part in group:
                for block in read(self.source, part, start.types):
                    for rows, _ in pieces(model, block):
                        counts = np.ones(len(rows)) if rows.weights is None else rows.weights
                        if counts.any() and rows.targets is not None:
                            return float(rows.targets[np.argmax(counts > 0)])
        return 0.0

    def _joined(self, learners: list[Any], places: list[Any], width: int) -> Vaw:
        """The root of a binary tree: neighbours are joined, then neighbours of these."""
        joined = self.crew.task(join)
        level = list(zip(learners, places, strict=True))
        while len(level) > 1:
            above = []
            for one, two in zip(level[::2], level[1::2], strict=False):
                above.append((joined.remote(one[0], two[0], (one[1], two[1]), width), None))
            level = above + level[len(above) * 2 :]
        what = f"joining the shards of {self.source.name}"
        root: Vaw = deepcopy(self.crew.result(level[0][0], what))
        return root if level[0][1] is None else renumbered(root, level[0][1], width)


_MANY = (
    "a column has more than {} levels: all but the first are hashed, for which the shards are "
    "learned once more"
)


def _numbered(maps: list[Columns | None]) -> tuple[Columns | None, list[Any]]:
    """One map of all features, in order of appearance, and where those of each shard stand."""
    if maps[0] is None:
        return None, [None] * len(maps)
    union = deepcopy(maps[0])
    places = [np.arange(len(union))]
    for each in maps[1:]:
        assert each is not None
        places.append(union.absorb(each))
    return union, places
