"""Check that a learner or a loss satisfies the laws of this package.

`check_learner(MyLearner)` runs the laws that every learner of this package is tested with, in short
form, and `check_loss("my_loss")` those of losses. Both are one line in the tests of what is written
outside the package.
"""

import math
import pickle
import sys
from collections.abc import Callable, Hashable, Iterator
from copy import deepcopy
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from unitless import losses
from unitless.core.learner import Diverged, Learner
from unitless.rows import Rows, as_rows
from unitless.state import Float, remembered, restore

__all__ = ["check_learner", "check_loss"]


def __dir__() -> list[str]:
    return sorted(__all__)


CASE_ROWS, CASE_COLUMNS = 60, 5
LOSS_SCORES = (0.0, 1e-9, 0.01, 0.3, 1.0, 1.5, 2.0, 3.7, 10.0, 37.0, 300.0, 1e3, 1e6, 1e100)
"""Distances of scores from their targets."""


class Case(NamedTuple):
    """A learner to be made and a stream for it."""

    make: Callable[[], Learner]
    X: Float
    y: Float

    def rows(self, start: int = 0, stop: int = CASE_ROWS, X: Float | None = None) -> Rows:
        """Some of the rows, with other values if given."""
        return as_rows((self.X if X is None else X)[start:stop], self.y[start:stop])


def check_learner(kind: type[Learner], **parameters: object) -> None:
    """Run the laws on a learner, with every loss that it accepts.

    Parameters
    ----------
    kind : type of a Learner
        Its constructor takes the loss first.
    **parameters
        Passed to the constructor.

    Raises
    ------
    AssertionError
        If a law does not hold; the message names the law, the learner and the loss.

    Examples
    --------
    >>> from unitless.learners import Nag
    >>> check_learner(Nag, rate=1.0)
    """
    cases = list(_cases(kind, parameters))
    assert cases, f"{kind.__name__} accepts none of the losses {', '.join(losses.names())}"
    for case, law in product(cases, LAWS):
        try:
            law(case)
        except AssertionError as error:
            message = f"{kind.__name__} with the {case.make().loss.name} loss: {law.__doc__}"
            raise AssertionError(f"{message}\n{error}") from error


def check_loss(loss: str | losses.Loss) -> None:
    """Check a loss of one score: what learners and the theorems rely on.

    Values are finite and never negative. The derivative is a subderivative, so that the loss is
    convex, and is the slope of the value beside the kinks. It is never larger than the Lipschitz
    constant, which it attains or approaches. A loss whose derivative jumps where the score is the
    target says so.

    Parameters
    ----------
    loss : str or Loss
        The name of a loss, such as that of a registered one.

    Raises
    ------
    AssertionError
        If a law does not hold; the message has the target and the scores.

    Examples
    --------
    >>> check_loss("quantile(0.9)")
    """
    loss = losses.get(loss)
    targets = [-1.0, 1.0] if loss.targets in ("signs", "slopes") else [0.0, -1.0, 3.7, 1e-9, 1e6]
    steepest = 0.0
    for y in targets:
        p = np.unique([y + sign * size for size in LOSS_SCORES for sign in (-1, 1)])
        values = loss.value(y, p)
        slopes = loss.derivative(y, p)
        name = f"the {loss.name} loss at y = {y}"
        assert np.isfinite([values, slopes]).all(), f"{name} has a value that is not finite"
        assert loss.targets == "slopes" or (values >= 0).all(), f"{name} is negative"
        rises = slopes[:, None] * (p - p[:, None])
        rounding = 1e-12 * (np.abs(values) + np.abs(values[:, None]) + np.abs(rises)) + 1e-15
        below = values < values[:, None] + rises - rounding
        pairs = np.argwhere(below) if below.any() else np.zeros((1, 2), dtype=int)
        at, other = min(pairs, key=lambda pair: np.abs(p[pair]).sum())  # the smallest scores
        assert not below.any(), (
            f"{name} is not convex, or its derivative is wrong: value({p[other]:g}) = "
            f"{values[other]:g} is below the tangent at p = {p[at]:g}"
        )
        steepest = max(steepest, float(np.abs(slopes).max()))
        beside = loss.derivative(y, np.nextafter(y, [-np.inf, np.inf]))
        jump = float(abs(beside[1] - beside[0]))
        assert loss.has_kink or jump <= 1e-6 * steepest, (
            f"{name} has a derivative that jumps by {jump:g} where the score is the target: "
            "declare has_kink=True"
        )
    assert steepest <= loss.lipschitz, (
        f"the {loss.name} loss has a derivative of {steepest:g}, above lipschitz={loss.lipschitz:g}"
    )
    assert math.isinf(loss.lipschitz) or steepest > 0.5 * loss.lipschitz, (
        f"the {loss.name} loss declares lipschitz={loss.lipschitz:g}, and its derivative is at "
        f"most {steepest:g}: bounds and learning rates would be twice too careful"
    )


