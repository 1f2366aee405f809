"""Losses: value, derivative in the prediction, link, Lipschitz constant.

A loss is a function of the target y and the score p. Each formula is written once, as a compiled
function in `unitless.core.losses`, which every learner and the methods here call.

============== ======================== ============================ =========== ==============
name           value                    derivative at the kink       Lipschitz   targets
============== ======================== ============================ =========== ==============
logistic       log(1 + exp(-y p))       none                         1           -1, +1
hinge          max(0, 1 - y p)          0 at y p = 1                 1           -1, +1
smoothed_hinge 1/2 - yp; (1-yp)^2/2; 0  none                         1           -1, +1
absolute       abs(p - y)               0 at p = y                   1           real
quantile       tau (y-p); (1-tau)(p-y)  0 at p = y                   max(tau,    real
                                                                     1 - tau)
huber          r^2/2; delta(abs r -     none                         delta       real
               delta/2), r = p - y
squared        (p - y)^2                none                         none        real
linear         y p                      none                         1           [-1, 1]
softmax        log sum exp(p_c) - p_y   none                         1 per class 0, 1, ...
============== ======================== ============================ =========== ==============

Learners take a score for its target if they differ by at most 2^-40 of it (of the smallest target
so far, if it is 0), so that rounding, which other units do differently, never chooses the slope at
a kink.

`linear` is the loss of the paper's proofs and of its adversaries: the target is the gradient
itself. Values and derivatives beyond the largest float saturate there; none is ever infinite.
"""

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless.core.losses import cross_entropies, derivatives, sigmoids, values

__all__ = ["NAMES", "Loss", "check_target", "check_targets", "get"]


def __dir__() -> list[str]:
    return sorted(__all__)


LOGISTIC, HINGE, SMOOTHED_HINGE, ABSOLUTE, QUANTILE, HUBER, SQUARED, LINEAR, SOFTMAX = range(9)
_LARGEST = float(np.finfo(np.float64).max)
MIN_SLOPE = 2.0**-200
"""Slopes of bounded losses below it count as 0 (`kept_slope` of unitless.core.losses)."""


class Loss(NamedTuple):
    """One loss with its parameter: a plain record, made by `get`.

    >>> logistic = get("logistic")
    >>> logistic.value([1, -1], [0.0, 0.0])
    array([0.69314718, 0.69314718])
    >>> logistic.derivative([1, -1], [0.0, 1e308])
    array([-0.5,  1. ])
    >>> logistic.link([0.0])
    array([0.5])
    >>> get("quantile(0.9)").lipschitz
    0.9
    """

    name: str
    code: int
    parameter: float
    lipschitz: float
    """The largest |derivative|; infinite for the squared loss."""
    targets: Literal["signs", "reals", "slopes", "classes"]

    def value(self, y: ArrayLike, p: ArrayLike) -> NDArray[np.float64]:
        """The loss of each score p for its target y; for softmax, p has one column per class."""
        if self.code == SOFTMAX:
            classes, scores = _by_class(self, y, p)
            return cross_entropies(classes, scores)
        return self._broadcast(values, y, p)

    def derivative(self, y: ArrayLike, p: ArrayLike) -> NDArray[np.float64]:
        """The derivative of the loss in p, at p; 0 on a kink. Softmax: one column per class."""
        if self.code == SOFTMAX:
            classes, scores = _by_class(self, y, p)
            return self.link(scores) - (classes[:, None] == np.arange(scores.shape[1]))
        return self._broadcast(derivatives, y, p)

    def link(self, p: ArrayLike) -> NDArray[np.float64]:
        """The score in the unit of the target: P(y = +1) for logistic, P(y = c) in column c for
        softmax, p itself otherwise.
        """
        scores = np.array(p, dtype=np.float64, order="C")
        if self.code == SOFTMAX:
            with np.errstate(over="ignore"):  # of a difference, and exp(-inf) is 0
                scores = np.exp(scores - scores.max(axis=1, keepdims=True))
            return scores / scores.sum(axis=1, keepdims=True)
        if self.code == LOGISTIC:
            return sigmoids(scores.ravel()).reshape(scores.shape)
        return scores

    def _broadcast(self, loop: Any, y: ArrayLike, p: ArrayLike) -> NDArray[np.float64]:
        targets, scores = np.broadcast_arrays(
            np.asarray(y, dtype=np.float64), np.asarray(p, dtype=np.float64)
        )
        found = loop(self.code, self.parameter, targets.ravel(), scores.ravel())
        return found.reshape(targets.shape)


