"""`--shuffle`: the rows of a file in random order."""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np
import polars

from unitless.cli.reading import sparse_rows
from unitless.readers import FileBlock
from unitless.rows import as_rows


def shuffled(blocks: Iterable[FileBlock], seed: int = 0) -> Iterator[FileBlock]:
    """Yield all rows as one block, in an order that depends only on their number and the seed."""
    parts = list(blocks)
    filled = [part for part in parts if len(part)]
    if not filled:
        yield from parts
        return
    order = np.random.default_rng(seed).permutation(sum(map(len, filled)))

    def joined(name: str) -> Any:
        arrays = [getattr(part, name) for part in filled]
        if all(array is None for array in arrays):
            return None
        whole = [
            np.ones(len(part)) if array is None else array  # only weights may be missing
            for part, array in zip(filled, arrays, strict=True)
        ]
        return np.concatenate(whole)[order]

    frame = rows = None
    if filled[0].frame is None:
        rows = as_rows(sparse_rows([part.rows for part in filled if part.rows is not None])[order])
    else:
        frames = [part.frame for part in filled if part.frame is not None]
        frame = polars.concat(frames, how="diagonal_relaxed")[order]
    yield FileBlock(
        frame,
        rows,
        joined("lines"),
        parts[0].start,
        parts[-1].position,
        joined("targets"),
        joined("weights"),
        list(chain.from_iterable(part.new_names for part in parts)),
        done=1.0,
    )
