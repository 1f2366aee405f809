"""The parts of the blend from their formulas: the running rules, and a mixer for each kind of loss.

A mixer is a function of a table of members' scores: what it says of each row before it sees its
target, and what it knows at the end. Nothing is in logarithms: decimals do not underflow.
"""

from decimal import Decimal
from typing import NamedTuple

from naive import losses
from naive.baselines.loop import scores as run
from naive.digits import precision
from naive.full import dot, full
from naive.newton import Newton, shown, slopes, solve
from naive.scinol import Scinol2

ZERO, ONE = Decimal(0), Decimal(1)
STACKER = Decimal("0.8")


class Told(NamedTuple):
    """What a mixer said and knows: its scores; weights, losses and overheads by member."""

    scores: list
    weights: list
    losses: list
    overheads: list
    loss: Decimal


# The running rules


def memberships(rows):
    """(dense, small): the row that ends each kind of membership, or None; rows are dicts."""
    known, nonzeros, ends = set(), 0, {"dense": None, "small": None}
    for t, row in enumerate(rows):
        known |= {name for name, x in row.items() if x != 0}
        nonzeros += sum(x == x and x != 0 for x in row.values())
        d = len(known)
        if ends["dense"] is None and d > 1024 and nonzeros < (t + 1) * d / 8:
            ends["dense"] = t
        if ends["small"] is None and d > 256:
            ends["small"] = t
    return ends["dense"], ends["small"]


# Mixtures with shares


class Mixture:
    """Weights that are shared, and the bound on what they lose, from its definition.

    The scale V is the largest sample weight, or the excess over `nats`, if these are given.
    """

    def __init__(self, K, nats=None):
        self.K, self.t, self.alive, self.nats = K, 0, [True] * K, nats
        self.W0 = self._prior()
        self.W, self.start = list(self.W0), list(self.W0)
        self.V, self.loss, self.excess = ZERO, ZERO, ZERO
        self.lost = [ZERO] * (K + 1)
        self.spent, self.last_share = [ZERO] * (K + 1), [ZERO] * (K + 1)

    def _prior(self):
        each = (1 - STACKER) / sum(self.alive)
        return [each * a for a in self.alive] + [STACKER]

    def drop(self, alive):
        """Some members leave."""
        if alive != self.alive:
            self.alive = alive
            self.W = [w * a for w, a in zip(self.W, [*alive, True], strict=True)]
            self.W = [w / sum(self.W) for w in self.W]
            self.W0 = self._prior()
            self._pay_share()

    def _pay_share(self):
        """The share after the last trial costs nothing until there is one more trial."""
        self.spent = [a + b for a, b in zip(self.spent, self.last_share, strict=True)]
        self.last_share = [ZERO] * (self.K + 1)

    def learn(self, v, lost, losses):
        """Members lost so much, the mixture `lost`."""
        self.t += 1
        self._pay_share()
        before, self.loss = self.V, self.loss + v * lost
        if self.nats is None:
            self.V = max(before, v)
            self.excess += v * lost - self._mix(self._scaled(before), v, losses)
        else:
            self.excess += v * lost - self._mix(self.W, v, losses)
            self.V = max(before, self.excess / self.nats)
        if self.V > 0:
            pairs = zip(self._scaled(before), losses, strict=True)
            new = [w * (v * (min(losses) - loss) / self.V).exp() for w, loss in pairs]
            self.W = [w / sum(new) for w in new]
        counted = zip(self.lost, losses, self.W0, strict=True)
        self.lost = [sum_k + v * loss * bool(w0) for sum_k, loss, w0 in counted]
        a = ONE / (self.t + 1)
        self.last_share = [-(1 - a * (1 - w)).ln() if w else ZERO for w in self.W0]
        self.W = [(1 - a) * w + a * w0 for w, w0 in zip(self.W, self.W0, strict=True)]

    def _mix(self, W, v, losses):
        """-V ln sum W exp(-v loss / V); the smallest loss, if V = 0. It counts from that one."""
        best = min(loss for loss, w0 in zip(losses, self.W0, strict=True) if w0)
        if self.V == 0:
            return v * best
        parts = zip(W, losses, strict=True)
        return v * best - self.V * sum(w * (v * (best - x) / self.V).exp() for w, x in parts).ln()

    def _scaled(self, before):
        """W0 exp(-L / V), if the weights were W0 exp(-L / before); their sum is at most 1."""
        if before in (0, self.V):
            return self.W
        return [
            w0 * (w / w0) ** (before / self.V) if w0 else ZERO
            for w, w0 in zip(self.W, self.W0, strict=True)
        ]

    def told(self, scores):
        """The end."""
        overheads = [
            self.V * (-start.ln() + spent) + self.excess
            for start, spent in zip(self.start, self.spent, strict=True)
        ]
        return Told(scores, self.W, self.lost, overheads, self.loss)


