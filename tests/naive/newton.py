"""Online Newton from what it means: a Gaussian posterior, kept as a precision and solved each row.

The precision is A + lambda diag(prior), with A = sum v c x x' and b = sum v x (e + c z); the
weights are its inverse times b, the covariance its inverse. The kernel never forms either: it
updates a factor of the covariance, and the weights, by one vector a row.
"""

from decimal import Decimal
from itertools import repeat

from naive.diagonal import PI
from naive.digits import instance, precision
from naive.full import dot

FLATTEST, FAR = Decimal("1e-3"), 2**26


def newton(
    rows, targets, loss, *, strength=3.0, intercept=True, weights=None, classes=0, digits=50
):
    """The score of each row (with softmax one per class), made before its target is used."""
    weights = repeat(1.0) if weights is None else weights
    with precision(digits):
        learner, scores = Newton(Decimal(strength), loss, classes or 1), []
        for row, y, v in zip(rows, targets, weights, strict=False):
            x = instance(row, intercept)
            known, strange = learner.sort(x)
            z, s = learner.look(known, len(strange))
            scores.append([shown(loss, z_k, s) for z_k in z])
            if v > 0:
                learner.learn(known, strange, z, Decimal(float(y)), Decimal(float(v)))
        return scores if classes else [score for (score,) in scores]


def shown(loss, z, s):
    """The score: moderated, but for the squared loss."""
    return z if loss == "squared" else z / (1 + PI * s / 8).sqrt()


class Newton:
    """What a row does to the precision."""

    def __init__(self, strength, loss, classes):
        self.strength, self.loss, self.classes = strength, loss, classes
        self.A, self.b = {}, [{} for _ in range(classes)]
        self.s2, self.woke, self.prior = {}, {}, {}
        self.t, self.last = 0, 1

    def sort(self, x):
        """The row in two: what is known, and what is beyond 2^13 times all that was."""
        strange = {i: x_i for i, x_i in x.items() if x_i**2 > FAR * self.s2.get(i, 0)}
        return {i: x_i for i, x_i in x.items() if i not in strange}, strange

    def look(self, x, strangers):
        """(z by class, s) of a row; a feature not met has the variance 1 / (lambda x^2)."""
        order = list(self.prior)
        x = [x.get(i, Decimal(0)) for i in order]
        *w, Px = solve(self._precision(order), *([b[i] for i in order] for b in self.b), x)
        z = [Decimal(dot(w_k, x)) for w_k in w]
        return z, dot(x, Px) + strangers / self.strength

    def learn(self, known, strange, z, y, v):
        """One trial."""
        self.t += 1
        for i, x_i in known.items():
            self.s2[i] += x_i**2
        for i, x_i in strange.items():
            self._meet(i, x_i)
        x = known | strange
        e, c = slopes(self.loss, y, z)
        for i, x_i in x.items():
            for j, x_j in x.items():
                self.A[i][j] = self.A[i].get(j, Decimal(0)) + v * c * x_i * x_j
            for b, e_k, z_k in zip(self.b, e, z, strict=True):
                b[i] += v * x_i * (e_k + c * z_k)
        growth = Decimal("1.25") if self.t <= 256 else 2
        if self.t >= growth * self.last and self.t - self.last >= len(self.prior) / 16:
            self.last = self.t
            for i in self.prior:
                self.prior[i] = self.s2[i] / (self.t - self.woke[i] + 1)

    def _meet(self, i, x_i):
        """Feature i enters; if it was there, its weight is forgotten and the others stay."""
        if i in self.prior:
            order = list(self.prior)
            H = self._precision(order)
            for b in self.b:
                (w,) = solve(H, [b[j] for j in order])
                own = w[order.index(i)]
                for j in order:
                    b[j] -= self.A[j].get(i, Decimal(0)) * own
            for row in self.A.values():
                row.pop(i, None)
        self.A[i] = {}
        for b in self.b:
            b[i] = Decimal(0)
        self.s2[i] = self.prior[i] = x_i**2
        self.woke[i] = self.t

    def _precision(self, order):
        return [
            [self.A[i].get(j, Decimal(0)) + (i == j) * self.strength * self.prior[i] for j in order]
            for i in order
        ]


def slopes(loss, y, z):
    """(e by class, c): minus the slopes of the loss at z, and its curvature."""
    if loss == "squared":
        return [y - z[0]], Decimal(1)
    if loss == "logistic":
        q = 1 / (1 + (-z[0]).exp())
        return [(y > 0) - q], max(q * (1 - q), FLATTEST)
    top = max(z)
    parts = [(z_k - top).exp() for z_k in z]
    q = [part / sum(parts) for part in parts]
    return [(k == y) - q_k for k, q_k in enumerate(q)], max(
        sum(q_k * (1 - q_k) for q_k in q) / len(q), FLATTEST
    )


def solve(H, *sides):
    """H^-1 of each side, H positive definite: Gauss and Jordan need no pivots."""
    d = len(H)
    table = [[*H[i], *(side[i] for side in sides)] for i in range(d)]
    for k in range(d):
        table[k] = [entry / table[k][k] for entry in table[k]]
        for i in range(d):
            if i != k and table[i][k] != 0:
                factor = table[i][k]
                table[i] = [a - factor * b for a, b in zip(table[i], table[k], strict=True)]
    return [[table[i][d + k] for i in range(d)] for k in range(len(sides))]
