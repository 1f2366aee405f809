"""A loss from outside the package: a page with two functions, and one line that registers it.

The page of this test is the function `log_cosh` and its kin, the line is `losses.register`.
"""

import math
import pickle
import subprocess
import sys
from copy import deepcopy
from functools import partial

import numpy as np
import pytest

import unitless
from unitless import losses
from unitless.compare import compare
from unitless.learners import REGISTRY, get
from unitless.regret import best_comparator, certificate
from unitless.river import UnitlessRegressor
from unitless.rows import as_rows
from unitless.testing import check_learner, check_loss

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 4)) * [1.0, 1e3, 1e-3, 1.0]
REALS = X @ [1.0, 1e-3, 0.0, -0.5] + RNG.standard_t(3, size=200)
SIGNS = np.where(REALS > 0, 1.0, -1.0)


def log_cosh(y, p):
    r = abs(p - y)
    return r + math.log1p(math.exp(-2 * r)) - math.log(2)


def log_cosh_slope(y, p):
    return math.tanh(p - y)


def hinge(y, p):
    return max(0.0, 1 - y * p)


def hinge_slope(y, p):
    return -y if y * p < 1 else 0.0


def absolute(y, p):
    return abs(p - y)


def absolute_slope(y, p):
    return math.copysign(1.0, p - y) if p != y else 0.0


@pytest.fixture(autouse=True)
def own_losses(monkeypatch):
    monkeypatch.setattr(losses, "_registered", {})
    add = losses.register
    add("log_cosh", log_cosh, log_cosh_slope, lipschitz=1.0, targets="reals")
    add("my_hinge", hinge, hinge_slope, lipschitz=1.0, targets="signs", has_kink=True)
    add("my_absolute", absolute, absolute_slope, lipschitz=1, targets="reals", has_kink=True)


FOLLOWERS = [
    name
    for name in REGISTRY
    if not get(name).takes_losses and name not in ("blend", "linear_blend")
]
"""Learners that follow the slope of any loss."""


def targets_of(loss):
    return SIGNS if losses.get(loss).targets == "signs" else REALS


@pytest.mark.parametrize("name", ["log_cosh", "my_hinge", "my_absolute"])
def test_the_laws_of_losses(name):
    check_loss(name)


@pytest.mark.parametrize("name", ["coordinate", "full", "ng", "scinol2", "kt", "ogd"])
def test_the_laws_of_learners(name, monkeypatch):
    """Of every kind of base class; only with the losses of this file, to be quick."""
    monkeypatch.setattr(losses, "NAMES", ())
    check_learner(get(name), **dict.fromkeys(get(name).needs, 1e4))


def test_most_learners_take_it():
    assert {"coordinate", "coordinate2", "full", "nag", "scinol2", "adagrad"} <= {*FOLLOWERS}
    assert len(FOLLOWERS) > 20
    for name in FOLLOWERS:
        learner = get(name)("log_cosh", **dict.fromkeys(get(name).needs, 1e4))
        assert np.isfinite(learner.learn(as_rows(X / 1e3, REALS))).all()


@pytest.mark.parametrize(("own", "loss"), [("my_hinge", "hinge"), ("my_absolute", "absolute")])
@pytest.mark.parametrize("name", FOLLOWERS)
def test_a_loss_of_the_package_written_again_gives_the_same_bits(name, own, loss):
    """In Python the hinge loss is the compiled one, also at its kink and in a certificate."""
    needed = dict.fromkeys(get(name).needs, 1e4)
    unit = 1.0 if get(name).invariance in ("unit", "linear") else 1e3
    rows = as_rows(X / unit, targets_of(loss), RNG.choice([0.5, 1.0, 2.0], len(X)))
    one, other = get(name)(own, **needed), get(name)(loss, **needed)
    np.testing.assert_array_equal(one.learn(rows), other.learn(rows))
    ours, theirs = one.sums(), other.sums()
    if ours is not None:
        assert ours.A == theirs.A
        np.testing.assert_array_equal(ours.z, theirs.z)


