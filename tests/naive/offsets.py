"""Offsets of intervals, one game at a time: the page of `unitless.uncertainty.offsets`."""

from math import exp, inf, log


class Bettor:
    """Krichevsky and Trofimov with a Beta(a, 1 - a) prior: the wealth is a product."""

    def __init__(self, a):
        self.a = a
        self.events = 0
        self.rows = 0
        self.wealth = 1.0

    def probability(self):
        return (self.events + self.a) / (self.rows + 1)

    def stake(self):
        return self.wealth * (self.probability() - self.a) / (self.a * (1 - self.a))

    def settle(self, happened):
        p, a = self.probability(), self.a
        self.wealth *= p / a if happened else (1 - p) / (1 - a)
        self.events += happened
        self.rows += 1


class Game:
    """The offset of one side and coverage."""

    def __init__(self, a, floor):
        self.a = a
        self.floor = floor
        self.bettor = Bettor(a)
        self.trackers = [[max(log(1 / (2 * a)), floor)] * 3 for _ in range(3)]
        self.weights = [[1 / 9] * 3 for _ in range(3)]
        self.gap = 0.0

    def offset(self, scales):
        pairs = [(i, j) for i in range(3) for j in range(3)]
        s = sum(self.weights[i][j] * scales[i] for i, j in pairs)
        mixed = sum(self.weights[i][j] * scales[i] * self.trackers[i][j] for i, j in pairs)
        return max(mixed + 8 / self.a * s * self.bettor.stake(), self.floor)

    def learn(self, r, q, scales, t):
        counts = r != q if q > self.floor else r > q
        if counts:
            self.bettor.settle(r > q)
        a = self.a
        losses = {}
        for i in range(3):
            for j, slowest in enumerate((1 / 16, 1 / 128, 0)):
                beyond = r - scales[i] * self.trackers[i][j]
                losses[i, j] = max((1 - a) * beyond, -a * beyond)
                step = min(max(slowest, 1 / (t + 1)) / a, 1)
                if beyond > 0:
                    self.trackers[i][j] += step * (1 - a)
                elif beyond < 0:
                    self.trackers[i][j] = max(self.trackers[i][j] - step * a, self.floor)
        mean = sum(self.weights[i][j] * loss for (i, j), loss in losses.items())
        self.gap += mean - self.mix_loss(losses)
        if self.gap > 0:
            eta = log(9) / self.gap
            least = min(losses.values())
            new = {k: self.weights[k[0]][k[1]] * exp(-eta * (losses[k] - least)) for k in losses}
            total = sum(new.values())
            for (i, j), weight in new.items():
                self.weights[i][j] = weight / total * (1 - 1 / 1024) + 1 / 1024 / 9

    def mix_loss(self, losses):
        least = min(losses.values())
        if self.gap == 0:
            return least
        eta = log(9) / self.gap
        total = sum(self.weights[i][j] * exp(-eta * (x - least)) for (i, j), x in losses.items())
        return least - log(total) / eta


class Offsets:
    """Offsets of several coverages in ascending order, on one side or two."""

    def __init__(self, coverages, sides=2, floor=-inf):
        self.sides = sides
        self.games = [[Game((1 - c) / sides, floor) for c in coverages] for _ in range(sides)]
        self.sizes = []

    def choose(self, size):
        seen = self.sizes[1:]  # nothing was known when the first row was predicted
        if not seen:
            return [[inf] * len(self.games[0])] * self.sides
        mean = sum(seen) / len(seen)
        recent = 0.0
        for k, each in enumerate(seen, start=1):
            recent += (each - recent) / min(k, 64)
        self.scales = [mean, max(recent, mean / 8), max(size, mean / 8)]
        played = [[game.offset(self.scales) for game in side] for side in self.games]
        if self.sides == 2 and played[0][0] + played[1][0] < 0:
            middle = (played[0][0] - played[1][0]) / 2
            played[0][0], played[1][0] = middle, -middle
        for side in played:
            for c in range(1, len(side)):
                side[c] = max(side[c], side[c - 1])
        return played

    def learn(self, r, size):
        played = self.choose(size)
        if len(self.sizes) >= 2:
            for k, side in enumerate(self.games):
                for game, q in zip(side, played[k], strict=True):
                    game.learn(-r if k else r, q, self.scales, len(self.sizes))
        self.sizes.append(abs(r))
        return played
