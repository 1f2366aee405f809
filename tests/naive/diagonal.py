"""Diagonal online Newton, moderated: docs/explanation/blend.md, Experts."""

import math
from collections import defaultdict
from decimal import Decimal

PI = Decimal("3.14159265358979323846264338327950288419716939937510582")
LEAST = Decimal(float("1e-3"))  # as a float has it
assert math.isclose(PI, math.pi)


class Diagonal:
    """A precision for each feature; w_i shrinks by a_old / a_new when M_i grows."""

    def __init__(self, strength=Decimal(1), of="logistic"):
        self.strength, self.squared = strength, of == "squared"
        self.A, self.M, self.w = (defaultdict(Decimal) for _ in range(3))

    def _a(self, i):
        return self.A[i] + self.strength * self.M[i] ** 2

    def predict(self, x, v):
        for i, x_i in x.items():
            if abs(x_i) > self.M[i]:
                old = self._a(i)
                self.M[i] = abs(x_i)
                self.w[i] *= old / self._a(i)
        p = sum((self.w[i] * x_i for i, x_i in x.items()), Decimal(0))
        self.s = sum((x_i**2 / self._a(i) for i, x_i in x.items()), Decimal(0))
        return p, p if self.squared else p / (1 + PI * self.s / 8).sqrt()

    def update(self, x, v, y, p, g):
        e, c = (y - p, Decimal(1)) if self.squared else (-g, max(abs(g) * (1 - abs(g)), LEAST))
        for i, x_i in x.items():
            self.w[i] += x_i * v * e / (self._a(i) * (1 + v * c * self.s))
            self.A[i] += v * c * x_i**2
