"""Losses: value, derivative in the prediction, link, Lipschitz constant.

A loss is a function of the target y and the score p. Each formula is written once, as a compiled
function in `core/losses.pxd`, which every learner and the methods here call. What else learners and
certificates have to know about a loss is its line in `LOSSES` or `FAMILIES` below. `register` adds
a loss in plain Python.

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
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless.core.losses import Code, cross_entropies, derivatives, sigmoids, values

__all__ = ["NAMES", "Loss", "check_target", "check_targets", "get", "names", "register"]


def __dir__() -> list[str]:
    return sorted(__all__)


LOGISTIC, HINGE, ABSOLUTE, QUANTILE = Code.LOGISTIC, Code.HINGE, Code.ABSOLUTE, Code.QUANTILE
HUBER, SQUARED, LINEAR, SOFTMAX = Code.HUBER, Code.SQUARED, Code.LINEAR, Code.SOFTMAX
ENTRY_POINTS = "unitless.losses"
"""The group of entry points by which other packages offer losses."""
MIN_SLOPE = 2.0**-200
"""Slopes of bounded losses below it count as 0 (`kept_slope` of unitless.core.losses)."""
_LARGEST = float(np.finfo(np.float64).max)

Function = Callable[[float, float], float]
"""A function of one target and one score."""


class Loss(NamedTuple):
    """One loss with its parameter: a plain record, made by `get` or by `register`.

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
    lipschitz: float
    """The largest |derivative|; infinite for the squared loss."""
    targets: Literal["signs", "reals", "slopes", "classes"]
    parameter: float = 0.0
    has_kink: bool = False
    """Whether the derivative jumps where the score is the target."""
    conjugate: float | None = None
    """c, if the conjugate is g y + c g^2 wherever it is finite. Certificates and best comparators
    follow from it; those of the logistic and the linear loss have formulas of their own."""
    functions: tuple[Function, Function] | None = None
    """The value and the derivative of a loss from outside the package."""

    def value(self, y: ArrayLike, p: ArrayLike) -> NDArray[np.float64]:
        """The loss of each score p for its target y; for softmax, p has one column per class."""
        if self.code == SOFTMAX:
            classes, scores = _by_class(self, y, p)
            return cross_entropies(classes, scores)
        return self._broadcast(values, self.value_at, y, p)

    def derivative(self, y: ArrayLike, p: ArrayLike) -> NDArray[np.float64]:
        """The derivative of the loss in p, at p; 0 on a kink. Softmax: one column per class."""
        if self.code == SOFTMAX:
            classes, scores = _by_class(self, y, p)
            return self.link(scores) - (classes[:, None] == np.arange(scores.shape[1]))
        return self._broadcast(derivatives, self.derivative_at, y, p)

    def value_at(self, y: float, p: float) -> float:
        """The loss of one score, from outside the package."""
        assert self.functions is not None
        return self._number("value", self.functions[0], y, p)

    def derivative_at(self, y: float, p: float) -> float:
        """The derivative of a loss from outside the package, at one score."""
        assert self.functions is not None
        g = self._number("derivative", self.functions[1], y, p)
        if abs(g) > self.lipschitz * (1 + 1e-9):
            raise ValueError(
                f"the {self.name} loss has the derivative {g} at y = {y}, p = {p}, and was "
                f"registered with lipschitz={self.lipschitz}"
            )
        return min(max(g, -self.lipschitz), self.lipschitz)

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

    def _number(self, what: str, function: Function, y: float, p: float) -> float:
        number = float(function(y, p))
        if number != number:
            raise ValueError(f"the {what} of the {self.name} loss is NaN at y = {y}, p = {p}")
        return min(max(number, -_LARGEST), _LARGEST)

    def _broadcast(
        self, loop: Any, at: Function, y: ArrayLike, p: ArrayLike
    ) -> NDArray[np.float64]:
        targets, scores = np.broadcast_arrays(
            np.asarray(y, dtype=np.float64), np.asarray(p, dtype=np.float64)
        )
        if self.functions is None:
            found = loop(self.code, self.parameter, targets.ravel(), scores.ravel())
        else:
            pairs = zip(targets.ravel().tolist(), scores.ravel().tolist(), strict=True)
            found = np.array([at(*pair) for pair in pairs], dtype=np.float64)
        return np.asarray(found.reshape(targets.shape))


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


def quantile(tau: float) -> Loss:
    """The pinball loss, whose best constant is the tau-quantile."""
    if not 0 < tau < 1:
        raise ValueError(f"quantile needs 0 < tau < 1, not {tau}; the median is quantile(0.5)")
    name = f"quantile({float(tau)!r})"  # all digits, so that `get(loss.name)` is the same loss
    lipschitz = max(float(tau), 1 - float(tau))
    return Loss(name, QUANTILE, lipschitz, "reals", float(tau), has_kink=True, conjugate=0.0)


def huber(delta: float) -> Loss:
    """Squared near 0 and linear beyond delta, in the unit of the target."""
    if not 0 < delta < math.inf:
        raise ValueError(f"huber needs a finite delta > 0, not {delta}")
    name = f"huber({float(delta)!r})".replace(".0)", ")")
    return Loss(name, HUBER, float(delta), "reals", float(delta), conjugate=0.5)


LOSSES = {
    loss.name: loss
    for loss in (
        Loss("logistic", LOGISTIC, 1.0, "signs"),
        Loss("hinge", HINGE, 1.0, "signs", has_kink=True, conjugate=0.0),
        Loss("smoothed_hinge", Code.SMOOTHED_HINGE, 1.0, "signs", conjugate=0.5),
        Loss("absolute", ABSOLUTE, 1.0, "reals", has_kink=True, conjugate=0.0),
        Loss("squared", SQUARED, math.inf, "reals", conjugate=0.25),
        Loss("linear", LINEAR, 1.0, "slopes"),
        Loss("softmax", SOFTMAX, 1.0, "classes"),
    )
}
"""The losses of the package that have no parameter: one line each."""

