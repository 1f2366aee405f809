"""Encode class labels as numbers: -1 and +1 for two classes, 0, 1, 2, ... for several."""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float = NDArray[np.float64]
Label = str | float | bool


# Known classes


def as_signs(labels: ArrayLike, classes: NDArray[Any]) -> Float:
    """-1 for the first class, +1 for the second; an unknown label is an error with its row."""
    given = np.asarray(labels)
    second = given == classes[-1]
    _refuse_unknown(given, second | (given == classes[0]), classes)
    return 2.0 * second - 1.0  # four times as fast as `where` if the labels are in no order


def as_numbers(labels: ArrayLike, classes: NDArray[Any]) -> Float:
    """The position of each label among the classes, which are sorted."""
    given = np.asarray(labels)
    _refuse_unknown(given, np.isin(given, classes), classes)
    return np.searchsorted(classes, given).astype(np.float64)


def _refuse_unknown(given: NDArray[Any], known: NDArray[np.bool_], classes: NDArray[Any]) -> None:
    if not known.all():
        row = int(np.argmin(known))
        (label,) = given[row : row + 1].tolist()
        raise ValueError(
            f"row {row}: y contains a previously unseen label: {label!r} is not one of the "
            f"classes {classes.tolist()}; give all of them as `classes` with the first rows"
        )


def as_labels(scores: Float, classes: NDArray[Any]) -> NDArray[Any]:
    """The class of the largest score, or of the sign of the score if there is one per row.

    A score of 0 means the second class, whose probability is then 1/2.
    """
    if scores.ndim == 2:
        return classes[scores.argmax(axis=1)]
    return classes[np.minimum(scores >= 0, len(classes) - 1)]


# Classes that appear during the stream


class DistinctLabels(NamedTuple):
    """The labels of a block."""

    labels: list[Label]
    """The distinct ones."""
    codes: NDArray[np.int64]
    """The position of each row's label among them, -1 if it has none."""
    first: dict[int, Label]
    """Row of first appearance to label."""


def distinct_labels(given: NDArray[np.float64] | Sequence[Any]) -> DistinctLabels:
    """The distinct labels of an array of numbers (NaN: none) or of a list (None: none)."""
    if isinstance(given, np.ndarray):
        distinct, first, codes = np.unique(given, return_index=True, return_inverse=True)
        known = int(np.sum(distinct == distinct))  # NaN comes last
        codes[codes >= known] = -1
        labels: list[Label] = distinct[:known].tolist()
        order = np.argsort(first[:known]).tolist()
        return DistinctLabels(labels, codes, {int(first[k]): labels[k] for k in order})
    positions: dict[Label, int] = {}
    rows: dict[int, Label] = {}
    codes = np.full(len(given), -1)
    for row, label in enumerate(given):
        if label is not None:
            if label not in positions:
                positions[label] = len(positions)
                rows[row] = label
            codes[row] = positions[label]
    return DistinctLabels(list(positions), codes, rows)


def coded(
    given: NDArray[np.float64] | Sequence[Any], known: Sequence[Label], binary: bool
) -> tuple[Float, list[tuple[int, Label]]]:
    """The code of each row, NaN where it has no label; and (row, label) of labels that are new.

    >>> coded(["cat", "dog", None, "cat"], ["dog"], binary=True)
    (array([ 1., -1., nan,  1.]), [(0, 'cat')])
    """
    if binary and len(known) == 2 and isinstance(given, np.ndarray):
        signs = (given == known[1]) * 2.0 - 1
        if ((signs > 0) | (given == known[0])).all():  # the usual case, without sorting
            return signs, []
    found = distinct_labels(given)
    codes = {label: k for k, label in enumerate(known)}
    new = [(row, label) for row, label in found.first.items() if label not in codes]
    codes |= {label: len(known) + k for k, (_, label) in enumerate(new)}
    by_label = np.array([*(codes[label] for label in found.labels), np.nan])
    return (by_label * 2 - 1 if binary else by_label)[found.codes], new