def test_values_saturate_and_arrays_keep_their_shape():
    loss = losses.register(
        "steep", lambda y, p: math.inf, lambda y, p: 0, lipschitz=1, targets="reals"
    )
    assert loss.value(0.0, [[1.0, 2.0]]).tolist() == [[np.finfo(float).max] * 2]
    assert loss.value([], []).shape == (0,)
    assert losses.get("my_hinge").derivative([[1], [-1]], [0.0, 3.0]).tolist() == [[-1, 0], [1, 1]]


@pytest.mark.parametrize(
    ("value", "slope", "declared", "message"),
    [
        (lambda y, p: -abs(p - y), absolute_slope, {"has_kink": True}, "negative"),
        (absolute, lambda y, p: 0.5, {}, "not convex, or its derivative is wrong"),
        (absolute, absolute_slope, {}, "declare has_kink=True"),
        (absolute, absolute_slope, {"lipschitz": 0.5, "has_kink": True}, "lipschitz=0.5"),
        (absolute, absolute_slope, {"lipschitz": 3.0, "has_kink": True}, "twice too careful"),
        (lambda y, p: math.nan, absolute_slope, {}, "NaN"),
    ],
)
def test_a_loss_that_breaks_a_law_is_found(value, slope, declared, message):
    given = {"lipschitz": 1.0, "targets": "reals"} | declared
    losses.register("wrong", value, slope, **given)
    with pytest.raises((AssertionError, ValueError), match=message):
        check_loss("wrong")


@pytest.mark.parametrize("name", ["coordinate", "full", "ogd"])
@pytest.mark.parametrize("failure", [ZeroDivisionError, ValueError])
def test_an_error_of_a_loss_changes_nothing(name, failure):
    def slope(y, p):
        if y > 5:
            return 1 / 0 if failure is ZeroDivisionError else 2.0
        return math.tanh(p - y)

    losses.register("fails", log_cosh, slope, lipschitz=1.0, targets="reals")
    learner = get(name)("fails")
    learner.learn(as_rows(X[:50] / 1e3, np.tanh(REALS[:50])))
    before = learner.predict(as_rows(X / 1e3))
    with pytest.raises(failure):
        learner.learn(as_rows(X[50:60] / 1e3, [*np.zeros(9), 6.0]))
    with pytest.raises(failure):
        learner.learn_one({"a": 1.0}, 6.0)
    np.testing.assert_array_equal(learner.predict(as_rows(X / 1e3)), before)
    assert learner.trials == 50


def test_the_certificate_holds():
    learner = get("coordinate")("log_cosh")
    rows = as_rows(X, REALS)
    scores = learner.learn(rows)
    w = np.array([1.0, 1e-3, 0.0, -0.5])
    loss = losses.get("log_cosh")
    regret = (loss.value(REALS, scores) - loss.value(REALS, X @ w)).sum()
    line = certificate(learner, w).given
    assert regret <= line.certificate <= line.sharp <= line.theorem


def test_what_cannot_take_it_says_so():
    with pytest.raises(ValueError, match=r"no blend for the log_cosh loss: use .*'coordinate'"):
        get("blend")("log_cosh")
    with pytest.raises(ValueError, match="takes the logistic or the softmax or the squared loss"):
        get("newton")("log_cosh")
    with pytest.raises(ValueError, match="no best comparator for the log_cosh loss"):
        best_comparator("log_cosh", as_rows(X, REALS))
    losses.register("square", lambda y, p: (p - y) ** 2, lambda y, p: 2 * (p - y),
                    lipschitz=math.inf, targets="reals")  # fmt: skip
    with pytest.raises(ValueError, match="needs a loss with a bounded derivative"):
        get("coordinate")("square")
    with pytest.raises(ValueError, match="the log_cosh loss does not fit the task binary"):
        unitless.OnlineClassifier(learner="coordinate", loss="log_cosh").fit(X, SIGNS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "hinge"}, "another loss 'hinge'"),
        ({"name": "huber"}, "another loss 'huber'"),
        ({"name": "my loss"}, "identifier"),
        ({"lipschitz": 0}, "lipschitz = 0"),
        ({"lipschitz": math.nan}, "lipschitz = nan"),
        ({"targets": "classes"}, "targets = 'classes'"),
    ],
)
def test_what_cannot_be_registered(change, message):
    given = {"name": "mine", "lipschitz": 1.0, "targets": "reals"} | change
    with pytest.raises(ValueError, match=message):
        losses.register(value=absolute, derivative=absolute_slope, **given)
    with pytest.raises(TypeError, match="functions"):
        losses.register("mine", 1.0, absolute_slope, lipschitz=1.0, targets="reals")


