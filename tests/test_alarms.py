"""A feature that jumps is reported once, by name and row, however rows are cut into blocks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from unitless.evaluation.alarms import Watch
from unitless.rows import as_rows


def naive(columns, factor=100):
    """{column: (row, from 1)} by the definition, value by value."""
    found = {}
    for j, column in enumerate(columns):
        seen, run = [], []
        for row, value in enumerate(column, 1):
            size = abs(float(value))
            if not size > 0 or j in found:
                continue
            if len(seen) >= 10 and size > factor * max(seen):
                run.append((row, size))
                if len(run) == 10:
                    found[j] = run[0][0]
            else:
                seen += [size, *(s for _, s in run)]
                run = []
    return found


def heard(X, cuts=(), form=np.asarray, factor=100):
    """{column: row} from a watch that is given the rows in blocks."""
    watch, found = Watch(factor), {}
    for block in np.split(X, sorted(cuts)):
        for alarm in watch.add(as_rows(form(block))):
            assert alarm.feature not in found
            found[alarm.feature] = alarm.row
    return found


VALUES = st.sampled_from([0.0, np.nan, 1.0, -2.0, 500.0, -1e5, 3e5, 5e-324, 1e308])


@given(st.data())
def test_as_the_definition_says_for_every_cut(data):
    runs = st.tuples(VALUES, st.integers(1, 14))
    column = st.lists(runs, min_size=1, max_size=6).map(
        lambda parts: [value for value, times in parts for _ in range(times)]
    )
    columns = data.draw(st.lists(column, min_size=1, max_size=3))
    n = max(map(len, columns))
    X = np.array([[*c, *[0.0] * (n - len(c))] for c in columns]).T
    cuts = data.draw(st.lists(st.integers(0, n), max_size=4))
    expected = naive(X.T)
    assert heard(X) == expected
    assert heard(X, cuts) == expected
    assert heard(X, cuts, sparse.csr_array) == expected


@pytest.mark.parametrize(
    ("times", "factor"), [(1000, 1000), (304.8, 100), (3600, 10_000), (1e6, 1e6)]
)
def test_the_factor_that_would_undo_it(times, factor):
    rng = np.random.default_rng(0)
    X = rng.normal(170, 20, size=(5000, 1))
    X[3000:] *= times
    watch = Watch()
    (alarm,) = watch.add(as_rows(X), ["height"])
    assert (alarm.feature, alarm.row) == ("height", 3001)
    assert alarm.factor == pytest.approx(factor)
    assert f"rescale({{'height': {factor:g}}})" in str(alarm)


def test_what_is_no_alarm():
    rng = np.random.default_rng(0)
    outlier = rng.normal(size=200)
    outlier[100:109] *= 1e9  # nine in a row
    once = np.where(np.arange(200) % 11 == 10, 1e9, 1.0)
    few = np.array([1.0] * 9 + [1e9] * 191)  # too few values before
    columns = [np.arange(200.0), outlier, np.full(200, 1e-300), np.zeros(200), once, few]
    assert heard(np.column_stack(columns)) == {}


def test_rare_features_of_noise_raise_no_alarm():
    """Of two or three values the largest may well be 100 times smaller than all that follow."""
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(20, 100_000))
    noise[np.abs(noise) < 1e-3] = 1e-6
    assert heard(noise) == {}


def test_a_factor_of_ones_own():
    X = np.array([[1.0]] * 10 + [[30.0]] * 10)
    assert heard(X) == {}
    assert heard(X, factor=20) == {0: 11}
    with pytest.raises(ValueError, match="at least 1"):
        Watch(0.5)


def test_memory_is_constant_a_feature():
    watch = Watch()
    for _ in range(20):
        watch.add(as_rows(np.ones((1000, 3))))
    assert watch.state.shape == (3, 7)
