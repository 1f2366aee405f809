"""Rows dealt to buckets by their key, and picked up again key by key.

A hand is some parts of the source. Its rows go to buckets by a hash of their key, sorted by key;
then all that the hands have for a bucket, or for a batch of its keys, is put together. Both are
done to many rows at once, and what a learner gets are long stretches of one key.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from unitless.distributed.learning import PartError, Start, read
from unitless.distributed.parts import Part, Source
from unitless.readers import Block

EXACT = 2.0**53
"""Whole numbers from here on are not all different as float64."""
Int = NDArray[np.int64]


class Stretch(NamedTuple):
    """Rows of the same columns: each field has an entry a row."""

    frame: Any
    """The features, as polars has them."""
    codes: Int
    """Which key."""
    parts: Int
    """The number of the part."""
    lines: Int
    targets: NDArray[Any] | None
    weights: NDArray[np.float64] | None

    def block(self) -> Block:
        """As a learner gets it."""
        return Block(self.frame, None, self.lines, {}, {}, self.targets, self.weights)


class Dealt(NamedTuple):
    """What a hand has for a bucket, sorted by key."""

    rows: Stretch
    """Its frame is Arrow's: workers read it where it lies in Ray's store."""
    keys: Any
    """By code, Arrow's too."""
    marks: Int
    """Hashes of the keys."""


def deal(source: Source, hand: list[Part], key: str, start: Start, count: int) -> tuple[Any, ...]:
    """A task: (keys by bucket, rows by bucket), then what there is for each bucket."""
    import polars as pl

    names: dict[str, int] = {}
    read_in = [
        _coded(block, key, part, start, names)
        for part in hand
        for block in read(source, part, start.types)
    ]
    keys, marks = pl.Series(list(names)), np.array([crc32(name.encode()) for name in names])
    dealt: list[list[Dealt]] = [[] for _ in range(count)]
    rows = np.zeros(count, dtype=np.int64)
    for whole in joined(read_in):
        for bucket, own in _by_bucket(whole.codes, marks % count):
            there, codes = np.unique(whole.codes[own], return_inverse=True)
            mine = taken(whole, own)
            mine = mine._replace(frame=mine.frame.to_arrow(), codes=codes)
            dealt[bucket].append(Dealt(mine, keys[there].to_arrow(), marks[there]))
            rows[bucket] += len(own)
    return (np.bincount(marks % count, minlength=count), rows), *dealt


def _coded(block: Block, key: str, part: Part, start: Start, names: dict[str, int]) -> Stretch:
    """The rows of a block, with the codes that `names` has for their keys, or gets."""
    assert block.frame is not None
    keys, codes = keys_of(block, key, part)
    ids = np.array([names.setdefault(name, len(names)) for name in keys], dtype=np.int64)
    aside = {key, *start.model.ignore} - {*start.model.keep}
    kept = [name for name in block.frame.columns if name not in aside]
    frame = block.frame.select(kept or key)  # without a column polars forgets the rows
    parts = np.full(len(block), part.number)
    return Stretch(frame, ids[codes], parts, block.lines, block.targets, block.weights)


def _by_bucket(codes: Int, buckets: Int) -> Iterator[tuple[int, Int]]:
    """(bucket, its rows): sorted by key, those of a key in their order."""
    order = np.argsort(buckets, kind="stable")
    ranks = np.empty(len(buckets), dtype=np.min_scalar_type(len(buckets)))  # small ones sort fast
    ranks[order] = np.arange(len(buckets))
    rows = np.argsort(ranks[codes], kind="stable")
    for bucket, own in runs(buckets[codes[rows]]):
        yield bucket, rows[own]


def keys_of(block: Block, key: str, part: Part) -> tuple[list[str], Int]:
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


def picked(
    dealt: Iterable[Dealt], count: int, batch: int, batches: int
) -> dict[str, list[Stretch]]:
    """The rows of each key of one of several batches of a bucket, in the order of the source."""
    import polars as pl

    names: dict[str, int] = {}
    stretches = []
    for each in dealt:
        mine = np.flatnonzero(each.marks // count % batches == batch)
        codes = np.full(len(each.marks), -1)
        keys = pl.Series(each.keys)[mine]
        codes[mine] = [names.setdefault(key, len(names)) for key in keys]
        rows = each.rows._replace(
            frame=pl.from_arrow(each.rows.frame), codes=codes[each.rows.codes]
        )
        stretches.append(taken(rows, np.flatnonzero(rows.codes >= 0)))
    found: list[list[Stretch]] = [[] for _ in names]
    for whole in joined(stretches):
        whole = taken(whole, np.argsort(whole.codes, kind="stable"))
        for code, own in runs(whole.codes):
            found[code].append(taken(whole, own))
    return dict(zip(names, found, strict=True))


def taken(stretch: Stretch, rows: Int | slice) -> Stretch:
    """Some of the rows."""
    fields: Iterable[Any] = stretch
    own: Iterable[Any] = (None if each is None else each[rows] for each in fields)
    return Stretch(*own)


def joined(stretches: Iterable[Stretch]) -> Iterator[Stretch]:
    """Stretches that have the same columns and follow each other, as one."""
    import polars as pl

    for _, same in groupby(stretches, key=lambda stretch: stretch.frame.schema):
        frames, *others = zip(*same, strict=True)
        rest: Iterable[Any] = (None if k[0] is None else np.concatenate(k) for k in others)
        yield Stretch(pl.concat(frames, rechunk=True), *rest)


def runs(codes: Int) -> Iterator[tuple[int, slice]]:
    """(code, its rows) of codes that are sorted.

    >>> list(runs(np.array([3, 3, 7])))
    [(3, slice(0, 2, None)), (7, slice(2, 3, None))]
    """
    cuts = np.flatnonzero(np.diff(codes)) + 1
    for start, end in pairwise([0, *cuts.tolist(), len(codes)]):
        if start < end:
            yield int(codes[start]), slice(start, end)
