"""Class labels <-> -1 and +1: the only place where labels are coded."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def as_signs(labels: ArrayLike, classes: NDArray[Any]) -> NDArray[np.float64]:
    """-1 for the first class, +1 for the second; an unknown label is an error with its row.

    >>> as_signs(["no", "yes", "no"], np.array(["no", "yes"]))
    array([-1.,  1., -1.])
    """
    return np.where(_known(labels, classes) == classes[-1], 1.0, -1.0)


def as_numbers(labels: ArrayLike, classes: NDArray[Any]) -> NDArray[np.float64]:
    """The place of each label among the classes, which are sorted.

    >>> as_numbers(["b", "c", "a"], np.array(["a", "b", "c"]))
    array([1., 2., 0.])
    """
    return np.searchsorted(classes, _known(labels, classes)).astype(np.float64)


def _known(labels: ArrayLike, classes: NDArray[Any]) -> NDArray[Any]:
    """The labels, all of which are classes; else an error with the row."""
    given = np.asarray(labels)
    known = np.isin(given, classes)
    if not known.all():
        row = int(np.argmin(known))
        raise ValueError(
            f"row {row}: label {given[row]!r} is not one of the classes {classes.tolist()}"
        )
    return given


def as_labels(scores: NDArray[np.float64], classes: NDArray[Any]) -> NDArray[Any]:
    """The class on the side of each score; a score of 0 takes the second, as 'at least 1/2' does.

    >>> as_labels(np.array([-0.1, 0.0, 2.0]), np.array(["no", "yes"]))
    array(['no', 'yes', 'yes'], dtype='<U3')
    """
    return classes[np.minimum(scores >= 0, len(classes) - 1)]
