"""The reservoir: a uniform sample of rows that no block, pause or unit changes."""

import numpy as np
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

import unitless
from unitless import OnlineClassifier, OnlineRegressor
from unitless.model.reservoir import Reservoir, places, row_of_dict
from unitless.river import UnitlessRegressor
from unitless.rows import as_rows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(700, 4))
Y = X[:, 0] + X[:, 1] * X[:, 2]


def naive(count, size):
    """Algorithm R, row by row, with splitmix64 in whole numbers."""
    kept = []
    for t in range(count):
        bits = ((t + 1) * 0x9E3779B97F4A7C15 + 0xD1342543DE82EF95) % 2**64
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            bits = (bits ^ (bits >> shift)) * factor % 2**64
        bits ^= bits >> 31
        place = t if t < size else int((bits >> 11) * 2.0**-53 * (t + 1))
        if place == len(kept) < size:
            kept.append(t)
        elif place < size:
            kept[place] = t
    return kept


@given(st.integers(0, 12), st.lists(st.integers(0, 40), max_size=6))
def test_blocks_do_not_matter(size, lengths):
    count = sum(lengths)
    numbers = np.arange(float(count))[:, None]
    kept = Reservoir(size)
    single = Reservoir(size)
    start = 0
    for length in lengths:
        kept.add(as_rows(numbers[start : start + length]))
        start += length
    for number in numbers:
        place = single.next_place()
        if place is not None:
            single.keep(place, row_of_dict({"x": number[0]}, {"x": 0}))
    assert kept == single
    assert [int(row.values[0]) for row in kept.kept] == naive(count, size)


def test_rows_are_kept_as_often_as_they_should_be():
    """Row t with the probability size / (t + 1), in any place."""
    own = places(256, 100_000, 256)
    kept = own[own < 256]
    expected = np.sum(256 / np.arange(257, 100_257))
    assert len(kept) == pytest.approx(expected, rel=0.1)
    assert kept.mean() == pytest.approx(127.5, rel=0.1)


def test_rows_of_weight_0_are_not_kept():
    kept = Reservoir(8)
    kept.add(as_rows([[1.0], [2.0], [3.0]], weights=[1.0, 0.0, 2.0]))
    assert [row.values[0] for row in kept.kept] == [1, 3]


@pytest.mark.parametrize("kind", ["array", "frame", "dicts"])
def test_a_resumed_model_keeps_the_same_rows(tmp_path, kind):
    frame = pandas.DataFrame(X, columns=list("abcd")).assign(e=np.where(X[:, 0] > 0, "yes", "no"))
    rows = {"array": X, "frame": frame, "dicts": frame}[kind]
    if kind == "dicts":
        whole, half = UnitlessRegressor().to_model(), UnitlessRegressor().to_model()
        for x, y in zip(frame.to_dict("records"), Y, strict=True):
            whole.learn_one(x, y)
        half.learn(frame.to_dict("records")[:300], Y[:300])
        unitless.save(half, tmp_path / "half")
        half = unitless.load(tmp_path / "half")
        half.learn(frame.to_dict("records")[300:], Y[300:])
    else:
        whole = OnlineRegressor().partial_fit(rows, Y).to_model()
        half = OnlineRegressor().partial_fit(rows[:300], Y[:300])
        unitless.save(half, tmp_path / "half")
        half = unitless.load(tmp_path / "half")
        half.learn(rows[300:], Y[300:])
    assert whole.reservoir == half.reservoir
    assert len(whole.reservoir) == 256
    np.testing.assert_array_equal(whole.importances(), half.importances())


def test_an_error_leaves_the_reservoir_as_it_was():
    model = OnlineClassifier().fit(X, np.arange(700) % 3).to_model()
    before = model.reservoir.copy()
    bad = X[:4].copy()
    bad[3, 0] = np.inf
    with pytest.raises(ValueError, match="inf"):
        model.learn(bad, [0, 1, 2, 7])
    assert model.reservoir == before


def test_a_change_of_unit_reaches_the_rows():
    model = OnlineRegressor().partial_fit(X, Y).rescale({"x1": 1024.0}).to_model()
    other = OnlineRegressor().partial_fit(X * [1, 1024, 1, 1], Y).to_model()
    assert model.reservoir == other.reservoir
    np.testing.assert_array_equal(model.importances(), other.importances())


def test_a_model_without_rows_in_its_file(tmp_path):
    model = OnlineRegressor(reservoir=0).fit(X, Y)
    unitless.save(model, tmp_path / "model")
    found = unitless.load(tmp_path / "model")
    assert found.reservoir.size == len(found.reservoir) == 0
    assert found.to_sklearn().get_params()["reservoir"] == 0
    with pytest.raises(ValueError, match=r"reservoir=0.*importances.*reservoir=256"):
        found.importances()
    with pytest.raises(ValueError, match=r"reservoir=0.*effects"):
        found.effects()


@pytest.mark.parametrize("damage", ["widths", "starts", "indices", "values"])
def test_damaged_rows_are_refused(damage):
    kept = Reservoir(4)
    kept.add(as_rows(X[:9]))
    facts, arrays = kept.state()
    assert Reservoir.from_state(facts, arrays) == kept
    arrays[damage] = arrays[damage][:-1]
    with pytest.raises(ValueError, match=r"reservoir|seen"):
        Reservoir.from_state(facts, arrays)
