"""Joined VAW models predict, and go on, as one that learned all rows in one pass."""

import numpy as np
import pytest

from distributed.material import STREAMS, in_units, rows_of
from distributed.noise import measured
from unitless.distributed.merging import continued, merged, renumbered
from unitless.learners.triangular_factor import RANK, T
from unitless.learners.vaw import COUNT, Vaw

AFTER = 200


def tree(models):
    """Neighbours joined, then neighbours of these."""
    while len(models) > 1:
        pairs = [models[k : k + 2] for k in range(0, len(models), 2)]
        models = [merged(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return models[0]


def both(rows, n, shards, **how):
    """One pass over n rows, and the same in shards."""
    whole = Vaw(**how)
    whole.learn(rows[:n])
    cuts = np.linspace(0, n, shards + 1).astype(int)
    models = [Vaw(**how), *(continued(Vaw(**how), rows.targets[0]) for _ in range(shards - 1))]
    for k, model in enumerate(models):
        model.learn(rows[cuts[k] : cuts[k + 1]])
    return whole, tree(models)


def difference(whole, joined, rows, n):
    """Of predictions and of predictions continued, relative to the range of the targets."""
    size = np.ptp(rows.targets)
    ahead = np.abs(whole.predict(rows[n:]) - joined.predict(rows[n:])).max()
    later = np.abs(whole.learn(rows[n:]) - joined.learn(rows[n:])).max()
    return max(ahead, later) / size


@pytest.mark.parametrize("decades", [0, 100])
@pytest.mark.parametrize("shards", [2, 3, 16, 64])
@pytest.mark.parametrize("name", STREAMS)
def test_shards_are_one_pass(name, shards, decades):
    for seed, n in enumerate((130, 2000) if name != "few_rows" else (130, 160)):
        rng = np.random.default_rng([seed, shards])
        X, y = STREAMS[name](rng, n + AFTER)
        if decades:
            X, y = in_units(rng, X, y, decades)
        rows = rows_of(X, y)
        whole, joined = both(rows, n, shards, intercept=bool(seed))
        assert joined.state.totals[RANK] == whole.state.totals[RANK]
        assert joined.state.totals[T] == joined._targets[COUNT] == n
        assert difference(whole, joined, rows, n) <= 1e-10


@pytest.mark.parametrize("decades", [0, 100])
def test_any_number_of_shards(decades):
    """One-hot data: each group of levels sums to the constant."""
    for shards in (*range(1, 18), 31, 32, 33, 48, 63, 64):
        rng = np.random.default_rng([7, shards])
        X, y = STREAMS["flights"](rng, 260 + AFTER)
        if decades:
            X, y = in_units(rng, X, y, decades)
        rows = rows_of(X, y)
        whole, joined = both(rows, 260, shards)
        assert joined.state.totals[RANK] == whole.state.totals[RANK] < 1 + X.shape[1]
        assert difference(whole, joined, rows, 260) <= 1e-10


def test_the_worst_stream_is_long():
    """Noise of factors grows with rows: this is where the rule for rows alone fails."""
    rng = np.random.default_rng(3)
    rows = rows_of(*STREAMS["twins"](rng, 40_000 + AFTER))
    whole, joined = both(rows, 40_000, 64)
    assert joined.state.totals[RANK] == whole.state.totals[RANK] == 6
    assert difference(whole, joined, rows, 40_000) <= 1e-10


def test_one_shard_is_one_pass_to_the_bit():
    rng = np.random.default_rng(0)
    rows = rows_of(*STREAMS["flights"](rng, 500))
    whole, joined = both(rows, 300, 1)
    assert (whole.learn(rows[300:]) == joined.learn(rows[300:])).all()


def test_weights_and_rows_left_out():
    rng = np.random.default_rng(1)
    X, y = STREAMS["flights"](rng, 900)
    weights = rng.choice([0.0, 0.5, 1.0, 7.0], len(y))
    weights[0] = 1.0
    rows = rows_of(X, y, weights)
    whole, joined = both(rows, 700, 8)
    assert joined._targets[COUNT] == np.count_nonzero(weights[:700])
    assert difference(whole, joined, rows, 700) <= 1e-10


def test_a_shard_without_a_target_changes_nothing():
    rng = np.random.default_rng(2)
    X, y = STREAMS["sums"](rng, 400)
    rows = rows_of(X, y, np.repeat([0.0, 1.0, 0.0, 1.0], 100))
    whole = Vaw()
    whole.learn(rows)
    first = y[100]
    models = [Vaw(), *(continued(Vaw(), first) for _ in range(3))]
    for k, model in enumerate(models):
        model.learn(rows[100 * k : 100 * k + 100])
    new = rows_of(X)
    assert np.abs(whole.predict(new) - tree(models).predict(new)).max() <= 1e-10 * np.ptp(y)


def test_columns_and_targets_that_grow_from_shard_to_shard():
    """1e-100 in the first shard, 1e100 in the last; each shard has a unit of its own."""
    rng = np.random.default_rng(4)
    X = rng.integers(1, 9, (600, 3)) * np.repeat(10.0 ** np.array([-100, 0, 100]), 200)[:, None]
    y = X @ [1.0, -2.0, 0.5] + 0.0
    rows = rows_of(X, y)
    whole, joined = both(rows, 600, 3)
    assert np.isfinite(joined.predict(rows)).all()
    last = np.abs(whole.predict(rows) - joined.predict(rows))
    assert last.max() <= 1e-10 * np.ptp(y)


def test_other_numbers_for_the_same_columns():
    rng = np.random.default_rng(5)
    X, y = STREAMS["sums"](rng, 300)
    order = rng.permutation(X.shape[1])
    one, two = Vaw(), Vaw()
    one.learn(rows_of(X, y))
    two.learn(rows_of(X[:, order], y))
    again = renumbered(two, order, X.shape[1])
    assert np.abs(one.predict(rows_of(X)) - again.predict(rows_of(X))).max() < 1e-10 * np.ptp(y)


def test_other_first_targets_are_refused():
    rows = rows_of(np.eye(3), np.arange(3.0))
    one, two = Vaw(), continued(Vaw(), 5.0)
    one.learn(rows)
    two.learn(rows)
    with pytest.raises(ValueError, match="targets are measured from 0 in one model and from 5"):
        merged(one, two)


def test_noise_stays_far_below_the_bound():
    """Measured on factors of the whole rank, where all that is left is noise."""
    found = measured(2000, shards=64, seeds=2)
    assert 0 < float(found["noise / bound"]) < 0.1
