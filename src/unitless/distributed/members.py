"""A Blend by its members: one task a member over all rows, then one pass over their scores.

Members do not look at each other: what one of them sees of a row (its view, in the panel's units)
follows from the rows alone. So each plays on a panel of its own on which the others are absent, and
the mixer, which sees only scores and targets, is told of them later, in the same order. The source
is worked through stretch by stretch (a stretch is a shard), so that scores need no more memory than
a stretch has rows, and what dies is tried again from the last stretch on::

    rows of stretch k  ->  member 1, ..., member K, each behind its own stretch k - 1  ->  mixer
"""

from copy import deepcopy
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless import losses
from unitless.blend.blend import Blend
from unitless.blend.ensemble import Ensemble, _learn
from unitless.distributed.learning import Score, Start, naming, pieces, read, scored
from unitless.distributed.parts import Part, Source
from unitless.distributed.tasks import Crew
from unitless.learners.base import _checked_weights, arrays_of
from unitless.model import StreamModel
from unitless.rows import Rows, _one_type

Float = NDArray[np.float64]
AHEAD = 2
"""Stretches under way at a time."""


class Alone(Ensemble):
    """A panel on which one member plays; it takes in all rows, as the whole panel would."""

    member: int
    played: int
    """Rows that the member was shown."""

    @property
    def view(self) -> str:
        """What the member looks at."""
        return self.members[self.member].view

    def _learn(self, rows: Any, targets: Float, weights: Float) -> Any:
        learner = self.learners[self.member]
        if learner is None:
            return None
        self.played += len(targets)
        shown = self._views(*rows, learn=True)[self.view]
        return _learn(learner, shown, targets, weights, len(targets))


class Piece(NamedTuple):
    """Rows with labels, one behind the other."""

    rows: Rows
    new: int
    """Classes that appear with the first of them."""
    part: Part


def load(model: StreamModel, source: Source, parts: list[Part], types: dict[str, str]) -> Any:
    """A task: the rows of a stretch, and the model that knows their features and classes."""
    model, found = deepcopy(model), []
    for part in parts:
        for block in read(source, part, types):
            with naming(part, block):
                found += [Piece(rows, new, part) for rows, new in pieces(model, block)]
            model.position = block.position
    return model, found


def alone(blend: Blend, member: int) -> Blend:
    """A copy of the blend with that member only, and without a mixer."""
    made = deepcopy(blend)
    panel = Alone.__new__(Alone)
    vars(panel).update(vars(made.ensemble), member=member, played=0)
    panel.learners = [each if k == member else None for k, each in enumerate(panel.learners)]
    made.ensemble = panel
    return made


def play(blend: Blend, found: list[Piece]) -> tuple[Blend, list[tuple[Float, NDArray[np.bool_]]]]:
    """A task: a member's scores of a stretch, and in which rows it was there."""
    blend = deepcopy(blend)
    return blend, [_played(blend, piece) for piece in found]


def _played(blend: Blend, piece: Piece) -> tuple[Float, NDArray[np.bool_]]:
    with naming(piece.part):
        _add_classes(blend, piece.new)
        arrays, targets, weights = _checked(blend, piece.rows)
    scores, there = np.zeros(_shape(blend, len(targets))), np.zeros(len(targets), dtype=bool)

    def tell(first: int, last: int, some: Float | None) -> None:
        if some is not None:
            scores[first:last], there[first:last] = some, True

    blend.ensemble.learn(arrays, targets, weights, tell)
    return (scores if there.any() else scores[:0]), there


def _shape(blend: Blend, rows: int) -> Any:
    return blend._room(rows).shape


def _add_classes(blend: Blend, count: int) -> None:
    for _ in range(count):
        blend.add_class()


def _checked(blend: Blend, rows: Rows) -> tuple[Any, Float, Float]:
    """What `Blend.learn` looks at and how it counts targets, before its panel sees them."""
    rows = writable(rows)
    assert rows.targets is not None
    targets, weights = rows.targets, _checked_weights(rows)
    losses.check_targets(blend.loss, targets, blend.classes)
    blend._check(targets, weights)
    blend._reserve(rows.columns)
    if blend.target_scaler is not None:
        counts = weights > 0 if len(weights) else slice(None)
        targets = targets.copy()
        targets[counts] = blend.target_scaler.learn(targets[counts])
    return arrays_of(rows), targets, weights


def writable(rows: Rows) -> Rows:
    """Rows out of Ray's store are read-only, for which kernels would be compiled anew."""
    arrays = (getattr(rows, name) for name in ("values", "indices", "starts"))
    values, indices, starts = (None if a is None else _one_type(a) for a in arrays)
    targets, weights = (None if a is None else _one_type(a) for a in (rows.targets, rows.weights))
    assert values is not None
    return Rows(values, indices, starts, rows.columns, targets, weights)


