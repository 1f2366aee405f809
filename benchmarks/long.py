"""Compare the default with LightGBM and a forest on streams of 300 000 rows and more.

    python benchmarks/long.py                     run the Blend, write results/long.json
    python benchmarks/long.py lightgbm            run LightGBM, retrained at every 30 % growth
    python benchmarks/long.py arf                 run CapyMOA's forest, where its time allows
    python benchmarks/long.py blend RandomTree    run a learner on these streams only
    python benchmarks/long.py --write             write tables and picture of measurements.md

With `--name before` and another version of the package installed, the scores of that version are
stored beside those of the present one.

Every prediction is made before its label. Scores are log loss and, in regression, squared error
over the variance of the targets. A learner runs in one thread; its CPU time covers the whole
stream, with the features in memory. Streams are made once and kept in build/long.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterable
from datetime import date
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import timing  # noqa: F401  (one thread; before NumPy)

import numpy as np  # isort: skip
from data import SHARED, stored
from quality import in_markdown, write_between
from rivals import RIVALS
from streams import Stream, as_stream

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "long.json"
MADE = HERE.parent / "build" / "long"
ROWS = 300_000
LENGTHS = (1_000, 10_000, 100_000)
KEYS = (*map(str, LENGTHS), "all", "last half")
MEANS = ["task", "streams without an order", "last half: geometric mean", "worst"]
TIMES = ["stream", "Blend", "LightGBM", "Blend before", "over LightGBM", "over before"]
PICTURE = HERE.parent / "docs" / "explanation" / "long-streams.svg"
WRONG = 0.1
"""The share of labels that are replaced by another class."""


# Streams


def with_wrong_labels(stream: Stream) -> Stream:
    """Replace a tenth of the labels by another class."""
    rng = np.random.default_rng(1)
    wrong = rng.random(len(stream.y)) < WRONG
    if stream.task == "binary":
        return stream._replace(y=np.where(wrong, -stream.y, stream.y))
    shift = rng.integers(1, stream.classes, len(stream.y))
    return stream._replace(y=np.where(wrong, (stream.y + shift) % stream.classes, stream.y))


def river(name: str, **options: Any) -> Stream:
    """Return rows of a generator of River."""
    from river.datasets import synth

    return as_stream(name, "generator", islice(getattr(synth, name)(**options), ROWS))


def classification() -> Stream:
    """Return rows with 500 columns of which 20 matter."""
    from sklearn.datasets import make_classification

    X, y = make_classification(
        ROWS, 500, n_informative=20, n_redundant=0, shuffle=False, random_state=1
    )
    order = np.random.default_rng(1).permutation(ROWS)
    return Stream("make_classification", "generator", "binary", X[order], 2.0 * y[order] - 1)


def friedman_of_100() -> Stream:
    """Return rows with 100 columns of which 5 matter."""
    from sklearn.datasets import make_friedman1

    X, y = make_friedman1(ROWS, 100, noise=1.0, random_state=1)
    return Stream("make_friedman1", "generator", "regression", X, y)


def kddcup(shuffled: bool) -> Stream:
    """Return the connections of kddcup99, attacks against normal ones."""
    X, y, task = stored(SHARED / "data" / "kddcup99_10pct.npz")
    order = np.random.default_rng(0).permutation(len(y)) if shuffled else np.arange(len(y))
    name = "kddcup99" if shuffled else "kddcup99 in order"
    return Stream(name, "shuffled" if shuffled else "natural", task, X[order].toarray(), y[order])


STREAMS: dict[str, Callable[[], Stream]] = {
    "Agrawal": lambda: with_wrong_labels(river("Agrawal", seed=1)),
    "RandomTree": lambda: with_wrong_labels(river("RandomTree", seed_tree=1, seed_sample=1)),
    "SEA": lambda: with_wrong_labels(river("SEA", seed=1)),
    "LED": lambda: with_wrong_labels(river("LED", seed=1)),
    "RandomRBF": lambda: river(
        "RandomRBF", seed_model=1, seed_sample=1, n_centroids=50, n_classes=5
    ),
    "Friedman": lambda: river("Friedman", seed=1),
    "make_classification": classification,
    "make_friedman1": friedman_of_100,
    "kddcup99": lambda: kddcup(shuffled=True),
    "kddcup99 in order": lambda: kddcup(shuffled=False),
}


def stream_of(name: str) -> Stream:
    """Return a stream, made now or kept from before; data sets are not kept."""
    if name.startswith("kddcup99"):
        return STREAMS[name]()
    path = MADE / f"{name}.npz"
    if not path.exists():
        made = STREAMS[name]()
        MADE.mkdir(parents=True, exist_ok=True)
        np.savez(path, X=made.X.astype(np.float32), y=made.y, task=made.task)
    with np.load(path) as kept:
        X = kept["X"].astype(np.float64)
        return Stream(name, "generator", str(kept["task"]), X, kept["y"])


# Scores


def losses(stream: Stream, p: np.ndarray) -> np.ndarray:
    """Return the loss of each row; p are predictions or probabilities by class."""
    if stream.task == "regression":
        return (p - stream.y) ** 2 / np.var(stream.y)
    y = (stream.y > 0 if stream.task == "binary" else stream.y).astype(int)
    return -np.log(np.maximum(p[np.arange(len(y)), y], 1e-15))


def by_length(loss: np.ndarray) -> dict[str, float]:
    """Return the mean loss of the first rows, of all, and of the last half."""
    found = {str(n): float(loss[:n].mean()) for n in LENGTHS}
    return found | {"all": float(loss.mean()), "last half": float(loss[len(loss) // 2 :].mean())}


def run(learner: str, names: Iterable[str], name_of_results: str) -> None:
    """Run a learner on streams, and store its scores after each."""
    package, predict = RIVALS[learner]
    for name in names:
        stream = stream_of(name)
        started = time.process_time()
        try:
            p = predict(stream)
        except TimeoutError:
            print(f"{learner} {name}: stopped for its time", flush=True)
            continue
        seconds = time.process_time() - started
        loss = losses(stream, p)
        found: dict[str, Any] = {"rows": len(loss), "columns": stream.X.shape[1]}
        found |= {"task": stream.task, "seconds": round(seconds, 1)} | by_length(loss)
        print(f"{name_of_results} {name}: {json.dumps(found)}", flush=True)
        kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
        about = {"package": package, "version": version(package), "date": str(date.today())}
        own = kept.setdefault(name_of_results, {"streams": {}})
        own.update(about)
        own["streams"][name] = found
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


# Tables and picture


def mean(ratios: list[float]) -> float:
    """Return a geometric mean."""
    return float(np.exp(np.mean(np.log(ratios))))


def markdown(kept: dict[str, Any]) -> str:
    """Return the tables: ratios to LightGBM by length, and CPU times."""
    ours, theirs = kept["blend"]["streams"], kept["lightgbm"]["streams"]
    before, forest = kept.get("before", {}), kept.get("arf", {})
    older, forests = before.get("streams", {}), forest.get("streams", {})
    head = ["stream", "task", "n", "d", *(f"first {n:,}" for n in LENGTHS), "all", "last half"]
    head += ["last half before", "its loss", "ARF's loss"]
    rows, times = [], []
    of_task: dict[str, list[float]] = {}
    for name in (name for name in STREAMS if name in ours):
        own, other, old = ours[name], theirs[name], older.get(name)
        ratios = [own[key] / other[key] for key in KEYS]
        if not name.endswith("in order"):
            of_task.setdefault(own["task"], []).append(ratios[-1])
        cells = [name, own["task"], str(own["rows"]), str(own["columns"])]
        cells += [f"{ratio:.3f}" for ratio in ratios]
        cells += [f"{old['last half'] / other['last half']:.3f}" if old else ""]
        cells += [f"{own['last half']:.5f}"]
        cells += [f"{forests[name]['last half']:.5f}" if name in forests else ""]
        rows.append(cells)
        seconds = [own["seconds"], other["seconds"], old["seconds"] if old else np.nan]
        times.append([name, *(f"{spent:.1f}" for spent in seconds)])
        times[-1] += [f"{seconds[0] / seconds[1]:.2f}", f"{seconds[0] / seconds[2]:.2f}"]
    means = [
        [task, str(len(own)), f"{mean(own):.3f}", f"{max(own):.3f}"]
        for task, own in of_task.items()
    ]
    note = f"Measured on {kept['blend']['date']}, LightGBM {kept['lightgbm']['version']}."
    return "\n\n".join(
        [
            in_markdown(MEANS, means),
            note,
            in_markdown(head, rows),
            "CPU seconds for the whole stream, in one thread:",
            in_markdown(
                ["stream", "Blend", "LightGBM", "Blend before", "over LightGBM", "over before"],
                times,
            ),
        ]
    )


def draw(kept: dict[str, Any]) -> None:
    """Draw our loss over LightGBM's by length of the stream."""
    import matplotlib.pyplot as plt

    plt.rcParams["svg.hashsalt"] = "long"
    figure, axes = plt.subplots(figsize=(7, 4))
    ours, theirs = kept["blend"]["streams"], kept["lightgbm"]["streams"]
    for name in (name for name in STREAMS if name in ours and not name.endswith("in order")):
        ratios = [ours[name][key] / theirs[name][key] for key in KEYS]
        axes.plot(range(len(KEYS)), ratios, marker="o", markersize=3, label=name)
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_yscale("log", base=2)
    axes.set_ylim(0.45, 2.2)
    axes.set_yticks([0.5, 1, 2], ["0.5", "1", "2"])
    labels = [*(f"first\n{n:,}" for n in LENGTHS), "all\nrows", "last\nhalf"]
    axes.set_xticks(range(len(KEYS)), labels)
    axes.set_ylabel("loss of the Blend / loss of LightGBM")
    axes.legend(fontsize=7, ncols=2)
    figure.tight_layout()
    figure.savefig(PICTURE, metadata={"Date": None})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("learner", nargs="?", default="blend", choices=sorted(RIVALS))
    parser.add_argument("streams", nargs="*", metavar="STREAM")
    parser.add_argument("--name", help="store the scores under this name, such as 'before'")
    parser.add_argument("--write", action="store_true", help="write table and picture only")
    given = parser.parse_args()
    if given.write:
        results = json.loads(RESULTS.read_text())
        write_between("long", markdown(results))
        draw(results)
    else:
        run(given.learner, given.streams or STREAMS, given.name or given.learner)
