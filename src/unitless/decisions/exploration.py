"""How actions are drawn: inverse gap weighting of optimistic estimates, without a parameter.

Of K actions with the estimated rewards f_a, of which action a was learned n_a times, after t
rewards between `low` and `high`::

    u_a = n_a / (n_a + 10)  (high - f_a) / (high - low)     what an action lacks
    b   = the first action with the smallest u
    L   = max(u_b, 1 / (t + 1))
    p_a = L / (K L + t (u_a - u_b))  for a != b             and p_b is the rest

Without L this is the inverse gap weighting of Abe and Long (1999), in the form of SquareCB (Foster
and Rakhlin 2020). With L it is that of FastCB (Foster and Krishnamurthy 2021): there is little
exploration where the best action is already almost as good as any reward has been. The factor
n / (n + 10) is that of ten rewards `high` beside the n of the action, which make it worth trying
until some rewards say otherwise. The rate t and the number 10 were chosen by the mean loss over the
29 data sets of `benchmarks/decisions.py`; a rate that follows from the computed regret bound
explores more than pays on nearly all of them.

Every quantity is a ratio of differences of rewards, so neither their unit nor their origin matters.

| paper (FastCB, Algorithm 1) | name | meaning                         |
|-----------------------------|------|---------------------------------|
| estimated loss              | u    | what an action lacks            |
| gamma                       | t    | the rate                        |
"""

import numpy as np
from numpy.typing import NDArray

from unitless.counter_hash import mixed

Float = NDArray[np.float64]
Ints = NDArray[np.int64]
OPTIMISM = 10.0
"""How often the highest reward is counted beside the rewards of an action."""
RATE = 1.0
"""The rate of inverse gap weighting, per reward learned."""
DRAWS_STREAM = 2
"""The stream of the hash for `random_state=0`; held-out rows and the reservoir have others."""


def probabilities(estimates: Float, counts: Ints, rewards: int, low: float, high: float) -> Float:
    """Return the probability of each action: one row per decision, one column per action.

    Parameters
    ----------
    estimates : array (decisions, actions)
    counts : how often each action was learned
    rewards : how many rewards were learned
    low, high : the lowest and the highest of them

    Examples
    --------
    >>> estimates = np.array([[0.2, 0.9, 0.2]])
    >>> probabilities(estimates, np.array([50, 50, 50]), 150, 0.0, 1.0)[0, 1].round(4)
    np.float64(0.9981)
    """
    actions = estimates.shape[1]
    if not high > low:  # nothing is known to be better than anything else
        return np.full(estimates.shape, 1.0 / actions)
    share = counts / (counts + OPTIMISM)
    lacking = share * (high - estimates) / (high - low)
    best = lacking.argmin(axis=1)[:, None]
    least = np.take_along_axis(lacking, best, axis=1)
    loss = np.maximum(least, 1.0 / (rewards + 1))
    drawn = loss / (actions * loss + RATE * rewards * (lacking - least))
    np.put_along_axis(drawn, best, 0.0, axis=1)
    np.put_along_axis(drawn, best, 1.0 - drawn.sum(axis=1, keepdims=True), axis=1)
    return drawn


def greedy(estimates: Float) -> Float:
    """Return probability 1 for the first of the best actions.

    >>> greedy(np.array([[0.5, 0.7, 0.7]]))
    array([[0., 1., 0.]])
    """
    drawn = np.zeros(estimates.shape)
    np.put_along_axis(drawn, estimates.argmax(axis=1)[:, None], 1.0, axis=1)
    return drawn


def draw(drawn: Float, first: int, random_state: int) -> Ints:
    """Return the number of the action of each decision, whose numbers start at `first`.

    The random number of a decision is a hash of its number and of `random_state`.

    >>> draw(np.full((6, 3), 1 / 3), 0, 0)
    array([1, 0, 1, 2, 0, 0])
    """
    numbers = np.arange(first, first + len(drawn))
    shares = (mixed(numbers, DRAWS_STREAM + random_state) >> np.uint64(11)) * 2.0**-53
    below = np.cumsum(drawn, axis=1) <= shares[:, None]
    chosen = below.sum(axis=1)
    # the sum of all may be rounded to less than 1
    last = drawn.shape[1] - 1 - (drawn[:, ::-1] > 0).argmax(axis=1)
    return np.minimum(chosen, last)
