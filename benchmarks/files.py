"""From file to model, as ratios in one run: `python benchmarks/files.py [name ...]`, or `--list`.

Needs the extra `bench` (Vowpal Wabbit). The files are made here: 100 000 rows of 55 values out of
2^18 features, as svmlight, as VW text with whole numbers and with words for names; a CSV of 50
columns of numbers; and, for the peak of memory, CSVs of 30 and 300 MB (`five_gb` runs only by name,
with TMPDIR where there is room). Absolute rates vary with the machine and its neighbours; ratios
less, if two cores are free.
"""

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from timing import fastest, report  # isort: skip  (pins threads, so it comes before NumPy)

import numpy as np
import polars as pl
from sklearn.datasets import load_svmlight_file
from vowpalwabbit import Workspace

from unitless import learners
from unitless.encoders import FrameEncoder
from unitless.readers import open_blocks
from unitless.rows import as_rows

ROWS, VALUES, FEATURES = 100_000, 55, 2**18
ROUNDS = 15
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


def _learned(path: Path, name: str = "coordinate") -> Callable[[], object]:
    """File to model, as the command line does it for sparse text."""

    def run() -> object:
        learner = learners.get(name)()
        for block in open_blocks(path):
            learner.learn(block.rows)
        return learner

    return run


def _learned_table(path: Path, name: str = "coordinate") -> Callable[[], object]:
    """File to model, as the command line does it for tables; the first column tells the label."""

    def run() -> object:
        learner, columns = learners.get(name)(), FrameEncoder()
        for block in open_blocks(path, target="x0"):
            encoded = columns.encode(block.frame)
            learner.learn(as_rows(encoded.X, np.where(block.targets > 0, 1.0, -1.0)))
            columns.commit(encoded)
        return learner

    return run


def _vw(path: Path, options: str) -> Callable[[], object]:
    return lambda: Workspace(f"-d {path} --quiet -b 18 --loss_function logistic {options}").finish()


def _rates(path: Path, seconds: dict[str, float], rows: int = ROWS) -> None:
    size = path.stat().st_size
    for name, each in seconds.items():
        print(f"  {name:<30} {size / each / 1e6:7.0f} MB/s {rows / each / 1e3:8.0f} 000 rows/s")


