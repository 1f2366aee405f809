"""Code targets as numbers, for every interface.

Two classes are -1 and +1, several are 0, 1, 2, ...; the labels by code are a list. Of two classes
the first is -1, but a label equal to 1 (True) is +1 also if it comes first: then the list is
[None, 1] until the other one is seen.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.rows import Rows

Float = NDArray[np.float64]
Label = str | float | bool
New = Sequence[tuple[int, object]]
"""Labels that appear for the first time, each with its row."""
MOST_NUMBERED = 100
ROWS_PER_CLASS = 5
"""Distinct whole numbers that may be classes, and the rows that it takes for each of them."""


class WrongLabel(ValueError):
    """A label that does not fit the task."""

    def __init__(self, row: int, why: str, advice: str) -> None:
        super().__init__(f"row {row}: {why}")
        self.row, self.why, self.advice = row, why, advice


def codes_of(
    y: Any, task: str, labels: Sequence[object], missing: bool = False
) -> tuple[Float, New]:
    """The codes of labels, or numbers; and the labels that are new.

    With `missing`, rows may have no label (None or NaN): their code is NaN.

    >>> codes_of(["cat", "dog", None, "cat"], "binary", ["dog"], missing=True)
    (array([ 1., -1., nan,  1.]), [(0, 'cat')])
    """
    if task == "multilabel":
        return _signs_by_column(np.atleast_2d(y)), []
    if task == "multioutput":
        return np.atleast_2d(np.asarray(y, dtype=np.float64)), []
    given = _listed(y)
    if task == "regression":
        return _numbers(given), []
    codes, new = coded(given, labels, task == "binary")
    known = classes(labels)
    if task == "binary" and len(known) + len(new) > 2:
        row, _ = new[2 - len(known)]
        found = [*known, *(label for _, label in new)]
        one, two, three = map(shown, found[:3])
        why = f"{three} is a third class after {one} and {two}"
        raise WrongLabel(row, why, "--task multiclass, or --task regression if it is a number")
    unlabelled = np.isnan(codes)
    if unlabelled.any() and not missing:
        row = int(np.argmax(unlabelled))
        raise WrongLabel(row, f"{given[row]!r} is not a label; leave out rows without one", "")
    return codes, new


def code_of(label: object, task: str, labels: Sequence[object]) -> object:
    """The code of one label, quickly; None if it is new, or no label of one target."""
    if task == "regression":
        return label
    if task not in ("binary", "multiclass") or label is None or label not in labels:
        return None
    place = labels.index(label)
    return 2.0 * place - 1 if task == "binary" else float(place)


def _listed(y: object) -> Any:
    """Labels or numbers as an array of one simple type, or as a list."""
    if isinstance(y, np.ndarray):
        return y.tolist() if y.dtype.kind == "O" else y
    if hasattr(y, "to_list"):
        return y.to_list()
    return list(y) if isinstance(y, list | tuple) else [y]


def _numbers(given: Any) -> Float:
    """Targets of a regression."""
    if isinstance(given, np.ndarray):
        if given.dtype.kind in "fiub":
            return given.astype(np.float64, copy=False)
        given = given.tolist()
    for row, label in enumerate(given):
        if isinstance(label, str | bool):
            why = f"{label!r} is not a number but a class, and the task is regression"
            raise WrongLabel(row, why, "--task binary or --task multiclass")
    return np.array(given, dtype=np.float64)


def _signs_by_column(labels: NDArray[Any]) -> Float:
    """-1 for 0 and +1 for 1; NaN stays."""
    try:
        numbers = labels.astype(np.float64)
    except (TypeError, ValueError):
        numbers = np.full(labels.shape, 2.0)
    known = np.isnan(numbers) | (numbers == 0) | (numbers == 1)
    if not known.all():
        k = int(np.argmin(known.all(axis=0)))
        raise ValueError(
            f"Unknown label type: column {k} of y holds more than 0 and 1. Several columns are "
            "labels that are there or not (multilabel-indicator); multiclass-multioutput is "
            "not supported: fit one classifier per column"
        )
    return 2 * numbers - 1


def classes(labels: Sequence[object]) -> list[Any]:
    """The labels that have been seen, by code."""
    return [label for label in labels if label is not None]


def add_label(labels: list[object], label: object, binary: bool) -> None:
    """Give a new label its code: a place that was left, or the next one."""
    if None in labels:
        labels[labels.index(None)] = label
    else:
        labels += [None, label] if binary and not labels and label == 1 else [label]


def label_array(labels: Sequence[object]) -> NDArray[Any]:
    """Labels as an array of their type; of objects, if they have several or are no scalars.

    >>> label_array([0, 1]).dtype, label_array([True, False]).dtype, label_array([1, "a"]).dtype
    (dtype('int64'), dtype('bool'), dtype('O'))
    """
    kinds = {*map(type, labels)}
    if len(kinds) == 1 and kinds <= {bool, int, float, str}:
        made = np.array(labels)
        if made.tolist() == [*labels]:  # not with integers beyond 64 bits
            return made
    objects = np.empty(len(labels), dtype=object)
    objects[:] = labels
    return objects


def as_labels(scores: Float, classes: NDArray[Any]) -> NDArray[Any]:
    """The class of the largest score, or of the sign of the score if there is one per row.

    A score of 0 means the second class, whose probability is then 1/2. None while no class is
    known.
    """
    if not len(classes):
        return np.full(len(scores), None, dtype=object)
    if scores.ndim == 2:
        return classes[scores[:, : len(classes)].argmax(axis=1)]
    return classes[np.minimum(scores >= 0, len(classes) - 1)]


def distinct_labels(given: Any) -> tuple[NDArray[np.int64], dict[int, Label]]:
    """The place of each row's label among the distinct ones, -1 for None and NaN; and these.

    They are in order of appearance, each with its first row.

    >>> distinct_labels(["dog", None, "cat", "dog"])
    (array([ 0, -1,  1,  0]), {0: 'dog', 2: 'cat'})
    """
    values = given.tolist() if isinstance(given, np.ndarray) else given
    places: dict[Label, int] = {}
    codes = [
        -1 if label is None or label != label else places.setdefault(label, len(places))
        for label in values
    ]
    found, rows = np.unique(codes, return_index=True)
    first = dict(zip(rows[found >= 0].tolist(), places, strict=True))
    return np.array(codes, dtype=np.int64), first


def coded(given: Any, known: Sequence[object], binary: bool) -> tuple[Float, New]:
    """The code of each row, NaN where it has no label; and the labels that are new."""
    if binary and len(known) == 2 and isinstance(given, np.ndarray):
        signs = (given == known[1]) * 2.0 - 1
        if ((signs > 0) | (given == known[0])).all():  # the usual case, without a loop
            return signs, []
    places, first = distinct_labels(given)
    before = {*known}
    new = [(row, label) for row, label in first.items() if label not in before]
    labels = list(known)
    for _, label in new:
        add_label(labels, label, binary)
    codes = {label: code for code, label in enumerate(labels)}
    by_label = np.array([*map(codes.get, first.values()), np.nan], dtype=np.float64)
    if binary:
        by_label = 2 * by_label - 1
    return by_label[places], new


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
                allowed = 'None, "balanced" or {class: weight}'
                raise ValueError(f"class_weight = {given!r}: it is {allowed}")
            for label, weight in given.items():
                if not 0 < weight < np.inf:
                    raise ValueError(f"class_weight: {weight!r} of {label!r} is not a number > 0")
        self.given = given
        self.counts = list(counts)
        self.largest = float(largest)

    def refuse_others(self, labels: Sequence[Any]) -> None:
        """A weight of a class that is not among the labels is an error."""
        others = [] if self.given == "balanced" else [c for c in self.given if c not in labels]
        if others:
            known = ", ".join(map(shown, labels))
            raise ValueError(
                f"class_weight: {shown(others[0])} is not one of the classes, which are {known}"
            )

    def weighed(
        self, rows: Rows, labels: Sequence[object], binary: bool
    ) -> tuple[Rows, "ClassWeights"]:
        """The rows with their factors as weights, and the class weights after these rows."""
        if rows.weights is not None:
            raise ValueError("class_weight and sample_weight cannot be used together")
        codes = np.asarray(rows.targets)
        places = (codes > 0) if binary else codes
        factors, after = self.factors(places.astype(np.int64), labels)
        return Rows(*rows.parts, rows.targets, factors), after

    def factors(
        self, codes: NDArray[np.int64], labels: Sequence[object]
    ) -> tuple[Float, "ClassWeights"]:
        """The factor of each row, and the class weights after these rows."""
        counts = self.counts + [0] * (len(labels) - len(self.counts))
        weights = np.empty(len(codes))
        total = sum(counts) + np.arange(1, len(codes) + 1)
        for c, label in enumerate(labels):
            own = np.flatnonzero(codes == c)
            if self.given == "balanced":
                so_far = counts[c] + np.arange(1, len(own) + 1)
                weights[own] = total[own] / so_far
            else:
                weights[own] = self.given.get(label, 1.0)
            counts[c] += len(own)
        largest = np.maximum.accumulate(np.append(self.largest, weights))
        return weights / largest[1:], ClassWeights(self.given, counts, largest[-1])


# Labels in text


def alike(labels: Iterable[object]) -> list[list[str]]:
    """Groups of labels that differ only in case or blanks.

    >>> alike(["Yes", "no", "yes "])
    [['Yes', 'yes ']]
    """
    spellings: dict[str, list[str]] = {}
    for label in labels:
        if isinstance(label, str):
            spellings.setdefault("".join(label.split()).casefold(), []).append(label)
    return [group for group in spellings.values() if len(group) > 1]


def may_be_classes(distinct: int, rows: int) -> bool:
    """Whether whole numbers are so few, and each on so many rows, that they may be classes.

    >>> may_be_classes(10, rows=50), may_be_classes(10, rows=49), may_be_classes(101, rows=10_000)
    (True, False, False)
    """
    return 0 < distinct <= MOST_NUMBERED and distinct * ROWS_PER_CLASS <= rows


def shown(label: Label) -> str:
    """A label for a message: 1.0 is 1, and "1" has quotes."""
    return f"{label:g}" if isinstance(label, float) else repr(label)


def text_of(label: Label) -> str:
    """A label for a table: 1.0 and "1" are 1."""
    return f"{label:g}" if isinstance(label, float) else str(label)