class SeenLabels:
    """The labels a stream has shown, of any hashable type, and their codes.

    Two labels are -1 and +1, where True and 1 are +1; several are 0, 1, 2, ... as they appear.

    >>> labels = SeenLabels(several=True)
    >>> [labels.keep(label) for label in ("cat", ("a", 1), "cat")]
    [0.0, 1.0, 0.0]
    >>> labels.shown
    ['cat', ('a', 1)]
    """

    def __init__(self, several: bool) -> None:
        self.several = several
        self.codes: dict[Hashable, float] = {}
        self.shown: list[Any] = self._listed()
        """The labels by code; for two classes False and True until another label is seen."""

    def code(self, label: Hashable) -> float:
        """The code that a label has or would have; a third of two classes is an error."""
        if label in self.codes:
            return self.codes[label]
        if label is None or label != label:
            raise ValueError(f"{label!r} is not a label; leave out rows whose label is missing")
        if self.several:
            return float(len(self.codes))
        if len(self.codes) == 2:
            one, two = self.codes
            raise ValueError(
                f"{label!r} is a third class after {one!r} and {two!r}; use multiclass=True"
            )
        first = next(iter(self.codes.values()), None)
        return -first if first else (1.0 if label == 1 else -1.0)

    def keep(self, label: Hashable) -> float:
        """The code of a label; a new label keeps it from now on."""
        code = self.code(label)
        if label not in self.codes:
            self.codes[label] = code
            self.shown = self._listed()
        return code

    def _listed(self) -> list[Any]:
        if self.several or len(self.codes) == 2:
            return sorted(self.codes, key=self.codes.__getitem__)
        return [False, True] if self.codes.keys() <= {False, True} else list(self.codes)


class ClassWeights:
    """Weights of classes: the factor by which a row multiplies the derivative of its loss.

    It is the weight of the row's class over the largest weight so far, so at most 1. "balanced"
    is the weight n / n_c, from n rows so far of which n_c are of the class, this row included.

    >>> weights = ClassWeights("balanced")
    >>> weights.factors(np.array([0, 0, 0, 1]), ["no", "yes"])[0]
    array([1., 1., 1., 1.])
    >>> ClassWeights({"yes": 4}).factors(np.array([0, 1, 0]), ["no", "yes"])[0]
    array([1.  , 1.  , 0.25])
    """

    def __init__(self, given: Any, counts: Sequence[int] = (), largest: float = 0.0) -> None:
        if given != "balanced":
            if not hasattr(given, "items"):
                raise ValueError(
                    f'class_weight = {given!r}: it is None, "balanced" or {{class: weight}}'
                )
            for label, weight in given.items():
                if not 0 < weight < np.inf:
                    raise ValueError(f"class_weight: {weight!r} of {label!r} is not a number > 0")
        self.given = given
        self.counts = list(counts)
        self.largest = float(largest)

    def factors(
        self, codes: NDArray[np.int64], labels: Sequence[Any]
    ) -> tuple[Float, "ClassWeights"]:
        """The factor of each row, and the class weights after these rows."""
        counts = self.counts + [0] * (len(labels) - len(self.counts))
        weights = np.empty(len(codes))
        total = sum(counts) + np.arange(1, len(codes) + 1)
        for c, label in enumerate(labels):
            own = np.flatnonzero(codes == c)
            if self.given == "balanced":
                weights[own] = total[own] / (counts[c] + np.arange(1, len(own) + 1))
            else:
                weights[own] = self.given.get(label, 1.0)
            counts[c] += len(own)
        largest = np.maximum.accumulate(np.append(self.largest, weights))
        return weights / largest[1:], ClassWeights(self.given, counts, largest[-1])


# Labels in text


def shown(label: Label) -> str:
    """A label for a message: 1.0 is 1, and "1" has quotes."""
    return f"{label:g}" if isinstance(label, float) else repr(label)


def text_of(label: Label) -> str:
    """A label for a table: 1.0 and "1" are 1."""
    return f"{label:g}" if isinstance(label, float) else str(label)
