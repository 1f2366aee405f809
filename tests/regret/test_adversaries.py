"""The adversaries keep their promises: on the floats they show, against every learner."""

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from greedy import greedy
from material import exact_square, stream

from unitless.learners import REGISTRY, get
from unitless.regret import bounds
from unitless.regret.adversaries import curve, lattice, longest, no_growth, opponent
from unitless.regret.adversaries import theorem_3 as play
from unitless.regret.adversaries.game import Game
from unitless.rows import as_rows


def plays(name):
    """Learners that depend on units may leave the range of float64 in such a game, and say so.

    So may those that are told a bound on |g x|, which these games do not keep.
    """
    return get(name).invariance != "none" and "bound" not in getattr(get(name), "needs", ())


EVERY = pytest.mark.parametrize("name", sorted(filter(plays, REGISTRY)))


# Theorem 3


@EVERY
@pytest.mark.parametrize(("d", "T"), [(2, 1), (2, 2), (2, 35), (3, 70), (5, 140)])
def test_every_learner_loses(name, d, T):
    game = play(opponent(name), d, T)
    assert game.norm == pytest.approx(1.0, rel=1e-7)
    assert game.regret >= game.norm * math.sqrt(T / 2) * (1 - 1e-7)
    assert game.bound == pytest.approx(math.sqrt(T / 2), rel=1e-12)
    assert np.all(game.g * game.p >= 0)


@EVERY
@pytest.mark.parametrize("norm", [1e-9, 1e9])
def test_for_any_size_of_comparator(name, norm):
    game = play(opponent(name), 3, 60, norm=norm)
    assert game.norm == pytest.approx(norm, rel=1e-7)
    assert game.regret >= norm * math.sqrt(30) * (1 - 1e-7)


def test_who_is_told_a_bound_that_holds_loses_as_well():
    game = play(opponent("kt", bound=1e6), 5, 140)
    assert np.linalg.norm(game.X, axis=1).max() < 1e6
    assert game.regret >= game.norm * math.sqrt(70) * (1 - 1e-7)


@pytest.mark.parametrize("loss", ["logistic", "hinge", "absolute"])
def test_learners_of_labels_lose_as_well(loss):
    for name in ("coordinate", "full"):
        game = play(get(name)(loss, intercept=False), 2, 35)
        assert game.regret >= game.norm * math.sqrt(35 / 2) * (1 - 1e-7)


def test_an_intercept_does_not_help():
    game = play(get("full")("linear"), 2, 35)
    assert game.regret >= game.norm * math.sqrt(35 / 2) * (1 - 1e-7)


def test_predicting_zero_loses_no_more_than_it_must():
    game = play(opponent("zero"), 5, 140)
    assert game.regret == pytest.approx(math.sqrt(70), rel=1e-7)
    assert game.regret <= bounds.zero(game.norm, 140)


GAMES = [(2, 1.0), (3, 1.0), (5, 1.0), (8, 1.0), (2, 0.1), (3, 10.0), (5, 1000.0)]


def games():
    """Every game against the paper's learners, and two of them against each other learner."""
    for place, name in enumerate(sorted(filter(plays, REGISTRY))):
        turned = GAMES[place % len(GAMES) :] + GAMES[: place % len(GAMES)]
        own = GAMES if name in ("coordinate", "full", "zero") else turned[:2]
        yield from [(name, *game) for game in own]


