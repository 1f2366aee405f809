"""ScInOL 1 and 2 (Kempka, Kotlowski, Warmuth 2019), in decimals, from the paper."""

from collections import defaultdict
from decimal import Decimal

from naive.baselines.loop import sgn


class Scinol1:
    """beta_i falls with t, weights grow like exp(|theta_i| / 2)."""

    scales_instance = True

    def __init__(self, wealth=Decimal(1)):
        self.eps, self.t = wealth, 0
        self.G, self.S2, self.M = (defaultdict(Decimal) for _ in range(3))
        self.beta = defaultdict(lambda: wealth)

    def predict(self, x, v):
        self.t += 1
        p = Decimal(0)
        for i, x_i in x.items():
            self.M[i] = max(self.M[i], abs(x_i))
            square = self.S2[i] + self.M[i] ** 2
            self.beta[i] = min(self.beta[i], self.eps * square / (x_i**2 * self.t))
            D = square.sqrt()
            theta = self.G[i] / D
            p += self.beta[i] * sgn(theta) / (2 * D) * ((abs(theta) / 2).exp() - 1) * x_i
        return p

    def update(self, x, v, y, p, g):
        for i, x_i in x.items():
            self.G[i] -= g * x_i
            self.S2[i] += (g * x_i) ** 2


class Scinol2:
    """Each feature bets with its own wealth eta_i."""

    scales_instance = True

    def __init__(self, wealth=Decimal(1)):
        self.G, self.S2, self.M = (defaultdict(Decimal) for _ in range(3))
        self.eta = defaultdict(lambda: wealth)

    def predict(self, x, v):
        self.w = {}
        for i, x_i in x.items():
            self.M[i] = max(self.M[i], abs(x_i))
            D = (self.S2[i] + self.M[i] ** 2).sqrt()
            theta = self.G[i] / D
            self.w[i] = sgn(theta) * min(abs(theta), Decimal(1)) / (2 * D) * self.eta[i]
        return sum((self.w[i] * x_i for i, x_i in x.items()), Decimal(0))

    def update(self, x, v, y, p, g):
        for i, x_i in x.items():
            self.G[i] -= g * x_i
            self.S2[i] += (g * x_i) ** 2
            self.eta[i] -= g * x_i * self.w[i]
