"""fit_by_key: one model a key, rows of a key in the order of the source.

Two stages. Hands of parts are dealt: their rows go to buckets by a hash of their key. Then buckets
are learned: all rows of a key are in one bucket, so key after key has its model learned and packed.
A bucket with many keys is learned in several batches. Neither hands nor buckets nor batches depend
on who works on them, and models are written in their order.
"""

import os
import tempfile
import weakref
from collections import deque
from collections.abc import Iterator
from copy import deepcopy
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.distributed.cluster import running
from unitless.distributed.dealing import Dealt, Stretch, deal, picked, runs, taken
from unitless.distributed.learning import Score, Start, learned, naming, start_of
from unitless.distributed.parts import (
    Part,
    Source,
    as_source,
    format_named,
    named,
    parts_of,
    shards_of,
)
from unitless.distributed.tasks import Crew, Watcher
from unitless.learners.base import Learner
from unitless.persistence.many import Many, ManyWriter
from unitless.persistence.saving import as_bytes
from unitless.readers import Block

BUCKETS, MOST_BUCKETS, BUCKET_BYTES = 16, 256, 1 << 25
"""Of the files: hands and buckets have about as much."""
KEYS = 1000
"""Models of a batch, about."""
BLOCK_BYTES = 1 << 23
"""What is learned at a time, about."""


class Keyed(Many):
    """The models by key, in a file; each is loaded when it is asked for.

    `rows` is how many rows were learned, `loss` their average loss, each predicted before it was.
    """

    rows: int
    loss: float


def fit_by_key(
    learner: str | Learner,
    source: Source | str | os.PathLike[str],
    key: str,
    *,
    address: str | None = None,
    retries: int = 3,
    save: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    progress: Watcher | None = None,
) -> Keyed:
    """Learn one model for every key (customer, sensor, carrier), on all cores or on a cluster.

    Each is what one process makes of the rows of that key alone, to the bit; task and classes are
    those of the first rows of the source. A model is a `StreamModel`.

    Parameters
    ----------
    learner
        Any learner, by name or a fresh one.
    source
        A `Source`: a table, as the key is a column. The key is no feature.
    key
        The column of keys: text, or numbers that are told apart as float64.
    save
        The file of all models; by default a temporary one that goes with the result.
    address, retries, workers, progress
        As for `fit_sharded`.

    Raises
    ------
    ValueError
        For a bad row, or one without a key, with file, part and row.
    OSError
        For a file that is not there, and `WorkerLost` if retries did not help.

    >>> fit_by_key("blend", Source("flights", target="carrier"), "carrier")
    Traceback (most recent call last):
    ...
    ValueError: column 'carrier' cannot be both key and target
    """
    source = as_source(source)
    if key == source.target:
        raise ValueError(f"column {key!r} cannot be both key and target")
    parts = parts_of(source)
    if format_named(source, [parts[0].file]) == "svmlight":
        raise ValueError(f"{source.name}: svmlight has no column {key!r}, nor any other")
    start = start_of(source, learner, parts, key)
    path = save if save is not None else _temporary()
    with running(address, workers) as ray, ManyWriter(path) as writer:
        crew, shared = Crew(ray, retries, progress), ray.put(start)
        dealt = _dealt(crew, source, parts, key, shared)
        score = _learned(crew, source, parts, dealt, shared, writer)
    keyed = Keyed(path)
    keyed.rows, keyed.loss = score.rows, score.mean
    if save is None:
        weakref.finalize(keyed, os.unlink, path)
    return keyed


def _temporary() -> str:
    handle, path = tempfile.mkstemp(suffix=".unitless")
    os.close(handle)
    return path