FAMILIES: dict[str, tuple[Callable[[float], Loss], str, float]] = {
    "quantile": (quantile, "tau", 0.5),
    "huber": (huber, "delta", 1.0),
}
"""The losses with a parameter: what makes one, the name of the parameter, and its default."""

NAMES = (
    *(name for name in LOSSES if name != "softmax"),
    *(f"{name}({parameter})" for name, (_, parameter, _) in FAMILIES.items()),
)
"""The losses of the package with one score per row; "softmax" has one per class."""

_registered: dict[str, Loss] = {}


def get(loss: str | Loss) -> Loss:
    """The loss of that name; `quantile` and `huber` take their parameter in brackets.

    >>> get("huber(2)").derivative(0.0, [-3.0, 1.0])
    array([-2.,  1.])
    """
    if isinstance(loss, Loss):
        return loss
    name, bracket, argument = str(loss).partition("(")
    if name in FAMILIES:
        make, _, default = FAMILIES[name]
        try:
            return make(float(argument.rstrip(")")) if bracket else default)
        except ValueError as error:
            raise ValueError(f"loss {loss!r}: {error}") from None
    if not bracket:
        if name in LOSSES:
            return LOSSES[name]
        if name not in _registered:
            for found in entry_points(group=ENTRY_POINTS, name=name):
                found.load()  # it calls `register`
        if name in _registered:
            return _registered[name]
    raise ValueError(
        f"unknown loss {loss!r}; choose one of {', '.join(names())}, softmax, or register a loss "
        "of your own first (unitless.losses.register)"
    )


def names() -> list[str]:
    """The losses with one score per row: of the package, registered, and by entry point."""
    offered = [found.name for found in entry_points(group=ENTRY_POINTS)]
    return list(dict.fromkeys([*NAMES, *_registered, *offered]))


def register(
    name: str,
    value: Function,
    derivative: Function,
    *,
    lipschitz: float,
    targets: Literal["signs", "reals"],
    has_kink: bool = False,
) -> Loss:
    """Make a loss in plain Python known by its name, for every learner that follows its slope.

    A model file keeps the name. To load it in another process, register the loss there first; a
    package offers its losses without that by entry points in the group "unitless.losses", each with
    the name of the loss.

    Parameters
    ----------
    name : str
        An identifier that no other loss has. A loss that was registered before is replaced.
    value, derivative : functions of (y, p)
        The loss of one score p for one target y, two floats, and its derivative in p. The loss is
        convex in p and never negative. At a kink, the derivative is 0 or another subderivative.
    lipschitz : float
        The largest absolute value of the derivative; `math.inf` if there is none, which most
        learners refuse.
    targets : "signs" or "reals"
        Labels -1 and +1, or numbers.
    has_kink : bool
        Whether the derivative jumps where the score is the target.

    Returns
    -------
    Loss

    See Also
    --------
    unitless.testing.check_loss : checks these properties

    Examples
    --------
    An error below 1 costs nothing here:

    >>> from unitless.learners import Coordinate
    >>> loss = register(
    ...     "insensitive",
    ...     lambda y, p: max(0.0, abs(p - y) - 1),
    ...     lambda y, p: (p > y + 1) - (p < y - 1),
    ...     lipschitz=1.0,
    ...     targets="reals",
    ... )
    >>> learner = Coordinate("insensitive")
    >>> for row in range(5):
    ...     score = learner.learn_one({"height": 1.8}, 3.0)
    >>> round(score, 4)
    0.5498
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"loss {name!r}: a name is an identifier, such as my_loss")
    if name in LOSSES or name in FAMILIES:
        raise ValueError(f"there is another loss {name!r}: choose another name")
    if not callable(value) or not callable(derivative):
        raise TypeError(f"loss {name!r}: value and derivative are functions of (y, p)")
    if not lipschitz > 0:
        raise ValueError(f"loss {name!r}: lipschitz = {lipschitz} must be positive")
    if targets not in ("signs", "reals"):
        raise ValueError(f'loss {name!r}: targets = {targets!r} must be "signs" or "reals"')
    _registered[name] = Loss(
        name,
        Code.OUTSIDE,
        float(lipschitz),
        targets,
        has_kink=bool(has_kink),
        functions=(value, derivative),
    )
    return _registered[name]


_NEEDED = {
    "signs": "-1 or +1 (OnlineClassifier codes labels for you)",
    "reals": "a finite number",
    "slopes": "a slope in [-1, 1]",
    "classes": "a class number 0, 1, 2, ...",
}


def fits(loss: Loss, y: Any) -> Any:
    """Whether the target, or each of an array, is in the domain of the loss."""
    if loss.targets == "classes":
        return (y >= 0) & (y == np.floor(y))
    if loss.targets == "slopes":
        return abs(y) <= 1
    if loss.targets == "signs":
        return abs(y) == 1
    return abs(y) <= _LARGEST


def check_target(loss: Loss, target: float, row: int = 0, classes: int = 1) -> None:
    """Refuse a target outside the loss's domain."""
    if type(target) is float and loss.targets == "signs" and target in (-1.0, 1.0):
        return  # the usual case of a single row
    needed = _NEEDED[loss.targets]
    try:
        good = bool(fits(loss, target))
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
    good = fits(loss, targets)
    if loss.code == SOFTMAX:
        good &= targets < classes
    if not good.all():
        row = int(np.argmin(good))
        check_target(loss, float(targets[row]), row, classes)
