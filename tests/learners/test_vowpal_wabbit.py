"""NAG, iNAG, coin betting and FTRL-proximal against Vowpal Wabbit's own package.

It computes in float32, so agreement means 1e-4 of the largest prediction (NAG: the machine's fast
inverse root has 12 bits) or 1e-5 (the others). Where a formula here differs on purpose, Vowpal
Wabbit's own is written down in plain Python below, so that each difference is known by number:

- default (`inag`) and `--adaptive --normalized` (`nag`): a weight shrinks when its feature's scale
  grows, but there after the prediction is made, here before. A sample weight enters sum g^2 x^2
  once (here squared), and it counts in t and in N. Of squared loss, the step has no unit of the
  target in it (here it has sd(y)), and predictions are clipped to targets, the next one included.
- `--coin`: predictions are divided by the mean of sum_i (x_i / max |x_i|)^2 so far (+ 1e-6); wealth
  is 4.
- `--ftrl`: none.
"""

import math

import numpy as np
import pytest

from unitless.learners import get
from unitless.rows import as_rows

vowpalwabbit = pytest.importorskip("vowpalwabbit", reason="the extra `vw` is not installed")


def vw(arguments, X, y, weights=None):
    """Its predictions, each made before the row was learned."""
    workspace = vowpalwabbit.Workspace(f"{arguments} --quiet")
    weights = np.ones(len(y)) if weights is None else weights
    scores = []
    for x, target, weight in zip(X.tolist(), y, weights, strict=True):
        features = " ".join(f"f{i}:{value:.9g}" for i, value in enumerate(x) if value)
        row = workspace.parse(f"{target:.9g} {weight:.9g} | {features}")
        workspace.learn(row)
        scores.append(row.get_partial_prediction())
        workspace.finish_example(row)
    workspace.finish()
    return np.array(scores)


def stream(seed=0, n=300, grows=True):
    """Three features in different units; without `grows`, none exceeds its first value."""
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, 3))
    if not grows:
        Z = np.clip(Z, -1, 1)
        Z[0] = 1
    X = (Z * [1, 10, 0.1]).astype(np.float32).astype(float)
    return X, np.where(Z.sum(axis=1) + rng.normal(size=n) > 0, 1.0, -1.0)


def apart(one, two):
    """The largest difference, relative to the largest prediction."""
    return np.abs(one - two).max() / np.abs(one).max()


# NAG


def their_nag(X, y, weights=None, rate=0.5, squared=False):
    """What Vowpal Wabbit does by default, line by line."""
    X = np.column_stack([X, np.ones(len(X))])
    w, s, G = np.zeros((3, X.shape[1]))
    t = N = low = high = 0.0
    scores = []
    for x, target, v in zip(X, y, np.ones(len(y)) if weights is None else weights, strict=True):
        scores.append(w @ x)
        low, high = min(low, target), max(high, target)
        p = np.clip(w @ x, low, high) if squared else w @ x
        g = 2 * (p - target) if squared else -target / (1 + math.exp(target * p))
        if g == 0:
            continue
        G += v * (g * x) ** 2
        larger = np.maximum(s, np.abs(x))
        w *= np.where(s > 0, s / larger, 1)
        s = larger
        N, t = N + v * ((x / s) ** 2).sum(), t + v
        k = math.sqrt(t / N) / (np.sqrt(G) * s) * x
        move = rate * v * (k @ x)
        if squared:
            a = (target - p) * -math.expm1(-2 * move) / (k @ x)
        else:
            a = target * logistic_move(target * p, move) / (k @ x)
        w += a * k
    return np.array(scores)


def logistic_move(margin, s):
    """delta with delta + e^margin (e^delta - 1) = s, by bisection."""
    low, high = 0.0, s
    while low < (middle := (low + high) / 2) < high:
        if middle + math.exp(margin) * math.expm1(middle) > s:
            high = middle
        else:
            low = middle
    return low


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weighted", [False, True])
def test_their_nag(seed, weighted):
    X, y = stream(seed)
    weights = np.random.default_rng(seed).choice([0.25, 1.0, 4.0], len(y)) if weighted else None
    assert apart(vw("--loss_function logistic", X, y, weights), their_nag(X, y, weights)) < 1e-4


