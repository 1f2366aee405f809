"""One table: every number in it is what the learner, run on its own, would have given."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array

from unitless.baselines.trajectory import Trajectory
from unitless.compare import RATES, TUNED, compare
from unitless.core.learner import Diverged
from unitless.learners import get
from unitless.learners.one_vs_rest import with_classes
from unitless.losses import get as get_loss
from unitless.regret import best_comparator
from unitless.rows import as_rows
from unitless.state import remembered

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3)) * [0.1, 1.0, 5.0]
Y = np.where(X @ [5.0, 1.0, -0.1] + RNG.logistic(size=120) > 0, 1.0, -1.0)
V = RNG.choice([0.0, 0.5, 1.0, 3.0], 120)
ROWS, WEIGHTED = as_rows(X, Y), as_rows(X, Y, V)
CONSTANT = np.column_stack([np.ones(120), X])


def total(rows, scores, loss="logistic"):
    v = np.ones(len(rows)) if rows.weights is None else rows.weights
    return float((v * get_loss(loss).value(rows.targets, scores)).sum())


def average(rows, learner):
    """The average loss of all rows but the first of positive weight."""
    weights = np.ones(len(rows)) if rows.weights is None else rows.weights.copy()
    weights[np.argmax(weights > 0)] = 0
    losses = get_loss("logistic").value(rows.targets, learner.learn(rows))
    return np.average(losses, weights=weights)


@pytest.mark.parametrize("rows", [ROWS, WEIGHTED], ids=["plain", "weighted"])
def test_losses_and_regrets(rows):
    made = compare(rows, ["nag", "ogd", "full"])
    best = best_comparator("logistic", rows)
    assert made.best.infimum == best.infimum
    for entry in made.entries:
        paid = total(rows, get(entry.learner)().learn(rows))
        assert entry.loss == pytest.approx(average(rows, get(entry.learner)()), rel=1e-12)
        assert entry.regret == pytest.approx(paid - best.infimum, rel=1e-9)
        assert entry.seconds > 0
        assert (entry.diverged, entry.elsewhere, entry.rates, entry.given) == (None, None, {}, {})
    assert (made.rows, made.columns, made.loss, made.left_out) == (120, 3, "logistic", {})


def test_ranks():
    made = compare(ROWS, ["zero", "nag", "zero", "full"])
    losses = [entry.loss for entry in made.entries]
    assert losses == sorted(losses)
    assert [entry.rank for entry in made.entries] == [1, 2, 3, 3]
    assert [entry.learner for entry in made.entries[2:]] == ["zero", "zero"]


def test_sparse_rows_are_the_same():
    sparse = compare(as_rows(csr_array(X), Y), ["nag", "kt"], units="random")
    dense = compare(ROWS, ["nag", "kt"], units="random")
    for one, two in zip(sparse.entries, dense.entries, strict=True):
        assert one.loss == pytest.approx(two.loss, rel=1e-12)
        assert one.given == pytest.approx(two.given, rel=1e-12)
        assert one.elsewhere.loss == pytest.approx(two.elsewhere.loss, rel=1e-12)


# Bounds

BOUNDED = ["coordinate", "full", "zero", "kt", "minimax", "solo", "adagrad_da", "eg"]


@pytest.mark.parametrize(
    ("loss", "y"), [("logistic", Y), ("huber(2)", 3 * Y + X[:, 1])], ids=["signs", "reals"]
)
@pytest.mark.parametrize("weights", [None, V], ids=["plain", "weighted"])
def test_no_bound_is_exceeded(loss, y, weights):
    rows = as_rows(X, y, weights)
    lent = ["blend"] if loss == "logistic" else []  # other losses have no proof among the members
    made = compare(rows, [*BOUNDED, *lent, get("ogd")(loss, radius=100.0)], loss=loss)
    without = [entry.learner for entry in made.entries if entry.bound is None]
    assert without == []
    for entry in made.entries:
        assert entry.regret <= entry.bound


@pytest.mark.parametrize("name", ["kt", "solo"])
def test_a_bound_is_that_of_the_learner(name):
    """In units of the loss: L times that for slopes g / L, times sample weights."""
    rows = as_rows(X, 3 * Y + X[:, 1], V)
    made = compare(rows, [name], loss="huber(2)")
    learner = get(name)("huber(2)", **made.entry(name).given)
    g = V * get_loss("huber(2)").derivative(rows.targets, learner.learn(rows)) / 2
    u = np.append(made.best.weights.intercept, made.best.weights.features)
    run = Trajectory(csr_array(CONSTANT[V > 0]), g[V > 0], u)
    assert made.entry(name).bound == pytest.approx(2 * learner.regret_bound(run))


def test_no_bound_where_its_assumptions_fail():
    """L too small, a game too long, u outside of the ball: nothing is promised."""
    broken = [
        get("kt")(bound=1.0), get("minimax")(bound=1.0, horizon=120),
        get("minimax")(bound=100.0, horizon=119), get("ogd")(radius=1e-3), get("eg")(radius=1e-3),
        get("ogd")(),
    ]  # fmt: skip
    for entry in compare(ROWS, broken).entries:
        assert entry.bound is None
    late = X.copy()
    late[0, 0] = 0.0
    assert compare(as_rows(late, Y), ["eg"]).entries[0].bound is None


# Needs


def test_needs_come_from_the_stream():
    made = compare(ROWS, ["kt", "minimax", "eg", "son"])
    given = {entry.learner: entry.given for entry in made.entries}
    u = made.best.weights
    assert made.best.attained
    assert given["kt"] == {"bound": pytest.approx(np.linalg.norm(CONSTANT, axis=1).max())}
    assert given["minimax"] == {"bound": np.abs(CONSTANT).max(), "horizon": 120}
    assert given["eg"]["radius"] == pytest.approx(np.abs(u.features).sum() + abs(u.intercept))
    assert given["son"] == {"C": pytest.approx(np.abs(X @ u.features + u.intercept).max())}
    assert f"bound = {given['kt']['bound']:.4g}" in str(made)


def test_weights_multiply_slopes():
    made = compare(WEIGHTED, ["kt", "minimax"])
    weighted = V[:, None] * CONSTANT
    assert made.entry("kt").given["bound"] == pytest.approx(np.linalg.norm(weighted, axis=1).max())
    assert made.entry("minimax").given["horizon"] == (V > 0).sum()
    assert made.entry("minimax").given["bound"] == np.abs(weighted).max()


def test_a_given_learner_keeps_its_parameters():
    own = get("kt")(bound=50.0)
    own.learn(ROWS[:10])
    before = remembered(own)
    entry = compare(ROWS, [own]).entries[0]
    assert entry.given == {}
    np.testing.assert_equal(remembered(own), before)


def test_where_nothing_is_best_defaults_remain():
    separable = as_rows(X, np.sign(X[:, 0]))
    made = compare(separable, ["son", "eg"])
    assert not made.best.attained
    assert made.entry("son").given == {}
    assert set(made.entry("eg").given) == {"bound", "horizon"}


# Divergence


def test_who_diverges_says_so_and_the_others_go_on():
    far = X * np.geomspace(1, 1e300, 120)[:, None]
    rows = as_rows(far, Y)
    with pytest.raises(Diverged) as caught:
        get("ogd")().learn(rows)
    made = compare(rows, ["ogd", "nag"], units=np.full(3, 2.0))
    first, last = made.entries
    assert (first.learner, first.rank, first.diverged) == ("nag", 1, None)
    assert (last.learner, last.rank, last.diverged) == ("ogd", 2, caught.value.row)
    assert math.isnan(last.loss)
    assert (last.regret, last.bound) == (None, None)
    assert math.isnan(last.elsewhere.moved)
    assert f"diverged in row {caught.value.row}" in str(made)


def test_a_rate_that_diverges_is_not_the_best():
    rows = as_rows(X * np.geomspace(1, 1e160, 120)[:, None], Y)
    made = compare(rows, ["ogd"], tune=[1.0, 1e-200])
    entry = made.entry("ogd" + TUNED)
    assert entry.given == {"rate": 1e-200}
    assert math.isnan(entry.rates[1.0])
    assert made.entry("ogd").diverged is not None


@pytest.mark.parametrize("loss", ["squared", "logistic"])
def test_nothing_overflows(loss):
    """Losses beyond the largest float saturate there, whoever has them."""
    rows = as_rows(X * [1e100, 1e200, 1e-200], Y)
    names = ["ogd", "adagrad", "solo", "kt", "minimax", "eg", "adagrad_da", "ons", "nag"]
    made = compare(rows, names, loss=loss, units="random", tune=[1e-300, 1.0])
    assert len(made.entries) > 8
    for entry in made.entries:
        assert (entry.diverged is None) == math.isfinite(entry.loss)
        assert entry.regret is None or math.isfinite(entry.regret)
        assert entry.bound is None or math.isfinite(entry.bound)


# Units


def test_random_units_move_who_depends_on_them():
    made = compare(ROWS, ["nag", "full", "ogd", "son"], units="random", seed=3)
    assert np.all(np.frexp(made.factors)[0] == 0.5)
    other = as_rows(X * made.factors, Y)
    for name in ("nag", "full", "ogd"):
        there = made.entry(name).elsewhere
        one, two = get(name)().learn(ROWS), get(name)().learn(other)
        assert there.loss == pytest.approx(average(other, get(name)()), rel=1e-12)
        assert there.moved == np.abs(one - two).max()
        assert (there.moved == 0) == (get(name).invariance in ("unit", "linear"))
    again = compare(other, ["son"])
    assert made.entry("son").elsewhere.loss == pytest.approx(again.entry("son").loss, rel=1e-6)
    assert not np.array_equal(made.factors, compare(ROWS, ["zero"], units="random").factors)


def test_factors_of_ones_own():
    made = compare(ROWS, ["full"], units=[3.0, 0.1, -7.0])
    assert 0 < made.entries[0].elsewhere.moved < 1e-9
    for bad in ([1.0, 2.0], [1.0, 0.0, 1.0], [1.0, np.inf, 1.0], "metric"):
        with pytest.raises(ValueError, match="units"):
            compare(ROWS, ["zero"], units=bad)
    for rows in (ROWS, as_rows(csr_array(X), Y)):
        with pytest.raises(ValueError, match=r"column 2: .*inf is not a number"):
            compare(rows, ["zero"], units=[1.0, 1.0, 1e308])


# Rates


def test_the_best_rate_is_the_best():
    made = compare(ROWS, ["ogd", "full"], tune=True)
    assert [entry.learner for entry in made.entries if entry.rates] == ["ogd" + TUNED]
    entry = made.entry("ogd" + TUNED)
    by_hand = {rate: average(ROWS, get("ogd")(rate=rate)) for rate in RATES}
    assert entry.rates == pytest.approx(by_hand, rel=1e-12)
    assert entry.loss == min(entry.rates.values())
    assert by_hand[entry.given["rate"]] == pytest.approx(entry.loss)


def test_the_rate_of_newton_steps_is_one_over_gamma():
    made = compare(ROWS, ["ons", "tracker"], tune=[0.1, 0.5])
    entry = made.entry("ons" + TUNED)
    assert entry.given["gamma"] in (10.0, 2.0)
    by_hand = average(ROWS, get("ons")(gamma=10.0))
    assert entry.rates[0.1] == pytest.approx(by_hand)
    assert len(made.entries) == 3


# Without hindsight


def test_without_regret():
    made = compare(ROWS, ["son", "kt", "nag"], regret=False, units="random")
    assert made.best is None
    assert "regret" not in made.cells()[0]
    assert made.entry("son").given == {}
    assert set(made.entry("kt").given) == {"bound"}
    assert all(entry.regret is None and entry.bound is None for entry in made.entries)


# Who takes part


def test_who_cannot_is_left_out_with_a_reason():
    made = compare(ROWS, ["zero", "vaw", get("zero")("hinge")])
    assert [entry.learner for entry in made.entries] == ["zero"]
    assert "squared loss" in made.left_out["vaw"]
    assert "hinge" in made.left_out["zero"]
    assert "left out: vaw" in str(made)


def test_all_by_default():
    from unitless.learners import REGISTRY

    told = []
    few = as_rows(X[:5], Y[:5])
    made = compare(few, loss="squared", told=told.append)
    assert told == ["the best weights in hindsight", *REGISTRY]
    assert {entry.learner for entry in made.entries} | set(made.left_out) == set(REGISTRY)
    assert {"vaw", "ridge", "blend", "ogd"} <= {entry.learner for entry in made.entries}


def test_several_classes():
    y = RNG.integers(0, 3, 120).astype(float)
    made = compare(as_rows(X, y), ["nag", "coordinate"], loss="softmax", units="random")
    assert made.best is None
    assert "regret" not in made.cells()[0]
    p = with_classes(get("nag"), 3).learn(as_rows(X, y))
    assert made.entry("nag").loss == pytest.approx(get_loss("softmax").value(y, p)[1:].mean())
    assert all(entry.elsewhere.moved == 0 for entry in made.entries)


def test_errors():
    with pytest.raises(ValueError, match="unknown learner 'best'"):
        compare(ROWS, ["best"])
    with pytest.raises(ValueError, match="needs targets"):
        compare(as_rows(X))
    with pytest.raises(ValueError, match="needs rows"):
        compare(as_rows(X[:0], Y[:0]))
    with pytest.raises(ValueError, match=r"row 3: target 0\.5"):
        compare(as_rows(X, np.where(np.arange(120) == 3, 0.5, Y)), ["zero"])


def test_the_text_is_a_table():
    text = str(compare(ROWS, ["nag", "ogd"], units="random", tune=[0.1]))
    lines = text.splitlines()
    assert lines[0].split("  ")[0] == "rank"
    assert "exactly 0" in text
    assert "rate = 0.1" in text
    places = {line.index(name) for line, name in zip(lines[1:5], text_names(lines), strict=True)}
    assert len(places) == 1


def text_names(lines):
    return [line.split()[1].rstrip(",") for line in lines[1:5]]