def example_loss(learner: Learner) -> str:
    """The average loss on scikit-learn's breast cancer data; where units matter, within 1.

    >>> from unitless.learners import Coordinate
    >>> print(example_loss(Coordinate()))
    0.6905
    """
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    targets = 2.0 * y - 1
    scores = learner.learn(as_rows(X if learner.scale_invariant else X / X.max(axis=0), targets))
    return f"{learner.loss.value(targets, scores).mean():.4f}"


def _cases(kind: type[Learner], parameters: dict[str, object]) -> Iterator[Case]:
    for name in losses.names():
        loss = losses.get(name.partition("(")[0])
        make = partial(kind, loss, **parameters)
        try:
            make()
        except ValueError:
            continue
        rng = np.random.default_rng(0)
        X = rng.normal(size=(CASE_ROWS, CASE_COLUMNS))
        X[rng.random(X.shape) < 0.3] = 0
        y = (
            rng.choice([-1.0, 1.0], CASE_ROWS)
            if loss.targets != "reals"
            else rng.normal(1, 2, CASE_ROWS)
        )
        yield Case(make, np.clip(X, -1, 1), y)


def _close(a: object, b: object) -> None:
    a = np.asarray(a)
    size = np.maximum(np.abs(a), 0.01 * np.abs(a).max(initial=0))
    assert (np.abs(a - b) <= 1e-9 * size).all(), f"scores differ by up to {np.abs(a - b).max()}"


def _same_state(one: tuple[Any, object], other: tuple[Any, object]) -> None:
    assert one[1] == other[1], f"{one[1]} instead of {other[1]}"
    assert one[0].keys() == other[0].keys()
    for path, array in one[0].items():
        assert_array_equal(array, other[0][path], err_msg=path)


def prediction_is_what_learning_uses(case: Case) -> None:
    """`predict` changes nothing and gives the score that `learn` uses."""
    learner = case.make()
    for t in range(CASE_ROWS):
        row = case.rows(t, t + 1)
        before = remembered(learner)
        first = learner.predict(row)
        _same_state(remembered(learner), before)
        assert_array_equal(learner.predict(row), first)
        assert_array_equal(learner.learn(row), first)


def block_is_loop(case: Case) -> None:
    """A block gives the same bits as its rows one by one."""
    whole = case.make()
    single = case.make()
    scores = [single.learn(case.rows(t, t + 1))[0] for t in range(CASE_ROWS)]
    assert_array_equal(whole.learn(case.rows()), scores)
    assert_array_equal(whole.predict(case.rows()), single.predict(case.rows()))


def storage_does_not_matter(case: Case) -> None:
    """Dense rows, sparse rows and dict rows give the same scores: an absent value is zero."""
    scores = case.make().learn(case.rows())
    _close(case.make().learn(as_rows(csr_array(case.X), case.y)), scores)
    named = case.make()
    rows: list[dict[Hashable, object]]
    rows = [{f"x{j}": x for j, x in enumerate(row) if x != 0} for row in case.X.tolist()]
    _close([named.learn_one(x, y) for x, y in zip(rows, case.y, strict=True)], scores)


def a_copy_goes_on_alike(case: Case) -> None:
    """A copy and a pickle of a learner continue like the original."""
    learner = case.make()
    learner.learn(case.rows(0, 30))
    copies = [deepcopy(learner)]
    kind = type(learner)
    if getattr(sys.modules.get(kind.__module__), kind.__qualname__, None) is kind:
        copies.append(pickle.loads(pickle.dumps(learner)))  # others can be found by no process
    scores = learner.learn(case.rows(30))
    for other in copies:
        assert_array_equal(other.learn(case.rows(30)), scores)


def its_declared_state_is_all(case: Case) -> None:
    """It goes on alike from its declared state, which is what a model file keeps."""
    learner = case.make()
    learner.learn(case.rows(0, 30))
    other = case.make()
    restore(other, *remembered(learner))
    assert_array_equal(other.learn(case.rows(30)), learner.learn(case.rows(30)))
    _same_state(remembered(other), remembered(learner))