def sigma(z):
    """1 / (1 + exp(-z))."""
    return 1 / (1 + (-z).exp())


def clip(x, low, high):
    """x within [low, high]."""
    return min(max(x, low), high)


def _rows(Z, weights):
    """Rows as decimals, and their weights."""
    weights = [1.0] * len(Z) if weights is None else weights
    for row, v in zip(Z, weights, strict=True):
        yield [Decimal(float(z)) for z in row], Decimal(float(v))


def logistic(Z, targets, roles, weights=None, drops=None, digits=40, steep=None):
    """Stack the logits, then mix; drops is {row: members still there}, steep a member's number."""
    drops = drops or {}
    with precision(digits):
        mains = roles.count("main")
        variance = {"main": ONE, "tracker": Decimal("0.09"), "late": Decimal("0.3")}
        stacked = [k for k, role in enumerate(roles) if role != "guarantee"]
        H = [[(i == j) / variance[roles[i]] for j in stacked] for i in stacked]
        b = [H[n][n] / mains if roles[k] == "main" else ZERO for n, k in enumerate(stacked)]
        if steep is not None:  # one more input
            H = [[*row, ZERO] for row in H] + [[ZERO] * len(H) + [1 / variance["late"]]]
            b.append(ZERO)
        mixture, scores = Mixture(len(roles)), []
        for t, (z, v) in enumerate(_rows(Z, weights)):
            if t in drops:
                mixture.drop(drops[t])
            z = [clip(z_k, Decimal(-500), Decimal(500)) for z_k in z]
            x = [clip(z[k], Decimal(-8), Decimal(8)) * mixture.alive[k] for k in stacked]
            x = [x_k * _share(roles[k], mixture.t) for x_k, k in zip(x, stacked, strict=True)]
            if steep is not None:
                tanh = 2 * sigma(4 * z[steep] * mixture.alive[steep]) - 1
                x.append(2 * tanh * _share("late", mixture.t))
            w, Px = solve(H, b, x)
            plain = dot(w, x)
            z.append(shown("logistic", plain, dot(x, Px)))
            yes = dot(mixture.W, [sigma(z_k) for z_k in z])
            no = dot(mixture.W, [sigma(-z_k) for z_k in z])
            scores.append((yes / no).ln())
            if v > 0:
                y = Decimal(float(targets[t]))
                each = [-sigma(y * z_k).ln() for z_k in z]
                mixture.learn(v, -(yes if y > 0 else no).ln(), each)
                (e,), c = slopes("logistic", y, [plain])
                for i, x_i in enumerate(x):
                    b[i] += v * x_i * (e + c * plain)
                    for j, x_j in enumerate(x):
                        H[i][j] += v * c * x_i * x_j
        return mixture.told(scores)


def _share(role, t):
    """How much of a member the stacker sees after t trials."""
    return Decimal(t) / (t + 250) if role == "late" else ONE


