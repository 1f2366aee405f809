"""Columns: the growing map from a frame's columns to the columns a learner sees."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from unitless.encoders import frames, placing
from unitless.encoders.cells import Cells, refusal
from unitless.encoders.interactions import pairs_of, parsed, product
from unitless.encoders.matrix import dense, sparse
from unitless.encoders.parts import Part, parts_of
from unitless.encoders.placing import Feature, Slot
from unitless.encoders.spaces import Space, is_number, lists, sources_of, tuples

VERSION = 1
"""Of `Columns.state`."""


@dataclass(frozen=True, slots=True)
class Encoded:
    """A block as `Columns.encode` makes it, for `as_rows(encoded.X, ...)` and `Columns.commit`.

    ======== ==========================================================================
    field    meaning
    ======== ==========================================================================
    X        float64: an array if all is numbers, else a CSR array; NaN is missing
    names    of the features new in this block; their columns follow the known ones
    kinds    of the frame's columns that show their kind for the first time
    features the space and the key (or bucket) of each new feature
    size     of the map when it encoded the block
    ======== ==========================================================================

    >>> import pandas
    >>> encoded = Columns().encode(pandas.DataFrame({"age": [31, 17]}))
    >>> encoded.X.tolist(), encoded.names, encoded.kinds
    ([[31.0], [17.0]], ['age'], {'age': 'number'})
    """

    X: Any
    names: list[str]
    kinds: dict[str, str]
    features: list[Feature]
    size: tuple[int, int]


class Columns:
    """The map from a frame's columns to features, growing as columns and levels appear.

    A column is a number (booleans too: 0 and 1), a category (strings, categoricals, enums) with
    features `name=level`, or a date with features `name` (days since the epoch), `name.hour=..`,
    `name.weekday=..` and `name.month=..` by the clock on the wall. Its first value decides, and a
    later value of another kind is an error. Features are numbered as they appear, row by row, then
    by column, interactions last: however the rows are cut into blocks.

    Missing (None, NaN, NaT, null) is NaN in a number and nothing in a category. Columns are
    matched by name, in any order; one that the frame lacks is zero, a new one is welcome.

    `encode` changes nothing; `commit` keeps what is new in an encoded block. So a block that is
    refused later leaves no trace, and predictions add nothing.

    Parameters
    ----------
    hash_bits, max_levels
        The first `max_levels` levels of a category (or words of a text, or pairs of an interaction)
        have features of their own; new ones then share `name#bucket`, one of 2**hash_bits, made
        when it is first used. A `ManyLevels` warning says so, once a column.
    interactions
        "a:b" is the product of two columns, "a::" of a with every other, "::" of all pairs; a name
        with a colon needs the form ("a:1", "b"). A column that no frame has is no error.
    text
        Columns whose words (lower case) are counted: features `name:word`.

    Examples
    --------
    >>> import pandas
    >>> frame = pandas.DataFrame({"age": [31, None], "colour": ["red", "blue"]})
    >>> columns = Columns(interactions=["colour:age"])
    >>> encoded = columns.encode(frame)
    >>> encoded.X.toarray()
    array([[31.,  1., 31.,  0.,  0.],
           [nan,  0.,  0.,  1., nan]])
    >>> columns.commit(encoded)
    >>> columns.names
    ['age', 'colour=red', 'colour=red:age', 'colour=blue', 'colour=blue:age']
    >>> columns.encode(pandas.DataFrame({"colour": ["red", "green"]}), grow=False).X.toarray()
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
        self._known: dict[Space, dict[Slot, int]] = {}
        self._names: list[str] = []
        self._sources: list[tuple[str, ...]] = []
        self._taken: set[str] = set()

    def __len__(self) -> int:
        return len(self._names)

    @property
    def names(self) -> list[str]:
        """Of the features, by column; no two are alike."""
        return list(self._names)

    @property
    def sources(self) -> list[tuple[str, ...]]:
        """The frame's columns each feature comes from: one, or the two of an interaction."""
        return list(self._sources)

    @property
    def kinds(self) -> dict[str, str]:
        """Of the frame's columns that had a value: "number", "category" or "date"."""
        return dict(self._kinds)

    def encode(self, frame: Any, *, grow: bool = True) -> Encoded:
        """The frame as a matrix, with columns for what is new; the map does not change.

        Without `grow` nothing is new: a level never seen before is absent. In the known columns a
        row is the same either way, whatever rows stand beside it.
        """
        table = frames.opened(frame)
        names = frames.column_names(table)
        grow = grow and len(table) > 0
        if self._is_plain(names) and frames.is_numeric(table):
            return self._encode_numbers(names, frames.numeric_table(table), grow)
        cells = [self._fitted(column, len(table)) for column in frames.columns_of(table)]
        parts = {column.name: parts_of(column, column.name in self.text) for column in cells}
        pairs = pairs_of(self.interactions, names)
        products = (product(p, q) for a, b in pairs for p in parts[a] for q in parts[b])
        kinds = {column.name: str(column.kind) for column in cells if column.first() is not None}
        return self._encode_parts([*chain(*parts.values()), *products], kinds, len(table), grow)

    def commit(self, encoded: Encoded) -> None:
        """Keep the new features and kinds of a block."""
        if not (encoded.features or encoded.kinds):
            return
        if encoded.size != self._size():
            raise ValueError("the columns have grown since this block was encoded: encode it again")
        self._keep(encoded.features, encoded.names)
        self._kinds |= encoded.kinds

    def absorb(self, other: "Columns") -> NDArray[np.int64]:
        """Add what another map knows, behind what is known; the column of each of its features.

        If the other one saw the rows that follow, this is the map that has seen all of them, as
        long as no column has more than `max_levels` levels.

        >>> import pandas
        >>> one, two = Columns(), Columns()
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
        new = [(space, slot) for space, slot in features if slot not in self._known.get(space, {})]
        self._keep(new, placing.new_names(new, self._taken))
        return np.array([self._known[space][slot] for space, slot in features], dtype=np.int64)

    def overfull(self) -> bool:
        """Whether a column has more levels than get a feature of their own."""
        spaces = (space for space in self._known if not is_number(space))
        return any(len(self._known[space]) > self.max_levels for space in spaces)

    def settled(self) -> "Columns":
        """A map with the first `max_levels` levels of each column, and no buckets yet."""
        made = type(self)(self.hash_bits, self.max_levels, (), self.text)
        made.interactions, made._kinds = list(self.interactions), dict(self._kinds)
        counts: dict[Space, int] = {}
        kept: list[Feature] = []
        for space, slot in self._features():
            counts[space] = counts.get(space, 0) + (not isinstance(slot, int))
            if is_number(space) or (not isinstance(slot, int) and counts[space] <= self.max_levels):
                kept.append((space, slot))
        made._keep(kept, placing.new_names(kept, made._taken))
        return made

    def _features(self) -> list[Feature]:
        """The space and the slot of each feature, by column."""
        found: list[Any] = [None] * len(self)
        for space, kept in self._known.items():
            for slot, column in kept.items():
                found[column] = space, slot
        return found

    def state(self) -> dict[str, Any]:
        """All there is to know, as JSON has it."""
        return {
            "version": VERSION,
            "hash_bits": self.hash_bits,
            "max_levels": self.max_levels,
            "interactions": lists(tuple(self.interactions)),
            "text": list(self.text),
            "kinds": dict(self._kinds),
            "names": list(self._names),
            "features": [[lists(space), lists(slot)] for space, slot in self._features()],
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The map that gave the state.

        >>> import json
        >>> state = json.dumps(Columns(text=["mail"]).state())
        >>> Columns.from_state(json.loads(state)).text
        ['mail']
        """
        if state["version"] != VERSION:
            raise ValueError(f"columns of version {state['version']} are unknown: update unitless")
        options = ("hash_bits", "max_levels", "interactions", "text")
        made = cls(**{option: state[option] for option in options})
        made._keep([tuples(feature) for feature in state["features"]], state["names"])
        made._kinds = dict(state["kinds"])
        return made

    def _size(self) -> tuple[int, int]:
        return len(self._names), len(self._kinds)

    def _keep(self, features: Sequence[Feature], names: Sequence[str]) -> None:
        for (space, slot), name in zip(features, names, strict=True):
            self._known.setdefault(space, {})[slot] = len(self)
            self._sources.append(sources_of(space))
            self._names.append(name)
            self._taken.add(name)

    def _is_plain(self, names: list[str]) -> bool:
        """Whether a frame of numbers with these columns makes a dense array."""
        return (
            not self.interactions
            and not {*names} & {*self.text}
            and all(self._kinds.get(name, "number") == "number" for name in names)
            and all(map(is_number, self._known))
        )

    def _encode_numbers(self, names: list[str], values: NDArray[np.float64], grow: bool) -> Encoded:
        spaces: list[Space] = [(name, "") for name in names]
        new: list[Feature] = [(space, "") for space in spaces if space not in self._known]
        places = {space: len(self) + k for k, (space, _) in enumerate(new)}
        places |= {space: self._known[space][""] for space in spaces if space in self._known}
        kinds = {
            name: "number"
            for k, name in enumerate(names)
            if name not in self._kinds and not np.isnan(values[:, k]).all()
        }
        width = len(self) + len(new) * grow
        return self._encoded(
            dense(values, [places[space] for space in spaces], width), new, kinds, grow
        )

    def _encode_parts(
        self, parts: list[Part], kinds: dict[str, str], rows: int, grow: bool
    ) -> Encoded:
        how = self.max_levels, self.hash_bits
        slots = [placing.slots_of(part, self._known, *how) for part in parts]
        new = placing.new_features(parts, slots, self._known)
        numbered = {feature: len(self) + k for k, feature in enumerate(new)}
        places = [
            placing.columns_of_keys(part, kept, self._known, numbered)
            for part, kept in zip(parts, slots, strict=True)
        ]
        if grow:
            placing.warn_of_buckets(new, self._known, *how)
        X = sparse(parts, places, rows, len(self) + len(new) * grow)
        return self._encoded(X, new, kinds, grow)

    def _encoded(self, X: Any, new: list[Feature], kinds: dict[str, str], grow: bool) -> Encoded:
        if not grow:
            return Encoded(X, [], {}, [], self._size())
        first = {name: kind for name, kind in kinds.items() if name not in self._kinds}
        return Encoded(X, placing.new_names(new, self._taken), first, new, self._size())

    def _fitted(self, cells: Cells, rows: int) -> Cells:
        """The cells as the column's kind wants them; a value of another kind is an error."""
        name, row = cells.name, cells.first()
        wanted = self._kinds.get(name) or ("category" if name in self.text else None)
        if row is not None and wanted not in (None, cells.kind):
            raise refusal(row, name, cells.show(row), str(cells.kind), str(wanted))
        has_number = (name, "") in self._known
        if row is None and (wanted in ("number", "date") or (wanted is None and has_number)):
            return Cells(name, "number", np.full(rows, np.nan))
        if row is None and wanted:
            return Cells(name, None, np.empty(0))
        return replace(cells, start=0) if has_number else cells


def _listed(given: Any) -> list[Any]:
    return [given] if isinstance(given, str) else list(given)
