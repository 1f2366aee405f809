"""Algorithm 2 of the paper, in three ways that check one another.

`full` is the pseudocode with S and h in fractions, so that the rank is exact: x and h lie in the
range of S, hence every solution z of S z = h gives the same h'z and x'z as the pseudo-inverse,
and elimination finds one. `full_long` updates the inverse by the formula of Sherman and Morrison,
as the paper suggests, in decimals, and is fast enough for long streams. `full_pinv` is NumPy.

The initial wealth, the weights, the Lipschitz constant and the intercept enter as in
`naive.coordinate`.
"""

from decimal import Decimal
from fractions import Fraction
from itertools import repeat

import numpy as np

from naive.digits import INTERCEPT, as_decimal, instance, precision
from naive.losses import get


def full(rows, targets, loss, *, alpha=9 / 8, wealth=1.0, intercept=True, weights=None, digits=50):
    """The score of each row (a sequence of d values), made before its target is used."""
    loss, (order, trials) = get(loss), _trials(rows, targets, weights, intercept)
    with precision(digits):
        alpha, wealth = Decimal(alpha), Decimal(wealth)
        S = [[Fraction(0) for _ in order] for _ in order]
        h, Gamma, scores = [Fraction(0) for _ in order], Decimal(0), []
        for x, y, weight in trials:
            x, v = [Fraction(x.get(i, 0)) for i in order], Fraction(weight or 1)
            vx = [v * x_i for x_i in x]
            now = [
                [S[i][j] + vx_i * vx_j for j, vx_j in enumerate(vx)] for i, vx_i in enumerate(vx)
            ]
            Sh, Sx = solutions(now, h, vx)  # S^+ h and S^+ v x, as far as h and x can tell
            exponent = (as_decimal(dot(h, Sh)) - Gamma) / (2 * alpha)
            p = wealth / alpha * exponent.exp() * as_decimal(dot(x, Sh))
            scores.append(p)
            if weight > 0:
                S = now
                g = loss.derivative(y, p) / loss.lipschitz
                h = [h_i - Fraction(g) * vx_i for h_i, vx_i in zip(h, vx, strict=True)]
                Gamma += g**2 * as_decimal(dot(vx, Sx))
        return scores


def solutions(S, *sides):
    """For each right-hand side b a solution z of S z = b, by Gauss and Jordan; S any rank."""
    d = len(S)
    table = [[*S[i], *(b[i] for b in sides)] for i in range(d)]
    pivots = []
    for column in range(d):
        top = len(pivots)
        row = next((k for k in range(top, d) if table[k][column] != 0), None)
        if row is None:
            continue
        table[top], table[row] = table[row], table[top]
        table[top] = [entry / table[top][column] for entry in table[top]]
        for k in range(d):
            if k != top and table[k][column] != 0:
                factor = table[k][column]
                table[k] = [a - factor * b for a, b in zip(table[k], table[top], strict=True)]
        pivots.append(column)
    found = [[Fraction(0)] * d for _ in sides]
    for row, column in enumerate(pivots):
        for z, entry in zip(found, table[row][d:], strict=True):
            z[column] = entry
    return found


def full_long(
    rows, targets, loss, *, alpha=9 / 8, wealth=1.0, intercept=True, weights=None, digits=40
):
    """As `full`, for weights > 0 and rows of which the first d are linearly independent."""
    loss, (order, trials) = get(loss), _trials(rows, targets, weights, intercept)
    with precision(digits):
        alpha, wealth = Decimal(alpha), Decimal(wealth)
        d, zero = len(order), Decimal(0)
        first, P, h, Gamma, scores = [], None, [zero] * d, zero, []
        for x, y, v in trials:
            x = [x.get(i, zero) for i in order]
            vx = [v * x_i for x_i in x]
            if P is None:  # a new direction: x'S^+h = 0 and x'S^+x = 1
                p, leverage = zero, 1
                first.append(vx)
                if len(first) == d:
                    P = _inverse_of_sum(first)
            else:  # Sherman and Morrison
                Px = [dot(P_i, vx) for P_i in P]
                beta = 1 + dot(vx, Px)
                for i in range(d):
                    for j in range(i, d):
                        P[i][j] = P[j][i] = P[i][j] - Px[i] * Px[j] / beta
                Ph = [dot(P_i, h) for P_i in P]
                p = wealth / alpha * ((dot(h, Ph) - Gamma) / (2 * alpha)).exp() * dot(x, Ph)
                leverage = (beta - 1) / beta
            scores.append(p)
            g = loss.derivative(y, p) / loss.lipschitz
            h = [h_i - g * vx_i for h_i, vx_i in zip(h, vx, strict=True)]
            Gamma += g**2 * leverage
        return scores


def _inverse_of_sum(rows):
    """The inverse of the sum of x x' over d rows x, found exactly, as decimals."""
    exact = [[Fraction(x_i) for x_i in x] for x in rows]
    d = range(len(rows))
    S = [[sum(x[i] * x[j] for x in exact) for j in d] for i in d]
    columns = solutions(S, *([Fraction(i == j) for i in d] for j in d))
    return [[as_decimal(entry) for entry in column] for column in columns]


def full_pinv(rows, targets, loss, *, alpha=9 / 8):
    """As `full` without intercept and weights, in float64: right on tame data only."""
    loss = get(loss)
    d = len(rows[0])
    S, h, Gamma, scores = np.zeros((d, d)), np.zeros(d), 0.0, []
    for x, y in zip(rows, targets, strict=True):
        S += np.outer(x, x)
        P = np.linalg.pinv(S, rcond=1e-12, hermitian=True)
        p = float(np.exp((h @ P @ h - Gamma) / (2 * alpha)) / alpha * (x @ P @ h))
        scores.append(p)
        g = float(loss.derivative(Decimal(float(y)), Decimal(p)) / loss.lipschitz)
        h -= g * x
        Gamma += g**2 * (x @ P @ x)
    return scores


def dot(a, b):
    return sum(a_i * b_i for a_i, b_i in zip(a, b, strict=True))


def _trials(rows, targets, weights, intercept):
    """The order of the coordinates, and an iterator over (instance, target, weight)."""
    order = [*([INTERCEPT] if intercept else []), *range(len(rows[0]))]
    weights = repeat(1.0) if weights is None else weights
    return order, (
        (instance(row, intercept), Decimal(float(y)), Decimal(float(v)))
        for row, y, v in zip(rows, targets, weights, strict=False)
    )
