"""Those with a matrix: ONS, SON, the second-order perceptron, AROW; the sketches by NumPy."""

from collections import defaultdict
from decimal import Decimal

import numpy as np

from naive.baselines.first_order import dot


def solve(A, b):
    """{i: z_i} with A z = b, for a positive definite A = {(i, j): ...}, by elimination."""
    keys = list(b)
    rows = [[A[i, j] for j in keys] + [b[i]] for i in keys]
    for k in range(len(keys)):
        pivot = rows[k][k]
        for n in range(len(keys)):
            if n != k:
                factor = rows[n][k] / pivot
                rows[n] = [a - factor * c for a, c in zip(rows[n], rows[k], strict=True)]
    return {i: rows[k][-1] / rows[k][k] for k, i in enumerate(keys)}


class Matrix:
    """A = a I + what was added, over the coordinates seen."""

    def __init__(self, a):
        self.a, self.seen = a, set()
        self.A = defaultdict(Decimal)

    def _see(self, x):
        for i in x.keys() - self.seen:
            self.A[i, i] = self.a
        self.seen |= x.keys()

    def _add(self, q, factor):
        for i, q_i in q.items():
            for j, q_j in q.items():
                self.A[i, j] += factor * q_i * q_j

    def _inverse_times(self, x):
        return solve(self.A, {i: x.get(i, Decimal(0)) for i in self.seen})


class Ons(Matrix):
    """Hazan et al. 2007, unprojected."""

    def __init__(self, gamma=Decimal(1), a=Decimal(1)):
        super().__init__(a)
        self.gamma, self.w = gamma, defaultdict(Decimal)

    def predict(self, x, v):
        self._see(x)
        return dot(self.w, x)

    def update(self, x, v, y, p, g):
        q = {i: v * g * x_i for i, x_i in x.items()}
        self._add(q, 1)
        for i, z in self._inverse_times(q).items():
            self.w[i] -= z / self.gamma


class Son(Matrix):
    """Luo et al. 2016, with the full matrix."""

    def __init__(self, C=Decimal(1), rate=Decimal(1), a=Decimal(1)):
        super().__init__(a)
        self.C, self.rate, self.t, self.u = C, rate, 0, defaultdict(Decimal)

    def predict(self, x, v):
        self.t += 1
        self._see(x)
        z = dot(self.u, x)
        if abs(z) > self.C:
            tau = z - self.C.copy_sign(z)
            Ax = self._inverse_times(x)
            size = dot(Ax, x)
            for i in self.seen:
                self.u[i] -= tau * Ax[i] / size
        return min(max(z, -self.C), self.C)  # which is u.x, without its rounding

    def update(self, x, v, y, p, g):
        q = {i: v * g * x_i for i, x_i in x.items()}
        self._add(q, self.rate / (self.C * Decimal(self.t).sqrt()))
        for i, z in self._inverse_times(q).items():
            self.u[i] -= z


class SecondOrderPerceptron(Matrix):
    """Cesa-Bianchi et al. 2005."""

    def __init__(self, a=Decimal(1)):
        super().__init__(a)
        self.b = defaultdict(Decimal)

    def predict(self, x, v):
        self._see(x)
        before = self.A.copy()
        self._add(x, v)
        p = dot(self._inverse_times(x), self.b)
        self.A = before
        return p

    def update(self, x, v, y, p, g):
        if y * p <= 0:
            self._add(x, v)
            for i, x_i in x.items():
                self.b[i] += v * y * x_i


class Arow:
    """Crammer et al. 2009, with its covariance."""

    def __init__(self, r=Decimal(1)):
        self.r, self.w = r, defaultdict(Decimal)
        self.P, self.seen = defaultdict(Decimal), set()

    def predict(self, x, v):
        for i in x.keys() - self.seen:
            self.P[i, i] = Decimal(1)
        self.seen |= x.keys()
        return dot(self.w, x)

    def update(self, x, v, y, p, g):
        margin = y * p
        if margin >= 1:
            return
        Px = {i: sum(self.P[i, j] * x_j for j, x_j in x.items()) for i in self.seen}
        c = 1 / (dot(Px, x) + self.r / v)
        for i in self.seen:
            self.w[i] += c * (1 - margin) * y * Px[i]
            for j in self.seen:
                self.P[i, j] -= c * Px[i] * Px[j]


ROOM = 32  # coordinates of the sketches


class Sketched:
    """SON with A = a I + S'S for a sketch S, in floats."""

    def __init__(self, C=1.0, rate=1.0, a=1.0, m=10):
        self.C, self.rate, self.a, self.m = float(C), float(rate), float(a), m
        self.t, self.u, self.places = 0, np.zeros(ROOM), {}

    def _vector(self, x):
        full = np.zeros(ROOM)
        for i, x_i in x.items():
            full[self.places.setdefault(i, len(self.places))] = float(x_i)
        return full

    def _inverse_times(self, x):
        S = self.sketch()
        return np.linalg.solve(self.a * np.eye(ROOM) + S.T @ S, x)

    def predict(self, x, v):
        self.t += 1
        x = self._vector(x)
        z = self.u @ x
        if abs(z) > self.C:
            Ax = self._inverse_times(x)
            self.u = self.u - (z - np.copysign(self.C, z)) * Ax / (x @ Ax)
        return Decimal(float(np.clip(z, -self.C, self.C)))  # which is u.x, without its rounding

    def update(self, x, v, y, p, g):
        q = float(v) * float(g) * self._vector(x)
        if not q.any():
            self.fade()
        else:
            self.take(np.sqrt(self.rate / (self.C * np.sqrt(self.t))) * q)
            self.u = self.u - self._inverse_times(q)

    def fade(self):
        """What a trial without a gradient does to the sketch."""


class FdSon(Sketched):
    """Frequent directions."""

    def __init__(self, **parameters):
        super().__init__(**parameters)
        self.kept, self.taken = np.zeros((self.m, ROOM)), []

    def sketch(self):
        return np.vstack([self.kept, *self.taken])

    def take(self, r):
        self.taken.append(r)
        if len(self.taken) == self.m:
            _, sigma, V = np.linalg.svd(self.sketch(), full_matrices=False)
            least = sigma[self.m - 1]
            self.kept = np.sqrt(np.maximum(sigma**2 - least**2, 0))[: self.m, None] * V[: self.m]
            self.taken = []


class OjaSon(Sketched):
    """Oja's rule; rows of V open with what the first r's have outside of those before."""

    def __init__(self, **parameters):
        super().__init__(**parameters)
        self.V, self.Lambda, self.steps = np.zeros((0, ROOM)), np.zeros(0), 0

    def sketch(self):
        return np.sqrt(self.steps * self.Lambda)[:, None] * self.V

    def take(self, r):
        rest = r - self.V.T @ (self.V @ r)
        rest -= self.V.T @ (self.V @ rest)
        if len(self.V) < self.m and np.linalg.norm(rest) > 1e-12 * np.linalg.norm(r):
            self.V = np.vstack([self.V, rest / np.linalg.norm(rest)])
            self.Lambda = np.append(self.Lambda, 0.0)
        step = self.V @ r
        self.fade()
        self.Lambda += step**2 / self.t
        Q, R = np.linalg.qr((self.V + np.outer(step, r) / self.t).T)
        self.V = (Q * np.sign(np.diag(R))).T

    def fade(self):
        self.steps += 1
        self.Lambda = (1 - 1 / self.steps) * self.Lambda
