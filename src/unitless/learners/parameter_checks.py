"""Checks of sample weights and parameters that all learners share."""

import numpy as np
from numpy.typing import NDArray

from unitless.losses import SOFTMAX, Loss
from unitless.rows import Rows

Float = NDArray[np.float64]
EMPTY = np.empty(0)
MIN_WEIGHT, MAX_WEIGHT = 2.0**-200, 2.0**200
"""Sample weights between these leave every square and product within float64."""


def weight_of_one(weight: float) -> Float:
    """The sample weight of one row, as `checked_weights` has those of a block."""
    if weight == 1:
        return EMPTY
    check_weight(weight)
    return np.array([float(weight)])


def checked_weights(rows: Rows) -> Float:
    """The sample weights of a block, empty if all are 1; out of bounds they are refused."""
    if not isinstance(rows, Rows):
        raise TypeError(f"expected Rows, got {type(rows).__name__}: use as_rows(X, targets)")
    if rows.weights is None:
        return EMPTY
    good = (rows.weights == 0) | ((rows.weights >= MIN_WEIGHT) & (rows.weights <= MAX_WEIGHT))
    if not good.all():
        row = int(np.argmin(good))
        check_weight(float(rows.weights[row]), row)
    return rows.weights


def check_weight(weight: float, row: int = 0) -> None:
    """Refuse a sample weight that is neither 0 nor within bounds."""
    if not (weight == 0 or MIN_WEIGHT <= weight <= MAX_WEIGHT):
        raise ValueError(
            f"row {row}: weight {weight:g} is neither 0 nor between {MIN_WEIGHT:.0e} and "
            f"{MAX_WEIGHT:.0e}; use 0 to leave a row out"
        )


def checked_classes(loss: Loss, classes: int) -> int:
    """The number of scores per row: 1, or the number of classes of the softmax loss."""
    if (loss.code == SOFTMAX) != (classes > 0):
        raise ValueError(
            f"classes = {classes} with the {loss.name} loss: the softmax loss needs the number of "
            "classes, and no other loss has classes"
        )
    return classes or 1
