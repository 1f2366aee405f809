"""Speed of the readers as ratios in one run: `python benchmarks/files.py [name ...]`, or `--list`.

Needs the extra `bench` (Vowpal Wabbit). The files are made here: 100 000 rows of 55 values out of
2^18 features, as svmlight, as VW text with whole numbers and with words for names; a CSV of 50
columns of numbers. Absolute rates vary with the machine and its neighbours; ratios much less.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from timing import fastest, report  # isort: skip  (pins threads, so it comes before NumPy)

import numpy as np
import polars as pl
from sklearn.datasets import load_svmlight_file
from vowpalwabbit import Workspace

from unitless.learners import Coordinate
from unitless.readers import open_blocks

ROWS, VALUES, FEATURES = 100_000, 55, 2**18
rng = np.random.default_rng(0)


def _lines(form: Callable[[int, float], str], bar: str, rows: int = ROWS) -> str:
    """Rows of distinct features in rising order, four decimals each."""
    columns = np.sort(rng.integers(1, FEATURES - VALUES, (rows, VALUES)), axis=1) + np.arange(
        VALUES
    )
    values, labels = rng.standard_normal((rows, VALUES)), rng.choice([-1, 1], rows)
    return "".join(
        f"{label} {bar}{' '.join(map(form, row.tolist(), numbers.tolist()))}\n"
        for label, row, numbers in zip(labels, columns, values, strict=True)
    )


def _read(path: Path, **options: object) -> Callable[[], int]:
    return lambda: sum(len(block) for block in open_blocks(path, **options))


def _learned(path: Path) -> Callable[[], object]:
    """File to model, as the command line does it for sparse text."""

    def run() -> object:
        learner = Coordinate()
        for block in open_blocks(path):
            learner.learn(block.rows)
        return learner

    return run


def _vw(path: Path, options: str) -> Callable[[], object]:
    return lambda: Workspace(f"-d {path} --quiet -b 18 --loss_function logistic {options}").finish()


def _rates(path: Path, seconds: dict[str, float], rows: int = ROWS) -> None:
    size = path.stat().st_size
    for name, time in seconds.items():
        print(f"  {name:<30} {size / time / 1e6:7.0f} MB/s {rows / time / 1e3:8.0f} 000 rows/s")


def svmlight() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, part = Path(folder, "whole.svm"), Path(folder, "part.svm")
        path.write_text(_lines("{}:{:.4f}".format, ""))
        with path.open() as file:
            part.write_text("".join(line for line, _ in zip(file, range(ROWS // 20), strict=False)))
        vw = Path(folder, "same.vw")
        vw.write_text(path.read_text().replace(" ", " | ", 1).replace("\n1 ", "\n1 | "))
        vw.write_text(vw.read_text().replace("\n-1 ", "\n-1 | "))
        seconds = fastest({"read": _read(path), "read and learn": _learned(path)}, 5)
        seconds |= fastest({"VW, same rows": _vw(vw, ""), "VW, no learning": _vw(vw, "--noop")}, 3)
        slow = fastest({"ours": _read(part), "scikit-learn": lambda: load_svmlight_file(part)}, 2)
        _rates(path, seconds)
        _rates(part, {"scikit-learn's loader": slow["scikit-learn"]}, ROWS // 20)
        ratio = seconds["VW, same rows"] / seconds["read and learn"]
        report("svmlight, file to model: VW / Coordinate", ratio, 2.5, at_most=False)
        ratio = seconds["VW, no learning"] / seconds["read"]
        report("svmlight, parser alone: VW / ours", ratio, 2.5, at_most=False)


def vw_text() -> None:
    forms = {"whole numbers": "{}:{:.4f}".format, "words": "word{}:{:.4f}".format}
    for name, form in forms.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "rows.vw")
            path.write_text(_lines(form, "| "))
            jobs = {"read": _read(path), "read and learn": _learned(path)}
            seconds = fastest(
                jobs | {"VW": _vw(path, ""), "VW, no learning": _vw(path, "--noop")}, 4
            )
            print(f"VW text, names are {name}")
            _rates(path, seconds)
            ratio = seconds["VW"] / seconds["read and learn"]
            report(f"VW text, {name}, file to model: VW / Coordinate", ratio, 2.5, at_most=False)


def csv() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "numbers.csv")
        columns = {
            f"x{k}": np.round(rng.standard_normal(ROWS * 2) * 10.0 ** (k % 4), 4) for k in range(50)
        }
        pl.DataFrame(columns).write_csv(path)
        seconds = fastest({"read": _read(path), "polars": lambda: pl.read_csv(path)}, 7)
        _rates(path, seconds, ROWS * 2)
        ratio = seconds["read"] / seconds["polars"]
        report("CSV of 50 numbers: ours / polars.read_csv", ratio, 1.3, at_most=True)


def memory(size: int = 1 << 28) -> None:
    """Peak of a process that reads a long CSV, over one that reads its first hundredth."""
    code = (
        "import resource, sys; from unitless.readers import open_blocks\n"
        "print(sum(map(len, open_blocks(sys.argv[1]))), end=' ')\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    with tempfile.TemporaryDirectory() as folder:
        peaks = []
        line = ",".join(f"{value:.4f}" for value in rng.standard_normal(50)) + ",word\n"
        header = ",".join(f"x{k}" for k in range(51)) + "\n"
        for share in (100, 1):
            path = Path(folder, "long.csv")
            with path.open("w") as file:
                file.write(header)
                for _ in range(size // share // (len(line) * 1000)):
                    file.write(line * 1000)
            run = [sys.executable, "-c", code, str(path)]
            done = subprocess.run(run, capture_output=True, text=True, check=True)
            rows, peak = map(int, done.stdout.split())
            peaks.append(peak / 1024)
            print(f"  {path.stat().st_size >> 20} MB, {rows} rows: peak of {peak >> 10} MB")
        report("CSV, peak of memory", peaks[1], 1000, at_most=True, unit="MB")


BENCHMARKS = [svmlight, vw_text, csv, memory]

if __name__ == "__main__":
    if "--list" in sys.argv:
        print("\n".join(benchmark.__name__ for benchmark in BENCHMARKS))
    else:
        for benchmark in BENCHMARKS:
            if len(sys.argv) == 1 or benchmark.__name__ in sys.argv[1:]:
                benchmark()
