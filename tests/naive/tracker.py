"""The label tracker: docs/blend.md, Experts."""

from decimal import Decimal

HALF = Decimal("0.5")


class Tracker:
    """Counts of labels that fade; of three classes or more, each has its own."""

    def __init__(self, gamma=Decimal(float("0.9")), binary=True):
        self.gamma, self.binary = gamma, binary
        self.a = self.b = HALF

    def predict(self, x, v):
        return (self.a / self.b).ln() if self.binary else self.a.ln()

    def update(self, x, v, y, p, g):
        self.a = HALF + self.gamma * (self.a - HALF) + v * (y > 0)
        self.b = HALF + self.gamma * (self.b - HALF) + v * (y < 0)
