"""Training in several processes: `python benchmarks/distributed.py PART [--small]`.

`speed` measures jobs in one process and in two workers; `overhead` measures the cost of a part, of
a shard and of a merge; `keys` makes a model for each of a million keys; `sums` adds the states of
shards, which must not be added, and merges those that may be, on the sets of `data.py`; `noise`
measures what rotations leave of dependent columns, beside the rule that calls it noise; `nodes`
starts a Ray cluster of two nodes on this machine and kills one of them. Each writes its figures to
`results/distributed.json` (not with --small), from which `page` writes the tables of
docs/how-to/distributed.md and docs/explanation/merging.md.
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
from data import sets

import unitless
from unitless import learners
from unitless.distributed import PartitionedData, fit_by_key, fit_sharded
from unitless.distributed.learning import learn_block, start_of
from unitless.distributed.merging import continued, merged
from unitless.persistence import Many
from unitless.persistence.saving import as_bytes
from unitless.rows import as_rows

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "distributed.json"
PAGES = {
    ROOT / "docs" / "how-to" / "distributed.md": ("keys", "overhead", "nodes"),
    ROOT / "docs" / "explanation" / "merging.md": ("sums", "noise"),
}
"""The tables of each page."""
sys.path.insert(0, str(ROOT / "tests"))
SMALL = "--small" in sys.argv
SHARDS, PARTS = 16, 32


# Jobs


def wide(folder, rows, columns=500):
    """Whole numbers in many columns: least squares is nearly all of the work."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 10, (rows, columns), dtype=np.uint8)
    y = X[:, :20] @ rng.normal(size=20) + rng.normal(size=rows)
    frame = pl.DataFrame(X, schema=[f"x{k}" for k in range(columns)]).with_columns(y=y)
    frame.write_parquet(folder / "wide.parquet", row_group_size=-(-rows // PARTS))
    return PartitionedData(folder / "wide.parquet", target="y", task="regression")


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


def one_pass(source, learner="vaw"):
    """One model, in this process."""
    parts = source.parts()
    model, source = start_of(source, learner, parts)
    for part in parts:
        for block in source.blocks(part):
            learn_block(model, block)
    return model


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
    """Seconds in this process, and with one and two workers that have started before."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        sharded = wide(Path(folder), 20_000 if SMALL else 800_000)
        customers = keyed(Path(folder), 50_000 if SMALL else 4_700_000)
        jobs = {
            "fit_sharded, VAW, 500 columns": (
                lambda: one_pass(sharded),
                lambda workers: fit_sharded("vaw", sharded, shards=SHARDS, workers=workers),
            ),
            "fit_by_key, Blend, 24 keys, 20 columns": (
                lambda: key_by_key(customers),
                lambda workers: fit_by_key("blend", customers, "customer", workers=workers),
            ),
        }
        for name, (plain, distributed) in jobs.items():
            plain()
            own = {"one process": timed(plain)}
            start_workers()
            memory = Memory()
            memory.start()
            own["2 workers"] = timed(lambda job=distributed: job(2))
            memory.ended.set()
            own["MB per worker"] = memory.worker >> 20
            own["speed-up"] = round(own["one process"] / own["2 workers"], 2)
            found[name] = own
            print(f"{name:<45}", own, "ok" if own["speed-up"] >= 1.5 else "MISSED", flush=True)
    return found


def start_workers():
    """Start two workers and let them compile what they need."""
    sys.path.insert(0, str(ROOT / "tests"))
    from distributed.files import classes, numbers, parquet

    with tempfile.TemporaryDirectory() as folder:
        path = parquet(Path(folder))
        fit_sharded("vaw", numbers(path), shards=12, workers=2)
        fit_by_key("blend", classes(path), "carrier", workers=2)


def overhead():
    """Seconds that a part costs beside its rows, and a merge of two factors."""
    from distributed.files import numbers, parquet

    parts = 16 if SMALL else 200
    start_workers()
    with tempfile.TemporaryDirectory() as folder:
        source = numbers(parquet(Path(folder), n=10 * parts, groups=parts))
        few = timed(lambda: fit_sharded("vaw", source, shards=2, workers=2))
        many = timed(lambda: fit_sharded("vaw", source, shards=parts, workers=2))
        keyed_few = timed(lambda: fit_by_key("vaw", source, "carrier", workers=2))
    found = {
        "a shard, with its merge": round((many - few) / (parts - 2), 4),
        "a part, by key": round(keyed_few / parts, 4),
    }
    for d in (100, 500):
        one, two = factor(d), continued(factor(d), 0.0)
        two.learn(as_rows(np.random.default_rng(1).normal(size=(2 * d, d)), np.ones(2 * d)))
        merged(one, two)
        found[f"a merge, {d} columns"] = min(
            timed_finely(lambda o=one, t=two: merged(o, t)) for _ in range(3)
        )
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


def factor(d):
    made = learners.Vaw()
    X = np.random.default_rng(0).normal(size=(2 * d, d))
    made.learn(as_rows(X, np.append(0.0, X[1:, 0])))
    made._targets[1] = 0.0
    return made


def timed_finely(job):
    start = time.perf_counter()
    job()
    return round(time.perf_counter() - start, 4)


# What may be added


def sums():
    """After adding up the states of shards: loss on rows held out, over that after one pass."""
    found = {}
    for name, add in (("coordinate", _coordinate), ("full", _full), ("nag", _means)):
        for shards in (4, 16):
            ratios = {each.name: _ratio(name, add, each, shards) for each in _sets("binary")}
            worst = max(ratios, key=ratios.get)
            found[f"{name}, {shards} shards"] = {
                "loss / that of one pass, median": f"{np.median([*ratios.values()]):.3g}",
                "worst": f"{ratios[worst]:.3g} ({worst})",
            }
            print(name, shards, found[f"{name}, {shards} shards"], flush=True)
    for shards in (4, 16, 64):
        away = {each.name: _vaw(each, shards) for each in _sets("regression")}
        worst = max(away, key=away.get)
        found[f"VAW, {shards} shards merged"] = {
            "loss / that of one pass, median": f"1 within {np.median([*away.values()]):.1g}",
            "worst": f"1 within {away[worst]:.1g} ({worst})",
        }
        print(found[f"VAW, {shards} shards merged"], flush=True)
    return found


def _sets(task):
    """Sets of some hundred columns at most, dense."""
    for each in sets(task):
        if each.X.shape[1] <= 130 and len(each.y) >= 400:
            X = each.X[:20_000]
            yield each._replace(X=X.toarray() if hasattr(X, "toarray") else X, y=each.y[:20_000])


def _ratio(name, add, data, shards):
    X, y, n = data.X, data.y, len(data.y) * 3 // 4
    made = [learners.get(name)() for _ in range(shards)]
    for learner, rows in zip(made, np.array_split(np.arange(n), shards), strict=True):
        learner.learn(as_rows(X[rows], y[rows]))
    whole = learners.get(name)()
    whole.learn(as_rows(X[:n], y[:n]))
    usual = whole.loss.value(y[n:], whole.predict(as_rows(X[n:]))).mean()
    return float(whole.loss.value(y[n:], add(made, X[n:])).mean() / usual)


def _coordinate(made, X):
    """Algorithm 1 with h and s2 summed."""
    sums = [learner.sums() for learner in made]
    s2 = sum(own.s**2 for own in sums)
    h = sum(own.z * own.s for own in sums)
    t, d, alpha = sum(own.trials for own in sums), sums[0].dimension, made[0].alpha
    Z = np.column_stack([np.ones(len(X)), X])
    grown = np.maximum(s2 + Z**2, np.finfo(float).tiny)
    w = h / grown * np.exp(np.minimum((h**2 + Z**2) / (2 * alpha * grown), 700)) / (alpha * t * d)
    return (w * Z).sum(axis=1)


def _full(made, X):
    """Algorithm 2 with S, h and Gamma summed."""
    S, h, gamma = 0.0, 0.0, 0.0
    for learner in made:
        own = learner.sums()
        state, width = learner.state, len(learner.state.places)
        R = np.zeros((len(state.R), width))
        taken = state.coordinates[: own.dimension]
        R[:, taken] = state.R[:, : own.dimension]
        if len(learner._units):
            R[:, taken] /= learner._units[taken]
        S, h, gamma = S + R.T @ R, h + own.z * own.s, gamma + learner.gamma()
    Z, alpha = np.column_stack([np.ones(len(X)), X]), made[0].alpha
    c = np.sqrt(np.diag(S))
    unit = np.divide(1.0, c, out=np.zeros_like(c), where=c > 0)
    inverse = np.linalg.pinv(S * unit * unit[:, None], hermitian=True) * unit * unit[:, None]
    exponent = min((h @ inverse @ h - gamma) / (2 * alpha), 700.0)
    return np.exp(exponent) / alpha * (Z @ inverse @ h)


def _means(made, X):
    """The mean of the weights."""
    weights = [learner.weights() for learner in made]
    return np.mean([w.intercept + X @ w.features for w in weights], axis=0)


def _vaw(data, shards):
    """How far the loss on rows held out is from that after one pass, relative."""
    from distributed.test_merging import both

    X, y, n = data.X, data.y, len(data.y) * 3 // 4
    losses = []
    for learner in both(as_rows(X[:n], y[:n]), n, shards):
        losses.append(learner.loss.value(y[n:], learner.predict(as_rows(X[n:]))).mean())
    return abs(losses[1] / losses[0] - 1)


def noise():
    """The largest rest of a dependent column in a join, over the bound that lets it pass."""
    from distributed.noise import measured

    found = {}
    for rows in (1000, 10_000) if SMALL else (1000, 10_000, 100_000):
        found[rows] = measured(rows, shards=64, seeds=1 if rows > 10_000 else 3)
        print(rows, found[rows], flush=True)
    return found


# A cluster of two nodes


def nodes():
    """Kill one of two nodes while shards are learned: the same bits."""
    os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    other = cluster.add_node(num_cpus=1)
    killed = threading.Event()

    def kill(progress):
        if progress.done >= 2 and not killed.is_set():
            killed.set()
            cluster.remove_node(other, allow_graceful=False)

    try:
        with tempfile.TemporaryDirectory() as folder:
            source = wide(Path(folder), 5_000 if SMALL else 50_000, columns=200)
            made = fit_sharded(
                "vaw", source, shards=8, address=cluster.address, retries=5, progress=kill
            )
            again = fit_sharded("vaw", source, shards=8, workers=2)
    finally:
        cluster.shutdown()
    same = as_bytes(made.model) == as_bytes(again.model)
    found = {"killed": killed.is_set(), "rows": made.rows, "same bits": same}
    print(found, "ok" if same and killed.is_set() else "MISSED", flush=True)
    return found


# The page


def tables(found):
    """The page's tables, by name."""
    made = {}
    if "speed" in found:
        columns = ("one process", "2 workers", "speed-up", "MB per worker")
        made["speed"] = _table("job (seconds)", columns, found["speed"])
    if "overhead" in found:
        rows = {name: {"seconds": value} for name, value in found["overhead"].items()}
        made["overhead"] = _table("what", ("seconds",), rows)
    if "keys" in found:
        made["keys"] = _table("", (*found["keys"],), {"on two workers": found["keys"]})
    if "sums" in found:
        made["sums"] = _table("states", (*next(iter(found["sums"].values())),), found["sums"])
    if "noise" in found:
        made["noise"] = _table("rows", (*next(iter(found["noise"].values())),), found["noise"])
    if "nodes" in found:
        made["nodes"] = _table("", (*found["nodes"],), {"one of two nodes": found["nodes"]})
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


JOBS = {job.__name__: job for job in (speed, overhead, keys, sums, noise, nodes)}


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
