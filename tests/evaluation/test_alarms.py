"""A change of unit is reported once, by name and row, however rows are cut into blocks."""

import math
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from unitless.evaluation.alarms import KNOWN, Watch
from unitless.rows import as_rows


def naive(column):
    """(row from 1, factor) by the definition, or None."""
    sizes = [(row, abs(float(x))) for row, x in enumerate(column, 1) if abs(float(x)) > 0]
    triples = [sizes[k : k + 3] for k in range(0, len(sizes) // 3 * 3, 3)]
    groups = [(triple[0][0], median(size for _, size in triple)) for triple in triples]
    past, run, side, edges = [], [], 0, None
    for k, (row, now) in enumerate(groups):
        changes = sum(groups[i][1] != (groups[i - 1][1] if i else 0) for i in range(k + 1))
        beyond = 0
        if len(past) >= 20:
            beyond = int(now > 1.05 * edges[1]) - int(1.05 * now < edges[0])
        if run and beyond != side:
            past += [size for _, size in run[1:]]
            edges = span(edges, [size for _, size in run])
            run = []
        if beyond == 0:
            past.append(now)
            edges = span(edges, [now])
            continue
        run.append((row, now))
        side = beyond
        if len(run) not in (9, 100):
            continue
        ratio = (sum(size for _, size in run[1:]) / (len(run) - 1)) / (sum(past) / len(past))
        size = abs(math.log(ratio))
        error = min(abs(size - math.log(known)) for known in KNOWN)
        spread = math.log(edges[1] / edges[0])
        is_known = error <= 0.04 + 0.15 * spread or size >= math.log(10)
        if is_known and size > spread and changes >= (len(past) + len(run)) / 4:
            if len(run) == 100 or size >= math.log(9):
                return run[0][0], ratio
            continue
        past += [size for _, size in run[1:]]
        edges = span(edges, [size for _, size in run])
        run = []
    return None


def span(edges, sizes):
    return min([*(edges or sizes), *sizes]), max([*(edges or sizes), *sizes])


def heard(X, cuts=(), form=np.asarray):
    """{column: alarm} from a watch that is given the rows in blocks."""
    watch, found = Watch(), {}
    for block in np.split(X, sorted(cuts)):
        for alarm in watch.add(as_rows(form(block))):
            assert alarm.feature not in found
            found[alarm.feature] = alarm
    return found


STRETCH = st.tuples(
    st.sampled_from([1.0, 1.02, 2.54, 2.54, 100.0, 0.01, 1 / 60, 5.0]),
    st.integers(1, 40) | st.integers(280, 350),
)


@given(st.lists(STRETCH, min_size=1, max_size=5), st.data())
def test_as_the_definition_says_for_every_cut(stretches, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    factors = np.repeat(*zip(*[(1.0, data.draw(st.integers(50, 90))), *stretches], strict=True))
    column = factors * rng.uniform(
        1.5, data.draw(st.sampled_from([1.5, 1.6, 2.0, 9.0])), len(factors)
    )
    column[rng.random(len(column)) < 0.1] = data.draw(st.sampled_from([0.0, np.nan, -1.7]))
    X = column[:, None]
    cuts = data.draw(st.lists(st.integers(0, len(X)), max_size=4))
    expected = naive(column)
    for found in (heard(X), heard(X, cuts), heard(X, cuts, sparse.csr_array)):
        if expected is None:
            assert found == {}
        else:
            assert found[0].row == expected[0]
            assert found[0].now / found[0].before == pytest.approx(expected[1])


@pytest.mark.parametrize("up", [True, False])
@pytest.mark.parametrize("factor", [100, 1000, 60, 24, 12, 10, 1.609344, 1 / 0.45359237, 2.54])
def test_known_factors_are_noticed(factor, up):
    """Within 30 rows, or 303 if it is small, so that it must last."""
    rng = np.random.default_rng(0)
    for change in (60, 61, 62, 500, 2001):
        X = rng.normal(1.7, 0.1, size=(change + (30 if factor > 9.9 else 303), 1))
        times = factor if up else 1 / factor
        X[change:] *= times
        watch = Watch()
        (alarm,) = watch.add(as_rows(X))
        alarm = alarm._replace(feature="height")
        assert abs(alarm.row - 1 - change) <= 2
        assert alarm.factor == pytest.approx(times)
        assert f"`unitless rescale MODEL height={times:.10g}`" in str(alarm)


def test_other_factors_get_the_nearest_known_one():
    X = np.random.default_rng(0).normal(170, 10, size=(300, 1))
    X[200:] *= 3456
    (alarm,) = Watch().add(as_rows(X))
    assert alarm.factor == 3600
    assert alarm.now / alarm.before == pytest.approx(3456, rel=0.05)


def test_what_is_no_alarm():
    rng = np.random.default_rng(0)
    height = rng.normal(170, 10, 300)
    outliers = height.copy()
    outliers[100:123] *= 1e6  # 23 in a row
    often = height.copy()
    often[::3] *= 1e9
    few = height.copy()
    few[58:] *= 1e9  # too few values before
    drift = height * np.where(np.arange(300) < 150, 1, 1.85)  # no unit, and below 10
    month = np.repeat([10.0, 11, 12, 1, 2, 3], 50)
    counter = np.arange(1.0, 301)
    columns = [outliers, often, few, drift, month, counter, np.full(300, 1e-300), np.zeros(300)]
    assert heard(np.column_stack(columns)) == {}


def test_a_group_of_larger_values_is_no_change_of_unit():
    """A new patient weighs 2.2 times as much as those before, and 250 rows later comes another."""
    rng = np.random.default_rng(0)
    weights = np.concatenate([rng.normal(40, 1, 200), rng.normal(88, 1, 250)])
    for after in (rng.normal(40, 1, 400), rng.normal(60, 1, 400)):
        assert heard(np.append(weights, after)[:, None]) == {}
    for_good = np.append(weights, rng.normal(88, 1, 60))[:, None]
    assert heard(for_good)[0].row == pytest.approx(201, abs=2)


def test_rare_features_of_noise_raise_no_alarm():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(120, 50_000))
    assert heard(noise) == {}
    assert heard(rng.standard_cauchy(size=(120, 50_000))) == {}


def test_runs_of_nine_medians_are_as_rare_as_the_bound_says():
    """The distribution-free part of the proof, for short runs, which are frequent."""
    rng = np.random.default_rng(0)
    n, K, trials = 5, 2, 200_000
    sizes = np.abs(rng.standard_cauchy(size=(trials, n + K, 3)))
    medians = np.median(sizes, axis=2)
    past, run = medians[:, :n], medians[:, n:]
    above = run.min(axis=1) > past.max(axis=1)
    below = run.max(axis=1) < past.min(axis=1)
    bound = 2 / math.comb(n + K, K)
    assert np.mean(above | below) == pytest.approx(bound, rel=0.02)


def test_memory_is_constant_per_feature():
    watch = Watch()
    for _ in range(20):
        watch.add(as_rows(np.ones((1000, 3))))
    assert watch.sizes.shape == (3, 12)


@pytest.mark.parametrize("value", [5e-324, 1e308, -1e308])
def test_extreme_values(value):
    rng = np.random.default_rng(0)
    X = rng.normal(1.7, 0.1, size=(400, 1))
    X[200:] = value
    X[200:] *= rng.choice([0.5, 1.0], size=(200, 1))
    watch = Watch()
    watch.add(as_rows(X))
    watch.add(as_rows(X))
    assert not np.isnan(watch.sizes).any()
