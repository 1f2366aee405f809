"""Shuffle: rows are grouped by key in two steps, each on many rows at once.

1. `partition_rows` reads a batch of parts and splits its rows into partitions by a hash of the key.
   All rows of a key are in the same partition, whatever batch they come from.
2. `rows_by_key` takes what all batches have for a partition and collects the rows of each key.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby, pairwise
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from unitless.distributed.learning import PartError, Start, read
from unitless.distributed.partitioned_data import Part, PartitionedData
from unitless.readers import Block
from unitless.suggestions import no_such_column

LARGEST_KEY = 2.0**53
"""From here on, float64 cannot represent every whole number."""
Int = NDArray[np.int64]


class KeyedRows(NamedTuple):
    """Rows that have the same columns, with their keys; each field has one entry per row."""

    frame: Any
    """The features, a polars DataFrame."""
    keys: Int
    """Index of the key."""
    parts: Int
    """Number of the part that the row comes from."""
    lines: Int
    targets: NDArray[Any] | None
    weights: NDArray[np.float64] | None

    def take(self, rows: Int | slice) -> "KeyedRows":
        """Return some of the rows."""
        fields: Iterable[Any] = self
        own: Iterable[Any] = (None if each is None else each[rows] for each in fields)
        return KeyedRows(*own)

    def block(self) -> Block:
        """Return the rows as a reader would."""
        return Block(self.frame, None, self.lines, {}, {}, self.targets, self.weights)


class Partition(NamedTuple):
    """The rows of a batch of parts that belong to one partition."""

    rows: KeyedRows
    names: list[str]
    """The keys by index."""


def partition_rows(
    source: PartitionedData, batch: list[Part], key: str, start: Start, count: int
) -> tuple[Any, ...]:
    """Read a batch of parts; return the rows per partition, and a `Partition` list for each."""
    indices: dict[str, int] = {}
    pieces = [
        _with_keys(block, key, part, start, indices)
        for part in batch
        for block in read(source, part, start.types)
    ]
    names = list(indices)
    hashes = np.array([crc32(name.encode()) for name in names], dtype=np.int64)
    partitions: list[list[Partition]] = [[] for _ in range(count)]
    rows = np.zeros(count, dtype=np.int64)
    for whole in _concatenated(pieces):
        number = (hashes % count)[whole.keys]
        order = np.argsort(number, kind="stable")
        for partition, run in runs(number[order]):
            own = whole.take(order[run])
            used, own_keys = np.unique(own.keys, return_inverse=True)
            own = own._replace(keys=own_keys)
            partitions[partition].append(Partition(own, [names[k] for k in used]))
            rows[partition] += len(own.keys)
    return rows, *partitions


def _with_keys(
    block: Block, key: str, part: Part, start: Start, indices: dict[str, int]
) -> KeyedRows:
    """Return the rows of a block; keys that are new are added to `indices`."""
    assert block.frame is not None
    names, codes = _keys(block, key, part)
    index = np.array([indices.setdefault(name, len(indices)) for name in names], dtype=np.int64)
    dropped = {key, *start.model.ignore} - {*start.model.keep}
    kept = [name for name in block.frame.columns if name not in dropped]
    frame = block.frame.select(kept or key)  # a frame without columns would have no rows
    parts = np.full(len(block), part.number)
    return KeyedRows(frame, index[codes], parts, block.lines, block.targets, block.weights)


def _keys(block: Block, key: str, part: Part) -> tuple[list[str], Int]:
    """Return the distinct keys of a block as text, in order of appearance, and each row's index."""
    import polars as pl

    assert block.frame is not None
    if key not in block.frame.columns:
        raise PartError(f"{part.file}: {no_such_column(key, block.frame.columns)}")
    column = block.frame.get_column(key)
    is_bad = column.is_null()
    if column.dtype == pl.Float64:
        is_bad |= column.is_nan() | (column.abs() >= LARGEST_KEY)
    if is_bad.any():
        row = int(is_bad.arg_max() or 0)
        raise PartError(
            f"{part.file}, line {block.lines[row]}, column {key!r}: the key "
            f"{_problem(column[row])} (part {part.number} of {part.of})"
        )
    distinct = column.unique(maintain_order=True)
    codes = column.replace_strict(distinct, np.arange(len(distinct)), return_dtype=pl.Int64)
    return [_key_text(each) for each in distinct], codes.to_numpy()


def _problem(key: float | None) -> str:
    if key is None or np.isnan(key):
        return "is missing"
    return (
        f"{key:.17g} is not below 2^53, where numbers can no longer be distinguished: store it "
        "as text"
    )


def _key_text(key: Any) -> str:
    """Return a key as text; whole numbers have no decimal point.

    >>> _key_text(7.0), _key_text("007"), _key_text(True), _key_text(0.5)
    ('7', '007', 'true', '0.5')
    """
    if isinstance(key, bool):
        return str(key).lower()
    if isinstance(key, float) and key == int(key):
        return str(int(key))
    return str(key)


def rows_by_key(partitions: Iterable[Partition]) -> dict[str, list[KeyedRows]]:
    """Return the rows of each key of a partition, in the order of the source.

    Parameters
    ----------
    partitions
        What each batch of parts has for the partition.
    """
    indices: dict[str, int] = {}
    pieces = []
    for each in partitions:
        index = np.array([indices.setdefault(name, len(indices)) for name in each.names])
        pieces.append(each.rows._replace(keys=index[each.rows.keys]))
    found: list[list[KeyedRows]] = [[] for _ in indices]
    for whole in _concatenated(pieces):
        whole = whole.take(np.argsort(whole.keys, kind="stable"))
        for key, run in runs(whole.keys):
            found[key].append(whole.take(run))
    return dict(zip(indices, found, strict=True))


def _concatenated(pieces: Iterable[KeyedRows]) -> Iterator[KeyedRows]:
    """Concatenate consecutive pieces that have the same columns."""
    import polars as pl

    for _, same in groupby(pieces, key=lambda piece: piece.frame.schema):
        frames, *others = zip(*same, strict=True)
        rest: Iterable[Any] = (None if k[0] is None else np.concatenate(k) for k in others)
        yield KeyedRows(pl.concat(frames, rechunk=True), *rest)


def runs(sorted_values: Int) -> Iterator[tuple[int, slice]]:
    """Yield (value, its rows) of sorted values.

    >>> list(runs(np.array([3, 3, 7])))
    [(3, slice(0, 2, None)), (7, slice(2, 3, None))]
    """
    cuts = np.flatnonzero(np.diff(sorted_values)) + 1
    for start, end in pairwise([0, *cuts.tolist(), len(sorted_values)]):
        if start < end:
            yield int(sorted_values[start]), slice(start, end)
