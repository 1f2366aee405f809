"""Training in several processes: `python benchmarks/distributed.py PART [--small]`.

`speed` measures one model per key in one process and in two workers; `overhead` measures the cost
of a part; `keys` makes a model for each of a million keys; `nodes` starts a Ray cluster of two
nodes on this machine, kills one of them, and prints whether the bits are the same. Each writes its
figures to `results/distributed.json` (not with --small), from which `page` writes the tables of
docs/how-to/distributed.md.
"""

import json
import os
import sys
import tempfile
import threading
import time
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path

import timing  # noqa: F401, isort: skip  (pins threads, so it comes before NumPy)

import contextlib

import numpy as np
import polars as pl
import psutil

import unitless
from unitless.distributed import PartitionedData, fit_by_key
from unitless.distributed.learning import learn_block, start_of
from unitless.persistence import Many
from unitless.persistence.saving import as_bytes

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "distributed.json"
PAGES = {ROOT / "docs" / "how-to" / "distributed.md": ("keys", "overhead")}
"""The tables of each page."""
sys.path.insert(0, str(ROOT / "tests"))
SMALL = "--small" in sys.argv
PARTS = 32


# Jobs


def keyed(folder, rows, keys=24, columns=20):
    """Rows of customers, mixed."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(rows, columns)).round(2)
    names = [f"x{k}" for k in range(columns)]
    frame = pl.DataFrame(X, schema=names).with_columns(
        customer=pl.Series([f"c{k}" for k in rng.permutation(rows) % keys]),
        y=pl.Series(X[:, 0] + rng.normal(size=rows) > 0),
    )
    frame.write_parquet(folder / "keyed.parquet", row_group_size=-(-rows // PARTS))
    return PartitionedData(folder / "keyed.parquet", target="y")


def key_by_key(source, learner="blend"):
    """One model per key, in this process: the rows of each, then the next."""
    parts = source.parts()
    new, _ = start_of(source, learner, parts, "customer")
    frame = pl.read_parquet(source.path)
    packed = 0
    with tempfile.TemporaryDirectory() as folder:
        for (name,), rows in frame.group_by("customer", maintain_order=True):
            rows.write_parquet(f"{folder}/{name}.parquet")
            own = PartitionedData(f"{folder}/{name}.parquet", target="y")
            model = deepcopy(new)
            for part in own.parts():
                for block in own.blocks(part):
                    learn_block(model, block)
            packed += len(as_bytes(model))
    return packed


class Memory(threading.Thread):
    """The most memory of its own that a worker had, and that this process had."""

    def __init__(self):
        super().__init__(daemon=True)
        self.worker, self.here, self.ended = 0, 0, threading.Event()

    def run(self):
        while not self.ended.wait(0.2):
            self.here = max(self.here, own_memory(psutil.Process()))
            for process in psutil.Process().children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    self.worker = max(self.worker, own_memory(process))


def own_memory(process):
    """Bytes, without what is shared with other processes."""
    found = process.memory_info()
    return found.rss - found.shared


def timed(job):
    start = time.perf_counter()
    job()
    return round(time.perf_counter() - start, 2)


def speed():
    """Seconds in this process, and with two workers that have started before."""
    with tempfile.TemporaryDirectory() as folder:
        customers = keyed(Path(folder), 50_000 if SMALL else 4_700_000)
        key_by_key(customers)
        found = {"one process": timed(lambda: key_by_key(customers))}
        start_workers()
        memory = Memory()
        memory.start()
        found["2 workers"] = timed(lambda: fit_by_key("blend", customers, "customer", workers=2))
        memory.ended.set()
        found["MB per worker"] = memory.worker >> 20
        found["speed-up"] = round(found["one process"] / found["2 workers"], 2)
    print(found, "ok" if found["speed-up"] >= 1.5 else "MISSED", flush=True)
    return found


def start_workers():
    """Start two workers."""
    from distributed.files import classes, parquet

    with tempfile.TemporaryDirectory() as folder:
        fit_by_key("blend", classes(parquet(Path(folder))), "carrier", workers=2)


def overhead():
    """Seconds that a part costs beside its rows."""
    from distributed.files import numbers, parquet

    parts = 16 if SMALL else 200
    start_workers()
    with tempfile.TemporaryDirectory() as folder:
        source = numbers(parquet(Path(folder), n=10 * parts, groups=parts))
        seconds = timed(lambda: fit_by_key("vaw", source, "carrier", workers=2))
    found = {"a part, by key": round(seconds / parts, 4)}
    print(found, flush=True)
    return found


def keys():
    """A model for each of a million keys that have three rows each."""
    count = 5000 if SMALL else 1_000_000
    start_workers()
    with tempfile.TemporaryDirectory() as folder:
        source = keyed(Path(folder), 3 * count, count, columns=5)
        path = Path(folder) / "models"
        memory, before = Memory(), own_memory(psutil.Process())
        memory.start()
        seconds = timed(lambda: fit_by_key("coordinate", source, "customer", save=path, workers=2))
        memory.ended.set()
        opening = timed_finely(lambda: Many(path))
        store = Many(path)
        some = np.random.default_rng(0).choice(list(store), 1000, replace=False)
        reading = timed(lambda: [store[name] for name in some])
        found = {
            "keys": len(store),
            "rows": 3 * count,
            "seconds": seconds,
            "MB per worker": memory.worker >> 20,
            "MB here": (memory.here - before) >> 20,
            "MB of the file": path.stat().st_size >> 20,
            "ms to open it": round(1000 * opening, 1),
            "ms to read one model": reading,
        }
    print(found, flush=True)
    return found


def timed_finely(job):
    start = time.perf_counter()
    job()
    return round(time.perf_counter() - start, 4)


# A cluster of two nodes


def nodes():
    """Kill one of two nodes while keys are learned: the same bits."""
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    other = cluster.add_node(num_cpus=1)
    killed = threading.Event()

    def kill(progress):
        if progress.stage == "learning" and progress.done >= 2 and not killed.is_set():
            killed.set()
            cluster.remove_node(other, allow_graceful=False)

    try:
        with tempfile.TemporaryDirectory() as folder:
            source = keyed(Path(folder), 5_000 if SMALL else 500_000)
            here = Path(folder) / "here"
            there = Path(folder) / "there"
            made = fit_by_key(
                "nag",
                source,
                "customer",
                save=there,
                address=cluster.address,
                retries=5,
                progress=kill,
            )
            fit_by_key("nag", source, "customer", save=here, workers=2)
            same = here.read_bytes() == there.read_bytes()
    finally:
        cluster.shutdown()
    found = {"killed": killed.is_set(), "rows": made.rows, "same bits": same}
    print(found, "ok" if same and killed.is_set() else "MISSED", flush=True)
    return found


# The page


def tables(found):
    """The page's tables, by name."""
    made = {}
    if "overhead" in found:
        rows = {name: {"seconds": value} for name, value in found["overhead"].items()}
        made["overhead"] = _table("what", ("seconds",), rows)
    if "keys" in found:
        made["keys"] = _table("", (*found["keys"],), {"on two workers": found["keys"]})
    return made


