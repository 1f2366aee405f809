"""Convert dict rows, and frames of them, to rows in the columns of a `DictEncoder`.

A block keeps the order of values within each dict, as `learn_one` does. So a learner learns
bit-for-bit the same from a block and from its rows one by one.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from unitless.encoders.dataframes import column_names, number_columns, numeric_table, opened
from unitless.encoders.dict_encoder import DictEncoder
from unitless.rows import Rows, as_rows


def plain(x: Mapping[Hashable, Any]) -> Mapping[Hashable, Any]:
    """The row with strings as features: {"colour": "red"} is {"colour=red": 1}.

    >>> plain({"height": 1.8, "colour": "red"})
    {'height': 1.8, 'colour=red': 1.0}
    """
    texts = {name for name, value in x.items() if isinstance(value, str)}
    if not texts:
        return x
    return {
        f"{name}={value}" if name in texts else name: 1.0 if name in texts else value
        for name, value in x.items()
    }


def rows_of_frame(
    frame: Any,
    names: DictEncoder,
    targets: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> tuple[Rows, DictEncoder]:
    """The rows of a frame, and the names with those that are new in it.

    >>> import pandas
    >>> frame = pandas.DataFrame({"colour": ["red", "blue"], "height": [1.8, 1.7]})
    >>> rows, names = rows_of_frame(frame, DictEncoder({"height": 0}))
    >>> rows.indices.tolist(), list(names.columns)
    ([1, 0, 2, 0], ['height', 'colour=red', 'colour=blue'])
    """
    table = opened(frame)
    schema = {str(name): dtype for name, dtype in table.schema.items()}
    if len(number_columns(schema)) < len(schema):
        return rows_of_dicts(table.rows(named=True), names, targets, weights)
    columns = dict(names.columns)
    order = [columns.setdefault(name, len(columns)) for name in table.columns]
    rows = as_rows(numeric_table(table, schema, column_names(table)), targets, weights)
    if order == list(range(len(columns))):
        return rows, DictEncoder(columns)
    return _listed(rows, [order] * len(rows), columns), DictEncoder(columns)


def rows_of_dicts(
    records: Sequence[Mapping[Hashable, Any]],
    names: DictEncoder,
    targets: ArrayLike | None = None,
    weights: ArrayLike | None = None,
) -> tuple[Rows, DictEncoder]:
    """The rows of dicts, and the encoder with the names that are new in them."""
    encoder = DictEncoder(names.columns)
    values: list[float] = []
    order: list[list[int]] = []
    for row, x in enumerate(records):
        try:
            encoder.load(plain(x))
            encoder.refuse_infinity()
        except ValueError as error:
            raise ValueError(f"row {row}, {error}") from None
        encoder.add_unknown()
        values += encoder.values.tolist()
        order.append(encoder.indices.tolist())
    rows = as_rows(np.empty((len(records), 0)), targets, weights)
    return _listed(rows, order, encoder.columns, values), encoder


def _listed(
    rows: Rows, order: list[list[int]], columns: Mapping[Hashable, int], values: Any = None
) -> Rows:
    """Rows that list their columns in their own order, which need not rise."""
    starts = np.cumsum([0, *map(len, order)])
    indices = np.array([column for row in order for column in row], dtype=np.int32)
    flat = rows.values.reshape(-1) if values is None else np.array(values, dtype=np.float64)
    return Rows(flat, indices, starts, len(columns), rows.targets, rows.weights)