def svmlight() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, part = Path(folder, "whole.svm"), Path(folder, "part.svm")
        path.write_text(_lines("{}:{:.4f}".format, ""))
        with path.open() as file:
            part.write_text("".join(line for line, _ in zip(file, range(ROWS // 20), strict=False)))
        vw = Path(folder, "same.vw")
        vw.write_text(path.read_text().replace(" ", " | ", 1).replace("\n1 ", "\n1 | "))
        vw.write_text(vw.read_text().replace("\n-1 ", "\n-1 | "))
        jobs = {"read": _read(path), "read and learn": _learned(path)}
        rivals = {"VW, same rows": _vw(vw, ""), "VW, no learning": _vw(vw, "--noop")}
        seconds = fastest(jobs | rivals, ROUNDS)
        seconds |= fastest({"with the default learner": _learned(path, "blend")}, 1)
        slow = fastest({"ours": _read(part), "scikit-learn": lambda: load_svmlight_file(part)}, 2)
        _rates(path, seconds)
        _rates(part, {"scikit-learn's loader": slow["scikit-learn"]}, ROWS // 20)
        ratio = seconds["VW, same rows"] / seconds["read and learn"]
        report("svmlight, file to model: VW / Coordinate", ratio, 1.5, at_most=False)
        ratio = seconds["VW, no learning"] / seconds["read"]
        report("svmlight, parser alone: VW / ours", ratio, 1.5, at_most=False)


def vw_text() -> None:
    forms = {"whole numbers": "{}:{:.4f}".format, "words": "word{}:{:.4f}".format}
    for name, form in forms.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "rows.vw")
            path.write_text(_lines(form, "| "))
            jobs = {"read": _read(path), "read and learn": _learned(path)}
            rivals = {"VW": _vw(path, ""), "VW, no learning": _vw(path, "--noop")}
            seconds = fastest(jobs | rivals, ROUNDS)
            seconds |= fastest({"with the default learner": _learned(path, "blend")}, 1)
            print(f"VW text, names are {name}")
            _rates(path, seconds)
            ratio = seconds["VW"] / seconds["read and learn"]
            report(f"VW text, {name}, file to model: VW / Coordinate", ratio, 0.7, at_most=False)


def csv() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "numbers.csv")
        columns = {
            f"x{k}": np.round(rng.standard_normal(ROWS * 2) * 10.0 ** (k % 4), 4) for k in range(50)
        }
        pl.DataFrame(columns).write_csv(path)
        jobs = {"read": _read(path), "read and learn": _learned_table(path)}
        seconds = fastest(jobs | {"polars": lambda: pl.read_csv(path)}, ROUNDS)
        seconds |= fastest({"with the default learner": _learned_table(path, "blend")}, 1)
        _rates(path, seconds, ROWS * 2)
        for name in jobs:
            ratio = seconds[name] / seconds["polars"]
            report(f"CSV of 50 numbers, {name}: ours / polars.read_csv", ratio, 2, at_most=True)


def _long_csv(path: Path, megabytes: int) -> None:
    """50 columns of numbers and one of words."""
    rows = np.round(rng.standard_normal((1000, 50)), 4).tolist()
    lines = "".join(",".join(map(str, row)) + f",word{k % 9}\n" for k, row in enumerate(rows))
    with path.open("w") as file:
        file.write(",".join(f"x{k}" for k in range(51)) + "\n")
        for _ in range((megabytes << 20) // len(lines)):
            file.write(lines)


def _peak(path: Path) -> float:
    """MB that `unitless evaluate` has had at most; from the kernel, which counts it by process.

    (`getrusage` would not do: its peak is passed on from parent to child.)
    """
    code = (
        "import sys; from unitless.cli import main\n"
        f"sys.argv = ['unitless', 'evaluate', {str(path)!r}, '--target', 'x0', '--quiet',"
        " '--learner', 'coordinate']\n"
        "try:\n    main()\n"
        "finally:\n    lines = open('/proc/self/status').read().split('\\n')\n"
        "    print(next(line for line in lines if line.startswith('VmHWM')).split()[1])"
    )
    run = [sys.executable, "-c", code]
    return int(subprocess.run(run, capture_output=True, text=True, check=True).stdout) / 1024


def memory(*sizes: int) -> None:
    """Peaks of `unitless evaluate` on a CSV and on one ten times as long: they are the same."""
    peaks = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "long.csv")
        for size in sizes or (30, 300):
            _long_csv(path, size)
            start = time.perf_counter()
            peaks[size] = _peak(path)
            seconds = time.perf_counter() - start
            print(f"  CSV of {size} MB, evaluated: peak of {peaks[size]:.0f} MB, {seconds:.0f} s")
    short, *_, long = peaks
    report(f"CSV of {long} MB, peak of memory", peaks[long], 1000, at_most=True, unit="MB")
    ratio = peaks[long] / peaks[short]
    report(f"CSV of {long} MB / CSV of {short} MB, peak", ratio, 1.1, at_most=True)


def five_gb() -> None:
    """The same with 5 GB, for which there has to be room; minutes."""
    memory(50, 500, 5120)


BENCHMARKS = [svmlight, vw_text, csv, memory]

if __name__ == "__main__":
    if "--list" in sys.argv:
        print("\n".join(benchmark.__name__ for benchmark in BENCHMARKS))
    else:
        for benchmark in [*BENCHMARKS, five_gb]:
            usual = len(sys.argv) == 1 and benchmark is not five_gb
            if usual or benchmark.__name__ in sys.argv[1:]:
                benchmark()
