"""Learn the first 80 % of a stream in order, then predict the next 20 % in one call.

    python benchmarks/next_rows.py              run all, print, write results/next_rows.json
    python benchmarks/next_rows.py elec2 SEA    run only these streams; nothing is written
    python benchmarks/next_rows.py --write      write its tables into measurements.md

The loss of the next rows (logistic, or squared over the variance of all targets) is compared with
those of others that learned the same rows: `linear_blend`, the default in shuffled order,
HistGradientBoosting and the mean. The second table has the progressive loss of a default that was
told that labels arrive late, beside that of its answer without recent labels.
"""

import argparse
import json
from collections.abc import Callable, Iterator
from datetime import date
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import scipy.sparse as sp
from data import SHARED, sets
from quality import in_markdown, write_between
from rivals import CLIP, from_logits, scores, with_complement
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from streams import Stream, as_stream

from unitless.encoders import FrameEncoder
from unitless.learners import Blend, get
from unitless.rows import as_rows

RESULTS = Path(__file__).parent / "results/next_rows.json"
SHARE = 0.8
ROWS = 20_000
DELAYS = (1, 10, 100, 1000)
LOSSES = {"binary": "logistic", "multiclass": "softmax", "regression": "squared"}
DRIFTS: dict[str, dict[str, Any]] = {
    "ConceptDriftStream": {"seed": 1, "position": 8000, "width": 1000},
    "Hyperplane": {"seed": 1, "mag_change": 0.01, "n_drift_features": 5},
    "FriedmanDrift": {"seed": 1, "drift_type": "gra", "position": (5000, 12000)}
    | {"transition_window": 1000},
}
"""River's generators whose drift lies inside the run."""
SERIES = ("TrumpApproval", "ChickWeights", "WaterFlow", "AirlinePassengers")


def natural() -> Iterator[Stream]:
    """Yield the streams in natural order that are available."""
    from river import datasets
    from river.datasets import synth

    for name, task in {"elec2": "binary", "bike_hour": "regression"}.items():
        for data in sets(task, name):
            yield Stream(name, "natural", task, data.X, data.y)
    beijing = SHARED / "data/raw/beijing_pm25.csv"
    if beijing.exists():
        frame = pl.read_csv(beijing, null_values="NA", infer_schema_length=None).drop_nulls("pm2.5")
        yield of_frame("Beijing", frame.drop("No", "pm2.5"), frame["pm2.5"])
    for name in SERIES:
        features, targets = zip(*getattr(datasets, name)(), strict=True)
        yield of_frame(name, pl.DataFrame(list(features)), targets)
    for name, options in DRIFTS.items():
        yield as_stream(name, "drift", islice(getattr(synth, name)(**options), ROWS))


def of_frame(name: str, frame: pl.DataFrame, targets: Any) -> Stream:
    """Make a stream of numbers of a frame with dates and categories."""
    X = FrameEncoder().encode(frame).X
    dense = X.toarray() if sp.issparse(X) else X
    return Stream(name, "natural", "regression", dense, np.array(targets, dtype=float))


def own(learner: str, shuffled: bool = False) -> Callable[[Stream, Stream], np.ndarray]:
    """Return a function that learns one part of a stream and predicts the other."""

    def predictions(past: Stream, coming: Stream) -> np.ndarray:
        several = {"classes": past.classes} if past.classes else {}
        made = get(learner)(LOSSES[past.task], **several)
        order = np.arange(len(past.y))
        if shuffled:
            order = np.random.default_rng(0).permutation(order)
        made.learn(as_rows(past.X[order], past.y[order]))
        z = made.predict(as_rows(coming.X))
        return z if past.task == "regression" else from_logits(z)

    return predictions


def boosting(past: Stream, coming: Stream) -> np.ndarray:
    if past.task == "regression":
        return HistGradientBoostingRegressor().fit(past.X, past.y).predict(coming.X)
    found = HistGradientBoostingClassifier().fit(past.X, past.y).predict_proba(coming.X)
    return np.clip(found, CLIP, 1 - CLIP)


def mean(past: Stream, coming: Stream) -> np.ndarray:
    if past.task == "regression":
        return np.full(len(coming.y), past.y.mean())
    if past.task == "binary":
        return with_complement(np.full(len(coming.y), (past.y > 0).mean()))
    return np.tile(np.bincount(past.y.astype(int)) / len(past.y), (len(coming.y), 1))


