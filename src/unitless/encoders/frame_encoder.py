"""FrameEncoder: encode data frames block by block; new columns and levels get new features."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from unitless.encoders import dataframes
from unitless.encoders.column_assignment import (
    Feature,
    FeatureId,
    feature_ids,
    new_features,
    new_names,
    places_of,
    warn_of_buckets,
)
from unitless.encoders.encoded_column import EncodedColumn, encoded_columns, number
from unitless.encoders.interactions import pairs_of, parsed, product
from unitless.encoders.matrix import matrix_of
from unitless.encoders.namespaces import Namespace, is_number, source_columns
from unitless.encoders.typed_column import TypedColumn, spelled_booleans, wrong_kind

VERSION = 1
"""Version of `FrameEncoder.state`."""


@dataclass(frozen=True)
class Encoded:
    """A block that `FrameEncoder.encode` made, for `as_rows(encoded.X, ...)` and `commit`."""

    X: Any
    """float64: an array if all features are numbers, otherwise CSR; NaN is missing."""
    names: list[str]
    """The features new in this block; their columns follow the known ones."""
    kinds: dict[str, str]
    """Of the frame's columns that are seen for the first time."""
    features: list[Feature]
    """Namespace and key (or hash bucket) of each new feature."""
    size: tuple[int, int]
    """Of the encoder when it encoded the block."""