def test_estimators_take_it():
    model = unitless.OnlineRegressor(learner="coordinate", loss="log_cosh", shuffle=False)
    model.fit(X, REALS)
    learner = get("coordinate")("log_cosh")
    learner.learn(as_rows(X, REALS))
    np.testing.assert_array_equal(model.predict(X), learner.predict(as_rows(X)))
    signs = unitless.OnlineClassifier(learner="coordinate", loss="my_hinge").fit(X, SIGNS)
    assert signs.score(X, SIGNS) > 0.6


def test_comparisons_and_river_take_it():
    made = compare(as_rows(X, REALS), ["coordinate", "blend"], loss="log_cosh", units="random")
    (entry,) = made.entries
    assert (entry.learner, entry.elsewhere.moved) == ("coordinate", 0)
    assert "no blend for the log_cosh loss" in made.left_out["blend"]
    model = UnitlessRegressor("coordinate", "log_cosh")
    learner = get("coordinate")("log_cosh")
    for x, y in zip(X[:20].tolist(), REALS.tolist(), strict=False):
        row = dict(zip("abcd", x, strict=True))
        assert model.predict_one(row) == learner.predict_one(row)
        model.learn_one(row, y)
        learner.learn_one(row, y)


def test_copies_and_files_keep_the_name(tmp_path):
    model = unitless.OnlineRegressor(learner="coordinate", loss="log_cosh").fit(X, REALS)
    path = tmp_path / "m.unitless"
    unitless.save(model, path)
    for other in (
        unitless.load(path).to_sklearn(),
        deepcopy(model),
        pickle.loads(pickle.dumps(model)),
    ):
        np.testing.assert_array_equal(other.predict(X), model.predict(X))
    code = "import sys, unitless; unitless.load(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", code, path], capture_output=True, text=True, check=False
    )
    assert "unknown loss 'log_cosh'" in done.stderr
    assert "register a loss of your own first (unitless.losses.register)" in done.stderr


def test_a_package_offers_a_loss_by_an_entry_point(monkeypatch):
    class Found:
        name = "offered"

        def load(self):
            return losses.register(
                "offered", log_cosh, log_cosh_slope, lipschitz=1.0, targets="reals"
            )

    def entry_points(group, name=None):
        return [Found()] if group == "unitless.losses" and name in (None, "offered") else []

    monkeypatch.setattr(losses, "entry_points", entry_points)
    assert "offered" in losses.names()
    assert get("coordinate")("offered").loss.lipschitz == 1.0


def test_a_loss_of_the_package_is_a_page_and_a_line():
    """Its code and formulas are in core/losses.pxd, and all else is its line in losses.py."""
    for name in losses.NAMES:
        check_loss(name.partition("(")[0])


@pytest.mark.parametrize("make", [partial(losses.get, "hinge"), partial(losses.get, "my_hinge")])
def test_single_rows_are_blocks(make):
    block, single = (get("coordinate")(make()) for _ in range(2))
    scores = [
        single.learn_one(dict(enumerate(x)), y) for x, y in zip(X.tolist(), SIGNS, strict=True)
    ]
    np.testing.assert_array_equal(block.learn(as_rows(X, SIGNS)), scores)
