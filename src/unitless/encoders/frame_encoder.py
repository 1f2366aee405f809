"""FrameEncoder: encode data frames block by block; new columns and levels get new features."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from unitless.encoders import column_assignment, dataframes
from unitless.encoders.column_assignment import Feature, FeatureId
from unitless.encoders.encoded import Encoded
from unitless.encoders.encoded_column import EncodedColumn, encoded_columns, numbers
from unitless.encoders.interactions import pairs_of, parsed, product
from unitless.encoders.matrix import is_dense, matrix_of
from unitless.encoders.namespaces import (
    Namespace,
    is_number,
    source_columns,
    to_lists,
    to_tuples,
)
from unitless.encoders.typed_column import TypedColumn, wrong_kind

VERSION = 1
"""Version of `FrameEncoder.state`."""


class FrameEncoder:
    """The map from a frame's columns to features; it grows as columns and levels appear.

    A column is a number (booleans are 0 and 1), a category (strings, categoricals, enums) with
    features `name=level`, or a date with features `name` (days since the epoch), `name.hour=..`,
    `name.weekday=..` and `name.month=..` in local time. The first value of a column decides on its
    kind; a later value of another kind is an error. Features are numbered by the row in which they
    appear, then by column, interactions last, independently of how rows are cut into blocks.

    A missing value (None, NaN, NaT, null) of a number is NaN; a missing category has no feature.
    Columns are matched by name, in any order; a column that the frame lacks is zero, and a new
    column gets new features.

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
    >>> new = pandas.DataFrame({"colour": ["red", "green"]})
    >>> encoder.encode(new, grow=False).X.toarray()
    array([[0., 1., 0., 0., 0.],
           [0., 0., 0., 0., 0.]])
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
        self._sources: list[tuple[str, ...]] = []
        self._taken: set[str] = set()

    def __len__(self) -> int:
        return len(self._names)

    @property
    def names(self) -> list[str]:
        """Names of the features by column; all are different."""
        return list(self._names)

    @property
    def sources(self) -> list[tuple[str, ...]]:
        """The columns of the frame that each feature comes from: one, or two for an interaction."""
        return list(self._sources)

    @property
    def kinds(self) -> dict[str, str]:
        """ "number", "category" or "date" for each column of the frame that had a value."""
        return dict(self._kinds)

    def encode(self, frame: Any, *, grow: bool = True) -> Encoded:
        """The frame as a matrix, with columns for new features; the map does not change.

        Without `grow` there are no new features: a level never seen before is absent. In the known
        columns a row is the same either way, whatever the other rows of the frame are.
        """
        table = dataframes.opened(frame)
        grow = grow and len(table) > 0
        names = dataframes.column_names(table)
        schema = {str(name): dtype for name, dtype in table.schema.items()}
        plain = [name for name in dataframes.number_columns(schema) if self._takes_numbers(name)]
        values = dataframes.numeric_table(table, schema, plain)
        columns, kinds = self._columns_of(table, schema, dict(zip(plain, values.T, strict=True)))
        pairs = pairs_of(self.interactions, names)
        products = [product(p, q) for a, b in pairs for p in columns[a] for q in columns[b]]
        return self._encoded([*chain(*columns.values()), *products], kinds, values, grow)

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

        >>> import pandas
        >>> one, two = FrameEncoder(), FrameEncoder()
        >>> one.commit(one.encode(pandas.DataFrame({"who": ["ann", "bob"]})))
        >>> two.commit(two.encode(pandas.DataFrame({"who": ["cid", "ann"]})))
        >>> one.absorb(two), one.names
        (array([2, 0]), ['who=ann', 'who=bob', 'who=cid'])
        """
        for name, kind in other._kinds.items():
            if self._kinds.setdefault(name, kind) != kind:
                raise ValueError(
                    f"column {name!r} is a {self._kinds[name]} in some rows and a {kind} in others"
                )
        features = other._features()
        new = [each for each in features if each[1] not in self._known.get(each[0], {})]
        self._keep(new, column_assignment.new_names(new, self._taken))
        return np.array([self._known[space][each] for space, each in features], dtype=np.int64)

    def overfull(self) -> bool:
        """Whether a column has more than `max_levels` levels."""
        namespaces = (namespace for namespace in self._known if not is_number(namespace))
        return any(len(self._known[namespace]) > self.max_levels for namespace in namespaces)

    def settled(self) -> "FrameEncoder":
        """A map with the first `max_levels` levels of each column, and no buckets yet."""
        made = type(self)(self.hash_bits, self.max_levels, (), self.text)
        made.interactions, made._kinds = list(self.interactions), dict(self._kinds)
        counts: dict[Namespace, int] = {}
        kept: list[Feature] = []
        for namespace, feature_id in self._features():
            is_level = not isinstance(feature_id, int)
            counts[namespace] = counts.get(namespace, 0) + is_level
            own = is_level and counts[namespace] <= self.max_levels
            if own or is_number(namespace):
                kept.append((namespace, feature_id))
        made._keep(kept, column_assignment.new_names(kept, made._taken))
        return made

    def _features(self) -> list[Feature]:
        """Namespace and key, or bucket, of each feature by column."""
        found: list[Any] = [None] * len(self)
        for namespace, kept in self._known.items():
            for feature_id, column in kept.items():
                found[column] = namespace, feature_id
        return found

    def state(self) -> dict[str, Any]:
        """The whole map as JSON values."""
        return {
            "version": VERSION,
            "hash_bits": self.hash_bits,
            "max_levels": self.max_levels,
            "interactions": to_lists(tuple(self.interactions)),
            "text": list(self.text),
            "kinds": dict(self._kinds),
            "names": list(self._names),
            "features": [to_lists(feature) for feature in self._features()],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The map with that state.

        >>> import json
        >>> state = json.dumps(FrameEncoder(text=["mail"]).state())
        >>> FrameEncoder.from_state(json.loads(state)).text
        ['mail']
        """
        if state["version"] != VERSION:
            raise ValueError(f"columns of version {state['version']} are unknown: update unitless")
        options = ("hash_bits", "max_levels", "interactions", "text")
        made = cls(**{option: state[option] for option in options})
        made._keep([to_tuples(feature) for feature in state["features"]], state["names"])
        made._kinds = dict(state["kinds"])
        return made

    def _size(self) -> tuple[int, int]:
        return len(self._names), len(self._kinds)

    def _keep(self, features: Sequence[Feature], names: Sequence[str]) -> None:
        for (namespace, feature_id), name in zip(features, names, strict=True):
            self._known.setdefault(namespace, {})[feature_id] = len(self)
            self._sources.append(source_columns(namespace))
            self._names.append(name)
            self._taken.add(name)

    def _columns_of(
        self, table: Any, schema: dict[str, Any], plain: dict[str, NDArray[np.float64]]
    ) -> tuple[dict[str, list[EncodedColumn]], dict[str, str]]:
        """The encoded columns of each column of the frame, and the kinds seen for the first time.

        `plain` are the columns of numbers, which have been read together.
        """
        columns: dict[str, list[EncodedColumn]] = {name: [] for name in schema}
        columns |= {column.namespace[0]: [column] for column in numbers(plain, len(table))}
        new_kinds = {
            name: "number"
            for name, values in plain.items()
            if name not in self._kinds and not np.isnan(values).all()
        }
        for name in [name for name in schema if name not in plain]:
            column = dataframes.typed_column(name, table, schema[name])
            column = self._checked(column, len(table))
            columns[name] = encoded_columns(column, name in self.text)
            if name not in self._kinds and column.first_row() is not None:
                new_kinds[name] = str(column.kind)
        return columns, {name: new_kinds[name] for name in schema if name in new_kinds}

    def _takes_numbers(self, name: str) -> bool:
        return name not in self.text and self._kinds.get(name, "number") == "number"

    def _checked(self, column: TypedColumn, rows: int) -> TypedColumn:
        """The column as its kind needs it; a value of another kind is an error."""
        name, row = column.name, column.first_row()
        wanted = self._kinds.get(name) or ("category" if name in self.text else None)
        if row is not None and wanted not in (None, column.kind):
            raise wrong_kind(row, name, column.value_shown(row), str(column.kind), str(wanted))
        has_number = (name, "") in self._known
        if row is None and (wanted in ("number", "date") or (wanted is None and has_number)):
            return TypedColumn(name, "number", np.full(rows, np.nan))
        if row is None and wanted:
            return TypedColumn(name, None, np.empty(0))
        return replace(column, start=0) if has_number else column

    def _encoded(
        self,
        columns: list[EncodedColumn],
        kinds: dict[str, str],
        table: NDArray[np.float64],
        grow: bool,
    ) -> Encoded:
        """The encoded block; `table` has the columns of numbers."""
        rows = len(table)
        options = self.max_levels, self.hash_bits
        ids = [column_assignment.feature_ids(each, self._known, *options) for each in columns]
        new = column_assignment.new_features(columns, ids, self._known)
        numbered = {feature: len(self) + k for k, feature in enumerate(new)}
        places = [
            column_assignment.columns_of_keys(column, kept, self._known, numbered)
            for column, kept in zip(columns, ids, strict=True)
        ]
        if grow:
            column_assignment.warn_of_buckets(new, self._known, *options)
        if grow:
            row, feature = np.array(list(new.values()), dtype=np.int64), np.arange(len(new))
        else:
            row, feature = self._unknown_features(columns, places)
        numeric = np.array([is_number(namespace) for namespace, _ in new], dtype=bool)[feature]
        stored = self._stored(_counts(row, rows, grow), _counts(row[numeric], rows, grow))
        width = len(self) + len(new) * grow
        if len(columns) == table.shape[1] and [each[0] for each in places] == list(range(width)):
            X = table  # nothing but numbers, in the order of their columns
        else:
            X = matrix_of(columns, places, np.minimum(stored, width), width)
        if not grow:
            return Encoded(X, [], {}, [], self._size())
        names = column_assignment.new_names(new, self._taken)
        return Encoded(X, names, kinds, list(new), self._size())

    def _unknown_features(
        self, columns: list[EncodedColumn], places: list[NDArray[np.int32]]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows that have unknown features, and which ones."""
        found = [np.empty((0, 2), dtype=np.int64)]
        for column, place in zip(columns, places, strict=True):
            fresh = place >= len(self)
            if fresh.any():
                entries = np.flatnonzero(fresh[column.codes])
                feature = place[column.codes[entries]] - len(self)
                found.append(np.column_stack([column.rows[entries], feature]))
        rows, features = np.unique(np.concatenate(found), axis=0).T
        return rows, features

    def _stored(
        self, new_features: NDArray[np.int64], new_numbers: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """How many columns each row stores in full, by the features known when it arrives."""
        features = len(self) + new_features
        known_numbers = sum(map(is_number, self._known))
        return np.where(is_dense(features, known_numbers + new_numbers), features, 0)


def _counts(features_by_row: NDArray[np.int64], rows: int, grow: bool) -> NDArray[np.int64]:
    """The number of new features of each row; with `grow`, of it and the rows before it."""
    counts = np.bincount(features_by_row, minlength=rows)
    return np.cumsum(counts) if grow else counts


def _listed(given: Any) -> list[Any]:
    return [given] if isinstance(given, str) else list(given)
