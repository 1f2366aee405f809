"""What the estimators cost, as ratios in one run: `python benchmarks/estimators.py [name ...]`.

Needs the extra `bench` (River). `partial_fit` in blocks of 1, 100 and 10 000 rows and `learn_one`,
beside scikit-learn's SGD with and without a scaler, and River's scaler with a regression. A line
whose limit is inf is for information. Absolute times vary with the machine; ratios much less.
"""

import sys
from collections.abc import Callable
from typing import Any

from timing import fastest, report  # isort: skip  (pins threads, so it comes before NumPy)

import numpy as np
from river import linear_model, preprocessing
from sklearn.linear_model import SGDClassifier
from sklearn.preprocessing import StandardScaler

from unitless import OnlineClassifier
from unitless.estimators.river import Classifier
from unitless.learners import get
from unitless.rows import as_rows

D, LABELS = 50, [0, 1]
rng = np.random.default_rng(0)


def _data(n: int) -> tuple[np.ndarray, np.ndarray]:
    X = rng.standard_normal((n, D))
    return X, (X[:, 0] + rng.standard_normal(n) > 0).astype(int)


def _blocks(model: Any, X: np.ndarray, y: np.ndarray, size: int) -> Callable[[], None]:
    """Learn all rows, `size` at a time."""

    def run() -> None:
        for start in range(0, len(y), size):
            part = slice(start, start + size)
            model.partial_fit(X[part], y[part], classes=LABELS)

    return run


class ScaledSGD:
    """A scaler and SGD, both learning as they go."""

    def __init__(self) -> None:
        self.scaler, self.model = StandardScaler(), _sgd()

    def partial_fit(self, X: np.ndarray, y: np.ndarray, classes: list[int]) -> None:
        """Learn a block."""
        scaled = self.scaler.partial_fit(X).transform(X)
        self.model.partial_fit(scaled, y, classes=classes)


def _sgd() -> SGDClassifier:
    return SGDClassifier(loss="log_loss", shuffle=False)


def _kernel(name: str, X: np.ndarray, y: np.ndarray, size: int) -> Callable[[], None]:
    """The bare learner on rows made beforehand: what no estimator can be faster than."""
    rows, learner = as_rows(X, 2.0 * y - 1), get(name)()

    def run() -> None:
        for start in range(0, len(rows), size):
            learner.learn(rows[start : start + size])

    return run


def overhead() -> None:
    """Of partial_fit over the bare kernel."""
    for name in ("coordinate", "blend"):
        for size, n in ((1, 200), (100, 2000), (10_000, 10_000)):
            X, y = _data(n)
            seconds = fastest(
                {
                    "ours": _blocks(OnlineClassifier(name), X, y, size),
                    "kernel": _kernel(name, X, y, size),
                },
                300 if name == "coordinate" else 3,  # the fastest is a quiet moment
            )
            print(f"  {name}, blocks of {size}: {seconds['ours'] / n * 1e6:.2f} us a row")
            limit = 1.2 if (name, size) == ("coordinate", 10_000) else np.inf
            ratio = seconds["ours"] / seconds["kernel"]
            report(f"partial_fit / kernel, {name}, blocks of {size}", ratio, limit, at_most=True)


def blocks() -> None:
    """partial_fit beside scikit-learn's SGD, with and without a scaler."""
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
    """Learn row by row; with `ask` each is predicted first, as a stream is served."""
    names = "abcdefghij"
    rows = [dict(zip(names, map(float, x), strict=True)) for x in rng.standard_normal((150, 10))]
    labels = [x["a"] > 0 for x in rows]

    def run() -> None:
        for x, y in zip(rows, labels, strict=True):
            if ask:
                model.predict_proba_one(x)
            model.learn_one(x, y)

    return run


def dicts() -> None:
    """learn_one, with and without a prediction, beside River's scaler and logistic regression."""
    river = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    for what, ask in (("learn_one", False), ("predict_proba_one + learn_one", True)):
        jobs = {"coordinate": Classifier("coordinate"), "River": river}
        seconds = fastest({name: _dicts(model, ask=ask) for name, model in jobs.items()}, 300)
        seconds |= fastest({"blend": _dicts(Classifier(), ask=ask)}, 5)
        each = ", ".join(f"{name} {time / 150 * 1e6:.1f}" for name, time in seconds.items())
        print(f"  {what}, us a row: {each}")
        ratio = seconds["River"] / seconds["coordinate"]
        report(f"River scaler + regression / coordinate, {what}", ratio, 3, at_most=False)
        ratio = seconds["blend"] / seconds["River"]
        report(f"blend / River scaler + regression, {what}", ratio, np.inf, at_most=True)


def frames() -> None:
    """learn_many beside learn_one, which it equals."""
    import pandas

    X, y = _data(2000)
    frame, labels = pandas.DataFrame(X).add_prefix("x"), pandas.Series(y)
    rows = frame.to_dict("records")
    for name in ("coordinate", "blend"):
        few = rows[:200] if name == "blend" else rows
        one, many = Classifier(name), Classifier(name)

        def run_one(model: Any = one, few: list[Any] = few) -> None:
            for x, label in zip(few, y, strict=False):
                model.learn_one(x, label)

        def run_many(model: Any = many) -> None:
            model.learn_many(frame, labels)

        seconds = fastest({"one": run_one, "many": run_many}, 5)
        ratio = seconds["one"] / len(few) / (seconds["many"] / len(frame))
        report(f"learn_one / learn_many of 2000 rows, {name}", ratio, 0, at_most=False)


BENCHMARKS = [overhead, blocks, dicts, frames]

if __name__ == "__main__":
    if "--list" in sys.argv:
        print("\n".join(benchmark.__name__ for benchmark in BENCHMARKS))
    else:
        for benchmark in BENCHMARKS:
            if len(sys.argv) == 1 or benchmark.__name__ in sys.argv[1:]:
                benchmark()
