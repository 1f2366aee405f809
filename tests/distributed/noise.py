"""What is left of dependent columns when factors are joined, measured: it must be called noise."""

import numpy as np

from distributed.material import STREAMS, rows_of
from unitless.distributed.merging import aligned, continued, factor_rows, merged
from unitless.learners.givens import rotate
from unitless.learners.triangular_factor import ACTIVE, NOISE, RANK, STEADY_ROWS, T, noise_size
from unitless.learners.vaw import Vaw

DEPENDENT = ("flights", "nested", "first_rare", "twins", "sums")


def rests(one, two):
    """Of each row of `two` rotated into `one`: |w_n|, c_n and the size that the rule has."""
    one, two = aligned(one, two)
    W, squares = factor_rows(two, one)
    U, D, z = one.state.U, one.state.D, one.state.z
    rank, active = (int(one.state.totals[k]) for k in (RANK, ACTIVE))
    norms = np.sqrt(one.state.squares[:active] + squares)
    growth = np.sqrt(one.state.totals[T] / STEADY_ROWS)
    sizes = norms + growth * np.sqrt(squares)
    for row, q in zip(W, two.state.q, strict=False):
        delta, _, _ = rotate(U, D, z, row, (1.0, q), rank, np.zeros(rank), True)
        bounds = [noise_size(U, rank, n, sizes) for n in range(rank, active)]
        yield np.sqrt(delta) * np.abs(row[rank:]), norms[rank:], np.array(bounds)


def measured(n, shards, seeds):
    """The largest rest over each rule's bound, in joins of factors that have the whole rank."""
    here = rows = 0.0
    for name in DEPENDENT:
        for seed in range(seeds):
            stream = rows_of(*STREAMS[name](np.random.default_rng(seed), n))
            whole = Vaw()
            whole.learn(stream)
            for left, c, size in joins(stream, shards, whole.state.totals[RANK]):
                here = max(here, float((left / (NOISE * size)).max(initial=0)))
                rows = max(rows, float((left / (NOISE * c)).max(initial=0)))
    return {"noise / bound": f"{here:.2g}", "noise / bound of 0.1.0": f"{rows:.2g}"}


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
