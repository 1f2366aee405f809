"""Losses from their definitions, in decimals; kinks as the table of `unitless.losses` has them."""

from decimal import Decimal
from typing import NamedTuple

FAR = 10**5
"""exp(-FAR) is 0 in every precision used here (fewer than 43 000 digits)."""


class Loss(NamedTuple):
    value: object
    derivative: object
    lipschitz: Decimal | None


def get(name):
    """The loss of that name, with its parameter in brackets if it has one."""
    family, _, argument = name.rstrip(")").partition("(")
    return _FAMILIES[family](*([Decimal(float(argument))] if argument else []))


def logistic():
    """log(1 + exp(-y p)); the derivative is -y / (1 + exp(y p))."""

    def value(y, p):
        m = y * p
        if abs(m) > FAR:
            return max(-m, Decimal(0))
        return (1 + (-m).exp()).ln()

    def derivative(y, p):
        m = y * p
        if abs(m) > FAR:
            return -y if m < 0 else Decimal(0)
        return -y / (1 + m.exp())

    return Loss(value, derivative, Decimal(1))


def hinge():
    """max(0, 1 - y p); 0 on the kink y p = 1."""
    return Loss(
        lambda y, p: max(Decimal(0), 1 - y * p),
        lambda y, p: -y if y * p < 1 else Decimal(0),
        Decimal(1),
    )


def smoothed_hinge():
    """1/2 - m up to 0, (1 - m)^2/2 up to 1, then 0, where m = y p."""

    def value(y, p):
        m = y * p
        if m <= 0:
            return Decimal("0.5") - m
        return (1 - m) ** 2 / 2 if m < 1 else Decimal(0)

    def derivative(y, p):
        m = y * p
        if m <= 0:
            return -y
        return -y * (1 - m) if m < 1 else Decimal(0)

    return Loss(value, derivative, Decimal(1))


def absolute():
    """|p - y|; 0 on the kink p = y."""
    return Loss(lambda y, p: abs(p - y), lambda y, p: _sign(p - y), Decimal(1))


def quantile(tau):
    """tau (y - p) below the target, (1 - tau)(p - y) above; 0 on the kink p = y."""
    slope = {-1: -tau, 0: Decimal(0), 1: 1 - tau}
    return Loss(
        lambda y, p: slope[int(_sign(p - y))] * (p - y),
        lambda y, p: slope[int(_sign(p - y))],
        max(tau, 1 - tau),
    )


def huber(delta):
    """r^2/2 up to |r| = delta, then delta (|r| - delta/2), where r = p - y."""

    def value(y, p):
        r = abs(p - y)
        return r * r / 2 if r <= delta else delta * (r - delta / 2)

    return Loss(value, lambda y, p: max(-delta, min(delta, p - y)), delta)


def squared():
    """(p - y)^2."""
    return Loss(lambda y, p: (p - y) ** 2, lambda y, p: 2 * (p - y), None)


def linear():
    """y p: the target is the gradient."""
    return Loss(lambda y, p: y * p, lambda y, p: y, Decimal(1))


def _sign(r):
    return Decimal((r > 0) - (r < 0))


_FAMILIES = {
    make.__name__: make
    for make in (logistic, hinge, smoothed_hinge, absolute, quantile, huber, squared, linear)
}
