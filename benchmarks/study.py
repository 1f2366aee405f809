"""Run every learner on every data set and write docs/explanation/study.md.

    python benchmarks/study.py           run what is missing, then write the results and the page
    python benchmarks/study.py --quick   run a small version, into results/quick
    python benchmarks/study.py --page    write the page and its figures from the results file
    python benchmarks/study.py --again blend nag      run these learners again, keep the others

Each data set gives all its rows, but at most 60 000 (20 000 with more than 60 columns), evenly
spaced in its file: in natural order and raw units, and shuffled in raw units, in random units
(columns times 2^-12 to 2^12) and standardised in hindsight. Every learner of the registry that
supports the loss makes one pass over each of these streams with its default parameters. Methods
with a learning rate also run with thirteen other rates, shuffled, in raw and in standardised units.
Combinations that would take hours are left out, see `taking_part`. The runs themselves are made by
`unitless.compare`. The Blend takes part without its trees: see `SMOOTH`.

A run that was stopped continues where it stopped: each finished stream is stored in
results/study.partial.jsonl. Data sets that are not available (see data.py) are left out, and the
page says so.
"""

# ruff: noqa: I001  (`timing` sets the number of threads, which NumPy reads when it is imported)
import timing  # noqa: F401

import argparse
import json
import math
import time
from collections.abc import Iterable, Iterator
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import data
import numpy as np
import polars as pl
import scipy.sparse as sp
from study_numbers import BEST_C, LONGEST_BROAD, SMOOTH, SON, SON_C

from unitless.blend.blend import Blend
from unitless.compare import TUNED, Comparison, Entry, compare
from unitless.learners import REGISTRY, get
from unitless.core.learner import Diverged, Learner
from unitless.losses import get as get_loss
from unitless.regret import Comparator, best_comparator
from unitless.regret.design import predictions
from unitless.rows import Rows, as_rows

HERE = Path(__file__).parent
UNITS = ("raw", "random", "standardised")
LOSSES = {
    "binary": ("logistic",),
    "regression": ("absolute", "squared"),
    "multiclass": ("softmax",),
}
RATES = [10.0**k for k in range(-10, 3)]
GROWTH = {"elec2": "logistic", "magic04": "logistic", "power_plant": "absolute"}
"""Real data sets on which the growth of the regret is measured, beside two random ones."""
BROAD, WIDE = 60, 1000
"""With more columns than this, learners that keep a matrix are not tuned, or do not run."""
MATRIX = {"full", "son", "ons", "arow", "second_order_perceptron"}
WHOLE = {"fd_son", "oja_son", "eg"}
"""Methods that use all columns of every row, even of sparse rows."""


class Size(NamedTuple):
    """The size of the study and the paths of its results."""

    results: Path
    page: Path
    rows: int
    seeds: int
    rates: list[float]
    longest: int
    """Maximum number of rows for the growth of the regret."""
    only_built_in: bool


FULL = Size(
    HERE / "results" / "study.parquet", HERE.parent / "docs" / "explanation" / "study.md",
    60_000, 1, RATES, 2**14, False,
)  # fmt: skip
QUICK = Size(
    HERE / "results" / "quick" / "study.parquet", HERE / "results" / "quick" / "study.md",
    400, 2, RATES[::3], 2**10, True,
)  # fmt: skip


class Key(NamedTuple):
    """What identifies one stream."""

    part: str
    """"loss", "length" (loss of the first rows) or "growth" (of the regret)."""
    set: str
    loss: str
    order: str
    seed: int
    units: str


class Problem(NamedTuple):
    """A data set with a loss, limited in rows; the best weights are for raw units."""

    X: Any
    y: np.ndarray
    best: Comparator | None


# Streams


def keys(size: Size) -> Iterator[Key]:
    """Yield every stream of the study."""
    for name, task in tasks(size).items():
        for loss in LOSSES[task]:
            yield Key("loss", name, loss, "natural", 0, "raw")
            for seed in range(size.seeds):
                for units in UNITS:
                    yield Key("loss", name, loss, "shuffled", seed, units)
            if loss == "logistic":
                yield Key("length", name, loss, "shuffled", 0, "raw")
    for name, loss in growing(size).items():
        yield Key("growth", name, loss, "shuffled", 0, "raw")


def tasks(size: Size) -> dict[str, str]:
    """Return the data sets that are available and the task of each."""
    here = data.BUILT_IN if size.only_built_in else data.sources()
    known = ((name, task) for task, names in data.KNOWN.items() for name in names.split())
    return {name: task for name, task in known if name in here}


