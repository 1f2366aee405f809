"""FrameEncoder: encode data frames block by block; new columns and levels get new features."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any, NamedTuple, Self

import msgspec
import numpy as np

from unitless.encoders import dataframes
from unitless.encoders.encoded_column import EncodedColumn, Ints, encoded_columns, number
from unitless.encoders.interactions import pairs_of, parsed, product
from unitless.encoders.matrix import matrix_of
from unitless.encoders.namespaces import (
    Feature,
    Namespace,
    bucket_of,
    is_interaction,
    is_number,
    new_names,
    source_columns,
    warn_of_buckets,
)
from unitless.encoders.typed_column import Float, Kind, TypedColumn, spelled_booleans

NOTHING: Mapping[str, int] = MappingProxyType({})


class Encoded(NamedTuple):
    """A block that `FrameEncoder.encode` made, for `as_rows(encoded.X, ...)` and `commit`."""

    X: object
    """float64: an array if all features are numbers, otherwise CSR; NaN is missing."""
    names: list[str]
    """The features new in this block; their columns follow the known ones."""
    kinds: dict[str, Kind]
    """Of the frame's columns that are seen for the first time."""
    features: list[Feature]
    """Namespace and key (or hash bucket) of each new feature."""
    size: tuple[int, int]
    """Of the encoder when it encoded the block."""


