"""Compare the default, the Blend, with trees, forests and version 0.1.0 on many streams.

    python benchmarks/curves.py               run the Blend, print, write results/curves.json
    python benchmarks/curves.py magic04 SEA   run only these streams; nothing is written
    python benchmarks/curves.py --write       write its tables into docs/explanation/measurements.md

`streams` has the streams, `rivals` runs the others and stores their scores in results/rivals. A
rival that was stopped for its time, or that cannot do a task, has no score.
"""

import argparse
import json
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from quality import in_markdown, write_between
from rivals import RESULTS as RIVALS
from rivals import blend, scores
from streams import Stream, streams

RESULTS = RIVALS.parent / "curves.json"
OLD = "blend-0.1.0"
KEYS = {"binary": "log loss", "multiclass": "error", "regression": "error"}
"""The score that is compared: log loss, error rate, squared error over variance."""


def last_value(stream: Stream) -> float:
    """Return the error of predicting the last target, or the last class."""
    y = stream.y
    if stream.task == "regression":
        return float(np.mean((np.append(0.0, y[:-1]) - y) ** 2) / np.var(y))
    return float(np.mean(np.append(y[0], y[:-1]) != y))


def run(only: list[str]) -> list[dict[str, Any]]:
    """Return one record per stream."""
    records = []
    for stream in streams():
        if only and stream.name not in only:
            continue
        record: dict[str, Any] = {"stream": f"{stream.group}/{stream.name}", "task": stream.task}
        record |= {"rows": len(stream.y), "columns": stream.X.shape[1]}
        record |= scores(stream, blend(stream)) | {"last": last_value(stream)}
        records.append(record)
        print(json.dumps(record), flush=True)
    return records


def rivals() -> dict[str, dict[str, Any]]:
    """Return the scores of all rivals: name -> stream -> scores."""
    files = sorted(RIVALS.glob("*.json"))
    return {path.stem: json.loads(path.read_text())["streams"] for path in files}


def mean(ratios: list[float]) -> str:
    """Format a geometric mean."""
    return f"{np.exp(np.mean(np.log(ratios))):.3f}" if ratios else ""


def summary(records: list[dict[str, Any]]) -> list[list[str]]:
    """Return one row per task and group: ratios to 0.1.0, to each rival, to the best of them."""
    found = rivals()
    names = [name for name in found if name != OLD]
    rows = []
    groups = sorted({(r["task"], r["stream"].split("/")[0]) for r in records})
    for task, group in groups:
        own = [r for r in records if (r["task"], r["stream"].split("/")[0]) == (task, group)]
        key = KEYS[task]
        ratios: dict[str, list[float]] = {name: [] for name in (OLD, *names, "best")}
        for record in own:
            others = {n: found[n].get(record["stream"], {}).get(key) for n in found}
            known = {n: score for n, score in others.items() if score}
            for name, score in known.items():
                ratios[name].append(record[key] / score)
            known.pop(OLD, None)
            if known:
                ratios["best"].append(record[key] / min(known.values()))
        ahead = f"{sum(r < 1 for r in ratios['best'])} of {len(ratios['best'])}"
        means = [f"{mean(r)} ({len(r)})" if r else "" for r in ratios.values()]
        rows.append([task, group, str(len(own)), *means, ahead])
    return [["task", "streams", "number", OLD, *names, "best rival", "ahead on"], *rows]


def details(records: list[dict[str, Any]]) -> list[list[str]]:
    """Return one row per stream."""
    found = rivals()
    names = [name for name in found if name != OLD]
    rows = []
    for r in records:
        key = KEYS[r["task"]]
        others = [found[n].get(r["stream"], {}).get(key) for n in (OLD, *names)]
        cells = ["" if score is None else f"{score:.4f}" for score in others]
        last = f"{r['last']:.4f}" if r["stream"].startswith(("natural", "river")) else ""
        rows.append(
            [r["stream"], str(r["rows"]), f"{r[key]:.4f}", f"{r['error']:.4f}", last, *cells]
        )
    return [["stream", "n", "Blend", "its error", "error of last value", OLD, *names], *rows]


def markdown(kept: dict[str, Any]) -> str:
    """Return the tables of the page."""
    head, *rows = summary(kept["records"])
    parts = [in_markdown(head, rows), f"Measured on {kept['date']}."]
    head, *rows = details(kept["records"])
    return "\n\n".join([*parts, in_markdown(head, rows)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("streams", nargs="*", help="only these streams; nothing is written")
    parser.add_argument("--write", action="store_true", help="write the stored tables to the page")
    options = parser.parse_args()
    if options.write:
        write_between("curves", markdown(json.loads(Path(RESULTS).read_text())))
        return
    kept = {"date": date.today().isoformat(), "version": version("unitless")}
    kept |= {"records": run(options.streams)}
    print(markdown(kept))
    if not options.streams:
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
