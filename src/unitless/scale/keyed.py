"""fit_by_key: one model a key, rows of a key in the order of the source.

Two stages. Parts are dealt: the rows of each go to buckets by a hash of their key. Then buckets
are learned: all rows of a key are in one bucket, part after part, so key after key has its model
learned and packed. A bucket with many keys is learned in several batches. Neither the number of
buckets nor that of batches depends on who works on them, and models are written in their order.
"""

import os
import tempfile
import weakref
from collections import deque
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from itertools import groupby
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from unitless.learners.protocol import Learner
from unitless.models.many import Many, ManyWriter
from unitless.models.saving import as_bytes
from unitless.readers import Block
from unitless.scale.cluster import running
from unitless.scale.learning import PartError, Score, Start, learned, naming, read, start_of
from unitless.scale.parts import Part, Source, as_source, format_named, parts_of
from unitless.scale.tasks import Crew, Watcher

BUCKETS, MOST_BUCKETS, BUCKET_BYTES = 16, 256, 1 << 25
KEYS = 1000
"""Models of a batch, about."""
EXACT = 2.0**53
"""Whole numbers from here on are not all different as float64."""


class Dealt(NamedTuple):
    """Rows of one bucket: a stretch of a part."""

    part: Part
    block: Block
    keys: list[str]
    """Distinct, by code."""
    codes: NDArray[np.int64]
    """Of each row, sorted: the rows of a key lie together, in the order of the source."""


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
        crew = Crew(ray, retries, progress)
        score = _learned(crew, source, _dealt(crew, source, parts, key, start), start, writer)
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
    """By part and bucket: references to rows."""
    keys: NDArray[np.int64]
    """By bucket, those of different parts counted apart: no less than there are."""


def _dealt(crew: Crew, source: Source, parts: list[Part], key: str, start: Start) -> Deal:
    """Deal all parts."""
    count = _buckets(parts)
    dealing = crew.task(deal, returns=1 + count)
    refs = [dealing.remote(source, part, key, start.types, count) for part in parts]
    names = {own[0]: str(part) for own, part in zip(refs, parts, strict=True)}
    counts, rows = np.zeros(count, dtype=np.int64), 0
    with crew.cancelling(names):
        for done, (_, (own, keys)) in enumerate(crew.finished(names), start=1):
            counts, rows = counts + keys, rows + own
            crew.tell("dealing", done, len(parts), rows)
    return Deal([own[1:] for own in refs], counts)