def mix(blend: Blend, found: list[Piece], *scores: Any) -> tuple[Blend, list[Score]]:
    """A task: the mixer over the members' scores; what the blend and each member were worth."""
    blend = deepcopy(blend)
    books = [Score()] * (1 + len(scores))
    for k, piece in enumerate(found):
        _add_classes(blend, piece.new)
        own = _mixed(blend, piece.rows, [each[k] for each in scores])
        books[0] = books[0].plus(scored(blend, piece.rows, own))
        for j, (theirs, there) in enumerate(each[k] for each in scores):
            if there.any():
                books[1 + j] = books[1 + j].plus(_worth(blend, piece.rows, theirs, there))
    return blend, books


def _worth(blend: Blend, rows: Rows, scores: Float, there: NDArray[np.bool_]) -> Score:
    """What a member's scores were worth, where it was there."""
    weights = there.astype(np.float64)
    if rows.weights is not None:
        weights *= rows.weights
    found = scores if blend.target_scaler is None else blend.target_scaler.decode(scores)
    return scored(blend, replace(rows, weights=weights), found)


def _mixed(blend: Blend, rows: Rows, members: list[Any]) -> Float:
    """Let the mixer learn rows whose scores by the members are known; the blend's own scores."""
    new = blend.target_scaler is not None and not blend.target_scaler.state[0]
    _, targets, weights = _checked(blend, rows)
    table = np.zeros((len(rows), len(members), *_shape(blend, 0)[1:]))
    for k, (scores, _) in enumerate(members):
        if len(scores):
            table[:, k] = scores
    there = np.column_stack([there for _, there in members])
    out = np.zeros(_shape(blend, len(rows)))
    for first, last in _stretches(there):
        if there[first].any():  # rows of weight 0 are nobody's
            blend.mixture.drop(there[first])
            own = weights[first:last] if len(weights) else weights
            blend.mixture.learn(table[first:last], targets[first:last], own, out[first:last])
    shown: Float = blend._shown(out, weights, new)
    return shown


def _stretches(there: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Runs of rows in which the same members were there."""
    changes = np.flatnonzero((there[1:] != there[:-1]).any(axis=1)) + 1
    return list(pairwise([0, *changes.tolist(), len(there)]))


def whole(players: list[Blend], mixed: Blend) -> Blend:
    """The blend of which these are the members, and that the mixer."""
    panels: list[Any] = [player.ensemble for player in players]
    panel = Ensemble.__new__(Ensemble)
    vars(panel).update(vars(panels[0]))
    del panel.member, panel.played  # type: ignore[attr-defined]
    panel.learners = [own.learners[k] for k, own in enumerate(panels)]
    panel.moments = _longest(panels, ("centred", "squashed")).moments
    panel.normalised = _longest(panels, ("normalised",)).normalised
    mixed.ensemble = panel
    return mixed


def _longest(panels: list[Any], views: tuple[str, ...]) -> Any:
    """Of the panels whose member looks at one of these views, that whose member stayed longest."""
    return max(panels, key=lambda panel: panel.played if panel.view in views else -1)


def by_members(
    crew: Crew, source: Source, groups: list[list[Part]], start: Start
) -> tuple[StreamModel, int, int, dict[str, float]]:
    """The model, shards, rows and losses."""
    blend: Any = start.model.learner
    names = [member.name for member in blend.ensemble.members]
    loading, playing, mixing = (crew.task(function, returns=2) for function in (load, play, mix))
    put = crew.ray.put
    model, mixed = put(start.model), put(blend)
    players = [put(alone(blend, k)) for k in range(len(names))]
    under_way: list[Any] = []
    books, done = [Score()] * (1 + len(names)), 0
    crew.tell("learning", 0, sum(map(len, groups)), 0)
    for group in [*groups, *[None] * AHEAD]:
        if group is not None:
            model, rows = loading.remote(model, source, group, start.types)
            pairs = [playing.remote(player, rows) for player in players]
            players = [player for player, _ in pairs]
            mixed, book = mixing.remote(mixed, rows, *(scores for _, scores in pairs))
            under_way.append((book, group))
        if group is None or len(under_way) > AHEAD:
            if not under_way:
                continue
            book, ended = under_way.pop(0)
            each = crew.result(book, str(ended[0]))
            books = [a.plus(b) for a, b in zip(books, each, strict=True)]
            done += len(ended)
            crew.tell("learning", done, sum(map(len, groups)), books[0].rows)
    final: StreamModel = crew.result(model, source.name)
    ends = [crew.result(player, source.name) for player in players]
    end = crew.result(mixed, source.name)
    final.learner = whole(deepcopy(ends), deepcopy(end))
    losses = {name: book.mean for name, book in zip(["blend", *names], books, strict=True)}
    return final, len(groups), final.rows, losses
