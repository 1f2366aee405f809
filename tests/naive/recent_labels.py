"""What a Blend knows of recent labels: docs/explanation/blend.md, "Two answers"."""

import math

RATES = (0.3, 0.1, 0.02)
KEPT = (0.5, 0.9)


def residuals(loss, classes, y, scores):
    """Minus the slope of the loss at the scores; for numbers, the error."""
    if loss == "softmax":
        e = [math.exp(score - max(scores)) for score in scores]
        return [(1 if c == y else 0) - each / sum(e) for c, each in enumerate(e)]
    if loss in ("logistic", "hinge"):
        return [y / (1 + math.exp(y * scores[0]))]
    return [y - scores[0]]


class RecentLabels:
    """Running means of targets and residuals, counts of labels, and whether they pay."""

    def __init__(self, loss, classes=1, delay=0):
        self.loss, self.classes, self.delay = loss, classes, delay
        self.rows = []  # (target, weight, scores without recent labels, residuals)
        self.product = self.squares = 0.0
        self.pays = False

    def learn(self, y, v, scores):
        own = residuals(self.loss, self.classes, y, scores)
        if len(self.rows) > self.delay:
            *_, before = self.rows[-1 - self.delay]
            product = sum(a * b for a, b in zip(own, before, strict=True))
            self.product += product
            self.squares += product**2
        self.rows.append((y, v, scores, own))
        if len(self.rows) >= 64 and self.product > 4 * math.sqrt(self.squares):
            self.pays = True

    def seen(self):
        """The rows whose labels a prediction knows."""
        return self.rows[: max(len(self.rows) - self.delay, 0)]

    def means(self, output):
        """By rate, the running means of targets and of residuals of an output."""
        found = []
        for rate in RATES:
            targets = residual = None
            for y, _, _, own in self.seen():
                target = float(output == y) if self.loss == "softmax" else y
                targets = target if targets is None else targets + rate * (target - targets)
                residual = (
                    own[output] if residual is None else residual + rate * (own[output] - residual)
                )
            found.append((targets, residual))
        return found

    def counts(self):
        """By label, the sums of weights that fade, for each of two rates."""
        labels = range(self.classes) if self.loss == "softmax" else (1, -1)
        found = []
        for label in labels:
            sums = [0.0, 0.0]
            for y, v, _, _ in self.seen():
                same = y == label if self.loss == "softmax" else (y > 0) == (label > 0)
                sums = [kept * each + v * same for kept, each in zip(KEPT, sums, strict=True)]
            found.append(sums)
        return found
