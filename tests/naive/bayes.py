"""Damped naive Bayes on the presence of features: docs/explanation/blend.md, Experts."""

from collections import defaultdict
from decimal import Decimal

from naive.digits import INTERCEPT


class Bayes:
    """Counts by class; of several classes, each has the part of the formula that is its own."""

    def __init__(self, a=Decimal("0.1"), binary=True):
        self.a, self.binary = Decimal(float(a)), binary
        self.N = {1: Decimal(0), -1: Decimal(0)}
        self.C = {1: defaultdict(Decimal), -1: defaultdict(Decimal)}

    def _part(self, sign, present):
        """(ln of the prior, sum of the features' logarithms) of one class."""
        a = self.a
        logs = [((self.C[sign][i] + a) / (self.N[sign] + 2 * a)).ln() for i in present]
        return (self.N[sign] + a).ln(), sum(logs, Decimal(0))

    def predict(self, x, v):
        present = [i for i in x if i != INTERCEPT]
        prior, logs = self._part(1, present)
        if self.binary:
            other, others = self._part(-1, present)
            prior, logs = prior - other, logs - others
        return prior + (logs / Decimal(len(present)).sqrt() if present else 0)

    def update(self, x, v, y, p, g):
        sign = 1 if y > 0 else -1
        self.N[sign] += v
        for i in x:
            self.C[sign][i] += v