def _by_class(loss: Loss, y: ArrayLike, p: ArrayLike) -> tuple[Any, Any]:
    """The class number of each row, and its scores, one per class."""
    scores = np.ascontiguousarray(p, dtype=np.float64)
    classes = np.ascontiguousarray(y, dtype=np.float64)
    if scores.ndim != 2 or classes.shape != scores.shape[:1]:
        raise ValueError(
            f"the softmax loss needs one class number per row and one score per row and class, "
            f"not shapes {classes.shape} and {scores.shape}"
        )
    check_targets(loss, classes, scores.shape[1])
    return classes, scores


_PLAIN = {
    "logistic": Loss("logistic", LOGISTIC, 0.0, 1.0, "signs"),
    "hinge": Loss("hinge", HINGE, 0.0, 1.0, "signs"),
    "smoothed_hinge": Loss("smoothed_hinge", SMOOTHED_HINGE, 0.0, 1.0, "signs"),
    "absolute": Loss("absolute", ABSOLUTE, 0.0, 1.0, "reals"),
    "squared": Loss("squared", SQUARED, 0.0, math.inf, "reals"),
    "linear": Loss("linear", LINEAR, 0.0, 1.0, "slopes"),
}
NAMES = (*_PLAIN, "quantile(tau)", "huber(delta)")
"""Losses of one score per row; "softmax" has one per class."""
_PLAIN["softmax"] = Loss("softmax", SOFTMAX, 0.0, 1.0, "classes")


def quantile(tau: float) -> Loss:
    """The pinball loss, whose best constant is the tau-quantile."""
    if not 0 < tau < 1:
        raise ValueError(f"quantile needs 0 < tau < 1, not {tau}; the median is quantile(0.5)")
    name = f"quantile({float(tau)!r})"  # all digits, so that `get(loss.name)` is the same loss
    return Loss(name, QUANTILE, float(tau), max(float(tau), 1 - float(tau)), "reals")


def huber(delta: float) -> Loss:
    """Squared near 0 and linear beyond delta, in the unit of the target."""
    if not 0 < delta < math.inf:
        raise ValueError(f"huber needs a finite delta > 0, not {delta}")
    name = f"huber({float(delta)!r})".replace(".0)", ")")
    return Loss(name, HUBER, float(delta), float(delta), "reals")


def get(loss: str | Loss) -> Loss:
    """The loss of that name; `quantile` and `huber` take their parameter in brackets.

    >>> get("huber(2)").derivative(0.0, [-3.0, 1.0])
    array([-2.,  1.])
    """
    if isinstance(loss, Loss):
        return loss
    name, bracket, argument = str(loss).partition("(")
    try:
        if name in _PLAIN and not bracket:
            return _PLAIN[name]
        if name == "quantile":
            return quantile(float(argument.rstrip(")")) if bracket else 0.5)
        if name == "huber":
            return huber(float(argument.rstrip(")")) if bracket else 1.0)
    except ValueError as error:
        raise ValueError(f"loss {loss!r}: {error}") from None
    raise ValueError(f"unknown loss {loss!r}; choose one of {', '.join(NAMES)}, softmax")


_NEEDED = {
    "signs": "-1 or +1 (OnlineClassifier codes labels for you)",
    "reals": "a finite number",
    "slopes": "a slope in [-1, 1]",
    "classes": "a class number 0, 1, 2, ...",
}


def fits(code: int, y: Any) -> Any:
    """Whether the target, or each of an array, is in the domain of the loss."""
    if code == SOFTMAX:
        return (y >= 0) & (y == np.floor(y))
    if code == LINEAR:
        return abs(y) <= 1
    if code in (LOGISTIC, HINGE, SMOOTHED_HINGE):
        return abs(y) == 1
    return abs(y) <= _LARGEST


def check_target(loss: Loss, target: float, row: int = 0, classes: int = 1) -> None:
    """Refuse a target outside the loss's domain."""
    if type(target) is float and loss.targets == "signs" and target in (-1.0, 1.0):
        return  # the usual case of a single row
    needed = _NEEDED[loss.targets]
    try:
        good = bool(fits(loss.code, target))
        if loss.code == SOFTMAX and good and target >= classes:
            needed = f"a class number below {classes}"
            good = False
        good = good and math.isfinite(target)  # no complex number either
    except (TypeError, ValueError):
        good = False
    if not good:
        raise ValueError(
            f"row {row}: target {target!r} does not fit the {loss.name} loss, which needs {needed}"
        )


def as_target(loss: Loss, target: Any, classes: int = 1) -> float:
    """The target of a single row as a number; refuse one outside the loss's domain."""
    check_target(loss, target, 0, classes)
    return float(target)


def check_targets(loss: Loss, targets: NDArray[np.float64], classes: int = 1) -> None:
    """Refuse a block in which one target is outside the loss's domain, naming its row."""
    good = fits(loss.code, targets)
    if loss.code == SOFTMAX:
        good &= targets < classes
    if not good.all():
        row = int(np.argmin(good))
        check_target(loss, float(targets[row]), row, classes)
