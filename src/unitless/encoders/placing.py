"""Parts -> columns of the matrix: known features keep theirs, new ones follow by appearance.

A space whose levels are too many goes on with buckets, from the very row where the level after
the last one with a feature of its own appears.
"""

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from unitless.encoders.hashing import bucket_of
from unitless.encoders.parts import Part
from unitless.encoders.spaces import Key, Space, is_number, name_of, title_of

Slot = Key | int
"""Under what a column is kept: a key, or the number of a bucket."""
Feature = tuple[Space, Slot]
Known = Mapping[Space, Mapping[Slot, int]]
"""Space -> key or bucket -> column. Buckets come only after all `max_levels` keys."""


class ManyLevels(UserWarning):
    """A column has more levels than get a feature of their own: new ones are hashed from now on.

    >>> import pandas
    >>> from unitless.encoders import Columns
    >>> with warnings.catch_warnings(record=True) as said:
    ...     warnings.simplefilter("always")
    ...     names = Columns(max_levels=1).encode(pandas.DataFrame({"who": ["Ann", "Bob"]})).names
    >>> names, said[0].category.__name__
    (['who=Ann', 'who#152338'], 'ManyLevels')
    """


def slots_of(part: Part, known: Known, max_levels: int, bits: int) -> list[Slot]:
    """The key, or the bucket, of each of the part's keys.

    >>> none = np.empty(0, dtype=np.int64)
    >>> part = Part(("colour", "="), ["red", "green", "blue"], none, none, np.empty(0))
    >>> slots_of(part, {("colour", "="): {"blue": 0}}, max_levels=2, bits=18)
    ['red', 192076, 'blue']
    """
    kept = known.get(part.space, {})
    room = math.inf if is_number(part.space) else max_levels - len(kept)
    slots: list[Slot] = []
    for key in part.keys:
        own = key in kept or room > 0
        room -= own and key not in kept
        slots.append(key if own else bucket_of(key, bits))
    return slots


def new_features(parts: Sequence[Part], slots: Sequence[list[Slot]], known: Known) -> list[Feature]:
    """The features that have no column yet, by row of first appearance, then by part."""
    wanted = []
    for order, (part, kept) in enumerate(zip(parts, slots, strict=True)):
        there = known.get(part.space, {})
        fresh = [k for k, slot in enumerate(kept) if slot not in there]
        if fresh:
            first = part.first_rows().tolist()
            wanted += [(first[k], order, k) for k in fresh]
    return list(
        dict.fromkeys((parts[order].space, slots[order][k]) for *_, order, k in sorted(wanted))
    )


def columns_of_keys(
    part: Part, slots: list[Slot], known: Known, new: Mapping[Feature, int]
) -> NDArray[np.int32]:
    """The column of each of the part's keys."""
    there = known.get(part.space, {})
    places = [there[slot] if slot in there else new[part.space, slot] for slot in slots]
    return np.array(places, dtype=np.int32)


def new_names(features: Iterable[Feature], taken: set[str]) -> list[str]:
    """A name for each; one that is taken gets a prime, so that no two are alike.

    >>> new_names([(("size", "="), "7"), (("size", "="), ("int", "7"))], {"age"})
    ['size=7', "size=7'"]
    """
    names: dict[str, None] = {}
    for space, slot in features:
        name = f"{title_of(space)}#{slot}" if isinstance(slot, int) else name_of(space, slot)
        while name in taken or name in names:
            name += "'"
        names[name] = None
    return list(names)


def warn_of_buckets(features: Iterable[Feature], known: Known, max_levels: int, bits: int) -> None:
    """Say which spaces begin to be hashed."""
    begun = dict.fromkeys(space for space, slot in features if isinstance(slot, int))
    for space in begun:
        if len(known.get(space, {})) <= max_levels:
            warnings.warn(
                f"column {title_of(space)!r} has more than {max_levels} levels: new ones are "
                f"hashed into 2**{bits} features from now on; drop it if it only numbers the rows",
                ManyLevels,
                stacklevel=4,
            )