LEARNERS = {
    "blend": own("blend"),
    "linear_blend": own("linear_blend"),
    "blend, shuffled": own("blend", shuffled=True),
    "HistGradientBoosting": boosting,
    "mean": mean,
}


def loss_of(stream: Stream, p: np.ndarray, variance: float) -> float:
    """Return the log loss, or the squared error over the variance of all targets."""
    if stream.task == "regression":
        return float(np.mean((p - stream.y) ** 2) / variance)
    return scores(stream, p)["log loss"]


def next_rows(stream: Stream) -> dict[str, float]:
    """Return the loss of the next rows by learner."""
    cut = int(SHARE * len(stream.y))
    past = stream._replace(X=stream.X[:cut], y=stream.y[:cut])
    coming = stream._replace(X=stream.X[cut:], y=stream.y[cut:])
    variance = float(np.var(stream.y))
    return {
        name: loss_of(coming, predictions(past, coming), variance)
        for name, predictions in LEARNERS.items()
    }


def with_delays(stream: Stream) -> dict[str, list[float]]:
    """Return the progressive loss by delay: with the labels known by then, and without them."""
    variance = float(np.var(stream.y))
    found = {}
    for delay in (0, *DELAYS):
        both = late_predictions(stream, delay)
        if stream.task != "regression":
            both = [from_logits(z) for z in both]
        found[str(delay)] = [loss_of(stream, p, variance) for p in both]
    return found


def late_predictions(stream: Stream, delay: int) -> list[np.ndarray]:
    """Predict each row when all labels but the last ones are known, in both ways."""
    rows = as_rows(stream.X, stream.y)
    learner = Blend(LOSSES[stream.task], classes=stream.classes, delay=delay)
    both = []
    for t in range(len(rows)):
        row = rows[t : t + 1]
        both.append([learner.predict(row, fresh=True)[0], learner.predict(row)[0]])
        if t >= delay:
            learner.learn(rows[t - delay : t - delay + 1])
    return list(np.moveaxis(np.array(both), 1, 0))


def run(only: list[str]) -> list[dict[str, Any]]:
    """Return one record per stream."""
    records = []
    for stream in natural():
        if only and stream.name not in only:
            continue
        record = {"stream": stream.name, "rows": len(stream.y)}
        record |= {"next": next_rows(stream), "delays": with_delays(stream)}
        records.append(record)
        print(json.dumps(record), flush=True)
    return records


def ratio(record: dict[str, Any]) -> float:
    """Return the loss of the default over that of the best other."""
    others = [loss for name, loss in record["next"].items() if name != "blend"]
    return float(record["next"]["blend"] / min(others))


def markdown(kept: dict[str, Any]) -> str:
    """Return the tables of the page."""
    records = kept["records"]
    ratios = [ratio(record) for record in records]
    rows = [
        [
            record["stream"],
            str(record["rows"]),
            *(f"{loss:.4f}" for loss in record["next"].values()),
            f"{r:.3f}",
        ]
        for record, r in zip(records, ratios, strict=True)
    ]
    overall = f"{np.exp(np.mean(np.log(ratios))):.3f}"
    rows.append(["geometric mean", "", *[""] * len(LEARNERS), overall])
    first = in_markdown(["next rows", "n", *LEARNERS, "blend over best other"], rows)
    lines = [
        [record["stream"], *(f"{late:.4f} / {without:.4f}" for late, without in each.values())]
        for record in records
        for each in [record["delays"]]
    ]
    head = ["progressive, with / without recent labels", *(f"delay {d}" for d in (0, *DELAYS))]
    return "\n\n".join([first, in_markdown(head, lines), f"Measured on {kept['date']}."])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("streams", nargs="*", help="only these streams; nothing is written")
    parser.add_argument("--write", action="store_true", help="write the stored tables to the page")
    options = parser.parse_args()
    if options.write:
        write_between("next rows", markdown(json.loads(RESULTS.read_text())))
        return
    kept: dict[str, Any] = {"date": date.today().isoformat(), "version": version("unitless")}
    kept |= {"records": run(options.streams)}
    print(markdown(kept))
    if not options.streams:
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
