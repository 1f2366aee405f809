"""How far intervals go beyond predictions, learned from residuals by betting.

One residual r_t arrives per row. For each coverage and side the *offset* q_t is chosen before r_t
is known; the row is *missed* on the upper side if r_t > q_t, on the lower side if -r_t > q_t. The
rate of misses that is asked for is a: (1 - coverage) / 2 per side, or 1 - coverage if there is one
side. An offset has two parts, both in units of the residuals seen::

    q_t = sum_i w_i s_i v_i + (8 / a) s stake_t,        s = sum_i w_i s_i

**The stake** of the bettor in `betting`, on whether the row is missed, guarantees the coverage: if
misses are too frequent, the wealth and with it the offset grow exponentially until there are none.
It makes no use of what the first part is.

**The first part** makes intervals narrow. It is the mixture, by AdaHedge with a share of 1/1024 for
all, of the offsets s_i v_i under the quantile loss. There are three scales s (the mean of |r|, that
of the last 64 rows, and a size expected from the features) and for each three trackers, which move
by rate (1 - a) / a up after a miss and by rate down otherwise. Their rates are 1/16, 1/128 and
1/t. They start at ln(1 / 2a), the quantile of a Laplace distribution whose mean size is 1.

Rows with a residual exactly on the boundary q_t are left out of the bet: exact predictions always
cover, however narrow the interval is. If offsets have a floor (of sets, 0), a row that is covered
at the floor is left out as well.

========== ============= ================================================= =======
method     field         meaning                                           unit
========== ============= ================================================= =======
s_1        mean          mean size of a residual                           y
s_2        recent        the same of the last 64 rows                      y
v          trackers      offsets in units of their scales                  1
w          weights       weights of the mixture                            1
Delta      gaps          sums of mixability gaps of AdaHedge               y
m, t, W    coins         events, rows and wealth of the bettor             1
max stake  gains         the largest gain in one row                       1
========== ============= ================================================= =======
"""

import numpy as np

cimport cython
from libc.math cimport INFINITY, exp, fabs, log

from unitless.core.pointers cimport numbers_in
from unitless.core.stateful cimport Stateful
from unitless.uncertainty.betting cimport Coin, settle, stake

from unitless.state import Field, count
from unitless.uncertainty.betting import fewest_events, most_events

cdef enum:
    SCALES = 3
    RATES = 3
    FORECASTS = 9           # SCALES times RATES
    COIN = 3                # numbers of a Coin
    RECENT = 64

cdef double[3] SLOWEST = [1.0 / 16, 1.0 / 128, 0.0]
cdef double SHARE = 1.0 / 1024
cdef double STAKES = 8.0            # units of s / a that the initial wealth is worth
cdef double LEAST = 1.0 / 8         # of the mean, the least scale
cdef double FARTHEST = 2.0**1000    # residuals are clipped there, so that sums are finite
cdef double MAX_RATE = 1e300        # finite, so that 0 times it is 0


ARRAYS = "trackers", "weights", "gaps", "coins", "gains", "on_boundary", "covered"


cdef struct Games:
    Py_ssize_t count
    Py_ssize_t coverages
    const double* rates         # of misses
    double* trackers            # FORECASTS of each game
    double* weights
    double* gaps
    Coin* coins
    double* gains
    double* on_boundary
    double* covered             # by coverage
    double* scales              # SCALES, of the row at hand
    double* losses              # FORECASTS, of the row and the game at hand