class FrameEncoder:
    """The map from a frame's columns to features; it grows as columns and levels appear.

    A column is a number (booleans are 0 and 1), a category (strings, categoricals, enums) with
    features `name=level`, a list of strings (polars) with features `name=member`, or a date with
    features `name` (days since the epoch), `name.hour=..`, `name.weekday=..` and `name.month=..` in
    local time. The first value of a column decides on its kind; a later value of another kind is an
    error. A missing value of a number is NaN; a missing category has no feature. A column that a
    frame lacks is zero. Features are numbered by the row in which they appear, then numbers before
    others, then by column, interactions last, independently of how rows are cut into blocks.

    `encode` does not change the encoder; `commit` keeps what is new in an encoded block. So a block
    that is refused later leaves no trace, and predictions add nothing.

    Parameters
    ----------
    hash_bits, max_levels
        The first `max_levels` levels of a category (or words of a text, or pairs of an
        interaction) have their own features; new ones then share `name#bucket`, one of
        2**hash_bits. A `ManyLevels` warning says so, once per column.
    interactions
        "a:b" is the product of two columns, "a::" of a with every other, "::" of all pairs; a name
        with a colon needs the form ("a:1", "b"). Columns that no frame has are ignored.
    text
        Columns whose words (lower case) are counted: features `name:word`.

    Examples
    --------
    >>> import pandas
    >>> frame = pandas.DataFrame({"age": [31, None], "colour": ["red", "blue"]})
    >>> encoder = FrameEncoder(interactions=["colour:age"])
    >>> encoded = encoder.encode(frame)
    >>> encoded.X.toarray()
    array([[31.,  1., 31.,  0.,  0.],
           [nan,  0.,  0.,  1., nan]])
    >>> encoder.commit(encoded)
    >>> encoder.names
    ['age', 'colour=red', 'colour=red:age', 'colour=blue', 'colour=blue:age']
    """

    def __init__(
        self,
        hash_bits: int = 18,
        max_levels: int = 1000,
        interactions: str | Iterable[str | Sequence[str | None]] = (),
        text: str | Iterable[str] = (),
    ) -> None:
        if not 1 <= hash_bits <= 30:
            raise ValueError(f"hash_bits = {hash_bits}: use 1 to 30")
        if max_levels < 0:
            raise ValueError(f"max_levels = {max_levels}: use 0 (hash every level) or more")
        self.hash_bits, self.max_levels = int(hash_bits), int(max_levels)
        self.interactions = [parsed(spec) for spec in _listed(interactions)]
        self.text: list[str] = _listed(text)
        self._kinds: dict[str, str] = {}
        self._known: dict[Namespace, dict[FeatureId, int]] = {}
        self._names: list[str] = []

    def __len__(self) -> int:
        return len(self._names)

    @property
    def names(self) -> list[str]:
        """Names of the features by column; all are different."""
        return list(self._names)

    @property
    def sources(self) -> list[tuple[str, ...]]:
        """The columns of the frame that each feature comes from: one, or two for an interaction."""
        return [source_columns(namespace) for namespace, _ in self._features()]

    @property
    def kinds(self) -> dict[str, str]:
        """ "number", "category", "list" or "date" for each column of the frame that had a value."""
        return dict(self._kinds)

    def encode(self, frame: Any, *, grow: bool = True) -> Encoded:
        """The frame as a matrix, with columns for new features; the map does not change.

        Without `grow` there are no new features: a level never seen before is absent. In the known
        columns a row is the same either way, whatever the other rows of the frame are.
        """
        table = dataframes.opened(frame)
        numbers, columns, kinds = self._columns_of(table)
        pairs = pairs_of(self.interactions, [*columns])
        products = [product(p, q) for a, b in pairs for p in columns[a] for q in columns[b]]
        encoded = [*chain(*columns.values()), *products]
        options = self.max_levels, self.hash_bits
        ids = [feature_ids(each, self._known, *options) for each in encoded]
        new = new_features(encoded, ids, self._known)
        places = places_of(encoded, ids, self._known, new)
        if not grow or not len(table):
            X = matrix_of(numbers, encoded, places, len(self))
            return Encoded(X, [], {}, [], self._size())
        X = matrix_of(numbers, encoded, places, len(self) + len(new))
        warn_of_buckets(new, self._known, *options)
        return Encoded(X, new_names(new, {*self._names}), kinds, new, self._size())

    def commit(self, encoded: Encoded) -> None:
        """Keep the new features and kinds of a block."""
        if not (encoded.features or encoded.kinds):
            return
        if encoded.size != self._size():
            raise ValueError("the columns have grown since this block was encoded: encode it again")
        self._keep(encoded.features, encoded.names)
        self._kinds |= encoded.kinds

    def absorb(self, other: "FrameEncoder") -> NDArray[np.int64]:
        """Append the features of another encoder; returns the column of each of its features.

        If the other one saw the rows that follow, this is the map that has seen all of them, as
        long as no column has more than `max_levels` levels.
        """
        for name, kind in other._kinds.items():
            if self._kinds.setdefault(name, kind) != kind:
                raise ValueError(
                    f"column {name!r} is a {self._kinds[name]} in some rows and a {kind} in others"
                )
        features = other._features()
        new = [each for each in features if each[1] not in self._known.get(each[0], {})]
        self._keep(new, new_names(new, {*self._names}))
        return np.array([self._known[space][each] for space, each in features], dtype=np.int64)

    def overfull(self) -> bool:
        """Whether a column has more than `max_levels` levels."""
        namespaces = (namespace for namespace in self._known if not is_number(namespace))
        return any(len(self._known[namespace]) > self.max_levels for namespace in namespaces)

    def settled(self) -> "FrameEncoder":
        """A map with the first `max_levels` levels of each column, and no buckets yet."""
        made = type(self)(self.hash_bits, self.max_levels, self.interactions, self.text)
        made._kinds = dict(self._kinds)
        counts: dict[Namespace, int] = {}
        kept: list[Feature] = []
        for namespace, feature_id in self._features():
            counts[namespace] = counts.get(namespace, 0) + 1
            own = counts[namespace] <= self.max_levels and not isinstance(feature_id, int)
            if own or is_number(namespace):
                kept.append((namespace, feature_id))
        made._keep(kept, new_names(kept, set()))
        return made

    def state(self) -> dict[str, Any]:
        """The whole map as JSON values."""
        state = {
            "version": VERSION,
            "hash_bits": self.hash_bits,
            "max_levels": self.max_levels,
            "interactions": self.interactions,
            "text": self.text,
            "kinds": self._kinds,
            "names": self._names,
            "features": self._features(),
        }
        copied: dict[str, Any] = json.loads(json.dumps(state))
        return copied

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The map with that state."""
        if state["version"] != VERSION:
            raise ValueError(f"columns of version {state['version']} are unknown: update unitless")
        options = ("hash_bits", "max_levels", "interactions", "text")
        made = cls(**{option: state[option] for option in options})
        made._keep([_tuples(feature) for feature in state["features"]], state["names"])
        made._kinds = dict(state["kinds"])
        return made

    def _size(self) -> tuple[int, int]:
        return len(self._names), len(self._kinds)

    def _features(self) -> list[Feature]:
        """Namespace and key, or bucket, of each feature by column."""
        found: list[Any] = [None] * len(self)
        for namespace, kept in self._known.items():
            for feature_id, column in kept.items():
                found[column] = namespace, feature_id
        return found

    def _keep(self, features: Sequence[Feature], names: Sequence[str]) -> None:
        for (namespace, feature_id), name in zip(features, names, strict=True):
            self._known.setdefault(namespace, {})[feature_id] = len(self)
            self._names.append(name)

    def _columns_of(
        self, table: Any
    ) -> tuple[NDArray[np.float64], dict[str, list[EncodedColumn]], dict[str, str]]:
        """The columns of numbers as an array, the encoded columns of each column, and new kinds."""
        plain = [
            name
            for name, dtype in table.schema.items()
            if dataframes.holds_numbers(dtype)
            and name not in self.text
            and self._kinds.get(name, "number") == "number"
        ]
        numbers = dataframes.numeric_table(table, plain)
        values_of = dict(zip(plain, numbers.T, strict=True))
        shared = number("", np.empty(len(table)))
        columns: dict[str, list[EncodedColumn]] = {}
        kinds: dict[str, str] = {}
        for name in table.columns:
            is_new = name not in self._kinds
            if name in values_of:
                values = values_of[name]
                columns[name] = [shared._replace(namespace=(name, ""), values=values)]
                if is_new and not np.isnan(values).all():
                    kinds[name] = "number"
            else:
                column = self._typed(name, table)
                columns[name] = encoded_columns(column, name in self.text)
                if is_new and column.first_row() is not None:
                    kinds[name] = str(column.kind)
        return numbers, columns, kinds

    def _typed(self, name: str, table: Any) -> TypedColumn:
        """A column as its kind needs it; a value of another kind is an error."""
        column = dataframes.typed_column(name, table)
        is_category = self._kinds.get(name) == "category"
        if is_category and dataframes.holds_booleans(table.get_column(name)):
            column = spelled_booleans(column, self._known.get((name, "="), ()))
        row = column.first_row()
        wanted = self._kinds.get(name) or ("category" if name in self.text else None)
        has_number = (name, "") in self._known
        if row is None:
            if wanted in ("number", "date") or (wanted is None and has_number):
                return TypedColumn(name, "number", np.full(len(table), np.nan))
            return column if wanted is None else TypedColumn(name, None, np.empty(0))
        if wanted not in (None, column.kind):
            raise wrong_kind(row, name, column.value_shown(row), str(column.kind), str(wanted))
        return column._replace(start=0) if has_number else column


def _tuples(nested: Any) -> Any:
    """Nested lists, as JSON returns them, as tuples."""
    return tuple(map(_tuples, nested)) if isinstance(nested, list) else nested


def _listed(given: Any) -> list[Any]:
    return [given] if isinstance(given, str) else list(given)