def test_their_nag_for_squares():
    X, _ = stream()
    y = X @ [1, 0.2, 3] + 5
    assert apart(vw("--loss_function squared", X, y), their_nag(X, y, squared=True)) < 1e-4


@pytest.mark.parametrize(
    ("name", "arguments"), [("inag", ""), ("nag", "--adaptive --normalized")], ids=str
)
@pytest.mark.parametrize("rate", [0.5, 3.0])
def test_nag_is_theirs_while_no_scale_grows(name, arguments, rate):
    X, y = stream(grows=False)
    theirs = vw(f"--loss_function logistic -l {rate} {arguments}", X, y)
    assert apart(theirs, get(name)(rate=rate).learn(as_rows(X, y))) < 1e-4 * max(rate, 1)


def test_nag_shrinks_weights_before_it_predicts():
    """A row in a unit a thousand times larger: theirs jumps, ours does not."""
    X, y = stream(grows=False)
    X[150:] *= 1000
    theirs, ours = vw("--loss_function logistic", X, y), get("inag")(rate=0.5).learn(as_rows(X, y))
    assert apart(theirs[:150], ours[:150]) < 1e-4
    assert abs(theirs[150]) > 40  # where it clips
    assert abs(ours[150]) < 5


def test_nag_knows_no_unit_of_the_target():
    X, _ = stream(grows=False)
    y = X @ [1, 0.2, 3]
    ours = [get("inag")("squared").learn(as_rows(X, c * y)) / c for c in (1, 1024)]
    theirs = [vw("--loss_function squared", X, c * y) / c for c in (1, 1024)]
    assert apart(*ours) == 0
    assert apart(*theirs) > 0.1


# Coin betting


def their_coin(X, y, wealth=4.0, constant=True):
    """What `--coin` does for logistic loss, line by line."""
    X = np.column_stack([X, np.ones(len(X))]) if constant else X
    theta, b, Q, r = np.zeros((4, X.shape[1]))
    N, scores = 0.0, []
    for t, (x, target) in enumerate(zip(X, y, strict=True), 1):
        b = np.maximum(b, np.abs(x))
        w = (wealth + r) * theta / (b * (b + Q))
        N += ((x / b) ** 2).sum()
        p = w @ x / ((N + 1e-6) / t)
        scores.append(p)
        q = -target / (1 + math.exp(target * p)) * x
        theta, Q, r = theta - q, Q + np.abs(q), r - q * w
    return np.array(scores)


@pytest.mark.parametrize("seed", range(3))
def test_their_coin(seed):
    X, y = stream(seed)
    assert apart(vw("--loss_function logistic --coin", X, y), their_coin(X, y)) < 1e-5


def test_coin_is_theirs_where_the_mean_they_divide_by_is_1():
    X, y = stream()
    X = np.sign(X[:, :1])
    theirs = vw("--loss_function logistic --coin --noconstant", X, y)
    ours = get("coin")(wealth=4.0, intercept=False).learn(as_rows(X, y))
    assert apart(theirs, ours) < 1e-5


def test_coin_is_not_theirs_otherwise():
    X, y = stream()
    ours = get("coin")(wealth=4.0).learn(as_rows(X, y))
    assert apart(vw("--loss_function logistic --coin", X, y), ours) > 0.1


# FTRL-proximal


@pytest.mark.parametrize(
    ("arguments", "parameters"),
    [
        ("", {}),
        ("--ftrl_alpha 0.05 --ftrl_beta 0.1", {"rate": 0.05, "beta": 0.1}),
        ("--l1 0.5 --l2 0.25", {"l1": 0.5, "l2": 0.25}),
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_ftrl_is_theirs(arguments, parameters, weighted):
    X, y = stream()
    weights = np.random.default_rng(1).choice([0.25, 1.0, 4.0], len(y)) if weighted else None
    theirs = vw(f"--loss_function logistic --ftrl {arguments}", X, y, weights)
    ours = get("ftrl")(**parameters).learn(as_rows(X, y, weights))
    assert apart(theirs, ours) < 1e-5
