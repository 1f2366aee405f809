"""Algorithm 2 of the paper for each coordinate, line by line, in decimals.

Wealth, weights, the Lipschitz constant, d and the intercept enter as in `naive.coordinate`.
"""

from collections import defaultdict
from decimal import Decimal
from itertools import repeat

from naive.digits import instance, precision
from naive.losses import get


def coordinate2(
    rows, targets, loss, *, alpha=9 / 8, wealth=1.0, d=None, intercept=True, weights=None, digits=50
):
    """The score of each row (a dict or a sequence of values), made before its target is used."""
    loss, weights = get(loss), repeat(1.0) if weights is None else weights
    with precision(digits):
        alpha, wealth = Decimal(alpha), Decimal(wealth)
        S, h, Gamma = defaultdict(Decimal), defaultdict(Decimal), defaultdict(Decimal)
        scores = []
        for row, y, weight in zip(rows, targets, weights, strict=False):
            x, y = instance(row, intercept), Decimal(float(y))
            v = Decimal(float(weight)) or Decimal(1)
            now = {i: S[i] + (v * x_i) ** 2 for i, x_i in x.items()}
            dimension = d or len({i for i in S if S[i] > 0} | now.keys())
            p = Decimal(0)
            for i, x_i in x.items():
                exponent = (h[i] ** 2 / now[i] - Gamma[i]) / (2 * alpha)
                p += wealth / (dimension * alpha) * exponent.exp() * h[i] / now[i] * x_i
            scores.append(p)
            if weight > 0:
                S.update(now)
                g = loss.derivative(y, p) / loss.lipschitz
                for i, x_i in x.items():
                    Gamma[i] += g**2 * (v * x_i) ** 2 / now[i]
                    h[i] -= g * v * x_i
        return scores