def squared(Z, targets, roles, weights=None, drops=None, digits=40):
    """Base, stacker, mixture."""
    drops = drops or {}
    with precision(digits):
        mixture, scores = Mixture(len(roles), Decimal(len(roles) + 1).ln()), []
        stacked = [k for k, role in enumerate(roles) if role != "guarantee"]
        ridge, low, high = Newton(Decimal(10), "squared", 1), ZERO, ZERO
        for t, (p, v) in enumerate(_rows(Z, weights)):
            if t in drops:
                mixture.drop(drops[t])
            p = [clip(p_k, low, high) for p_k in p]
            base = dot(_base(mixture), p)
            shown = [k for k in stacked if roles[k] != "late" or mixture.t >= 256]
            x = {k: p[k] - base for k in shown if mixture.alive[k] and p[k] != base}
            known, strange = ridge.sort(x)
            (z,), s = ridge.look(known, len(strange))
            p.append(clip(base + z / (1 + s), low, high))
            score = dot(mixture.W, p)
            scores.append(score)
            if v > 0:
                y = Decimal(float(targets[t]))
                low, high = min(low, y), max(high, y)
                each = [(p_k - y) ** 2 for p_k in p]
                mixture.learn(v, (score - y) ** 2, each)
                ridge.learn(known, strange, [z], y - base, v)
        return mixture.told(scores)


def _base(mixture):
    """exp(-t/2 L_k / min L), added up to 1."""
    alive = [k for k in range(mixture.K) if mixture.alive[k]]
    best = min(mixture.lost[k] for k in alive)
    share = [ZERO] * mixture.K
    for k in alive:
        excess = mixture.lost[k] - best
        share[k] = (-mixture.t * excess / best / 2).exp() if best else Decimal(excess == 0)
    return [part / sum(share) for part in share]


def log_softmax(z):
    """z - ln sum exp(z), at least -500."""
    top = max(z)
    total = top + sum((z_c - top).exp() for z_c in z).ln()
    return [max(z_c - total, Decimal(-500)) for z_c in z]


def softmax(Z, targets, roles, weights=None, drops=None, digits=40):
    """Stack the log-probabilities, then mix; Z is (rows, members, classes)."""
    drops = drops or {}
    weights = [1.0] * len(Z) if weights is None else weights
    with precision(digits):
        K, C = len(roles), len(Z[0][0])
        stacked = [k for k, role in enumerate(roles) if role != "guarantee"]
        late = [roles[k] == "late" for k in stacked]
        w = [ZERO if is_late else ONE / late.count(False) for is_late in late]
        precisions = [ONE / Decimal("0.3") if is_late else ONE for is_late in late]
        H = [[a * (i == j) for j in stacked] for a, i in zip(precisions, stacked, strict=True)]
        mixture, scores = Mixture(K), []
        for t, row in enumerate(Z):
            v = Decimal(float(weights[t]))
            if t in drops:
                mixture.drop(drops[t])
            logs = [log_softmax([Decimal(float(z)) for z in member]) for member in row]
            f = _stacked(logs, stacked, mixture.alive)
            shares = [_share(roles[k], mixture.t) for k in stacked]
            f = [[share * x for share, x in zip(shares, f_c, strict=True)] for f_c in f]
            z = [dot(w, f_c) for f_c in f]
            s = [dot(f_c, Pf) for f_c, Pf in zip(f, solve(H, *f), strict=True)]
            logs.append(log_softmax([shown("softmax", *pair) for pair in zip(z, s, strict=True)]))
            mixed = [dot(mixture.W, [log[c].exp() for log in logs]) for c in range(C)]
            scores.append([q.ln() for q in mixed])
            if v > 0:
                y = int(targets[t])
                mixture.learn(v, -mixed[y].ln(), [-log[y] for log in logs])
                _newton(H, w, f, [log.exp() for log in log_softmax(z)], y, v)
        return mixture.told(scores)


def _stacked(logs, stacked, alive):
    """f_c for each class c: log-probabilities at least -12, less their mean over classes."""
    clipped = [[max(log, Decimal(-12)) for log in logs[k]] for k in stacked]
    means = [sum(row) / len(row) for row in clipped]
    return [
        [(row[c] - mean) * alive[k] for row, mean, k in zip(clipped, means, stacked, strict=True)]
        for c in range(len(logs[0]))
    ]


def _newton(H, w, f, q, y, v):
    """The Hessian grows by v times the covariance of f under q, less that within the least probable
    classes, which have 1e-4 together; w moves by its inverse times the slope.
    """
    order = sorted(range(len(q)), key=lambda c: -q[c])
    kept = order.index(y) + 1
    while sum(q[c] for c in order[kept:]) > Decimal("1e-4"):
        kept += 1
    mean = _spread(H, f, q, order, v)
    _spread(H, f, q, order[kept:], -v)
    (step,) = solve(H, [v * (a - b) for a, b in zip(f[y], mean, strict=True)])
    for i, step_i in enumerate(step):
        w[i] += step_i


