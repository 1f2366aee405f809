"""Class labels <-> -1 and +1, or 0, 1, 2, ...: the only place where labels are coded."""

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def as_signs(labels: ArrayLike, classes: NDArray[Any]) -> NDArray[np.float64]:
    """-1 for the first class, +1 for the second; an unknown label is an error with its row.

    >>> as_signs(["no", "yes", "no"], np.array(["no", "yes"]))
    array([-1.,  1., -1.])
    """
    given = np.asarray(labels)
    second = given == classes[-1]
    _refuse_unknown(given, second | (given == classes[0]), classes)
    return 2.0 * second - 1.0  # four times as fast as `where` on labels in no order


def as_numbers(labels: ArrayLike, classes: NDArray[Any]) -> NDArray[np.float64]:
    """The place of each label among the classes, which are sorted.

    >>> as_numbers(["b", "c", "a"], np.array(["a", "b", "c"]))
    array([1., 2., 0.])
    """
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


def as_labels(scores: NDArray[np.float64], classes: NDArray[Any]) -> NDArray[Any]:
    """The class of the largest score, or on the side of each score if there is one a row.

    A score of 0 takes the second class, as 'at least 1/2' does.

    >>> as_labels(np.array([-0.1, 0.0, 2.0]), np.array(["no", "yes"]))
    array(['no', 'yes', 'yes'], dtype='<U3')
    """
    if scores.ndim == 2:
        return classes[scores.argmax(axis=1)]
    return classes[np.minimum(scores >= 0, len(classes) - 1)]


class SeenLabels:
    """The labels a stream has shown, of any hashable kind, and their codes.

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
        """The labels by code; of two, False and True until another is seen."""

    def code(self, label: Hashable) -> float:
        """The code that a label has or would have; a third of two is an error."""
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
        """The code of a label, which from now on is its own."""
        code = self.code(label)
        if label not in self.codes:
            self.codes[label] = code
            self.shown = self._listed()
        return code

    def _listed(self) -> list[Any]:
        if self.several:
            return list(self.codes)
        if len(self.codes) == 2:
            one, two = self.codes
            return [one, two] if self.codes[one] < 0 else [two, one]
        return [False, True] if self.codes.keys() <= {False, True} else list(self.codes)
