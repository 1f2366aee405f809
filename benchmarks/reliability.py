"""Test reliability at full length: `python benchmarks/reliability.py PART`.

============== =================================================================================
`kills`        ends 270 runs with kill -9 while they write checkpoints, and resumes them
`disk`         fills a small file system while models are saved (root only: it mounts one)
`corruption`   loads 105 000 damaged model files
`numbers`      learns millions of rows with extreme values
`search`       searches for streams that come close to an overflow
`extremes`     short streams of extreme numbers, and all that must hold for each learner on them
`alarms`       counts alarms for a change of unit on noise, and after real changes
`guard`        measures the cost of checking every input
`page`         writes the figures into docs/explanation/reliability.md
============== =================================================================================

Each part stores its figures, with date and version, in `results/reliability.json`. The tests in
tests/faults run a small part of each. `kills` flushes thousands of files, so set TMPDIR to a folder
in memory if the disk is slow.
"""

import json
import operator
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import unitless

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "reliability.json"
FAULTS = ROOT / "tests" / "faults"
RUNS = [
    ("coordinate", "csv", 50, 0),
    ("full", "svm", 30, 0),
    ("newton", "jsonl", 20, 0),
    ("blend", "csv", 20, 0),
    ("coordinate", "svm", 30, 3),
    ("full", "csv", 20, 2),
    ("coordinate", "jsonl", 20, 2),
    ("blend", "svm", 10, 2),
    ("vaw", "parquet", 15, 2),
    ("newton", "arrow", 10, 2),
    ("coordinate", "vw", 15, 3),
    ("coordinate", "tsv.zip", 10, 2),
    ("coordinate", "folder", 20, 3),
]
"""Learner, file format, number of kills and number of passes; 270 kills in total.

With passes, runs also hold out rows and write predictions and a report. There is none with --delay,
which does not go with --checkpoint. "folder" is several files.
"""
FILES, PARTS = 105_000, 7
"""Number of damaged files, and of processes that test them one after the other."""
ROWS, BLOCK, LARGEST = 1_000_000, 200, sys.float_info.max
"""Rows with extreme values per learner, rows per block, largest value."""
STREAMS = 100
"""Streams of 200 rows per learner and loss in the search for an overflow."""
EXTREME_STREAMS = 400
"""Short streams of extreme numbers per learner and loss."""
ALARM_ROUNDS, ALARM_CHANGES = 6, 1000
"""Blocks of ten million values of each kind of noise and shape; changes of each factor."""
MARKS = "<!-- figures -->", "<!-- end of figures -->"


