"""Betting on how often an event happens: the primitive behind intervals and their certificates.

The game is fair if the event happens at the given rate a. With c = 1 - a in a row in which it
happens and c = -a otherwise, a stake changes the wealth by stake times c. The bettor of
Krichevsky and Trofimov, with a Beta(a, 1 - a) prior, stakes::

    stake_t = W_{t-1} (m_{t-1} - a (t-1)) / (t a (1 - a)),      W_t = W_{t-1} + stake_t c_t

where m counts events. No rate of learning is needed, and the wealth has a closed form::

    W_T = B(m + a, T - m + 1 - a) / (B(a, 1 - a) a^m (1 - a)^(T - m))

It is exponential in T KL(m/T || a) up to a factor of the order of sqrt(T), see
`docs/explanation/theory.md`. Whoever knows that the wealth is small therefore knows that m/T is
near a, for every sequence of events: `fewest_events` and `most_events` are the exact limits.
"""

from libc.math cimport lgamma, log

cdef double LARGEST_WEALTH = 1e200      # beyond it the bettor stops winning; products stay finite


cdef double stake(const Coin* coin, double rate) noexcept nogil:
    """What the bettor stakes on the event in the next row; negative against it."""
    cdef double excess = coin.events - rate * coin.rows
    return coin.wealth * excess / ((coin.rows + 1) * rate * (1 - rate))


cdef void settle(Coin* coin, double rate, bint happened) noexcept nogil:
    """Take in the outcome of the row for which `stake` was asked."""
    cdef double outcome = (1.0 if happened else 0.0) - rate
    coin.wealth = min(coin.wealth + stake(coin, rate) * outcome, LARGEST_WEALTH)
    coin.events += happened
    coin.rows += 1


def log_wealth(double events, double rows, double rate):
    """The logarithm of the wealth after so many events in so many rows, whatever their order.

    >>> round(log_wealth(30, 100, 0.1), 2)
    12.0
    """
    cdef double known = lgamma(events + rate) + lgamma(rows - events + 1 - rate) - lgamma(rows + 1)
    cdef double before = lgamma(rate) + lgamma(1 - rate)
    return known - before - events * log(rate) - (rows - events) * log(1 - rate)


def most_events(double rows, double rate, double log_limit):
    """The most events in these rows for which the wealth is at most exp(log_limit).

    >>> most_events(1000, 0.1, 0.0), fewest_events(1000, 0.1, 0.0)
    (128.0, 75.0)
    """
    cdef double low = rate * rows
    cdef double high = rows
    return _last_within(<long long>low, <long long>high, rows, rate, log_limit)


def fewest_events(double rows, double rate, double log_limit):
    """The fewest events in these rows for which the wealth is at most exp(log_limit)."""
    cdef double low = rate * rows
    return _last_within(<long long>low, 0, rows, rate, log_limit)


cdef double _last_within(
    long long inside, long long end, double rows, double rate, double log_limit
):
    """The count nearest to `end` with at most that wealth, which grows from `inside` on."""
    cdef long long middle
    if log_wealth(end, rows, rate) <= log_limit:
        return end
    while inside - end > 1 or end - inside > 1:
        middle = (inside + end) >> 1
        if log_wealth(middle, rows, rate) <= log_limit:
            inside = middle
        else:
            end = middle
    return inside
