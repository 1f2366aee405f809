"""The loop that all twins share: predict, see the target, update; in decimals.

A rule has `predict(x, v)`, a score or a pair (where the gradient is taken, what is shown), and
`update(x, v, y, p, g)`, with x a dict of the coordinates that are not 0 and g = loss'(y, p) / L.
Where `scales_instance` is set, a sample weight multiplies x, and divides what is predicted. Rows
of weight 0 are scored like those of weight 1 and leave the rule as it was.
"""

from copy import deepcopy
from decimal import Decimal

from naive.digits import instance, precision
from naive.losses import get


def scores(
    make, rows, targets, loss, *, intercept=True, weights=None, classes=0, digits=50, **parameters
):
    """The score of each row (with softmax, of each class), made before its target is used."""
    weights = [1.0] * len(rows) if weights is None else weights
    with precision(digits):
        given = {
            name: Decimal(value) if isinstance(value, float) else value
            for name, value in parameters.items()
        }
        rules = [make(**given) for _ in range(classes or 1)]
        out = []
        for row, y, weight in zip(rows, targets, weights, strict=True):
            trial = deepcopy(rules) if weight == 0 else rules
            x, v = instance(row, intercept), Decimal(float(weight)) or Decimal(1)
            out.append(_trial(trial, x, v, y, loss, weight > 0))
        return [shown for (shown,) in out] if not classes else out


def _trial(rules, x, v, y, loss, learn):
    """What is shown for one row; then it is learned."""
    scale = v if getattr(rules[0], "scales_instance", False) else Decimal(1)
    x = {i: scale * value for i, value in x.items()}
    pairs = [rule.predict(x, v / scale) for rule in rules]
    pairs = [pair if isinstance(pair, tuple) else (pair, pair) for pair in pairs]
    p = [first / scale for first, _ in pairs]
    if learn:
        for rule, label, score, slope in zip(rules, *_slopes(loss, y, p), strict=True):
            rule.update(x, v / scale, label, score, slope)
    return [shown / scale for _, shown in pairs]


def _slopes(loss, y, p):
    """Labels, scores and slopes, one a rule."""
    if loss == "softmax":
        top = max(p)
        parts = [(score - top).exp() for score in p]
        labels = [Decimal(1 if c == y else -1) for c in range(len(p))]
        slopes = [part / sum(parts) - (c == y) for c, part in enumerate(parts)]
        return labels, p, slopes
    known, y = get(loss), Decimal(float(y))
    lipschitz = known.lipschitz or Decimal(1)
    return [y], p, [known.derivative(y, p[0]) / lipschitz]


def sgn(number):
    """-1, 0 or 1."""
    return (number > 0) - (number < 0)


def sinh(z):
    """The hyperbolic sine."""
    return (z.exp() - (-z).exp()) / 2


def cosh(z):
    """The hyperbolic cosine."""
    return (z.exp() + (-z).exp()) / 2