class Deal(NamedTuple):
    """What dealing left."""

    pieces: list[list[Any]]
    """By hand and bucket: references to rows."""
    keys: NDArray[np.int64]
    """By bucket, those of different hands counted apart: no less than there are."""
    rows: NDArray[np.int64]
    """By bucket."""

    def batches(self) -> list[tuple[int, int, int]]:
        """(bucket, which of its batches, of how many), those with most rows first.

        What begins last is then short, and nobody waits for it long.
        """
        numbers = [-(-int(keys) // KEYS) for keys in self.keys]
        made = [(bucket, k, n) for bucket, n in enumerate(numbers) for k in range(n)]
        return sorted(made, key=lambda batch: -self.rows[batch[0]] / batch[2])


def _dealt(crew: Crew, source: Source, parts: list[Part], key: str, shared: Any) -> Deal:
    """Deal all parts."""
    size = sum(os.path.getsize(file) for file in {part.file for part in parts})
    many = max(BUCKETS, size // BUCKET_BYTES)
    hands, count = shards_of(parts, min(many, len(parts))), min(many, MOST_BUCKETS)
    dealing = crew.task(deal, returns=1 + count)
    refs = [dealing.remote(source, hand, key, shared, count) for hand in hands]
    hand_of = {own[0]: hand for own, hand in zip(refs, hands, strict=True)}
    names = {ref: named(hand) for ref, hand in hand_of.items()}
    keys, rows, done = np.zeros(count, np.int64), np.zeros(count, np.int64), 0
    crew.tell("dealing", 0, len(parts), 0)
    for ref, found in crew.finished(names):
        keys, rows, done = keys + found[0], rows + found[1], done + len(hand_of[ref])
        crew.tell("dealing", done, len(parts), int(rows.sum()))
    return Deal([own[1:] for own in refs], keys, rows)


def _learned(
    crew: Crew, source: Source, parts: list[Part], dealt: Deal, shared: Any, writer: ManyWriter
) -> Score:
    """Learn batch after batch, some at a time, and write their models in this order."""
    batches, count = dealt.batches(), len(dealt.keys)
    learning, every = crew.task(learn_keys), crew.ray.put(parts)
    window = 2 * max(1, int(crew.ray.cluster_resources().get("CPU", 1)))
    score, waiting, next_one = Score(), deque[Any](), 0
    crew.tell("learning", 0, len(batches), 0, "batches of keys")
    for done in range(len(batches)):
        while next_one < min(len(batches), done + window):
            bucket, *which = batches[next_one]
            rows = (piece[bucket] for piece in dealt.pieces)
            waiting.append(learning.remote(shared, every, (count, *which), *rows))
            next_one += 1
        what = f"keys of {source.name}, batch {done + 1} of {len(batches)}"
        models, own = crew.result(waiting.popleft(), what)
        for name, model in models:
            writer.add(name, model)
        score = score.plus(own)
        crew.tell("learning", done + 1, len(batches), score.rows, "batches of keys")
    return score


def learn_keys(
    start: Start, parts: list[Part], which: tuple[int, int, int], *dealt: list[Dealt]
) -> tuple[list[tuple[str, bytes]], Score]:
    """A task: the models of a batch of keys, packed, and what they scored."""
    models, score = [], Score()
    for name, stretches in picked(chain(*dealt), *which).items():
        model = deepcopy(start.model)
        try:
            for block in _blocks(stretches):
                score = score.plus(learned(model, block))
        except ValueError:
            _learn_by_part(deepcopy(start.model), parts, stretches)
            raise
        model.position = {}
        models.append((name, as_bytes(model)))
    return models, score


def _blocks(stretches: list[Stretch]) -> Iterator[Block]:
    """As few as there can be: few rows at a time cost a learner more than their number."""
    for stretch in stretches:
        many = max(1, BLOCK_BYTES // (8 * stretch.frame.width))
        for first in range(0, len(stretch.lines), many):
            yield taken(stretch, slice(first, first + many)).block()


def _learn_by_part(model: Any, parts: list[Part], stretches: list[Stretch]) -> None:
    """Learn rows that cannot be learned once more, for an error that names their part."""
    for stretch in stretches:
        for number, rows in runs(stretch.parts):
            block = taken(stretch, rows).block()
            with naming(parts[number - 1], block):
                learned(model, block)
