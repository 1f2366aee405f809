"""Intervals and sets: coverage, worst windows and width, beside what others offer.

    python benchmarks/intervals.py            # writes results/intervals.json

For every data set with more than 2,000 rows, in natural and in shuffled order, the first 10,000
rows are learned by the default learner with intervals of 90 %. Beside them, for numbers:

- adaptive conformal inference (Gibbs and Candes 2021) around the same predictions, at the rate with
  the smallest mean width among those within 1 % of the coverage;
- River's `RegressionJackknife` around its scaled linear regression;
- two Vowpal Wabbit models of the quantiles 0.05 and 0.95, at the best rate, likewise.

Widths are means after the first 100 rows; an infinite one counts as the largest residual so far.
"""

import json
import math
import sys
from pathlib import Path

import numpy as np
from data import sources
from scipy.sparse import csr_array, issparse

from unitless.model.learner_choice import make_learner
from unitless.rows import as_rows
from unitless.uncertainty import Intervals

ROWS = 10_000
WINDOW = 500
COVERAGE = 0.9
RATES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
VW_RATES = (0.1, 0.5, 2.0)
RESULTS = Path(__file__).parent / "results" / "intervals.json"


def scored(covered, widths):
    """Coverage, that of the worst of the disjoint windows, and mean width after 100 rows."""
    whole = len(covered) // WINDOW * WINDOW
    windows = covered[:whole].reshape(-1, WINDOW).mean(axis=1)
    widths = widths[100:]
    return {
        "coverage": float(covered.mean()),
        "worst": float(windows.min()),
        "width": float(widths[np.isfinite(widths)].mean()),
    }


def best_of(tried):
    """The narrowest among those within 1 % of the coverage, else the nearest to it."""
    close = [each for each in tried if abs(each["coverage"] - COVERAGE) <= 0.01]
    if close:
        return min(close, key=lambda each: each["width"])
    return min(tried, key=lambda each: abs(each["coverage"] - COVERAGE))


def adaptive(sizes, rate):
    """The half widths of adaptive conformal inference."""
    ordered = np.empty(len(sizes))
    made = np.full(len(sizes), np.inf)
    alpha = 1 - COVERAGE
    for t, size in enumerate(sizes.tolist()):
        if t:
            place = min(max(math.ceil((1 - alpha) * (t + 1)), 0), t)
            made[t] = ordered[place - 1] if place else 0.0
        alpha += rate * (1 - COVERAGE - (size > made[t]))
        place = int(np.searchsorted(ordered[:t], size))
        ordered[place + 1 : t + 1] = ordered[place:t].copy()
        ordered[place] = size
    return made


def jackknife(X, y):
    """River's jackknife around its linear regression with a scaler."""
    from river import conf, linear_model, preprocessing

    model = preprocessing.StandardScaler() | linear_model.LinearRegression()
    model = conf.RegressionJackknife(model, confidence_level=COVERAGE)
    ends = np.empty((len(y), 2))
    for t, (x, target) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        row = dict(enumerate(x))
        found = model.predict_one(row, with_interval=True)
        ends[t] = found.lower, found.upper
        model.learn_one(row, target)
    return ends


def quantiles(X, y, rate):
    """Two quantile models of Vowpal Wabbit."""
    from vowpalwabbit import Workspace

    low, high = y[:100].min(), y[:100].max()  # targets near 1, as its users scale them
    span = (high - low) or 1.0
    ends = np.empty((len(y), 2))
    words = [" ".join(f"{j}:{v!r}" for j, v in enumerate(x) if v) for x in X.tolist()]
    for side, tau in enumerate(((1 - COVERAGE) / 2, (1 + COVERAGE) / 2)):
        words_of_model = f"--quiet --loss_function quantile --quantile_tau {tau} -l {rate}"
        model = Workspace(words_of_model)
        for t, (text, target) in enumerate(zip(words, y.tolist(), strict=True)):
            example = model.example(f"{(target - low) / span!r} |f {text}")
            ends[t, side] = model.predict(example) * span + low
            model.learn(example)
            model.finish_example(example)
        model.finish()
    return np.sort(ends, axis=1)


def others(X, y, predicted):
    """What others reach on a stream of numbers."""
    residuals = np.abs(y - predicted)
    tried = []
    for rate in RATES:
        half = adaptive(residuals, rate)
        tried.append(scored(residuals <= half, 2 * half) | {"rate": rate})
    found = {"adaptive": best_of(tried)}
    dense = X.toarray() if issparse(X) else X
    ends = jackknife(dense, y)
    found["river"] = scored((ends[:, 0] <= y) & (y <= ends[:, 1]), ends[:, 1] - ends[:, 0])
    tried = []
    for rate in VW_RATES:
        ends = quantiles(dense, y, rate)
        inside = (ends[:, 0] <= y) & (y <= ends[:, 1])
        tried.append(scored(inside, ends[:, 1] - ends[:, 0]) | {"rate": rate})
    found["vw"] = best_of(tried)
    return found


def one(X, y, task):
    """The scores of both answers, and of others."""
    X = csr_array(X) if issparse(X) else X
    classes = int(y.max()) + 1 if task == "multiclass" else 0
    loss = "squared" if task == "regression" else "logistic"
    learner = make_learner("blend", loss, classes)
    rows = as_rows(X, y)
    not_fresh = learner._room(len(y))
    scores = learner.learn(rows, not_fresh)
    made = Intervals([COVERAGE], task != "regression", True)
    both = made.learn(rows, scores, not_fresh)
    found = {}
    for name, score, ends in zip(("fresh", "not_fresh"), (scores, not_fresh), both, strict=True):
        if task == "regression":
            covered = (ends[:, 0] <= y) & (y <= ends[:, 1])
            own = scored(covered, ends[:, 1] - ends[:, 0])
        else:
            codes = np.maximum(y, 0).astype(int)
            own = scored(ends[np.arange(len(y)), codes], ends.sum(axis=1))
            right = (score >= 0) == (y > 0) if score.ndim == 1 else score.argmax(axis=1) == codes
            own["accuracy"] = float(right.mean())
        certified = made.coverage(fresh=name == "fresh")[0]
        found[name] = own | {"low": certified.low, "high": certified.high}
    if task == "regression":
        found |= others(X, y, scores)
    return found


def main():
    made = {}
    for name, load in sources().items():
        if len(sys.argv) > 1 and name not in sys.argv[1:]:
            continue
        X, y, task = load()
        if len(y) <= 2000:
            continue
        for order in ("natural", "shuffled"):
            n = len(y)
            rows = np.arange(n) if order == "natural" else np.random.default_rng(0).permutation(n)
            chosen = rows[:ROWS]
            made[f"{name}, {order}"] = {"task": task} | one(X[chosen], y[chosen], task)
            print(f"{name}, {order}", json.dumps(made[f"{name}, {order}"]), flush=True)
    numbers = [each for each in made.values() if each["task"] == "regression"]
    ratios = {}
    for other in ("adaptive", "river", "vw"):
        logs = [math.log(each["fresh"]["width"] / each[other]["width"]) for each in numbers]
        ratios[other] = math.exp(sum(logs) / len(logs)) if logs else None
    print(ratios)
    if len(sys.argv) == 1:
        RESULTS.write_text(json.dumps({"width": ratios, "sets": made}, indent=1) + "\n")


if __name__ == "__main__":
    main()
