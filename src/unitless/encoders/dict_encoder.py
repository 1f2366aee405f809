"""Blocks of dict rows; `DictEncoder` assigns columns to their names.

A block of dicts is in the order of `learn_one`. So a learner learns bit-for-bit the same from a
block and from its rows one by one.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from unitless.core.names import DictEncoder, no_dict
from unitless.rows import Rows, as_rows

NUMBERS = {float, int, bool, type(None)}


def plain(x: Mapping[Hashable, object]) -> Mapping[Hashable, object]:
    """The row with strings as features: {"colour": "red"} is {"colour=red": 1}.

    >>> plain({"height": 1.8, "colour": "red"})
    {'height': 1.8, 'colour=red': 1.0}
    """
    if not hasattr(x, "items"):
        raise no_dict(x)
    if {*map(type, x.values())} <= NUMBERS:  # the usual case, for which this is quick
        return x
    texts = {name for name, value in x.items() if isinstance(value, str)}
    if not texts:
        return x
    return {
        f"{name}={value}" if name in texts else name: 1.0 if name in texts else value
        for name, value in x.items()
    }


def rows_of_dicts(
    records: Sequence[Mapping[Hashable, object]],
    names: DictEncoder,
    weights: ArrayLike | None = None,
) -> tuple[Rows, DictEncoder]:
    """The rows of dicts, and the encoder with the names that are new in them."""
    encoder = DictEncoder(names.columns)
    values: list[float] = []
    indices: list[int] = []
    starts = [0]
    for row, x in enumerate(records):
        try:
            encoder.load(plain(x))
        except ValueError as error:
            raise ValueError(f"row {row}, {error}") from None
        encoder.add_unknown()
        values += encoder.values.tolist()
        indices += encoder.indices.tolist()
        starts.append(len(values))
    rows = replace(
        as_rows(np.empty((len(records), 0)), None, weights),
        values=np.array(values, dtype=np.float64),
        indices=np.array(indices, dtype=np.int32),
        starts=np.array(starts),
        columns=len(encoder.columns),
    )
    return rows, encoder
