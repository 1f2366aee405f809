"""Measure the speed of the estimators: `python benchmarks/estimators.py [name ...]`.

`partial_fit` in blocks of 1, 100 and 10 000 rows and `learn_one` are compared with scikit-learn's
SGD, with and without a scaler, and with River's scaler and logistic regression; frames of numbers
with frames of numbers and one category. A limit of inf means that the line is for information
only. Absolute times depend on the machine, ratios much less. The benchmark needs the extra `bench`
(River).
"""

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from timing import fastest, report  # isort: skip  (sets the number of threads, so it comes before NumPy)

import numpy as np
from river import linear_model, preprocessing
from sklearn.linear_model import SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from unitless import OnlineClassifier
from unitless.learners import get
from unitless.river import UnitlessClassifier
from unitless.rows import as_rows

D, LABELS = 50, [0, 1]
FEW = 30
"""Single rows of a round: short enough for a slice of time on a busy machine."""
rng = np.random.default_rng(0)


def _data(n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.standard_normal((n, D))
    return X, (X[:, 0] + rng.standard_normal(n) > 0).astype(int)


def _blocks(model: Any, X: np.ndarray, y: np.ndarray, size: int) -> Callable[[], None]:
    """Return a job that learns all rows, `size` at a time."""

    def run() -> None:
        for start in range(0, len(y), size):
            part = slice(start, start + size)
            model.partial_fit(X[part], y[part], classes=LABELS)

    return run


class ScaledSGD:
    """A scaler followed by SGD, both learned online."""

    def __init__(self) -> None:
        self.scaler, self.model = StandardScaler(), _sgd()

    def partial_fit(self, X: np.ndarray, y: np.ndarray, classes: list[int]) -> None:
        """Learn a block."""
        scaled = self.scaler.partial_fit(X).transform(X)
        self.model.partial_fit(scaled, y, classes=classes)


def _sgd() -> SGDClassifier:
    return SGDClassifier(loss="log_loss", shuffle=False)


def _kernel(name: str, X: np.ndarray, y: np.ndarray, size: int) -> Callable[[], None]:
    """Return a job that runs the bare learner; no estimator can be faster."""
    rows, learner = as_rows(X, 2.0 * y - 1), get(name)()

    def run() -> None:
        for start in range(0, len(rows), size):
            learner.learn(rows[start : start + size])

    return run


def overhead() -> None:
    """Compare partial_fit with the bare learner."""
    for name in ("coordinate", "blend"):
        for size, n in ((1, 200), (100, 2000), (10_000, 10_000)):
            X, y = _data(n)
            seconds = fastest(
                {
                    "ours": _blocks(OnlineClassifier(name), X, y, size),
                    "kernel": _kernel(name, X, y, size),
                },
                300 if name == "coordinate" else 3,  # many repeats, to find a quiet moment
            )
            print(f"  {name}, blocks of {size}: {seconds['ours'] / n * 1e6:.2f} us per row")
            limit = 1.2 if (name, size) == ("coordinate", 10_000) else np.inf
            ratio = seconds["ours"] / seconds["kernel"]
            report(f"partial_fit / kernel, {name}, blocks of {size}", ratio, limit, at_most=True)


def blocks() -> None:
    """Compare partial_fit with scikit-learn's SGD, with and without a scaler."""
    for size, n in ((1, 200), (100, 2000), (10_000, 10_000)):
        X, y = _data(n)
        jobs = {
            "coordinate": _blocks(OnlineClassifier("coordinate"), X, y, size),
            "blend": _blocks(OnlineClassifier(), X, y, size),
            "SGD": _blocks(_sgd(), X, y, size),
            "scaler + SGD": _blocks(ScaledSGD(), X, y, size),
        }
        seconds = fastest(jobs, 7)
        for ours in ("coordinate", "blend"):
            for theirs in ("SGD", "scaler + SGD"):
                ratio = seconds[ours] / seconds[theirs]
                report(f"{ours} / {theirs}, blocks of {size}", ratio, np.inf, at_most=True)


def _dicts(model: Any, *, ask: bool) -> Callable[[], None]:
    """Return a job that learns row by row; with `ask` each row is predicted first."""
    names = "abcdefghij"
    rows = [dict(zip(names, map(float, x), strict=True)) for x in rng.standard_normal((FEW, 10))]
    labels = [x["a"] > 0 for x in rows]

    def run() -> None:
        for x, y in zip(rows, labels, strict=True):
            if ask:
                model.predict_proba_one(x)
            model.learn_one(x, y)

    return run


def dicts() -> None:
    """Compare learn_one, with and without predictions, with River's logistic regression."""
    river = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    for what, ask in (("learn_one", False), ("predict_proba_one + learn_one", True)):
        jobs = {"coordinate": UnitlessClassifier("coordinate"), "River": river}
        seconds = fastest({name: _dicts(model, ask=ask) for name, model in jobs.items()}, 300)
        seconds |= fastest({"blend": _dicts(UnitlessClassifier(), ask=ask)}, 5)
        each = ", ".join(f"{name} {time / FEW * 1e6:.1f}" for name, time in seconds.items())
        print(f"  {what}, us per row: {each}")
        ratio = seconds["River"] / seconds["coordinate"]
        report(f"River scaler + regression / coordinate, {what}", ratio, 3, at_most=False)
        ratio = seconds["blend"] / seconds["River"]
        report(f"blend / River scaler + regression, {what}", ratio, np.inf, at_most=True)


def one_row() -> None:
    """Measure single rows of 10 features with the default, and with Algorithm 1."""
    X = rng.standard_normal((10_000, 10))
    y = (X[:, 0] + rng.standard_normal(len(X)) > 0).astype(int)
    rows = X[:FEW]
    named = [dict(zip("abcdefghij", x.tolist(), strict=True)) for x in rows]
    pipeline = make_pipeline(StandardScaler(), _sgd()).fit(X, y)
    river = preprocessing.StandardScaler() | linear_model.LogisticRegression()

    def predict(model: Any) -> Callable[[], None]:
        return lambda: [model.predict_proba(rows[k : k + 1]) for k in range(len(rows))]

    def learn(learner: Any) -> Callable[[], None]:
        return lambda: [
            learner.learn_one(x, 2.0 * label - 1) for x, label in zip(named, y, strict=False)
        ]

    def learn_block(name: str, block: Any) -> None:
        get(name)().learn(block)

    for name in ("blend", "coordinate"):
        model = OnlineClassifier(name).fit(X, y)
        seconds = fastest({"ours": predict(model), "scaler + SGD": predict(pipeline)}, 100)
        ratio = seconds["ours"] / seconds["scaler + SGD"]
        report(f"predict_proba of one row, {name} / scaler + SGD", ratio, 1.0, at_most=True)
        jobs = {
            "ours": _dicts(UnitlessClassifier(name), ask=True),
            "River": _dicts(river, ask=True),
        }
        seconds = fastest(jobs, 100)
        ratio = seconds["ours"] / seconds["River"]
        report(f"predict_proba_one + learn_one, {name} / River", ratio, 3.0, at_most=True)
        block, learner = as_rows(X, 2.0 * y - 1), get(name)()
        jobs = {"one": learn(learner), "block": partial(learn_block, name, block)}
        seconds = fastest(jobs, 7)
        ratio = seconds["one"] / len(rows) / (seconds["block"] / len(X))
        limit = 3.0 if name == "blend" else np.inf
        report(f"learn_one / a row in a block of 10 000, {name}", ratio, limit, at_most=True)


def frames() -> None:
    """Compare learn_many with learn_one, which gives the same result."""
    import pandas

    X, y = _data(2000)
    frame, labels = pandas.DataFrame(X).add_prefix("x"), pandas.Series(y)
    rows = frame.to_dict("records")
    for name in ("coordinate", "blend"):
        few = rows[:200] if name == "blend" else rows
        one, many = UnitlessClassifier(name), UnitlessClassifier(name)

        def run_one(model: Any = one, few: list[Any] = few) -> None:
            for x, label in zip(few, y, strict=False):
                model.learn_one(x, label)

        def run_many(model: Any = many) -> None:
            model.learn_many(frame, labels)

        seconds = fastest({"one": run_one, "many": run_many}, 5)
        ratio = seconds["one"] / len(few) / (seconds["many"] / len(frame))
        report(f"learn_one / learn_many of 2000 rows, {name}", ratio, 0, at_most=False)


def categories() -> None:
    """Compare a frame of 50 numbers and one category with the frame of 50 numbers."""
    import polars

    for name, n in (("coordinate", 20_000), ("blend", 3000)):
        X, y = _data(n)
        numbers = polars.DataFrame(X)
        for levels in (3, 10, 200, 900):
            level = np.random.default_rng(levels).integers(0, levels, n)
            both = numbers.with_columns(polars.Series("level", level).cast(polars.String))

            def job(frame: Any, name: str = name, y: Any = y) -> Callable[[], object]:
                return lambda: OnlineClassifier(name).partial_fit(frame, y, classes=LABELS)

            seconds = fastest({"numbers": job(numbers), "both": job(both)}, 7)
            ratio = seconds["both"] / seconds["numbers"]
            what = f"50 numbers and {levels} levels / 50 numbers, {name}"
            report(what, ratio, 1.5, at_most=True)


BENCHMARKS = [overhead, blocks, dicts, one_row, frames, categories]

if __name__ == "__main__":
    if "--list" in sys.argv:
        print("\n".join(benchmark.__name__ for benchmark in BENCHMARKS))
    else:
        for benchmark in BENCHMARKS:
            if len(sys.argv) == 1 or benchmark.__name__ in sys.argv[1:]:
                benchmark()