def _learned(crew: Crew, source: Source, dealt: Deal, start: Start, writer: ManyWriter) -> Score:
    """Learn batch after batch, some at a time, and write their models in this order."""
    numbers = [-(-int(keys) // KEYS) for keys in dealt.keys]
    batches = [(bucket, k, n) for bucket, n in enumerate(numbers) for k in range(n)]
    shared, learning = crew.ray.put(start), crew.task(learn_keys)
    window = 2 * max(1, int(crew.ray.cluster_resources().get("CPU", 1)))
    score, waiting, next_one = Score(), deque[Any](), 0
    with crew.cancelling(waiting):
        for done in range(len(batches)):
            while next_one < min(len(batches), done + window):
                bucket, *which = batches[next_one]
                waiting.append(learning.remote(shared, which, *(p[bucket] for p in dealt.pieces)))
                next_one += 1
            what = f"keys of {source.name}, batch {done + 1} of {len(batches)}"
            models, own = crew.result(waiting[0], what)
            waiting.popleft()
            for name, model in models:
                writer.add(name, model)
            score = score.plus(own)
            crew.tell("learning", done + 1, len(batches), score.rows)
    return score


def _buckets(parts: list[Part]) -> int:
    """So many that the rows of one fit into memory, whatever the number of workers."""
    size = sum(os.path.getsize(file) for file in {part.file for part in parts})
    return min(max(BUCKETS, size // BUCKET_BYTES), MOST_BUCKETS)


def deal(
    source: Source, part: Part, key: str, types: dict[str, str], count: int
) -> tuple[Any, ...]:
    """A task: (rows, keys by bucket), then the rows of each bucket."""
    dealt: list[list[Dealt]] = [[] for _ in range(count)]
    seen: list[set[str]] = [set() for _ in range(count)]
    rows = 0
    for block in read(source, part, types):
        keys, codes = keys_of(block, key, part)
        hashes = np.array([_hash(each) % count for each in keys], dtype=np.int64)
        order = np.lexsort((codes, hashes[codes]))  # rows of a key stay in their order
        block, codes = taken(block, order), codes[order]
        for bucket, rows_of in _runs(hashes[codes]):
            dealt[bucket].append(Dealt(part, taken(block, rows_of), keys, codes[rows_of]))
            seen[bucket].update(k for k, own in zip(keys, hashes, strict=True) if own == bucket)
        rows += len(block)
    return (rows, np.array([len(each) for each in seen])), *dealt


def _hash(key: str) -> int:
    return crc32(key.encode("utf-8", "surrogatepass"))


def keys_of(block: Block, key: str, part: Part) -> tuple[list[str], NDArray[np.int64]]:
    """The distinct keys of a block as text, in order of appearance, and the code of each row."""
    import polars as pl

    assert block.frame is not None
    if key not in block.frame.columns:
        listed = ", ".join(map(repr, block.frame.columns[:20]))
        raise PartError(f"{part.file}: there is no column {key!r}; there are {listed}")
    column = block.frame.get_column(key)
    numbers = column.dtype == pl.Float64
    bad = column.is_null() | (column.is_nan() | (column.abs() >= EXACT) if numbers else False)
    if bad.any():
        row = int(bad.arg_max() or 0)
        why = "is missing" if column[row] is None or column[row] != column[row] else (
            f"{column[row]:.17g} is not below 2^53, where whole numbers cannot be told apart: "
            "store it as text"
        )  # fmt: skip
        raise PartError(
            f"{part.file}, line {block.lines[row]}, column {key!r}: the key {why} "
            f"(part {part.number} of {part.of})"
        )
    distinct = column.unique(maintain_order=True)
    codes = column.replace_strict(distinct, np.arange(len(distinct)), return_dtype=pl.Int64)
    return [_text(each) for each in distinct], codes.to_numpy()


def _text(key: Any) -> str:
    """A key as text: 7 for 7.0.

    >>> _text(7.0), _text("007"), _text(True), _text(0.5)
    ('7', '007', 'true', '0.5')
    """
    if isinstance(key, bool):
        return str(key).lower()
    return str(int(key)) if isinstance(key, float) and key == int(key) else str(key)


def taken(block: Block, rows: NDArray[np.int64] | slice) -> Block:
    """Some rows of a table's block."""
    assert block.frame is not None
    return replace(
        block,
        frame=block.frame[rows],
        lines=block.lines[rows],
        targets=None if block.targets is None else block.targets[rows],
        weights=None if block.weights is None else block.weights[rows],
    )


def joined(blocks: list[Block]) -> Block:
    """Blocks of one part as one: few rows at a time cost a learner more than their number."""
    import polars as pl

    if len(blocks) == 1:
        return blocks[0]

    def together(arrays: list[Any]) -> Any:
        return None if arrays[0] is None else np.concatenate(arrays)

    return replace(
        blocks[-1],
        frame=pl.concat([block.frame for block in blocks if block.frame is not None]),
        lines=together([block.lines for block in blocks]),
        targets=together([block.targets for block in blocks]),
        weights=together([block.weights for block in blocks]),
        start=blocks[0].start,
    )


def learn_keys(start: Start, which: list[int], *pieces: list[Dealt]) -> tuple[Any, Score]:
    """A task: the models of one of several batches of a bucket, packed, and what they scored."""
    models, score = [], Score()
    for name, stretches in _by_key(which, pieces).items():
        model = deepcopy(start.model)
        for part, own in groupby(stretches, key=lambda stretch: stretch[0].part):
            block = joined([taken(dealt.block, rows) for dealt, rows in own])
            with naming(part, block):
                score = score.plus(learned(model, block))
        model.position = {}
        models.append((name, as_bytes(model)))
    return models, score


def _by_key(which: list[int], pieces: Any) -> dict[str, list[tuple[Dealt, slice]]]:
    """Where the rows of each key of the batch are, in the order of the source."""
    batch, batches = which
    found: dict[str, list[tuple[Dealt, slice]]] = {}
    for dealt in (each for piece in pieces for each in piece):
        for code, rows in _runs(dealt.codes):
            name = dealt.keys[code]
            if _hash(f"{name}/") % batches == batch:
                found.setdefault(name, []).append((dealt, rows))
    return found


def _runs(codes: NDArray[np.int64]) -> Iterator[tuple[int, slice]]:
    """(code, its rows) of codes that are sorted."""
    there, starts = np.unique(codes, return_index=True)
    ends = np.append(starts[1:], len(codes))
    for code, start, end in zip(there.tolist(), starts.tolist(), ends.tolist(), strict=True):
        yield code, slice(start, end)