@cython.final
cdef class Offsets(Stateful):
    """The offsets of several coverages, in ascending order, on one side or on both.

    There is one game per side and coverage. A residual of the first row, for which nothing was
    known, is not used; until the next one, offsets are infinite.

    >>> residuals = np.random.default_rng(0).normal(size=4000)
    >>> offsets = Offsets([0.9])
    >>> upper, lower = offsets.learn(residuals, np.ones(4000))[:, :, 0].T
    >>> covered = (-lower <= residuals) & (residuals <= upper)
    >>> print(f"{covered.mean():.3f} {upper[2000:].mean():.2f}")
    0.900 1.67
    """

    saved = (
        count("known", "rows learned"),
        Field("mean", "y", "mean size of a residual", low=0),
        Field("recent", "y", "mean size of the last residuals", low=0),
        Field("trackers", "1", "offsets in units of their scales", ("games", "forecasts")),
        Field("weights", "1", "weights of the mixture", ("games", "forecasts"), 0, 1),
        Field("gaps", "y", "sums of mixability gaps", ("games",), 0),
        Field("coins", "1", "misses, rows and wealth of each bettor", ("games", "coin"), 0),
        Field("gains", "1", "the largest gain of each bettor in one row", ("games",), 0),
        Field("on_boundary", "1", "rows left out of the bet, by game", ("games",), 0),
        Field("covered", "1", "rows covered, by coverage", ("coverages",), 0),
    )

    cdef readonly tuple coverages
    cdef readonly int sides
    cdef readonly double floor
    cdef public double known
    cdef public double mean
    cdef public double recent
    cdef public object trackers
    cdef public object weights
    cdef public object gaps
    cdef public object coins
    cdef public object gains
    cdef public object on_boundary
    cdef public object covered
    cdef readonly object rates
    cdef object room

    def __init__(self, coverages, int sides=2, double floor=-INFINITY):
        games = sides * len(coverages)
        self.coverages = tuple(coverages)
        self.sides = sides
        self.floor = floor
        rates = [(1 - each) / sides for _ in range(sides) for each in coverages]
        self.rates = np.array(rates, dtype=float)
        start = np.maximum(np.log(0.5 / self.rates), floor)
        self.trackers = np.repeat(start[:, None], FORECASTS, axis=1)
        self.weights = np.full((games, FORECASTS), 1.0 / FORECASTS)
        self.gaps = np.zeros(games)
        self.coins = np.zeros((games, COIN))
        self.coins[:, 2] = 1.0
        self.gains = np.zeros(games)
        self.on_boundary = np.zeros(games)
        self.covered = np.zeros(len(coverages))
        self.room = np.zeros(SCALES + FORECASTS)

    def _arguments(self):
        return {"coverages": self.coverages, "sides": self.sides, "floor": self.floor}

    def _sizes(self):
        return {
            "games": self.sides * len(self.coverages),
            "coverages": len(self.coverages),
            "forecasts": FORECASTS,
            "coin": COIN,
        }

    def _loaded(self):
        for name in ARRAYS:  # those of a file may not be written to
            setattr(self, name, np.array(getattr(self, name), dtype=float, order="C"))

    def learn(self, residuals, sizes, weights=None):
        """The offsets of each row, (rows, sides, coverages), which then learn its residual.

        Sizes are those expected from the features. Rows of weight 0 are not learned.
        """
        made = np.empty((len(residuals), self.sides, len(self.coverages)))
        cdef Games games = self._games()
        cdef double* out = numbers_in(made)
        cdef const double* r = numbers_in(residuals)
        cdef const double* size = numbers_in(sizes)
        cdef const double* v = NULL
        cdef Py_ssize_t rows = len(residuals)
        cdef Py_ssize_t t
        if weights is not None and len(weights):
            v = numbers_in(weights)
        with nogil:
            for t in range(rows):
                self._choose(&games, size[t], out + t * games.count)
                if v == NULL or v[t] > 0:
                    self._take_in(&games, r[t], out + t * games.count)
        return made

    def predict(self, sizes):
        """The offsets of rows, each as if it were the next one."""
        made = np.empty((len(sizes), self.sides, len(self.coverages)))
        cdef Games games = self._games()
        cdef double* out = numbers_in(made)
        cdef const double* size = numbers_in(sizes)
        cdef Py_ssize_t rows = len(sizes)
        cdef Py_ssize_t t
        with nogil:
            for t in range(rows):
                self._choose(&games, size[t], out + t * games.count)
        return made

    cdef Games _games(self):
        cdef Games games
        games.count = len(self.rates)
        games.coverages = len(self.coverages)
        games.rates = numbers_in(self.rates)
        games.trackers = numbers_in(self.trackers)
        games.weights = numbers_in(self.weights)
        games.gaps = numbers_in(self.gaps)
        games.coins = <Coin*>numbers_in(self.coins)
        games.gains = numbers_in(self.gains)
        games.on_boundary = numbers_in(self.on_boundary)
        games.covered = numbers_in(self.covered)
        games.scales = numbers_in(self.room)
        games.losses = games.scales + SCALES
        return games

    cdef void _choose(self, Games* games, double size, double* q) noexcept nogil:
        """The offsets of the row at hand."""
        cdef double* s = games.scales
        cdef double* w
        cdef double* v
        cdef double a, scale, part
        cdef Py_ssize_t g, i
        s[0] = self.mean
        s[1] = max(self.recent, LEAST * self.mean)
        s[2] = max(size, LEAST * self.mean)
        for g in range(games.count):
            a = games.rates[g]
            w = games.weights + g * FORECASTS
            v = games.trackers + g * FORECASTS
            scale = 0.0
            part = 0.0
            for i in range(FORECASTS):
                scale += w[i] * s[i // RATES]
                part += w[i] * s[i // RATES] * v[i]
            q[g] = max(part + STAKES / a * scale * stake(&games.coins[g], a), self.floor)
            if self.known < 2:
                q[g] = INFINITY
        self._nest(games, q)

    cdef void _nest(self, Games* games, double* q) noexcept nogil:
        """No interval is empty, and those of larger coverages contain the others."""
        cdef double* upper = q
        cdef double* lower = q + games.coverages
        cdef double middle
        cdef Py_ssize_t c
        if self.sides == 2 and upper[0] + lower[0] < 0:
            middle = upper[0] / 2 - lower[0] / 2
            upper[0] = middle
            lower[0] = -middle
        for c in range(1, games.coverages):
            upper[c] = max(upper[c], upper[c - 1])
            if self.sides == 2:
                lower[c] = max(lower[c], lower[c - 1])

    cdef void _take_in(self, Games* games, double residual, const double* q) noexcept nogil:
        """Learn the residual of the row at hand, for which these offsets were chosen."""
        cdef double r, a, size, gain
        cdef bint is_missed
        cdef Py_ssize_t g, c
        residual = min(max(residual, -FARTHEST), FARTHEST)
        size = fabs(residual)
        for c in range(games.coverages):
            is_missed = residual > q[c]
            if self.sides == 2:
                is_missed |= -residual > q[games.coverages + c]
            games.covered[c] += not is_missed
        if self.known >= 2:
            for g in range(games.count):
                r = residual if g < games.coverages else -residual
                a = games.rates[g]
                is_missed = r > q[g]
                if self._is_in_bet(r, q[g]):
                    gain = stake(&games.coins[g], a) * ((1.0 if is_missed else 0.0) - a)
                    games.gains[g] = max(games.gains[g], gain)
                    settle(&games.coins[g], a, is_missed)
                else:
                    games.on_boundary[g] += 1
                self._improve(games, g, r)
        self.known += 1
        if self.known >= 2:
            self.mean += (size - self.mean) / (self.known - 1)
            self.recent += (size - self.recent) / min(self.known - 1, RECENT)

    cdef bint _is_in_bet(self, double r, double q) noexcept nogil:
        """Whether the row counts in the bet: it is not on the boundary, nor covered at the floor."""
        return r != q if q > self.floor else r > q

    cdef void _improve(self, Games* games, Py_ssize_t g, double r) noexcept nogil:
        """Update the mixture of a game by AdaHedge, and its trackers."""
        cdef double* w = games.weights + g * FORECASTS
        cdef double* v = games.trackers + g * FORECASTS
        cdef double* losses = games.losses
        cdef double a = games.rates[g]
        cdef double nats = log(<double>FORECASTS)
        cdef double mean = 0.0
        cdef double least = INFINITY
        cdef double total = 0.0
        cdef double eta, beyond, step
        cdef Py_ssize_t i
        for i in range(FORECASTS):
            beyond = r - games.scales[i // RATES] * v[i]
            losses[i] = (1 - a) * beyond if beyond > 0 else -a * beyond
            mean += w[i] * losses[i]
            least = min(least, losses[i])
            step = min(max(SLOWEST[i % RATES], 1 / (self.known + 1)) / a, 1.0)
            if beyond != 0:
                v[i] = max(v[i] + (step * (1 - a) if beyond > 0 else -step * a), self.floor)
        if games.gaps[g] > 0:
            eta = min(nats / games.gaps[g], MAX_RATE)
            for i in range(FORECASTS):
                total += w[i] * exp(-eta * (losses[i] - least))
            games.gaps[g] += max(mean - (least - log(total) / eta), 0.0)
        else:
            games.gaps[g] += max(mean - least, 0.0)
        if games.gaps[g] == 0:
            return
        eta = min(nats / games.gaps[g], MAX_RATE)
        total = 0.0
        for i in range(FORECASTS):
            w[i] *= exp(-eta * (losses[i] - least))
            total += w[i]
        for i in range(FORECASTS):
            w[i] = w[i] / total * (1 - SHARE) + SHARE / FORECASTS

    def coverage(self, Py_ssize_t place):
        """The share of rows covered so far, and its certified limits (low, high).

        They hold for every sequence of residuals: the wealth of a bettor is at most 1 plus its
        rows times its largest gain, which limits its misses. With one side, high is 1.
        """
        cdef double most = 0.0
        cdef double fewest = 0.0
        if self.known == 0:
            return 1.0, 0.0, 1.0
        for g in range(place, len(self.rates), len(self.coverages)):
            rows = self.coins[g, 1]
            limit = np.log1p(rows * self.gains[g])
            most += most_events(rows, self.rates[g], limit)
            fewest += fewest_events(rows, self.rates[g], limit)
        known = self.known
        high = 1 - fewest / known if self.sides == 2 else 1.0
        return float(self.covered[place] / known), max(1 - most / known, 0.0), high
