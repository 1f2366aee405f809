"""Fenchel duality: a lower bound on the loss of all weights, from the gradients at some weights.

For any g_i in the domain of the loss's conjugate, loss(y, p) >= g p - conjugate(y, g). Summed
over rows with weights v and predictions p = Z w,

    sum v loss >= (Z'(v g)).w - sum v conjugate(y, g)   for every w,

so that derivatives g with Z'(v g) = 0 bound the loss of all weights from below. At the optimum the
bound is the loss itself. Rounding leaves Z'(v g) close to 0, hence a bound on the weights: with the
columns of the data scaled to norm 1, in C, u enters as sum |u_i| s_i times max |C'(v g)|.
"""

import math
from typing import Any

import numpy as np
from scipy.special import xlogy

from unitless import losses
from unitless.losses import Loss
from unitless.state import Float


def has_known_conjugate(loss: Loss) -> bool:
    """Whether best comparators can be found and proved; not for softmax and losses from outside.

    >>> has_known_conjugate(losses.get("hinge")), has_known_conjugate(losses.get("softmax"))
    (True, False)
    """
    return loss.conjugate is not None or loss.code in (losses.LOGISTIC, losses.LINEAR)


def domain(loss: Loss, y: Float) -> tuple[Float, Float]:
    """The smallest and the largest derivative of the loss at each target.

    >>> domain(losses.get("hinge"), np.array([1.0, -1.0]))
    (array([-1.,  0.]), array([0., 1.]))
    """
    if loss.targets == "signs":
        return np.minimum(-y, 0.0), np.maximum(-y, 0.0)
    if loss.targets == "slopes":
        return y, y
    high = loss.lipschitz
    low = -high
    if loss.code == losses.QUANTILE:
        low = -loss.parameter
        high = 1 + low
    return np.full_like(y, low), np.full_like(y, high)


def conjugate(loss: Loss, y: Float, g: Float) -> Float:
    """sup over p of g p - loss(y, p), for g in the domain.

    >>> conjugate(losses.get("logistic"), np.array([1.0]), np.array([-0.5])).round(6)
    array([-0.693147])
    """
    if loss.code == losses.LOGISTIC:
        q = np.abs(g)
        return np.asarray(xlogy(q, q) + xlogy(1 - q, 1 - q))
    if loss.code == losses.LINEAR:
        return np.zeros_like(y)
    assert loss.conjugate is not None
    return g * y + loss.conjugate * g * g


def lower_bound(
    loss: Loss, Z: object, C: Any, y: Float, v: Float, g: Float, radius: float
) -> float:
    """No u with sum |u_i| s_i <= radius has a smaller loss; from g or better derivatives near g.

    C has all columns of the data, scaled to norm 1, and Z a basis of (nearly) the same space, in
    which derivatives are improved. The bound is rounded down.
    """
    low, high = domain(loss, y)
    rounding = 4 * len(y) * 2.0**-53

    def bound(g: Float) -> float:
        terms = v * conjugate(loss, y, g)
        slopes = v * g
        residual = np.max(np.abs(C.T @ slopes), initial=0.0)
        residual += rounding * np.linalg.norm(slopes)
        error = rounding * np.sum(np.abs(terms))
        return float(-np.sum(terms) - error - radius * residual)

    g = np.clip(g, low, high)
    best = bound(g)
    for _ in range(4):  # each pass removes what clipping and rounding left over
        g = _balanced(Z, v, g, low, high)
        best = max(best, bound(g))
    return best


def _balanced(Z: Any, v: Float, g: Float, low: Float, high: Float) -> Float:
    """g moved towards Z'(v g) = 0, each entry in proportion to the room it has in its domain."""
    room = (g - low) * (high - g)
    if math.isinf(high.max(initial=0.0)):
        room = np.ones_like(g)
    weights = v * room
    residual = Z.T @ (v * g)
    if isinstance(Z, np.ndarray):
        hessian = (Z.T * weights) @ Z
        step = np.linalg.lstsq(hessian, residual, rcond=None)[0]
    else:
        from scipy.sparse.linalg import LinearOperator, minres

        def product(w: Float) -> Float:
            return np.asarray(Z.T @ (weights * (Z @ w)))

        k = Z.shape[1]
        operator = LinearOperator((k, k), matvec=product, dtype=np.float64)
        step = minres(operator, residual, rtol=1e-14, maxiter=300)[0]
    return np.clip(g - room * (Z @ step), low, high)
