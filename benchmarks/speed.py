"""Measure speed: `python benchmarks/speed.py [name ...]`; `--list` prints the names.

Every line shows what was compared, the ratio and its limit. Absolute times depend on the machine,
ratios much less. The benchmark needs the extra `bench` (Vowpal Wabbit and River).
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from timing import fastest, report  # isort: skip  (sets the number of threads, so it comes before NumPy)

import numpy as np
import scipy.sparse as sp
from river import linear_model, preprocessing
from sklearn.linear_model import SGDClassifier

from unitless.blend import experts
from unitless.learners import Blend, Coordinate, Full
from unitless.losses import LOGISTIC
from unitless.rows import as_rows

rng = np.random.default_rng(0)


def _labels(n: int) -> np.ndarray:
    return rng.choice([-1.0, 1.0], n)


def _csr(bits: int, rows: int = 100_000, values: int = 55) -> sp.csr_array:
    """Return sparse rows with distinct columns, drawn uniformly from 2^bits."""
    columns = np.sort(rng.integers(0, 2**bits, (rows, values)), axis=1)
    starts = np.arange(0, rows * values + 1, values)
    X = sp.csr_array(
        (rng.standard_normal(rows * values), columns.ravel().astype(np.int32), starts),
        shape=(rows, 2**bits),
    )
    X.sum_duplicates()
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X


def _sgd(X: object, y: np.ndarray) -> Callable[[], object]:
    return lambda: SGDClassifier(loss="log_loss", shuffle=False).partial_fit(X, y, classes=[-1, 1])


def _vw_text(X: sp.csr_array, y: np.ndarray, folder: str) -> str:
    """Write the rows as text and return the arguments with which VW reads them."""
    text = Path(folder, "rows.vw")
    with text.open("w") as file:
        for row, label in enumerate(y):
            span = slice(X.indptr[row], X.indptr[row + 1])
            values = zip(X.indices[span], X.data[span], strict=True)
            file.write(f"{label:g} | " + " ".join(f"{j}:{v:.6g}" for j, v in values) + "\n")
    return f"-d {text} --loss_function logistic -b 18 --quiet"


def _vw(arguments: str) -> None:
    from vowpalwabbit import Workspace

    Workspace(arguments).finish()


def _vw_cache(X: sp.csr_array, y: np.ndarray, folder: str) -> Callable[[], object]:
    arguments = f"{_vw_text(X, y, folder)} -c"
    _vw(f"{arguments} -k")  # writes the cache
    return lambda: _vw(arguments)


def coordinate_sparse() -> None:
    X = _csr(18)
    y = _labels(X.shape[0])
    with tempfile.TemporaryDirectory() as folder:
        seconds = fastest(
            {
                "ours": lambda: Coordinate().learn(as_rows(X, y)),
                "sgd": _sgd(X, y),
                "vw": _vw_cache(X, y, folder),
            },
            9,
        )
    ours = seconds["ours"]
    print(f"  Coordinate on CSR: {ours / X.nnz * 1e9:.1f} ns per value")
    report("Coordinate / SGD, CSR 2^18", ours / seconds["sgd"], 1.4, at_most=True)
    report("VW from its cache / Coordinate", seconds["vw"] / ours, 4, at_most=False)


def coordinate_dense() -> None:
    for d, limit in ((50, 1.0), (500, 1.0)):
        X = rng.standard_normal((2_500_000 // d, d))
        y = _labels(len(X))
        rows = as_rows(X, y)
        seconds = fastest(
            {
                "ours": lambda X=X, y=y: Coordinate().learn(as_rows(X, y)),
                "unguarded": lambda rows=rows: Coordinate().learn(rows),
                "sgd": _sgd(X, y),
            },
            15,
        )
        ours, sgd = seconds["ours"], seconds["sgd"]
        guard = (ours - seconds["unguarded"]) / sgd
        nanoseconds = ours / X.size * 1e9
        print(f"  d = {d}: {nanoseconds:.2f} ns per value; checks take {guard:.2f} of SGD's time")
        report(
            f"Coordinate / SGD, dense d = {d}, input checks included",
            ours / sgd,
            limit,
            at_most=True,
        )


def coordinate_growth() -> None:
    jobs, values = {}, {}
    for bits in (18, 20, 24):
        X = _csr(bits)
        rows = as_rows(X, _labels(X.shape[0]))
        values[bits] = X.nnz
        learner = Coordinate()
        learner.learn(rows)  # so that the first allocation is not measured
        jobs[bits] = lambda learner=learner, rows=rows: learner.learn(rows)
    seconds = fastest(jobs, 9)
    cost = {bits: seconds[bits] / values[bits] for bits in jobs}
    print(f"  ns per value: {', '.join(f'2^{b} {c * 1e9:.1f}' for b, c in cost.items())}")
    report("Coordinate, cost per value, 2^20 / 2^18", cost[20] / cost[18], 1.5, at_most=True)
    report("Coordinate, cost per value, 2^24 / 2^18", cost[24] / cost[18], 2.2, at_most=True)


def full() -> None:
    A = rng.standard_normal((800, 800))
    for d, rows, limit in ((10, 20_000, 0), (100, 4000, 25), (1000, 120, 30)):
        learner = Full(intercept=False)
        learner.learn(as_rows(rng.standard_normal((d + 8, d)), _labels(d + 8)))
        block = as_rows(rng.standard_normal((rows, d)), _labels(rows))
        seconds = fastest({"ours": lambda f=learner, b=block: f.learn(b), "dgemm": lambda: A @ A})
        rate = 3 * d**2 * rows / seconds["ours"] / (2 * len(A) ** 3 / seconds["dgemm"])
        print(f"  d = {d}: {seconds['ours'] / rows * 1e6:.2f} us per row")
        report(f"Full, flop rate of dgemm, d = {d}", 100 * rate, limit, at_most=False, unit="%")
    d = 100
    block = as_rows(rng.standard_normal((2000, d)), _labels(2000))
    S = np.cov(rng.standard_normal((d, 2 * d)))
    learner = Full(intercept=False)
    learner.learn(block)
    seconds = fastest({"ours": lambda: learner.learn(block), "pinv": lambda: np.linalg.pinv(S)})
    ratio = seconds["pinv"] / (seconds["ours"] / 2000)
    report("NumPy pinv / Full, per row, d = 100", ratio, 300, at_most=False)


def dicts() -> None:
    rows = [
        dict(zip("abcdefghij", map(float, x), strict=True)) for x in rng.standard_normal((2000, 10))
    ]
    labels = [int(y) for y in _labels(2000)]
    ours, theirs = Coordinate(), preprocessing.StandardScaler() | linear_model.LogisticRegression()

    def run_ours() -> None:
        for x, y in zip(rows, labels, strict=True):
            ours.predict_one(x)
            ours.learn_one(x, y)

    def run_river() -> None:
        for x, y in zip(rows, labels, strict=True):
            theirs.predict_proba_one(x)
            theirs.learn_one(x, y > 0)

    seconds = fastest({"ours": run_ours, "river": run_river})
    print(f"  {seconds['ours'] / 2000 * 1e6:.2f} us per row, predicted and learned")
    ratio = seconds["river"] / seconds["ours"]
    report("River scaler + regression / Coordinate, dicts d = 10", ratio, 3.5, at_most=False)


def memory() -> None:
    X = _csr(18)
    learner = Coordinate()
    learner.learn(as_rows(X, _labels(X.shape[0])))
    held = np.asarray(learner.records).nbytes
    seen = learner.sums().dimension
    report("memory of Coordinate per feature seen", held / seen, 40, at_most=True, unit="B")


def blend() -> None:
    """Compare the default with VW's default, which reads its text format."""
    one_hot = sp.csr_array(np.eye(50)[rng.integers(0, 50, 20_000)])
    jobs = {
        "d = 10": (sp.csr_array(rng.standard_normal((50_000, 10))), 3.0),
        "d = 50": (sp.csr_array(rng.standard_normal((20_000, 50))), 3.0),
        "d = 108": (sp.csr_array(rng.standard_normal((10_000, 108))), 4.5),
        "d = 250": (sp.csr_array(rng.standard_normal((5000, 250))), 9.0),
        "sparse, 50 of 2^18": (_csr(18, 40_000, 50), 2.5),
        "one-hot, 1 of 50": (one_hot, float("inf")),
    }
    for name, (X, limit) in jobs.items():
        y = _labels(X.shape[0])
        wide = X.shape[1] > 1000
        rows = as_rows(X if wide else X.toarray(), y)
        for cores in (1, 2):
            with tempfile.TemporaryDirectory() as folder, _cores(cores):
                arguments = _vw_text(X, y, folder)
                seconds = fastest(
                    {
                        "ours": lambda rows=rows: Blend().learn(rows),
                        "vw": lambda arguments=arguments: _vw(arguments),
                    },
                    5,
                )
            each = ", ".join(f"{who} {time / len(y) * 1e6:.2f}" for who, time in seconds.items())
            print(f"  {name}, us per row: {each}")
            work = f"Blend / VW from text, {name}, cores each: {cores}"
            report(work, seconds["ours"] / seconds["vw"], limit, at_most=True)


