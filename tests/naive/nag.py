"""NAG (Ross, Mineiro, Langford 2013) and iNAG, NAG with the importance-aware step.

The step is the gradient, integrated from p to the prediction it leads to (Karampatziakis and
Langford 2011): blend.md, Experts. With s the move of the prediction for a step of 1, that is y
(p' - p) = delta with delta + e^(y p) (e^delta - 1) = s for logistic loss (W0 there is e^(y p')),
and (y - p)(1 - e^-s) for squared loss, from the prediction as it is clipped to the targets so far
(0 among them). Losses with a kink: the gradient, up to the kink, and S counts as much of it as was
used. Smoothed hinge and Huber: the implicit step of a parabola through the slope at p.
"""

from collections import defaultdict
from decimal import Decimal


class Nag:
    """Weights shrink by M_old / M_new when the scale of their feature grows."""

    def __init__(self, rate=Decimal("0.5")):
        self.rate, self.t, self.N = rate, 0, Decimal(0)
        self.M, self.w, self.S = (defaultdict(Decimal) for _ in range(3))

    def predict(self, x, v):
        self.t += 1
        for i, x_i in x.items():
            if abs(x_i) > self.M[i]:
                self.w[i] *= self.M[i] / abs(x_i)
                self.M[i] = abs(x_i)
            self.N += (x_i / self.M[i]) ** 2
        return sum((self.w[i] * x_i for i, x_i in x.items()), Decimal(0))

    def update(self, x, v, y, p, g):
        for i, x_i in x.items():
            q = v * g * x_i
            self.S[i] += q**2
            if q:
                rho = self.rate * (self.t / self.N).sqrt()
                self.w[i] -= rho * q / (self.M[i] * self.S[i].sqrt())


class Inag(Nag):
    """The implicit step, for the loss of that name."""

    def __init__(self, rate=Decimal(1), of="logistic"):
        super().__init__(rate)
        self.loss, self.targets = of, []

    def update(self, x, v, y, p, g):
        rho = self.rate * (self.t / self.N).sqrt() if x else Decimal(0)
        if self.loss == "squared":
            g = max(min(p, max([*self.targets, 0])), min([*self.targets, 0])) - y
        if self.loss.partition("(")[0] in ("squared", "absolute", "quantile", "huber"):
            self.targets.append(y)
            rho *= _deviation(self.targets)
        before = {i: self.S[i] for i in x}
        for i, x_i in x.items():
            self.S[i] += (v * g * x_i) ** 2
        k = {i: x_i / (self.M[i] * self.S[i].sqrt()) for i, x_i in x.items() if self.S[i]}
        s = rho * sum(x[i] * k_i for i, k_i in k.items())
        if s and g:
            a = _step(self.loss.partition("(")[0], y, p, g, s, v)
            for i, k_i in k.items():
                self.w[i] += rho * k_i * a
                if self.loss.partition("(")[0] in ("hinge", "absolute", "quantile"):
                    self.S[i] = before[i] + (a * x[i]) ** 2


def _deviation(numbers):
    mean = sum(numbers) / len(numbers)
    return (sum((number - mean) ** 2 for number in numbers) / len(numbers)).sqrt()


def _step(loss, y, p, g, s, v):
    if loss == "logistic":
        return y * _logistic_move(y * p, v * s) / s
    if loss == "squared":
        return -g * (1 - (-v * s).exp()) / s
    if loss in ("smoothed_hinge", "huber"):
        return -g * v / (1 + v * s)
    kink = (1 - y * p if loss == "hinge" else abs(p - y)) / s
    return -g * min(v, kink / abs(g))


def _logistic_move(margin, s):
    """delta + e^margin (e^delta - 1) = s: Newton from the right on a convex function."""
    start = margin.exp()
    delta = min(s, (1 + s / start).ln())
    while True:
        growth = start * delta.exp()
        step = (delta + growth - start - s) / (1 + growth)
        delta -= step
        if step <= delta * Decimal("1e-25"):  # the next step would be of the order of its square
            return delta