class EncoderState(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a `FrameEncoder` knows, as a model file has it."""

    hash_bits: int
    max_levels: int
    interactions: list[tuple[str | None, str | None]]
    text: list[str]
    empty: list[str]
    kinds: dict[str, Kind]
    names: list[str]
    features: list[tuple[Any, Any]]
    """Namespace and key (or hash bucket) of each feature; both may be nested."""


class FrameEncoder:
    """The map from a frame's columns to features; it grows as columns and levels appear.

    A column is a number (booleans are 0 and 1, durations are seconds), a category (strings,
    categoricals, enums) with features `name=level`, a list of strings (polars) with features
    `name=member`, or a date with features `name` (days since the epoch), `name.hour=..`,
    `name.weekday=..` and `name.month=..` in local time. The first value of a column decides on its
    kind; a later value of another kind is an error. A missing value of a number is NaN; a missing
    category has no feature. A column that a frame lacks is missing. Features are numbered by the
    row in which they appear, then numbers before others, then by column, interactions last,
    independently of how rows are cut into blocks.

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
        self.hash_bits = int(hash_bits)
        self.max_levels = int(max_levels)
        self.interactions = [parsed(spec) for spec in _listed(interactions)]
        self.text: list[str] = _listed(text)
        self.empty: list[str] = []
        """Columns without a value in the first rows: their features begin with the first value."""
        self._kinds: dict[str, Kind] = {}
        self._known: dict[Feature, int] = {}  # to columns, in their order
        self._sizes: Counter[Namespace] = Counter()  # features by namespace
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
        return [source_columns(namespace) for namespace, _ in self._known]

    @property
    def products(self) -> list[tuple[int, int, int]]:
        """Two features and their product, by column; hash buckets of pairs are left out."""
        found = []
        for (namespace, key), place in self._known.items():
            if is_interaction(namespace) and not isinstance(key, int):
                left, right = zip(namespace, key, strict=True)
                if left in self._known and right in self._known:
                    found.append((self._known[left], self._known[right], place))
        return found

    @property
    def kinds(self) -> dict[str, Kind]:
        """ "number", "category", "list" or "date" for each column of the frame that had a value."""
        return dict(self._kinds)

    @property
    def columns(self) -> list[str]:
        """The columns of frames that have been seen: those with a feature or a kind."""
        with_features = chain.from_iterable(map(source_columns, self._sizes))
        return list(dict.fromkeys((*with_features, *self._kinds)))

    def encode(
        self,
        frame: object,
        *,
        grow: bool = True,
        rows: int | None = None,
        first_rows: Mapping[str, int] = NOTHING,
    ) -> Encoded:
        """The frame as a matrix, with columns for new features; the map does not change.

        Without `grow` there are no new features: a level never seen before is absent. In the known
        columns a row is the same either way, whatever the other rows of the frame are. `rows` is
        the number of rows, which a frame without columns does not tell. A new column of numbers or
        dates is no feature before its row in `first_rows`.
        """
        table = dataframes.opened(frame)
        height = len(table) if table.columns or rows is None else rows
        numbers, columns, kinds = self._columns_of(table, height, first_rows)
        encoded = list(chain(*columns.values()))
        for a, b in pairs_of(self.interactions, [*columns]):
            encoded += [product(p, q) for p in columns[a] for q in columns[b]]
        places, new = self._places(encoded)
        if not grow or not height:
            new = []
            kinds = {}
        X = matrix_of(numbers, encoded, places, len(self) + len(new))
        names = new_names(new, self._names) if new else []
        hashed = (namespace for namespace, each in new if isinstance(each, int))
        for namespace in dict.fromkeys(hashed):
            if self._sizes[namespace] <= self.max_levels:
                warn_of_buckets(namespace, self.max_levels, self.hash_bits)
        return Encoded(X, names, kinds, new, self._size())

    def commit(self, encoded: Encoded) -> None:
        """Keep the new features and kinds of a block."""
        if not (encoded.features or encoded.kinds):
            return
        if encoded.size != self._size():
            raise ValueError("the columns have grown since this block was encoded: encode it again")
        self._keep(encoded.features, encoded.names)
        self._kinds |= encoded.kinds

    def origin(self, encoded: Encoded, column: int) -> tuple[str, tuple[str, ...]]:
        """The name of a feature of an encoded block, and the columns of the frame it comes from."""
        features = [*self._known, *encoded.features]
        names = [*self._names, *encoded.names]
        return names[column], source_columns(features[column][0])

    def absorb(self, other: "FrameEncoder") -> Ints:
        """Append the features of another encoder; returns the column of each of its features.

        If the other one saw the rows that follow, this is the map that has seen all of them, as
        long as no column has more than `max_levels` levels.
        """
        for name, kind in other._kinds.items():
            if self._kinds.setdefault(name, kind) != kind:
                raise ValueError(
                    f"column {name!r} is a {self._kinds[name]} in some rows and a {kind} in others"
                )
        new = [feature for feature in other._known if feature not in self._known]
        self._keep(new, new_names(new, self._names))
        return np.array([self._known[feature] for feature in other._known], dtype=np.int64)

    def overfull(self) -> bool:
        """Whether a column has more than `max_levels` levels."""
        return any(
            size > self.max_levels and not is_number(namespace)
            for namespace, size in self._sizes.items()
        )

    def settled(self) -> "FrameEncoder":
        """A map with the first `max_levels` levels of each column, and no buckets yet."""
        made = type(self)(self.hash_bits, self.max_levels, self.interactions, self.text)
        made.empty = [*self.empty]
        made._kinds = dict(self._kinds)
        kept: list[Feature] = []
        sizes: Counter[Namespace] = Counter()
        for namespace, each in self._known:
            has_room = sizes[namespace] < self.max_levels and not isinstance(each, int)
            if has_room or is_number(namespace):
                sizes[namespace] += 1
                kept.append((namespace, each))
        made._keep(kept, new_names(kept, ()))
        return made

    def state(self) -> EncoderState:
        """The whole map."""
        return EncoderState(
            self.hash_bits,
            self.max_levels,
            [*self.interactions],
            [*self.text],
            [*self.empty],
            dict(self._kinds),
            [*self._names],
            [*self._known],
        )

    @classmethod
    def from_state(cls, state: EncoderState) -> Self:
        """The map with that state."""
        made = cls(state.hash_bits, state.max_levels, state.interactions, state.text)
        made._keep([_tuples(feature) for feature in state.features], state.names)
        made._kinds = dict(state.kinds)
        made.empty = [*state.empty]
        return made

    def _size(self) -> tuple[int, int]:
        return len(self._names), len(self._kinds)

    def _keep(self, features: Sequence[Feature], names: Sequence[str]) -> None:
        for feature, name in zip(features, names, strict=True):
            self._known[feature] = len(self)
            self._sizes[feature[0]] += 1
            self._names.append(name)

    def _features_of(self, column: EncodedColumn) -> list[Feature]:
        """The feature of each key of a column; keys beyond `max_levels` have hash buckets."""
        namespace = column.namespace
        unknown = [key for key in column.keys if (namespace, key) not in self._known]
        room = max(self.max_levels - self._sizes[namespace], is_number(namespace))
        hashed = {key: bucket_of(key, self.hash_bits) for key in unknown[max(room, 0) :]}
        return [(namespace, hashed.get(key, key)) for key in column.keys]

    def _places(self, columns: Sequence[EncodedColumn]) -> tuple[list[Ints], list[Feature]]:
        """The column of the matrix for each key of each column, and the features that are new.

        New features are numbered by first row, then numbers before others. So the numbers of a
        table stand at the same leading places in every row, as those of an array do.
        """
        features = [self._features_of(column) for column in columns]
        found = []
        for order, (column, own) in enumerate(zip(columns, features, strict=True)):
            if not all(feature in self._known for feature in own):
                others = not is_number(column.namespace)
                for k, row in enumerate(column.first_rows()):
                    found.append((row, others, order, k))
        appeared = (features[order][k] for _, _, order, k in sorted(found))
        new = [each for each in dict.fromkeys(appeared) if each not in self._known]
        numbered = {feature: len(self) + k for k, feature in enumerate(new)}
        places = []
        for own in features:
            known = map(self._known.get, own, map(numbered.get, own))
            places.append(np.array([*known], dtype=np.int64))
        return places, new

    def _columns_of(
        self, table: Any, height: int, first_rows: Mapping[str, int]
    ) -> tuple[Float, dict[str, list[EncodedColumn]], dict[str, Kind]]:
        """The columns of numbers as an array, the encoded columns of each column, and new kinds."""
        plain = [
            name
            for name, dtype in table.schema.items()
            if dataframes.holds_numbers(dtype)
            and name not in self.text
            and not self._is_late(name)
            and self._kinds.get(name, "number") == "number"
        ]
        numbers = dataframes.numeric_table(table, plain) if plain else np.empty((height, 0))
        values_of = dict(zip(plain, numbers.T, strict=True))
        shared = number("", np.empty(height))
        columns: dict[str, list[EncodedColumn]] = {}
        kinds: dict[str, Kind] = {}
        for name in table.columns:
            is_new = name not in self._kinds
            has_number = ((name, ""), "") in self._known
            start = 0 if has_number else first_rows.get(name, 0)
            if start == height > 0:
                columns[name] = []
            elif name in values_of:
                values = values_of[name]
                column_of_all = shared._replace(namespace=(name, ""), values=values)
                columns[name] = [number(name, values, start) if start else column_of_all]
                if is_new and not np.isnan(values).all():
                    kinds[name] = "number"
            else:
                column = self._typed(name, table)
                column = column._replace(start=max(column.start, start))
                columns[name] = encoded_columns(column, name in self.text)
                if is_new and column.kind is not None and column.first_row() is not None:
                    kinds[name] = column.kind
        for name in self._number_columns():
            if name not in columns:
                columns[name] = [number(name, np.full(height, np.nan))]
        return numbers, columns, kinds

    def _number_columns(self) -> list[str]:
        """The columns with a feature that is a number: numbers and dates."""
        return [name for name, suffix in self._sizes if suffix == ""]

    def _is_late(self, name: str) -> bool:
        """Whether a column had no value in the first rows, and has no feature yet."""
        return name in self.empty and ((name, ""), "") not in self._known

    def _typed(self, name: str, table: Any) -> TypedColumn:
        """A column as its kind needs it; a value of another kind is an error."""
        column = dataframes.typed_column(name, table)
        wanted = self._kinds.get(name) or ("category" if name in self.text else None)
        if wanted == "category" and dataframes.holds_booleans(table.get_column(name)):
            levels = [key for namespace, key in self._known if namespace == (name, "=")]
            column = spelled_booleans(column, levels)
        row = column.first_row()
        if self._is_late(name):
            if row is None:
                return TypedColumn(name, None, np.empty(0))
            column = column._replace(start=row)
        has_number = ((name, ""), "") in self._known
        if row is None:
            if wanted in ("number", "date") or (wanted is None and has_number):
                return TypedColumn(name, "number", np.full(len(table), np.nan))
            return column if wanted is None else TypedColumn(name, None, np.empty(0))
        column.refuse_kind(row, wanted or str(column.kind))
        return column._replace(start=0) if has_number else column


def _tuples(nested: object) -> Any:
    """Nested lists, as JSON returns them, as tuples."""
    return tuple(map(_tuples, nested)) if isinstance(nested, list | tuple) else nested


def _listed(given: Any) -> list[Any]:
    return [given] if isinstance(given, str) else list(given)