def growing(size: Size) -> dict[str, str]:
    """Return the data sets on which the growth of the regret is measured."""
    here = {} if size.only_built_in else data.sources()
    drawn_sets = {"drawn signs": "logistic", "drawn numbers": "absolute"}
    return drawn_sets | {name: loss for name, loss in GROWTH.items() if name in here}


def problem(name: str, loss: str, size: Size) -> Problem:
    """Return a data set with at most `size.rows` evenly spaced rows, fewer of broad ones."""
    X, y, _ = data.sources()[name]()
    most = min(size.rows, LONGEST_BROAD) if X.shape[1] > BROAD else size.rows
    taken = np.unique(np.linspace(0, len(y) - 1, most).astype(int))
    X, y = X[taken], y[taken]
    best = None if loss == "softmax" else best_comparator(loss, as_rows(X, y))
    return Problem(X, y, best)


def stream(key: Key, made: Problem) -> tuple[Rows, Comparator | None]:
    """Return the rows of a stream and the best weights in its units."""
    X, y, best = made
    divided, shift = units_of(key, X)
    X = sp.csr_array(X.multiply(1 / divided)) if sp.issparse(X) else (X - shift) / divided
    if best is not None:
        u = best.weights
        moved = u._replace(
            intercept=u.intercept + float(shift @ u.features), features=u.features * divided
        )
        best = best._replace(weights=moved)
    order = np.arange(len(y))
    if key.order == "shuffled":
        order = np.random.default_rng(key.seed).permutation(len(y))
    return as_rows(X[order], y[order]), best