def _spread(H, f, q, classes, v):
    """H += v sum_c q_c (f_c - mean)(f_c - mean)' over these classes; returns the mean."""
    mass = sum(q[c] for c in classes) or ONE
    mean = [sum(q[c] * f[c][i] for c in classes) / mass for i in range(len(f[0]))]
    for c in classes:
        u = [a - b for a, b in zip(f[c], mean, strict=True)]
        for i, u_i in enumerate(u):
            for j, u_j in enumerate(u):
                H[i][j] += v * q[c] * u_i * u_j
    return mean


# AdaHedge


class AdaHedge:
    """eta = ln K / Delta, Delta the sum of loss - mix."""

    def __init__(self, K):
        self.K, self.L, self.alive = K, [ZERO] * K, [True] * K
        self.delta = self.before = self.loss = ZERO

    def weights(self):
        """exp(-eta L), added up to 1; the best alone while Delta is 0."""
        best = min(L for L, a in zip(self.L, self.alive, strict=True) if a)
        part = [a * self._power(L - best) for L, a in zip(self.L, self.alive, strict=True)]
        return [p / sum(part) for p in part]

    def _power(self, excess):
        if self.delta == 0:
            return Decimal(excess == 0)
        return (-Decimal(self.K).ln() / self.delta * excess).exp()

    def learn(self, lost, losses):
        """Members lost so much, their mean forecast `lost`."""
        W, self.before = self.weights(), self.delta
        mean = dot(W, losses)
        mix = best = min(loss for loss, w in zip(losses, W, strict=True) if w > 0)
        if self.delta > 0:  # counted from the best: delta may be as small as a rounding error
            eta = Decimal(self.K).ln() / self.delta
            mass = sum(w * (eta * (best - x)).exp() for w, x in zip(W, losses, strict=True))
            mix = best - mass.ln() / eta
        self.delta += max(mean - mix, ZERO)
        self.loss += lost
        self.L = [a + b for a, b in zip(self.L, losses, strict=True)]


def hedge(Z, targets, loss, weights=None, drops=None, digits=40):
    """The mixture for losses of real targets: a base, two stackers, and a final mixture of all."""
    drops, weights = drops or {}, [1.0] * len(Z) if weights is None else weights
    value, K = losses.get(loss).value, len(Z[0])
    with precision(digits):
        base, low, high = AdaHedge(K), ZERO, ZERO
        clipped, h, ends = [], [], []
        for t, (p, v) in enumerate(_rows(Z, weights)):
            base.alive, y = drops.get(t, base.alive), Decimal(float(targets[t]))
            p = [clip(p_k, low, high) for p_k in p]
            h.append(dot(base.weights(), p))
            clipped.append([p_k if a else None for p_k, a in zip(p, base.alive, strict=True)])
            base.learn(v * value(y, h[t]), [v * value(y, p_k) for p_k in p])
            ends.append((low, high))
            low, high = min(low, y), max(high, y)
        inputs = [
            [*((0 if p_k is None else p_k - h_t) for p_k in row), h_t]
            for row, h_t in zip(clipped, h, strict=True)
        ]
        beyond = [Decimal(float(y)) - h_t for y, h_t in zip(targets, h, strict=True)]
        stackers = (
            full(inputs, beyond, loss, weights=weights, digits=digits),
            run(Scinol2, inputs, beyond, loss, weights=weights, digits=digits),
        )
        final, scores = AdaHedge(K + 2), []
        for t, p in enumerate(clipped):
            final.alive = [p_k is not None for p_k in p] + [True, True]
            y, v = Decimal(float(targets[t])), Decimal(float(weights[t]))
            p = [p_k or ZERO for p_k in p] + [h[t] + stacker[t] for stacker in stackers]
            p = [clip(p_k, *ends[t]) for p_k in p]
            scores.append(dot(final.weights(), p))
            each = [v * value(y, p_k) for p_k in p]
            final.learn(v * value(y, scores[t]), each)
        over = final.delta + final.before
        return Told(scores, final.weights(), final.L, [over] * (K + 2), final.loss)