@contextmanager
def _cores(count: int) -> Iterator[None]:
    """Limit both to that many cores: VW parses in a thread, the Blend runs members in threads."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[-count:])
    try:
        with patch.dict(os.environ, OMP_NUM_THREADS=str(count)):  # the Blend reads it at each call
            yield
    finally:
        os.sched_setaffinity(0, before)


def members() -> None:
    """Measure the cost of a Blend with twice as many members."""
    X = rng.standard_normal((20_000, 10))
    rows = as_rows(X, _labels(len(X)))

    def several(times: int) -> Callable[[], object]:
        def run() -> object:
            with patch.dict(experts.BY_VIEWS[LOGISTIC], several=experts.LOGISTIC * times):
                return Blend(views="several").learn(rows)

        return run

    seconds = fastest({"once": several(1), "twice": several(2)}, 5)
    count = len(experts.LOGISTIC)
    ratio = seconds["twice"] / seconds["once"] / 2
    work = f"Blend, cost per member, {2 * count} members over {count}"
    report(work, ratio, 1.0, at_most=True)


def start_times() -> None:
    """Measure start-up times in seconds.

    A new virtual environment is used, because scikit-learn imports pandas if it is installed, which
    would be a quarter of the start-up time. The first start may have to read all files from disk.
    """
    script = (
        "import time; start = time.time(); import numpy as np; from unitless import "
        "OnlineClassifier; X = np.random.default_rng(0).normal(size=(60, 5)); "
        "OnlineClassifier().fit(X, X[:, 0] > 0).predict(X); print(time.time() - start)"
    )
    floor = "import time; start = time.time(); import sklearn.base; print(time.time() - start)"
    with _plain_install() as python:
        for name, code, limit in (
            ("first start", script, float("inf")),
            ("later start", script, 1.5),
            ("later start", script, 1.5),
            ("of it scikit-learn alone", floor, float("inf")),
        ):
            run = [python, "-c", code]
            done = subprocess.run(run, capture_output=True, text=True, check=True)
            report(f"OnlineClassifier, {name}", float(done.stdout), limit, at_most=True, unit="s")


@contextmanager
def _plain_install() -> Iterator[str]:
    """Yield the interpreter of a new environment that contains only the package."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        python = f"{folder}/bin/python"
        root = Path(__file__).resolve().parents[1]
        subprocess.run([python, "-m", "pip", "install", "--quiet", root], check=True)
        yield python


BENCHMARKS = [
    coordinate_sparse, coordinate_dense, coordinate_growth, full, dicts, memory, blend,
    members, start_times,
]  # fmt: skip

if __name__ == "__main__":
    if "--list" in sys.argv:
        print("\n".join(benchmark.__name__ for benchmark in BENCHMARKS))
    else:
        for benchmark in BENCHMARKS:
            if len(sys.argv) == 1 or benchmark.__name__ in sys.argv[1:]:
                benchmark()
