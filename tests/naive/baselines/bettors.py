"""Bettors and players: PiSTOL, KT, coin, AdaptiveNormal, minimax, reward doubling, EG+-."""

from collections import defaultdict
from decimal import Decimal

from naive.baselines.first_order import dot
from naive.baselines.loop import cosh, sgn, sinh
from naive.diagonal import PI


class Pistol:
    """Orabona 2014, a feature at a time, without the public codes' sqrt(sum |q|)."""

    scales_instance = True

    def __init__(self, a=Decimal(2), scale=Decimal(1)):
        self.a, self.scale = a, scale
        self.theta, self.b, self.Q = (defaultdict(Decimal) for _ in range(3))

    def predict(self, x, v):
        w = {}
        for i, x_i in x.items():
            self.b[i] = max(self.b[i], abs(x_i))
            c = self.a * self.b[i] * (self.Q[i] + self.b[i])
            w[i] = self.scale * self.theta[i] / c * (self.theta[i] ** 2 / (2 * c)).exp()
        return dot(w, x)

    def update(self, x, v, y, p, g):
        for i, x_i in x.items():
            self.theta[i] -= g * x_i
            self.Q[i] += abs(g * x_i)


class Kt:
    """Orabona and Pal 2016."""

    def __init__(self, wealth=Decimal(1), bound=Decimal(1)):
        self.L, self.wealth, self.t, self.theta = bound, wealth, 0, defaultdict(Decimal)

    def predict(self, x, v):
        self.t += 1
        return dot(self.theta, x) / (self.L**2 * self.t) * self.wealth

    def update(self, x, v, y, p, g):
        self.wealth -= v * g * p
        for i, x_i in x.items():
            self.theta[i] -= v * g * x_i


class Coin:
    """Orabona and Tommasi 2017, a feature at a time."""

    scales_instance = True

    def __init__(self, wealth=Decimal(1)):
        self.theta, self.b, self.Q = (defaultdict(Decimal) for _ in range(3))
        self.wealth = defaultdict(lambda: wealth)

    def predict(self, x, v):
        self.w = {}
        for i, x_i in x.items():
            self.b[i] = max(self.b[i], abs(x_i))
            share = self.theta[i] / (self.b[i] * (self.b[i] + self.Q[i]))
            self.w[i] = self.wealth[i] * share
        return dot(self.w, x)

    def update(self, x, v, y, p, g):
        for i, x_i in x.items():
            self.theta[i] -= g * x_i
            self.Q[i] += abs(g * x_i)
            self.wealth[i] -= g * x_i * self.w[i]


class AdaptiveNormal:
    """McMahan and Orabona 2014: the slope of f between |theta| - L and |theta| + L."""

    def __init__(self, wealth=Decimal(1), bound=Decimal(1)):
        self.eps, self.L, self.t, self.theta = wealth, bound, 0, defaultdict(Decimal)

    def predict(self, x, v):
        self.t += 1
        a, L = 3 * PI / 4 * self.L**2, self.L
        w = {}
        for i in x:
            n = abs(self.theta[i])
            slope = [(z**2 / (2 * a * self.t)).exp() for z in (n + L, n - L)]
            size = self.eps / Decimal(self.t + 1).ln() ** 2 / (2 * L)
            w[i] = sgn(self.theta[i]) * size * (slope[0] - slope[1])
        return dot(w, x)

    def update(self, x, v, y, p, g):
        for i, x_i in x.items():
            self.theta[i] -= v * g * x_i


class Minimax:
    """McMahan and Abernethy 2013."""

    def __init__(self, wealth=Decimal(1), bound=Decimal(1), horizon=10_000):
        self.eps, self.L, self.T = wealth, bound, horizon
        self.t, self.theta = 0, defaultdict(Decimal)

    def predict(self, x, v):
        self.t += 1
        r = 1 / Decimal(self.T).sqrt()
        later = cosh(r) ** (self.T - self.t)
        w = {i: self.eps / self.L * later * sinh(r) * sinh(r * self.theta[i] / self.L) for i in x}
        return dot(w, x)

    def update(self, x, v, y, p, g):
        for i, x_i in x.items():
            self.theta[i] -= v * g * x_i


class RewardDoubling:
    """Streeter and McMahan 2012, a feature at a time, with a growing guess of sum q^2."""

    def __init__(self, wealth=Decimal(1), squares=Decimal(1)):
        self.wealth, self.seen = wealth, set()
        self.w, self.Q, self.V = (defaultdict(Decimal) for _ in range(3))
        self.H, self.doubled = defaultdict(lambda: squares), defaultdict(int)

    def predict(self, x, v):
        self.seen |= x.keys()
        return dot(self.w, x)

    def update(self, x, v, y, p, g):
        eps = self.wealth / len(self.seen) if x else None
        for i, x_i in x.items():
            q = v * g * x_i
            if not q:
                continue
            self.V[i] += q**2
            rate = eps / self.H[i] * 2 ** self.doubled[i]
            if self.V[i] > self.H[i]:
                while self.V[i] > self.H[i]:
                    self.H[i] *= 2
                self.w[i] = self.Q[i] = Decimal(0)
                self.doubled[i] = 0
                continue
            self.Q[i] -= q * self.w[i]
            if self.Q[i] >= rate * self.H[i]:
                self.doubled[i] += 1
                self.w[i] = self.Q[i] = Decimal(0)
            else:
                self.w[i] -= rate * q


class Eg:
    """Kivinen and Warmuth 1997, +- weights; d counts the coordinates seen."""

    def __init__(self, radius=Decimal(1), bound=Decimal(1), horizon=10_000):
        self.U, self.X, self.T = radius, bound, horizon
        self.theta, self.seen = defaultdict(Decimal), set()

    def predict(self, x, v):
        self.seen |= x.keys()
        if not self.seen:
            return Decimal(0)
        eta = ((2 * Decimal(len(self.seen))).ln() / self.T).sqrt() / (self.U * self.X)
        up = {i: (eta * self.U * self.theta[i]).exp() for i in self.seen}
        total = sum(e + 1 / e for e in up.values())
        return dot({i: self.U * (up[i] - 1 / up[i]) / total for i in x}, x)

    def update(self, x, v, y, p, g):
        for i, x_i in x.items():
            self.theta[i] -= v * g * x_i