def columns_may_come_late(case: Case) -> None:
    """Rows without their last columns are rows with zeros in them, predicted ones too."""
    X = case.X.copy()
    X[:30, 3:] = 0
    scores = case.make().learn(case.rows(X=X))
    learner = case.make()
    _close(learner.learn(case.rows(0, 30, X[:, :3])), scores[:30])
    predicted = learner.predict(case.rows(30, 31, X))
    assert_array_equal(learner.learn(case.rows(30, 31, X)), predicted)
    _close(learner.learn(case.rows(31, CASE_ROWS, X)), scores[31:])


def missing_values_are_alike_everywhere(case: Case) -> None:
    """NaN in dense and sparse rows and None in dicts mean the same, and scores stay finite."""
    X = np.where(np.arange(case.X.size).reshape(case.X.shape) % 7 == 3, np.nan, case.X)
    scores = case.make().learn(case.rows(X=X))
    assert np.isfinite(scores).all()
    _close(case.make().learn(as_rows(csr_array(X), case.y)), scores)
    named = case.make()
    rows: list[dict[Hashable, object]]
    rows = [{j: None if x != x else x for j, x in enumerate(row)} for row in X.tolist()]
    _close([named.learn_one(x, y) for x, y in zip(rows, case.y, strict=True)], scores)


def units_do_not_matter(case: Case) -> None:
    """A scale-invariant learner gives the same bits in units of other powers of two."""
    if not case.make().scale_invariant:
        return
    straight = case.make().learn(case.rows())
    for exponents in ([-3, 7, 0, 20, -20], [-900, 900, 0, 300, -300]):
        sizes = np.ldexp(1.0, exponents)
        factors = sizes * np.array([1, -1, 1, 1, -1])
        learner = case.make()
        units = factors if learner.symmetric else sizes
        assert_array_equal(case.make().learn(case.rows(X=case.X * units)), straight)
        learner.learn(case.rows(0, 30))
        learner.rescale(factors)
        assert_array_equal(learner.learn(case.rows(30, X=case.X * factors)), straight[30:])


def weight_zero_is_left_out(case: Case) -> None:
    """A row of weight 0 is scored and changes nothing."""
    learner, other = case.make(), case.make()
    v = np.where(np.arange(CASE_ROWS) % 3 == 0, 0.0, 1.0)
    learner.learn(as_rows(case.X, case.y, v))
    other.learn(as_rows(case.X[v > 0], case.y[v > 0]))
    assert_array_equal(learner.predict(case.rows()), other.predict(case.rows()))


def weight_one_is_no_weight(case: Case) -> None:
    """Sample weights of 1 change nothing, and other weights change something."""
    scores = case.make().learn(case.rows())
    assert_array_equal(case.make().learn(as_rows(case.X, case.y, np.ones(CASE_ROWS))), scores)
    v = np.resize([0.25, 4.0], CASE_ROWS)
    weighted = case.make().learn(as_rows(case.X, case.y, v))
    assert (weighted != scores).any() or not scores.any(), "sample weights are ignored"


def bad_input_changes_nothing(case: Case) -> None:
    """A block with an infinite value or a target that does not fit is refused as a whole."""
    learner = case.make()
    learner.learn(case.rows(0, 30))
    before = learner.predict(case.rows())
    X, y = case.X.copy(), case.y.copy()
    X[-1, -1] = np.inf
    y[-1] = np.nan
    for rows in (as_rows(X, case.y), as_rows(case.X, y)):
        try:
            learner.learn(rows)
        except ValueError:
            assert_array_equal(learner.predict(case.rows()), before)
        else:
            raise AssertionError("a bad block was not refused")


def scores_stay_finite(case: Case) -> None:
    """Scores and weights are finite on extreme rows, or the row is refused with `Diverged`."""
    learner = case.make()
    signs = np.sign(case.X)
    for size in (1e-300, 1.0, 5e-324, 1e300, 1.7e308, 1.0):
        before = learner.predict(case.rows())
        try:
            scores = learner.learn(case.rows(X=signs * size))
            assert np.isfinite(scores).all(), f"a score is not finite on rows of {size}"
        except Diverged:
            assert not learner.scale_invariant, "a scale-invariant learner never diverges"
            assert_array_equal(learner.predict(case.rows()), before)
        assert np.isfinite(learner.weights().features).all(), "a weight is not finite"


LAWS = (
    prediction_is_what_learning_uses,
    block_is_loop,
    storage_does_not_matter,
    columns_may_come_late,
    missing_values_are_alike_everywhere,
    a_copy_goes_on_alike,
    its_declared_state_is_all,
    units_do_not_matter,
    weight_zero_is_left_out,
    weight_one_is_no_weight,
    bad_input_changes_nothing,
    scores_stay_finite,
)
"""What `check_learner` checks, in this order."""