def units_of(key: Key, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return (divisor, shift) per column; the shift is subtracted first."""
    d = X.shape[1]
    if key.units == "random":
        return np.ldexp(1.0, np.random.default_rng(0).integers(-12, 13, d)), np.zeros(d)
    if key.units == "raw":
        return np.ones(d), np.zeros(d)
    if sp.issparse(X):  # not centred: that would fill the zeros
        mean = np.asarray(X.mean(axis=0)).ravel()
        square = np.asarray(X.multiply(X).mean(axis=0)).ravel()
        deviation, shift = np.sqrt(np.maximum(square - mean**2, 0)), np.zeros(d)
    else:
        deviation, shift = X.std(axis=0), X.mean(axis=0)
    return np.where(deviation > 0, deviation, 1.0), shift


def drawn(name: str, n: int) -> tuple[np.ndarray, np.ndarray, str]:
    """Draw five features in units from 0.01 to 100, and targets that are linear plus noise."""
    random = np.random.default_rng(0)
    Z = random.normal(size=(n, 5))
    p = Z @ [1.0, -1.0, 0.5, 0.25, 0.0] + 0.5
    noise = random.logistic(size=n) if name == "drawn signs" else random.laplace(size=n)
    y = np.sign(p + noise) if name == "drawn signs" else p + noise
    return Z * 10.0 ** np.arange(-2, 3), y, ""


# Runs


def run(size: Size) -> pl.DataFrame:
    """Run all streams that are not done yet and return the records of all streams."""
    partial = size.results.with_suffix(".partial.jsonl")
    partial.parent.mkdir(parents=True, exist_ok=True)
    done = finished(partial)
    partial.write_text("".join(line(key, records) for key, records in done.items()))
    left, last = [key for key in keys(size) if key not in done], None
    print(f"{len(left)} streams to run, {len(done)} done; left out: {data.absent() or 'nothing'}")
    with partial.open("a") as file:
        for number, key in enumerate(left, 1):
            started = time.perf_counter()
            if key.part != "growth" and (key.set, key.loss) != last:
                made, last = problem(key.set, key.loss, size), (key.set, key.loss)
            records = run_one(key, made if last else None, size)
            file.write(line(key, records))
            file.flush()
            print(f"{number}/{len(left)} {key} {time.perf_counter() - started:.1f} s", flush=True)
    records = [record for records in finished(partial).values() for record in records]
    return framed(records)


def line(key: Key, records: list[dict[str, Any]]) -> str:
    """Format the records of a stream as a line of the partial file."""
    return json.dumps({"key": key, "records": records}) + "\n"


def finished(partial: Path) -> dict[Key, list[dict[str, Any]]]:
    """Return the streams in the partial file; an incomplete last line is ignored."""
    found = {}
    for text in partial.read_text().splitlines() if partial.exists() else []:
        try:
            read = json.loads(text)
        except json.JSONDecodeError:
            continue
        found[Key(*read["key"])] = read["records"]
    return found


def again(size: Size, names: list[str]) -> pl.DataFrame:
    """Run some learners again and return their records with the stored ones of the others."""
    records, last = [], None
    for key in keys(size):
        if key.part != "growth" and (key.set, key.loss) != last:
            made, last = problem(key.set, key.loss, size), (key.set, key.loss)
        new = run_one(key, made if last else None, size, names)
        print(key, len(new), flush=True)
        records += new
    kept = pl.read_parquet(size.results)
    variant_of = pl.col("learner").cast(pl.String).str.split(",").list.first()
    return pl.concat([kept.filter(~variant_of.is_in(names)), framed(records)])


def run_one(
    key: Key, made: Problem | None, size: Size, only: list[str] | None = None
) -> list[dict[str, Any]]:
    """Return the records of one stream."""
    if key.part == "growth":
        return growth(key, size, only)
    assert made is not None
    return losses(key, made, size, only) if key.part == "loss" else by_length(key, made, only)


def chosen(names: Iterable[str], loss: str, classes: int = 0) -> list[str | Learner]:
    """Return the learners by name, but the Blend without its trees."""
    smooth = Blend(loss, views="smooth", classes=classes)
    return [smooth if name == "blend" else name for name in names]


def losses(
    key: Key, made: Problem, size: Size, only: list[str] | None = None
) -> list[dict[str, Any]]:
    """Return one record per learner: its loss with default parameters and at each rate."""
    rows, best = stream(key, made)
    tunable, fixed = taking_part(key.loss, rows.columns, only or list(REGISTRY))
    tune = size.rates if key.order == "shuffled" and key.units != "random" else False
    classes = int(made.y.max()) + 1 if key.loss == "softmax" else 0
    learners = chosen(tunable, key.loss, classes)
    entries = compare(rows, learners, loss=key.loss, tune=tune, best=best).entries
    entries += compare(rows, fixed, loss=key.loss, best=best).entries
    if "son" in tunable + fixed and key.loss == "logistic":
        entries += newton_of_the_paper(rows, best)
    n, tuned = len(rows), {entry.learner: entry.rates for entry in entries}
    common = {
        **key._asdict(), "rows": n, "columns": rows.columns,
        "constant": constant(key.loss, made.y),
        "best": None if best is None else best.infimum / n,
    }  # fmt: skip
    return [
        common
        | {"learner": entry.learner, "value": number(entry.loss), "diverged": entry.diverged}
        | {"seconds": entry.seconds, "bound": over(entry.bound, n)}
        | {"by_rate": [number(x) for x in tuned.get(entry.learner + TUNED, {}).values()] or None}
        for entry in entries
        if not entry.rates
    ]


def newton_of_the_paper(rows: Rows, best: Comparator | None) -> list[Entry]:
    """Return SON with the rate sqrt(d) of its paper: with C known, and with the best C of SON_C."""
    rate = math.sqrt(rows.columns + 1)
    attained = best is not None and best.attained
    known = float(np.abs(predictions(rows, best.weights)).max()) if attained and best else 1.0
    runs = {}
    for C in (known, *SON_C):
        runs[C] = compare(rows, [get("son")("logistic", C=C, rate=rate)], best=best).entries[0]
    tuned = min(runs.values(), key=lambda entry: entry.loss)
    return [
        entry._replace(learner=name, rates={})
        for name, entry in zip((SON, BEST_C), (runs[known], tuned), strict=True)
    ]


FOLLOWED = ("coordinate", "coordinate2", "full", "blend", "scinol2", "nag", "adagrad", "ogd")
"""The learners whose loss is recorded by length."""


def by_length(key: Key, made: Problem, only: list[str] | None = None) -> list[dict[str, Any]]:
    """Return one record per learner and length: the average loss of the first T rows."""
    rows, _ = stream(key, made)
    assert rows.targets is not None
    common = {**key._asdict(), "columns": rows.columns, "constant": constant(key.loss, made.y)}
    records = []
    for name in FOLLOWED:
        if (only and name not in only) or (name in MATRIX and rows.columns > WIDE):
            continue
        (choice,) = chosen([name], key.loss)
        learner = get(name)(key.loss) if isinstance(choice, str) else choice
        try:
            total = np.cumsum(learner.loss.value(rows.targets, learner.learn(rows)))
        except Diverged:
            continue
        T = 64
        while len(rows) >= T:
            records.append(common | {"learner": name, "rows": T, "value": total[T - 1] / T})
            T *= 2
    return records


def taking_part(loss: str, columns: int, names: list[str]) -> tuple[list[str], list[str]]:
    """Return the learners to tune (if they have a rate) and those that run with defaults only.

    With more than BROAD columns, learners that use all columns are not tuned. With more than WIDE
    columns, learners that keep a matrix do not run. With more than two classes the same learners
    are not tuned, because they run as one learner per class, row by row.
    """
    slow = MATRIX | WHOLE
    if columns > WIDE:
        left = MATRIX | WHOLE if loss == "softmax" else MATRIX
        names, slow = [name for name in names if name not in left], WHOLE
    elif loss != "softmax" and columns <= BROAD:
        slow = set()
    return [name for name in names if name not in slow], [name for name in names if name in slow]


def growth(key: Key, size: Size, only: list[str] | None = None) -> list[dict[str, Any]]:
    """Return one record per learner and length: the regret of the first T rows and its bound."""
    known = key.set in data.sources()
    X, y, _ = data.sources()[key.set]() if known else drawn(key.set, size.longest)
    order = np.random.default_rng(0).permutation(len(y))[: size.longest]
    rows, records = as_rows(X[order], y[order]), []
    T = 64
    while len(order) >= T:
        records += lengths(
            key, compare(rows[:T], chosen(only or REGISTRY, key.loss), loss=key.loss)
        )
        T *= 2
    return records


def lengths(key: Key, table: Comparison) -> list[dict[str, Any]]:
    assert table.best is not None
    common = {**key._asdict(), "rows": table.rows, "columns": table.columns}
    return [
        common
        | {"learner": entry.learner, "value": number(entry.loss), "diverged": entry.diverged}
        | {"best": table.best.infimum / table.rows, "bound": over(entry.bound, table.rows)}
        for entry in table.entries
    ]


def number(value: float) -> float | None:
    """Replace NaN by None, because JSON has no NaN."""
    return None if math.isnan(value) else value


def over(value: float | None, n: int) -> float | None:
    return None if value is None or not math.isfinite(value) else value / n


def constant(loss: str, y: np.ndarray) -> float:
    """Return the average loss of the best constant prediction."""
    if loss == "softmax":
        share = np.bincount(y.astype(int)) / len(y)
        return float(-(share[share > 0] * np.log(share[share > 0])).sum())
    kind = get_loss(loss)
    if loss == "logistic":
        ahead = max((y > 0).mean(), 1e-9) / max((y < 0).mean(), 1e-9)
        return float(kind.value(y, np.log(ahead)).mean())
    return float(kind.value(y, np.median(y) if loss == "absolute" else y.mean()).mean())


def framed(records: list[dict[str, Any]]) -> pl.DataFrame:
    """Return the records as a compact data frame."""
    words = ("part", "set", "loss", "order", "units", "learner")
    types: dict[str, Any] = {
        **dict.fromkeys(words, pl.String), "seed": pl.Int8, "rows": pl.Int32, "columns": pl.Int32,
        "constant": pl.Float64, "best": pl.Float64, "value": pl.Float64, "diverged": pl.Int32,
        "seconds": pl.Float32, "bound": pl.Float32, "by_rate": pl.List(pl.Float32),
    }  # fmt: skip
    frame = pl.DataFrame(records, schema=types)
    frame = frame.with_columns(pl.col("learner").replace({"blend": SMOOTH}))
    return frame.with_columns(pl.col(words).cast(pl.Categorical))


def keep(frame: pl.DataFrame, size: Size) -> None:
    """Write the results file, with the metadata that the page needs."""
    facts = {
        "date": date.today().isoformat(), "version": version("unitless"),
        "rates": json.dumps(size.rates), "absent": json.dumps(absent(size)),
        "rows": str(size.rows), "seeds": str(size.seeds),
        "invariance": json.dumps({name: get(name).invariance for name in REGISTRY}),
    }  # fmt: skip
    frame.write_parquet(size.results, compression="zstd", compression_level=22, metadata=facts)
    size.results.with_suffix(".partial.jsonl").unlink(missing_ok=True)


def absent(size: Size) -> list[str]:
    """Return the known data sets that were not available."""
    here = tasks(size)
    return [name for names in data.KNOWN.values() for name in names.split() if name not in here]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="run a small version, into results/quick"
    )
    parser.add_argument(
        "--page", action="store_true", help="only write the page from the results file"
    )
    parser.add_argument(
        "--again", nargs="+", metavar="LEARNER", help="run only these learners again"
    )
    options = parser.parse_args()
    size = QUICK if options.quick else FULL
    time.perf_counter = time.process_time  # seconds of the processor, whatever else runs
    if not options.page:
        keep(again(size, options.again) if options.again else run(size), size)
    from study_page import write

    write(size.results, size.page)


if __name__ == "__main__":
    main()
