"""The tracker of labels and targets: docs/explanation/blend.md, Experts."""

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


class TargetTracker:
    """The mean of the targets, each with weight v gamma^k after k more rows; 0 at the start."""

    def __init__(self, gamma=Decimal(float("0.9"))):
        self.gamma = gamma
        self.seen = []

    def predict(self, x, v):
        weights = [weight * self.gamma**age for age, (weight, _) in enumerate(self.seen)]
        total = sum(weights)
        if total == 0:
            return Decimal(0)
        return sum(w * y for w, (_, y) in zip(weights, self.seen, strict=True)) / total

    def update(self, x, v, y, p, g):
        self.seen.insert(0, (v, y))
