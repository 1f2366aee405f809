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
from unitless.encoders.namespaces import (
    Key,
    Namespace,
    bucket_of,
    feature_name,
    is_number,
    namespace_name,
)

FeatureId = Key | int
"""Identifies a feature in its namespace: a key, or the number of a hash bucket."""
Feature = tuple[Namespace, FeatureId]
Known = Mapping[Namespace, Mapping[FeatureId, int]]
"""Namespace to key or bucket to column. Buckets come only after all `max_levels` keys."""


class ManyLevels(UserWarning):
    """A column has more than `max_levels` levels: new ones are hashed from now on."""


def feature_ids(column: EncodedColumn, known: Known, max_levels: int, bits: int) -> list[FeatureId]:
    """The key or the bucket under which each key of a column is kept."""
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
) -> list[Feature]:
    """Features that have no column yet, by first row, then numbers before others.

    So the numbers of a table stand at the same leading places in every row, and a learner reads
    them like those of an array.
    """
    found = []
    for order, (column, own) in enumerate(zip(columns, ids, strict=True)):
        present = known.get(column.namespace, {})
        if not all(each in present for each in own):
            others = not is_number(column.namespace)
            for k, row in enumerate(column.first_rows().tolist()):
                found.append((row, others, order, k))
    appeared = [(columns[order].namespace, ids[order][k]) for _, _, order, k in sorted(found)]
    return [each for each in dict.fromkeys(appeared) if each[1] not in known.get(each[0], {})]


def places_of(
    columns: Sequence[EncodedColumn],
    ids: Sequence[list[FeatureId]],
    known: Known,
    new: list[Feature],
) -> list[NDArray[np.int32]]:
    """The columns of the matrix for the features of each column; the new ones are the last."""
    first = sum(map(len, known.values()))
    numbered = {feature: first + k for k, feature in enumerate(new)}
    places = []
    for column, own in zip(columns, ids, strict=True):
        namespace = column.namespace
        present = known.get(namespace, {})
        found = [present[each] if each in present else numbered[namespace, each] for each in own]
        places.append(np.array(found, dtype=np.int32))
    return places


def new_names(features: Iterable[Feature], taken: set[str]) -> list[str]:
    """A name for each feature; a name that is taken gets a prime, so that all are different."""
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
            is_text = namespace[1] == ":"
            what = "words" if is_text else "levels"
            advice = "" if is_text else "; drop it if it only numbers the rows"
            warnings.warn(
                f"column {namespace_name(namespace)!r} has more than {max_levels} {what}: new ones "
                f"are hashed into 2**{bits} features from now on{advice}",
                ManyLevels,
                stacklevel=4,
            )
