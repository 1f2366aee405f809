"""Algorithm 1 of the paper, line by line, in decimals.

Added to the pseudocode, as in section 1 of theory.md: the initial wealth; d_t, the number of
coordinates seen so far, where d is not given; sample weights v, which scale the instance in
everything but the score; g/L for a loss of Lipschitz constant L; the intercept, a coordinate
whose value is always 1. A row of weight 0 is scored like one of weight 1 (with v = 0 in the
formula the score would have no bound) and leaves everything alone, t included.
"""

from collections import defaultdict
from decimal import Decimal
from itertools import repeat

from naive.digits import instance, precision
from naive.losses import get


def coordinate(
    rows, targets, loss, *, alpha=1.2, wealth=1.0, d=None, intercept=True, weights=None, digits=50
):
    """The score of each row (a dict or a sequence of values), made before its target is used."""
    loss, weights = get(loss), repeat(1.0) if weights is None else weights
    with precision(digits):
        alpha, wealth = Decimal(alpha), Decimal(wealth)
        s2, h = defaultdict(Decimal), defaultdict(Decimal)
        t, scores = 0, []
        for row, y, weight in zip(rows, targets, weights, strict=False):
            x, y = instance(row, intercept), Decimal(float(y))
            v = Decimal(float(weight)) or Decimal(1)
            now = {i: s2[i] + (v * x_i) ** 2 for i, x_i in x.items()}
            dimension = d or len({i for i in s2 if s2[i] > 0} | now.keys())
            p = Decimal(0)
            for i, x_i in x.items():
                exponent = (h[i] ** 2 + (v * x_i) ** 2) / (2 * alpha * now[i])
                eta = wealth / (alpha * (t + 1) * dimension) * exponent.exp()
                w = eta * h[i] / now[i]
                p += w * x_i
            scores.append(p)
            if weight > 0:
                t += 1
                s2.update(now)
                g = loss.derivative(y, p) / loss.lipschitz
                for i, x_i in x.items():
                    h[i] -= g * v * x_i
        return scores