def program(name, *words):
    """Run a program of tests/faults and return the figures that it prints."""
    found = subprocess.run(
        [sys.executable, FAULTS / f"{name}.py", *map(str, words)],
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(found.stdout.splitlines()[-1])


def kills():
    """Kill runs at random times and resume them."""
    parts = []
    for seed, (learner, ending, count, passes) in enumerate(RUNS):
        parts.append(
            {"learner": learner, "format": ending, "passes": passes or 1}
            | program("killing", learner, ending, count, seed, passes)
        )
        print(parts[-1], flush=True)
    whole = {
        key: sum(part[key] for part in parts) for key in ("kills", "no_checkpoint", "left", "wrong")
    }
    return whole | {"parts": parts}


def corruption():
    """Load damaged files."""
    whole = {"files": 0, "failures": 0, "grown": 0, "largest": 0, "loaded": 0, "kinds": {}}
    each = FILES // PARTS
    for part in range(PARTS):  # continue where the last process ended
        found = program("corruption", each, part * each * 4 // 225)
        print(found, flush=True)
        whole["files"] += found["files"]
        whole["failures"] += found["failures"]
        for key in ("grown", "largest"):
            whole[key] = max(whole[key], found[key])
        for name, count in found["outcomes"].items():
            kind, outcome = name.split()
            whole["kinds"][kind] = whole["kinds"].get(kind, 0) + count
            whole["loaded"] += count * (outcome == "loaded")
    return whole


def disk():
    """Save growing models to a file system of 256 kB until it is full."""
    import numpy as np

    from unitless import persistence
    from unitless.learners import Coordinate
    from unitless.rows import as_rows

    rng = np.random.default_rng(0)
    counts = {"saves": 0, "refused": 0, "damaged": 0, "left": 0}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", folder], check=True)
        try:
            for columns in range(100, 20_000, 100):
                learner, path = Coordinate(), Path(folder, "model")
                learner.learn(as_rows(rng.normal(size=(1, columns)), [1.0]))
                before = path.read_bytes() if path.exists() else None
                counts["saves"] += 1
                try:
                    persistence.save(learner, path)
                except OSError as error:
                    counts["refused"] += str(path) in str(error)
                    counts["damaged"] += path.read_bytes() != before
                counts["left"] += len(os.listdir(folder)) - 1
        finally:
            subprocess.run(["umount", folder], check=True)
    return counts


def numbers():
    """Learn values from 5e-324 to 1.7e308; each label is opposite to the current prediction."""
    import numpy as np

    from unitless.learners import REGISTRY, get
    from unitless.rows import as_rows
    from unitless.state import remembered

    kinds = ("unit", "affine", "linear")
    invariant = [name for name in REGISTRY if get(name).invariance in kinds]
    counts = {"rows": 0, "non_finite": 0, "learners": {}}
    for name in invariant:
        learner = _any_loss(get(name))
        rng = np.random.default_rng(len(name))
        for _ in range(ROWS // BLOCK):
            X = 2.0 ** rng.uniform(-1074, 1024, (BLOCK, 3)) * rng.choice(
                [-1.0, 0.0, 1.0], (BLOCK, 3)
            )
            X[rng.random(X.shape) < 0.01] = np.nan
            X = np.clip(X, -LARGEST, LARGEST)
            against = -np.sign(learner.predict(as_rows(X)))
            scores = learner.learn(as_rows(X, np.where(against == 0, 1.0, against)))
            counts["non_finite"] += int((~np.isfinite(scores)).sum())
        arrays = [a for path, a in remembered(learner)[0].items() if "history" not in path]
        counts["non_finite"] += sum(int((~np.isfinite(array)).sum()) for array in arrays)
        counts["rows"] += ROWS
        counts["learners"][name] = ROWS
        print(name, ROWS, counts["non_finite"], flush=True)
    return counts


def search():
    """Search for streams that overflow by hill climbing, for each learner and loss."""
    sys.path.insert(0, str(ROOT / "tests"))
    warnings.simplefilter("error")
    from faults.search import PAIRS, climbed

    counts = {"rows": 0, "streams": 0, "non_finite": 0, "highest": {}}
    for name, loss in PAIRS:
        streams = STREAMS // (10 if name == "blend" else 1)
        found = climbed(name, loss, streams, seed=streams)
        counts["rows"] += found["rows"]
        counts["streams"] += streams
        counts["non_finite"] += len(found["bad"])
        counts["highest"][f"{name} {loss}"] = found["highest"]
        print(name, loss, found["rows"], found["highest"], found["bad"][:1], flush=True)
    return counts


def extremes():
    """Check every learner on short streams of extreme numbers."""
    sys.path.insert(0, str(ROOT / "tests"))
    from faults.extreme_streams import check
    from laws.streams import PAIRS

    counts = {"streams": 0, "pairs": len(PAIRS), "failed": 0}
    warnings.simplefilter("error", RuntimeWarning)
    for name, loss in PAIRS:
        for seed in range(EXTREME_STREAMS // (20 if "blend" in name else 1)):
            counts["streams"] += 1
            try:
                check(name, loss, seed)
            except Exception as error:
                counts["failed"] += 1
                print(f"FAILED {name} {loss} {seed}: {type(error).__name__}: {error}", flush=True)
    return counts


def alarms():
    """Count false alarms for a change of unit on noise, and how many real changes are noticed."""
    import numpy as np

    from unitless.evaluation.alarms import Watch
    from unitless.rows import as_rows

    rng = np.random.default_rng(0)
    noise = {
        "normal": rng.standard_normal,
        "Cauchy": rng.standard_cauchy,
        "Pareto, exponent 0.5": lambda size: 1 + rng.pareto(0.5, size),
        "log-normal, deviation 5": lambda size: np.exp(5 * rng.standard_normal(size)),
        "uniform in 1 to 1.3": lambda size: rng.uniform(1, 1.3, size),
        "1, 2 or 3": lambda size: rng.integers(1, 4, size).astype(float),
    }
    counts = {"values": 0, "false": 0, "changes": 0, "noticed": 0}
    for name, draw in noise.items():
        for rows, columns in ((100, 100_000), (1000, 10_000), (100_000, 100)):
            for _ in range(ALARM_ROUNDS):
                watch = Watch()
                counts["false"] += len(watch.add(as_rows(draw((rows, columns)))))
                counts["values"] += rows * columns
        print(name, counts, flush=True)
    for factor in (100, 1000, 60, 24, 12, 10, 1.609, 0.4536, 2.54):
        for change in rng.integers(60, 2000, ALARM_CHANGES).tolist():
            X = rng.normal(1.7, 0.1, size=(change + 30, 1))
            X[change:] *= factor
            counts["changes"] += 1
            counts["noticed"] += len(Watch().add(as_rows(X)))
    return counts


def _any_loss(kind):
    """Return the learner with a loss that it supports and that accepts the labels -1 and 1."""
    for loss in ("logistic", "absolute", "squared"):
        try:
            return kind(loss)
        except ValueError:
            continue
    raise ValueError(f"{kind.__name__} takes none of the losses")


def guard():
    """Measure the time of learning with input checks over the time without, as a median of 300.

    Without checks, the compiled loop is called directly: nothing looks for infinite values, for
    values out of range or for invalid targets. The time without checks is measured twice: "off over
    off" is the noise of this machine.
    """
    import numpy as np
    from scipy.sparse import csr_array

    from unitless.learners import get

    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 50))
    y = rng.choice([-1.0, 1.0], 20_000)
    columns = np.sort(rng.integers(0, 2**18 - 50, X.shape), axis=1) + np.arange(50)
    starts = np.arange(0, X.size + 1, 50, dtype=np.int32)
    parts = X.reshape(-1), columns.reshape(-1).astype(np.int32), starts
    tables = {"block": X, "csr": csr_array(parts, shape=(len(X), 2**18)), "default": X[:2000]}
    work = {}
    for name, table in tables.items():
        learner = get("blend" if name == "default" else "coordinate")()
        targets = y[: table.shape[0]]
        work[name] = partial(_learn, learner, table, targets)
        work[f"{name}_off"] = partial(_learn_unchecked, learner, table, targets)
    learner = get("coordinate")()
    row = dict(enumerate(X[0, :10].tolist()))
    work["row"] = partial(_learn_row, learner, row)
    work["row_off"] = partial(_learn_row_unchecked, learner, row)
    for job in work.values():
        job()  # allocate the state and learn the names of the features
    again = {f"{name}_again": job for name, job in work.items() if name.endswith("_off")}
    spent = timed(work | again)

    def over(on, off):
        return round(statistics.median(map(operator.truediv, spent[on], spent[off])), 3)

    figures = {
        name: {
            "on_over_off": over(name, f"{name}_off"),
            "off_over_off": over(f"{name}_off_again", f"{name}_off"),
        }
        for name in (*tables, "row")
    }
    return figures | {
        "block_ns_a_value": round(min(spent["block"]) / X.size * 1e9, 2),
        "row_us": round(min(spent["row"]) * 1e3, 2),
    }


def _learn(learner, X, y):
    """Learn a block."""
    from unitless.rows import as_rows

    learner.learn(as_rows(X, y))


def _learn_unchecked(learner, X, y):
    """Learn a block without checks; the learner has room for its columns."""
    import numpy as np

    from unitless.rows import as_rows

    rows = as_rows(X, y)
    learner._run(rows.block, rows.targets, None, np.empty(len(rows)), True)


def _learn_row(learner, row):
    """Learn a dict row a thousand times."""
    for _ in range(1000):
        learner.learn_one(row, 1)


def _learn_row_unchecked(learner, row):
    """Learn a dict row a thousand times without checks; its names are known."""
    import numpy as np

    from unitless.rows import Block

    names = learner.names
    for _ in range(1000):
        names.load(row)
        starts = np.array([0, len(names.values)])
        block = Block(names.values, names.indices, starts, len(names.columns))
        learner._run(block, np.array([1.0]), None, np.empty(1), True)


def timed(work, repeats=300):
    """Return the times of each job.

    The jobs alternate, so that a slow moment of the machine affects all of them. Each job runs once
    before it is timed, so that it finds its own data in the cache. The order is random, so that no
    job always follows the same other job.
    """
    spent, order = {name: [] for name in work}, list(work)
    for _ in range(repeats):
        random.shuffle(order)
        for name in order:
            work[name]()
            begin = time.perf_counter()
            work[name]()
            spent[name].append(time.perf_counter() - begin)
    return spent


def made():
    """Return date and version of a run."""
    return {"date": datetime.now(UTC).date().isoformat(), "package": unitless.__version__}


def results():
    """Return the figures of all parts."""
    return json.loads(RESULTS.read_text()) if RESULTS.exists() else {}


def kept(name, figures):
    """Store the figures of one part next to those of the others."""
    every = results() | {name: made() | figures}
    RESULTS.write_text(json.dumps(every, indent=1, sort_keys=True) + "\n")
    print(every[name])


# The page


DESCRIPTIONS = {
    "kills": lambda k: (
        f"{k['kills']} runs were killed, {k['kills'] - k['no_checkpoint']} of them after a "
        f"checkpoint and {k['left']} while a checkpoint was being written; {k['wrong']} resumed "
        "runs ended with a different model"
    ),
    "corruption": lambda c: (
        f"{c['files']} damaged or forged files: {c['loaded']} could be loaded and used, "
        f"{c['failures']} crashed, did not return or raised an unexpected error; memory grew by at "
        f"most {c['grown'] / 2**20:.0f} MB (the largest file had {c['largest'] / 1000:.0f} kB)"
    ),
    "forged": lambda f: (
        f"{f['files']:,} files of all learners with forged arrays, in a build in which every "
        f"access to memory is checked: {f['loaded']:,} could be loaded and used, {f['reports']} "
        "processes touched memory that was not theirs, crashed or did not return"
    ),
    "disk": lambda d: (
        f"{d['saves']} saves to a disk of 256 kB: {d['refused']} raised an error, "
        f"{d['damaged']} old files were damaged, {d['left']} temporary files were left behind"
    ),
    "numbers": lambda n: (
        f"{n['rows']:,} rows for {len(n['learners'])} learners, with values from 5e-324 to 1.7e308 "
        f"and labels opposite to the prediction: {n['non_finite']} non-finite scores or states"
    ),
    "search": lambda s: (
        f"{s['rows']:,} rows in {s['streams']:,} streams that were searched for overflows, for "
        f"{len(s['highest'])} pairs of learner and loss: {s['non_finite']} streams with a "
        f"non-finite score or state; the largest number reached is $2^{{{highest(s):.0f}}}$"
    ),
    "extremes": lambda e: (
        f"{e['streams']:,} short streams of extreme numbers for {e['pairs']} pairs of learner and "
        f"loss: {e['failed']} with a score, weight or contribution that is not finite, another "
        "prediction than the one that was learned with, a file that does not load, or (for "
        "scale-invariant learners) another score in other units"
    ),
    "fuzz": lambda f: (
        f"{total(f, 'inputs'):,} random inputs for the readers ("
        + ", ".join(fuzzed(name, part, f["date"]) for name, part in sorted(f["formats"].items()))
        + f"): {total(f, 'read'):,} could be read; {total(f, 'failed')} crashed, did not return, "
        "raised an error other than `ReadError` or lost a row"
    ),
    "lowest_versions": lambda v: (
        f"{v['tests']} tests with {', '.join(v['versions'])}: {v['failed']} failed"
    ),
    "alarms": lambda a: (
        f"{a['values']:,} values of noise, heavy tails included: {a['false']} alarms for a change "
        f"of unit (at most one per million is promised); {a['noticed']:,} of {a['changes']:,} real "
        "changes by a factor of 1.609 to 1000 were noticed within 30 rows"
    ),
    "guard": lambda g: (
        "time with checks over time without (in brackets, the noise of the measurement): "
        f"{with_noise(g['default'])} for a block of 2000 rows and 50 columns with the default "
        f"learner, {with_noise(g['block'])} for a block of 20000 rows with coordinate "
        f"({g['block_ns_a_value']} ns per value), {with_noise(g['csr'])} for the same block in CSR "
        f"format with $2^{{18}}$ columns, {with_noise(g['row'])} for a dict row of 10 features "
        f"({g['row_us']} us)" + lock_of_version_0_1(g)
    ),
}
"""The text of docs/explanation/reliability.md for each part."""


def lock_of_version_0_1(guard):
    """Return the cost of the lock that learners had until version 0.1.0, if it was measured."""
    if "turn_on_over_off" not in guard:
        return ""
    ratio = guard["turn_on_over_off"]
    return f"; time with the lock of 0.1.0 over time without: {ratio} for a dict row"


def with_noise(ratios):
    """Format a ratio and its noise."""
    return f"{ratios['on_over_off']:.3f} ({ratios['off_over_off']:.3f})"


def lines(found):
    """Return the table of docs/explanation/reliability.md, for the parts that were run."""
    rows = [
        f"| `{name}` | {describe(found[name])} | {found[name]['date']}, {found[name]['package']} |"
        for name, describe in DESCRIPTIONS.items()
        if name in found
    ]
    return ["| part | figures | date, version |", "|---|---|---|", *rows]


def highest(search):
    """Return the exponent of the largest number that any learner reached."""
    return max(search["highest"].values())


def fuzzed(name, part, date):
    """Return the number of inputs of a format, with its date if that differs from the line's."""
    return f"{name} {part['inputs']:,}" + (f" on {part['date']}" if part["date"] != date else "")


def total(fuzz, key):
    """Return a count summed over all formats."""
    return sum(part[key] for part in fuzz["formats"].values())


def page():
    """Write the table between the markers of docs/explanation/reliability.md."""
    path = ROOT / "docs" / "explanation" / "reliability.md"
    before, _, rest = path.read_text().partition(MARKS[0])
    behind = rest.partition(MARKS[1])[2]
    table = "\n".join(lines(json.loads(RESULTS.read_text())))
    path.write_text(f"{before}{MARKS[0]}\n{table}\n{MARKS[1]}{behind}")


if __name__ == "__main__":
    begin = time.monotonic()
    name = sys.argv[1]
    if name == "page":
        page()
    else:
        parts = {
            "kills": kills, "corruption": corruption, "disk": disk, "numbers": numbers,
            "search": search, "extremes": extremes, "alarms": alarms, "guard": guard,
        }  # fmt: skip
        kept(name, parts[name]() | {"seconds": round(time.monotonic() - begin)})
