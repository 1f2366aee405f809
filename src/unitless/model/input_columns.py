"""The columns that a model was given, and rows that take some of them from another row.

A category, a text or a date is one column with several features. A product of two columns follows
from both: it is computed again when its columns come from different rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array, csr_array

from unitless.model.input_names import NumberedNames
from unitless.rows import Rows, as_rows
from unitless.state import LARGEST

if TYPE_CHECKING:
    from unitless.model import Model

Ints = NDArray[np.int64]
Float = NDArray[np.float64]
Takes = Callable[[Ints, Ints], NDArray[np.bool_]]
"""Whether, in some rows, some columns are taken from the other row."""
NONE = -1


@dataclass(frozen=True)
class InputColumns:
    """Names of the columns, and which feature comes from which."""

    names: Sequence[str]
    of_feature: Ints
    """The column of each feature; -1 for a product of two columns."""
    pairs: Ints
    """The two columns of each product of two features; for other features, their column twice."""
    products: Ints
    """Lines of two features and their product."""

    def features(self, column: int) -> Ints:
        """Return the features of a column, without products."""
        return np.flatnonzero(self.of_feature == column)

    def of(self, width: int) -> "InputColumns":
        """Return the columns for rows with more features than the model; those belong to none."""
        missing = width - len(self.of_feature)
        if missing <= 0:
            return self
        more = np.full(missing, NONE)
        pairs = np.concatenate([self.pairs, np.column_stack([more, more])])
        return InputColumns(self.names, np.append(self.of_feature, more), pairs, self.products)


def input_columns(model: "Model") -> InputColumns:
    """Return the columns of a model's input, in the order of `feature_names_in_`."""
    encoder = model.encoder
    if encoder is None:
        return _of_features(model)
    names = _table_names(model)
    places = {name: k for k, name in enumerate(names)}
    sources = [(places[each[0]], places[each[-1]]) for each in encoder.sources]
    pairs = np.array(sources, dtype=np.int64).reshape(-1, 2)
    is_product = np.array([len(each) > 1 for each in encoder.sources], dtype=bool)
    of_feature = np.where(is_product, NONE, pairs[:, 0])
    products = np.array(encoder.products, dtype=np.int64).reshape(-1, 3)
    return InputColumns(names, of_feature, pairs, products)


def _of_features(model: "Model") -> InputColumns:
    """Return one column per feature; levels of one name in dicts (`city=Oslo`) are one column."""
    features: Sequence[str] = model.feature_names(model.learner.columns)
    of_feature = np.arange(len(features))
    names: Sequence[str] = features
    if model.by_name:
        found: dict[str, int] = {}
        of_feature = np.array(
            [found.setdefault(each.partition("=")[0], len(found)) for each in features],
            dtype=np.int64,
        )
        names = list(found)
    nothing = np.empty((0, 3), dtype=np.int64)
    return InputColumns(names, of_feature, np.column_stack([of_feature, of_feature]), nothing)


def _table_names(model: "Model") -> list[str]:
    """Return the columns of a table: as the estimator saw them, or as they appeared."""
    assert model.encoder is not None
    known = model.encoder.columns
    if model.file.keep:
        return list(dict.fromkeys([*model.file.keep, *known]))
    if model.inputs is not None:  # an array of objects, or a frame whose names are numbers
        for numbered in (NumberedNames(model.inputs, "x"), NumberedNames(model.inputs)):
            if {*known} <= {*numbered}:
                return list(numbered)
    order = model.file.position.columns or {}
    return sorted(known, key=lambda name: [*order].index(name) if name in order else len(order))


# Rows that take some columns from other rows


def mixed_rows(columns: InputColumns, base: Rows, other: Rows, takes: Takes) -> Rows:
    """Return the rows of `base`, with the columns that `takes` chooses from `other`."""
    if _are_alike(base, other) and not len(columns.products):
        numbers = np.arange(len(base))[:, None]
        chosen = takes(numbers, columns.of(base.columns).of_feature[None, : base.columns])
        return as_rows(np.where(chosen, other.values, base.values))
    width = max(base.columns, other.columns, len(columns.of_feature))
    columns = columns.of(width)
    parts = [_kept(columns, rows, takes, k == 1) for k, rows in enumerate((base, other))]
    rows, features, values = map(np.concatenate, zip(*parts, strict=True))
    shape = (len(base), width)
    if len(columns.products):
        left, right, place = columns.products.T
        stored = csc_array(coo_array((np.ones(len(rows)), (rows, features)), shape=shape))
        both = coo_array(csr_array(stored[:, left]).multiply(csr_array(stored[:, right])))
        made = csr_array(coo_array((values, (rows, features)), shape=shape))
        a, b = (made[both.row, each[both.col]] for each in (left, right))
        with np.errstate(over="ignore"):
            product = np.clip(np.asarray(a) * np.asarray(b), -LARGEST, LARGEST)
        rows = np.concatenate([rows, both.row])
        features = np.concatenate([features, place[both.col]])
        values = np.concatenate([values, product])
    return as_rows(csr_array(coo_array((values, (rows, features)), shape=shape)))


def _kept(
    columns: InputColumns, rows: Rows, takes: Takes, is_other: bool
) -> tuple[Ints, Ints, Float]:
    """Return row, feature and value of what a mixed row has from one of its two rows.

    Pairs that share a hash bucket cannot be computed again: they stay if both columns do.
    """
    block = rows.block
    numbers, features = block.positions()
    first, second = columns.pairs[features].T
    stays = (takes(numbers, first) == is_other) & (takes(numbers, second) == is_other)
    stays &= ~np.isin(features, columns.products[:, 2])
    return numbers[stays], features[stays].astype(np.int64), block.values[stays]


def differing(columns: InputColumns, base: Rows, other: Rows) -> tuple[Ints, Ints]:
    """Return row and column of every place where the rows differ, by row and then by column."""
    width = max(base.columns, other.columns, len(columns.of_feature))
    if _are_alike(base, other):
        a, b = base.values, other.values
        rows, features = np.nonzero(~((a == b) | (np.isnan(a) & np.isnan(b))))
    else:
        unlike: Any = coo_array(_matrix(base, width) != _matrix(other, width))
        rows, features = unlike.row[unlike.data], unlike.col[unlike.data]
    own = columns.of(width).of_feature[features]
    count = max(len(columns.names), 1)
    places = np.unique(rows[own >= 0].astype(np.int64) * count + own[own >= 0])
    return np.divmod(places, count)


def _are_alike(base: Rows, other: Rows) -> bool:
    """Whether both are dense and of the same width."""
    return base.starts is None and other.starts is None and base.columns == other.columns


def _matrix(rows: Rows, width: int) -> object:
    if rows.starts is None:
        return csr_array(np.pad(rows.values, [(0, 0), (0, width - rows.columns)]))
    return csr_array((rows.values, rows.indices, rows.starts), shape=(len(rows), width))


def repeated(rows: Rows, numbers: Ints) -> Rows:
    """Return the rows with these numbers, without targets and weights."""
    return Rows(*rows.parts, None, None).take(numbers)