def _table(head, columns, rows):
    lines = [f"| {' | '.join((head, *columns))} |", f"|---{'|---:' * len(columns)}|"]
    lines += [
        f"| {name} | {' | '.join(str(own[c]) for c in columns)} |" for name, own in rows.items()
    ]
    return "\n".join(lines)


def page():
    """Write the tables into their pages."""
    made = tables(json.loads(RESULTS.read_text()))
    for path, names in PAGES.items():
        text = path.read_text()
        for name in names:
            begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
            before, _, rest = text.partition(begin)
            text = f"{before}{begin}\n{made[name]}\n{end}{rest.partition(end)[2]}"
        path.write_text(text)


JOBS = {job.__name__: job for job in (speed, overhead, keys, nodes)}


def main():
    names = [word for word in sys.argv[1:] if not word.startswith("-")] or list(JOBS)
    for name in names:
        if name == "page":
            page()
            continue
        found = JOBS[name]()
        if not SMALL:
            kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
            kept[name] = json.loads(json.dumps(found))
            kept["date"] = f"{datetime.now(UTC):%Y-%m-%d}, {unitless.__version__}"
            RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


ONE_THREAD = {
    f"{name}_THREADS": "1" for name in ("OMP_NUM", "OPENBLAS_NUM", "NUMBA_NUM", "POLARS_MAX")
}

if __name__ == "__main__":
    if any(os.environ.get(name) != value for name, value in ONE_THREAD.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **ONE_THREAD})
    main()