@pytest.mark.parametrize(("name", "d", "c"), list(games()))
def test_in_exact_arithmetic(name, d, c):
    """|h'S^+h - t c/(1 + c)| < 1e-8 on the floats shown, not on the adversary's own state."""
    T = longest(d, c)
    game = play(opponent(name), d, T, c=c)
    for t in {1, d, d + 1, T // 2, T - 1, T}:
        assert abs(float(exact_square(game.X, game.g, t)) - t * c / (1 + c)) < 1e-8
    assert game.regret >= math.sqrt(T * c / (1 + c)) * (1 - 1e-7)
    assert game.bound == pytest.approx(math.sqrt(T * c / (1 + c)), rel=1e-12)


def test_forty_dimensions_in_sixty_digits():
    """|h'S^+h - t/2| < 1e-8 holds beyond the dimensions that fractions can check."""
    T = 160
    game = play(opponent("full"), 40, T)
    with mp.workdps(60):
        X = mp.matrix(game.X.tolist())
        h = -(X.T * mp.matrix(game.g.tolist()))
        square = (h.T * mp.lu_solve(X.T * X, h))[0]
        assert abs(square - mp.mpf(T) / 2) < 1e-8
    assert game.regret >= math.sqrt(T / 2) * (1 - 1e-7)


def test_exact_arithmetic_would_notice():
    game = play(opponent("zero"), 3, 70)
    X = game.X.copy()
    X[40] *= 1 + 1e-6
    assert abs(float(exact_square(X, game.g, 70)) - 35) > 1e-8


def test_refused_beyond_its_precision():
    with pytest.raises(ValueError, match=r"beyond 70.*use d >= 4.*no_growth"):
        play(opponent("zero"), 3, 71)
    with pytest.raises(ValueError, match="two dimensions"):
        play(opponent("zero"), 1, 1)
    with pytest.raises(ValueError, match="positive"):
        play(opponent("zero"), 2, 0)


def test_regret_of_both_algorithms():
    """Algorithm 2 has the regret of predicting 0, and Algorithm 1 has more."""
    regrets = {name: play(opponent(name), 2, 35).regret for name in ("zero", "full", "coordinate")}
    assert regrets["zero"] == pytest.approx(math.sqrt(17.5))
    assert regrets["full"] == pytest.approx(math.sqrt(17.5), rel=1e-6)
    assert regrets["coordinate"] > 1.1 * math.sqrt(17.5)


# No growth


@EVERY
@pytest.mark.parametrize("T", [1, 3, 300])
def test_no_growth(name, T):
    game = no_growth(opponent(name), T, norm=2.0)
    assert game.norm == pytest.approx(2.0)
    assert game.regret >= 2.0 * math.sqrt(T) * (1 - 1e-12)
    if name == "zero":
        assert game.regret <= bounds.zero(game.norm, T) * (1 + 1e-12)
        assert game.regret == pytest.approx(bounds.zero(game.norm, T), rel=1e-12)


# Greedy


@pytest.mark.parametrize("name", ["coordinate", "full", "zero"])
@pytest.mark.parametrize("ball", ["box", "S"])
def test_greedy_hurts_more_than_chance(name, ball):
    more = 0
    for seed in range(0, 35, 7):
        X = stream(seed)[0]
        game = greedy(opponent(name), X, ball=ball)
        assert set(np.abs(game.g)) == {1.0}
        rng = np.random.default_rng(seed)
        rivals = []
        for _ in range(20):
            g = rng.choice([-1.0, 1.0], len(X))
            p = opponent(name).learn(as_rows(X, g))
            rivals.append(Game(name, X, g, p, worst(X, g, ball), None).regret)
        more += game.regret > np.median(rivals)
    assert more >= 4


def worst(X, g, ball):
    if ball == "box":
        s = np.linalg.norm(X, axis=0)
        return np.sign(-(g @ X)) / s
    u = np.linalg.lstsq(X, -g, rcond=None)[0]
    return u / np.linalg.norm(X @ u)


def test_greedy_comparator_is_the_worst_of_its_ball():
    X = stream(0)[0]
    game = greedy(opponent("coordinate"), X, B=3.0, ball="S")
    assert game.norm == pytest.approx(3.0)
    np.testing.assert_allclose(game.u, 3.0 * worst(X, game.g, "S"), rtol=1e-9)
    game = greedy(opponent("coordinate"), X, B=3.0, ball="box")
    np.testing.assert_allclose(game.u, 3.0 * worst(X, game.g, "box"), rtol=1e-12)


# The lattice


@pytest.mark.parametrize("T", range(1, 13))
def test_lattice_is_brute_force(T):
    """All 2^T sign sequences, played by the learner itself."""
    parameters = {"alpha": 1.3, "wealth": 2.0}
    dearest = dict.fromkeys(range(-T, T + 1, 2), -np.inf)
    ones = np.ones((T, 1))
    for signs in itertools.product([-1.0, 1.0], repeat=T):
        g = np.array(signs)
        p = opponent("coordinate", **parameters).learn(as_rows(ones, g))
        h = -int(g.sum())
        dearest[h] = max(dearest[h], float(g @ p))
    found = lattice(T, **parameters)
    np.testing.assert_allclose(found.F, list(dearest.values()), rtol=1e-12, atol=1e-15)
    assert found.h.tolist() == list(dearest)


@pytest.mark.parametrize("T", [1, 10, 300, 2000])
@pytest.mark.parametrize("alpha", [1.2, 3.0])
def test_worst_case_between_its_bounds(T, alpha):
    u = np.concatenate([[0.0], np.geomspace(1e-6, 1e6, 49)])
    c = curve(u, T, alpha=alpha)
    assert np.all(c.lower <= c.worst * (1 + 1e-12))
    assert np.all(c.worst <= c.sharp * (1 + 1e-12) + 1e-12)
    assert np.all(c.sharp <= c.theorem_1)


def test_worst_case_nearly_reaches_the_sharp_form():
    """docs/explanation/theory.md 3: nothing much better than `theorem_1_sharp` can be proved."""
    c = curve(np.geomspace(1e-3, 1e6, 91), 2000)
    assert 0.997 < np.max(c.worst / c.sharp) <= 1


def test_lattice_is_symmetric():
    found = lattice(41)
    np.testing.assert_array_equal(found.F, found.F[::-1])
    assert found.regret(-3.0) == found.regret(3.0)
