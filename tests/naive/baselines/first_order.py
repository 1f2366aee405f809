"""Gradient descent and its kin: OGD, AdaGrad, FTRL-proximal, SOLO, DFEG, the normalised ones."""

from collections import defaultdict
from decimal import Decimal

from naive.baselines.loop import sgn


def dot(w, x):
    """sum w_i x_i."""
    return sum((w[i] * x_i for i, x_i in x.items()), Decimal(0))


def square(x):
    """|x|^2 of a dict."""
    return sum((x_i**2 for x_i in x.values()), Decimal(0))


class Ogd:
    """Zinkevich 2003."""

    def __init__(self, rate=Decimal(1), radius=Decimal("Infinity")):
        self.rate, self.radius = rate, radius
        self.t, self.w = 0, defaultdict(Decimal)

    def predict(self, x, v):
        self.t += 1
        return dot(self.w, x)

    def update(self, x, v, y, p, g):
        for i, x_i in x.items():
            self.w[i] -= self.rate / Decimal(self.t).sqrt() * v * g * x_i
        norm = square(self.w).sqrt()
        if norm > self.radius:
            for i in self.w:
                self.w[i] *= self.radius / norm


class Adagrad:
    """Duchi et al. 2011, mirror descent."""

    def __init__(self, rate=Decimal(1)):
        self.rate, self.w, self.G = rate, defaultdict(Decimal), defaultdict(Decimal)

    def predict(self, x, v):
        return dot(self.w, x)

    def update(self, x, v, y, p, g):
        for i, x_i in x.items():
            q = v * g * x_i
            self.G[i] += q**2
            if q:
                self.w[i] -= self.rate * q / self.G[i].sqrt()


class AdagradDa:
    """The same, dual averaging."""

    def __init__(self, rate=Decimal(1)):
        self.rate, self.theta, self.G = rate, defaultdict(Decimal), defaultdict(Decimal)

    def predict(self, x, v):
        w = {i: self.rate * self.theta[i] / self.G[i].sqrt() if self.G[i] else 0 for i in x}
        return dot(w, x)

    def update(self, x, v, y, p, g):
        for i, x_i in x.items():
            self.theta[i] -= v * g * x_i
            self.G[i] += (v * g * x_i) ** 2


class Ftrl:
    """McMahan et al. 2013, algorithm 1."""

    def __init__(self, rate=Decimal("0.5"), beta=Decimal(1), l1=Decimal(0), l2=Decimal(0)):
        self.rate, self.beta, self.l1, self.l2 = rate, beta, l1, l2
        self.z, self.n = defaultdict(Decimal), defaultdict(Decimal)

    def _w(self, i):
        if abs(self.z[i]) <= self.l1:
            return Decimal(0)
        size = (self.beta + self.n[i].sqrt()) / self.rate + self.l2
        return -(self.z[i] - sgn(self.z[i]) * self.l1) / size

    def predict(self, x, v):
        self.w = {i: self._w(i) for i in x}
        return dot(self.w, x)

    def update(self, x, v, y, p, g):
        for i, x_i in x.items():
            q = v * g * x_i
            sigma = ((self.n[i] + q**2).sqrt() - self.n[i].sqrt()) / self.rate
            self.z[i] += q - sigma * self.w[i]
            self.n[i] += q**2


class Solo:
    """Orabona and Pal 2015."""

    def __init__(self, rate=Decimal(1)):
        self.rate, self.theta, self.squares = rate, defaultdict(Decimal), Decimal(0)

    def predict(self, x, v):
        p = self.rate * dot(self.theta, x)
        return p / self.squares.sqrt() if self.squares else Decimal(0)

    def update(self, x, v, y, p, g):
        for i, x_i in x.items():
            self.theta[i] -= v * g * x_i
        self.squares += square({i: v * g * x_i for i, x_i in x.items()})


class Dfeg:
    """Orabona 2013, algorithm 1."""

    scales_instance = True

    def __init__(self, a=Decimal(1)):
        self.a, self.H, self.theta = a, Decimal(1), defaultdict(Decimal)

    def predict(self, x, v):
        norm = square(x).sqrt()
        self.H += max(norm, norm**2)
        size = square(self.theta).sqrt()
        if size == 0:
            return Decimal(0)
        steep = (size / (self.a * self.H.sqrt())).exp() / (self.H * self.H.sqrt())
        return dot(self.theta, x) / size * steep

    def update(self, x, v, y, p, g):
        for i, x_i in x.items():
            self.theta[i] -= g * x_i


class Ng:
    """Ross et al. 2013, algorithm 1: weights shrink by the square."""

    def __init__(self, rate=Decimal("0.5")):
        self.rate, self.t, self.N = rate, 0, Decimal(0)
        self.s, self.w = defaultdict(Decimal), defaultdict(Decimal)

    def predict(self, x, v):
        self.t += 1
        for i, x_i in x.items():
            if abs(x_i) > self.s[i]:
                self.w[i] *= (self.s[i] / abs(x_i)) ** 2
                self.s[i] = abs(x_i)
            self.N += x_i**2 / self.s[i] ** 2
        return dot(self.w, x)

    def update(self, x, v, y, p, g):
        for i, x_i in x.items():
            self.w[i] -= self.rate * self.t / self.N * v * g * x_i / self.s[i] ** 2


class Snag:
    """Ross et al. 2013, algorithm 3: the mean square takes the place of the largest."""

    def __init__(self, rate=Decimal("0.5")):
        self.rate, self.t, self.N = rate, 0, Decimal(0)
        self.w, self.V, self.G = (defaultdict(Decimal) for _ in range(3))

    def predict(self, x, v):
        self.t += 1
        for i, x_i in x.items():
            self.V[i] += x_i**2
            self.N += self.t * x_i**2 / self.V[i]
        return dot(self.w, x)

    def update(self, x, v, y, p, g):
        for i, x_i in x.items():
            q = v * g * x_i
            self.G[i] += q**2
            if q:
                size = (self.V[i] * self.G[i] / self.t).sqrt()
                self.w[i] -= self.rate * (self.t / self.N).sqrt() * q / size


class Nda:
    """After Orabona, Crammer and Cesa-Bianchi 2015."""

    scales_instance = True

    def __init__(self, rate=Decimal(1)):
        self.rate = rate
        self.theta, self.b, self.G = (defaultdict(Decimal) for _ in range(3))

    def predict(self, x, v):
        p = Decimal(0)
        for i, x_i in x.items():
            self.b[i] = max(self.b[i], abs(x_i))
            size = self.b[i] * (self.b[i] ** 2 + self.G[i]).sqrt()
            p += self.rate * self.theta[i] / size * x_i
        return p

    def update(self, x, v, y, p, g):
        for i, x_i in x.items():
            self.theta[i] -= g * x_i
            self.G[i] += (g * x_i) ** 2
