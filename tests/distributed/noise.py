"""What is left of dependent columns when factors are joined, measured: it must be called noise."""

from copy import deepcopy

import numpy as np

from distributed.material import STREAMS, rows_of
from unitless.distributed import merging
from unitless.distributed.merging import NOISE, STEADY_ROWS, continued, merged
from unitless.learners.triangular_factor import RANK, T
from unitless.learners.vaw import Vaw

DEPENDENT = ("flights", "nested", "first_rare", "twins", "sums")


def rests(one, two):
    """Of each row of `two` rotated into `one`: |w_n|, c_n and the size that the rule has."""
    one = deepcopy(one)
    factor, other = merging.aligned(one, two)
    rank, norms = factor.rank, factor.norms
    for w, target in zip(other.R, other.q, strict=True):
        for k in range(rank):
            target = merging._rotate(factor.R, factor.q, k, w, target)
        sizes = merging.noise_sizes(factor.R, rank, norms)
        yield np.abs(w[rank:]), norms[rank:], sizes, one.state.totals[T]


def measured(n, shards, seeds):
    """The largest rest over each rule's bound, in joins of factors that have the whole rank."""
    here = rows = 0.0
    for name in DEPENDENT:
        for seed in range(seeds):
            stream = rows_of(*STREAMS[name](np.random.default_rng(seed), n))
            whole = Vaw()
            whole.learn(stream)
            for left, c, size, t in joins(stream, shards, whole.state.totals[RANK]):
                gamma = np.sqrt(1 + t / STEADY_ROWS)
                here = max(here, float((left / (NOISE * gamma * size)).max(initial=0)))
                rows = max(rows, float((left / (NOISE * c)).max(initial=0)))
    return {"noise / bound": f"{here:.2g}", "noise / the learner's bound": f"{rows:.2g}"}


def joins(stream, shards, rank):
    """The rests of all joins of a tree whose left factor has that rank: nothing new can come."""
    cuts = np.linspace(0, len(stream), shards + 1).astype(int)
    models = [Vaw(), *(continued(Vaw(), stream.targets[0]) for _ in range(shards - 1))]
    for k, model in enumerate(models):
        model.learn(stream[cuts[k] : cuts[k + 1]])
    while len(models) > 1:
        for one, two in zip(models[::2], models[1::2], strict=False):
            if one.state.totals[RANK] == rank:
                yield from rests(one, two)
        pairs = [models[k : k + 2] for k in range(0, len(models), 2)]
        models = [merged(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
