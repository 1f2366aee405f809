"""Algorithm 1 of the paper, line by line, in decimals.

Added to the pseudocode, each as docs/theory.md (1) has it: the initial wealth; d_t, the number of
coordinates seen so far, where d is not given; sample weights v, which scale the instance in
everything but the score; g/L for a loss of Lipschitz constant L; the intercept, a coordinate
whose value is always 1.
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
            x, y, v = instance(row, intercept), Decimal(float(y)), Decimal(float(weight))
            t += 1
            w = {}
            for i, x_i in x.items():
                if v > 0:
                    s2[i] += (v * x_i) ** 2
            for i, x_i in x.items():
                if i in s2:
                    exponent = (h[i] ** 2 + (v * x_i) ** 2) / (2 * alpha * s2[i])
                    eta = wealth / (alpha * t * (d or len(s2))) * exponent.exp()
                    w[i] = eta * h[i] / s2[i]
            p = sum((w[i] * x[i] for i in w), Decimal(0))
            scores.append(p)
            if v > 0:
                g = loss.derivative(y, p) / loss.lipschitz
                for i, x_i in x.items():
                    h[i] -= g * v * x_i
            else:
                t -= 1  # a row of weight 0 is scored as the next trial, and is none
        return scores
