"""Assign features to columns of the matrix: known ones keep theirs, new ones are appended.

A namespace with more keys than `max_levels` continues with hash buckets, from the row in which the
first key beyond the limit appears.
"""

import math
import warnings
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from unitless.encoders.encoded_column import EncodedColumn
from unitless.encoders.hashing import bucket_of
from unitless.encoders.namespaces import Key, Namespace, feature_name, is_number, namespace_name

FeatureId = Key | int
"""Identifies a feature in its namespace: a key, or the number of a hash bucket."""
Feature = tuple[Namespace, FeatureId]
Known = Mapping[Namespace, Mapping[FeatureId, int]]
"""Namespace to key or bucket to column. Buckets come only after all `max_levels` keys."""


class ManyLevels(UserWarning):
    """A column has more than `max_levels` levels: new ones are hashed from now on.

    >>> import pandas
    >>> from unitless.encoders import FrameEncoder
    >>> frame = pandas.DataFrame({"who": ["Ann", "Bob"]})
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     names = FrameEncoder(max_levels=1).encode(frame).names
    >>> names, caught[0].category.__name__
    (['who=Ann', 'who#152338'], 'ManyLevels')
    """


def feature_ids(column: EncodedColumn, known: Known, max_levels: int, bits: int) -> list[FeatureId]:
    """The key or the bucket under which each key of a column is kept.

    >>> none = np.empty(0, dtype=np.int64)
    >>> column = EncodedColumn(("colour", "="), ["red", "green", "blue"], none, none, np.empty(0))
    >>> feature_ids(column, {("colour", "="): {"blue": 0}}, max_levels=2, bits=18)
    ['red', 192076, 'blue']
    """
    kept = known.get(column.namespace, {})
    room = math.inf if is_number(column.namespace) else max_levels - len(kept)
    ids: list[FeatureId] = []
    for key in column.keys:
        if key in kept:
            ids.append(key)
        elif room > 0:
            ids.append(key)
            room -= 1
        else:
            ids.append(bucket_of(key, bits))
    return ids


def new_features(
    columns: Sequence[EncodedColumn], ids: Sequence[list[FeatureId]], known: Known
) -> dict[Feature, int]:
    """Features that have no column yet, in order, with the row in which each appears first.

    They are ordered by that row, then by column, then by key.
    """
    found = []
    for order, (column, kept) in enumerate(zip(columns, ids, strict=True)):
        present = known.get(column.namespace, {})
        fresh = [k for k, feature_id in enumerate(kept) if feature_id not in present]
        if fresh:
            first = column.first_rows().tolist()
            found += [(first[k], order, k) for k in fresh]
    new: dict[Feature, int] = {}
    for row, order, k in sorted(found):
        new.setdefault((columns[order].namespace, ids[order][k]), row)
    return new


def columns_of_keys(
    column: EncodedColumn, ids: list[FeatureId], known: Known, new: Mapping[Feature, int]
) -> NDArray[np.int32]:
    """The column of the matrix for each key; `new` has those of the new features."""
    present = known.get(column.namespace, {})
    places = [present[each] if each in present else new[column.namespace, each] for each in ids]
    return np.array(places, dtype=np.int32)


def new_names(features: Iterable[Feature], taken: set[str]) -> list[str]:
    """A name for each feature; a name that is taken gets a prime, so that all are different.

    >>> new_names([(("size", "="), "7"), (("size", "="), ("int", "7"))], {"age"})
    ['size=7', "size=7'"]
    """
    names: dict[str, None] = {}
    for namespace, each in features:
        if isinstance(each, int):
            name = f"{namespace_name(namespace)}#{each}"
        else:
            name = feature_name(namespace, each)
        while name in taken or name in names:
            name += "'"
        names[name] = None
    return list(names)


def warn_of_buckets(features: Iterable[Feature], known: Known, max_levels: int, bits: int) -> None:
    """Warn of each namespace that begins to be hashed."""
    hashed = dict.fromkeys(namespace for namespace, each in features if isinstance(each, int))
    for namespace in hashed:
        if len(known.get(namespace, {})) <= max_levels:
            warnings.warn(
                f"column {namespace_name(namespace)!r} has more than {max_levels} levels: new ones "
                f"are hashed into 2**{bits} features from now on; drop it if it only numbers the "
                "rows",
                ManyLevels,
                stacklevel=4,
            )
