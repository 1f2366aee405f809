"""Compare the accuracy of the default, the Blend, with that of other online learners.

    python benchmarks/quality.py              run the Blend, print and write results/quality.json
    python benchmarks/quality.py --peers      run Vowpal Wabbit again as well (extra `bench`)
    python benchmarks/quality.py adult elec2  run only these data sets; nothing is written
    python benchmarks/quality.py --markdown   print the tables of measurements.md from the file
    python benchmarks/quality.py --write      write them into docs/explanation/measurements.md

Rows are in raw units and in the order numpy.random.default_rng(0).permutation(n). Every prediction
is made before its label is seen, including the first one. Nothing is tuned or scaled for the Blend.
The scores of the peers are stored in ../shared/peers. Where none are stored, Vowpal Wabbit is run:
its default, --coin, and the best of seven learning rates in hindsight. Without ../shared/data the
benchmark uses three data sets of scikit-learn.

An oracle is a peer with help that no online user has: learning rates and scales that are chosen in
hindsight. For Vowpal Wabbit these are three larger learning rates; with the hinge loss also
predictions clipped to [-1, 1]; with the absolute and quantile losses also targets that are
standardised in hindsight.
"""

import argparse
import json
import tempfile
import time
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from data import SHARED, Data, sets

from unitless.learners import Blend
from unitless.losses import get as get_loss
from unitless.rows import as_rows

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "quality.json"
PAGE = HERE.parent / "docs" / "explanation" / "measurements.md"
RATES = (0.015, 0.05, 0.15, 0.5, 1.5, 5, 15)  # as in the stored scores
WIDER = (50, 150, 500)


class Table(NamedTuple):
    """The data sets of one task, with a loss and with the scores that the default must reach."""

    name: str
    task: str
    loss: str
    views: str = "all"
    at_most: float = 1.0
    """Largest geometric mean of our score over that of the best peer."""
    ahead: int = 0
    """On how many data sets the default must be ahead; 0 means all, -1 means any number."""
    oracle: float = np.inf
    """Largest geometric mean of our score over that of the best oracle."""
    score: float = np.inf
    """Largest score of the default."""
    only: str = ""
    """Name of the only data set, which is then in natural order."""


TABLES = [
    Table("binary", "binary", "logistic", at_most=0.78, ahead=16, oracle=0.84),
    Table("binary, linear views", "binary", "logistic", "linear", at_most=0.91, ahead=-1),
    Table("elec2 in its natural order", "binary", "logistic", score=0.24, only="elec2"),
    Table("regression", "regression", "squared", at_most=0.46),
    Table("multiclass", "multiclass", "softmax", at_most=0.72),
    Table("hinge", "binary", "hinge"),
    Table("absolute", "regression", "absolute"),
    Table("quantile 0.9", "regression", "quantile(0.9)"),
]
MEASURES = {
    "logistic": "log loss",
    "squared": "squared error over variance",
    "softmax": "error rate",
    "hinge": "hinge loss",
    "absolute": "absolute error over that of the median",
    "quantile(0.9)": "quantile loss over that of the best constant",
}


# Scores


def measured(loss: str, y: np.ndarray, p: np.ndarray) -> float:
    """Return the score of predictions p; MEASURES says which."""
    if loss == "softmax":
        return float(np.mean(p.argmax(axis=1) != y))
    mean = float(np.mean(get_loss(loss).value(y, p)))
    return mean / constant(loss, y)


def constant(loss: str, y: np.ndarray) -> float:
    """Return the divisor of a score: the loss of the best constant if targets have a unit."""
    if loss == "squared":
        return float(np.var(y))
    if loss in ("logistic", "hinge"):
        return 1.0
    kind = get_loss(loss)
    middle = np.quantile(y, kind.parameter if loss.startswith("quantile") else 0.5)
    return float(np.mean(kind.value(y, np.full(len(y), middle))))


def ours(table: Table, data: Data) -> dict[str, float]:
    """Return the score of the default, and for several classes its log loss."""
    classes = int(data.y.max()) + 1 if table.loss == "softmax" else 0
    learner = Blend(table.loss, views=table.views, classes=classes)
    p = learner.learn(as_rows(data.X, data.y))
    found = {"ours": measured(table.loss, data.y, p)}
    if classes:
        found["log loss"] = float(np.mean(learner.loss.value(data.y, p)))
    return found


# Peers

VW_LOSSES = {
    "logistic": "logistic",
    "hinge": "hinge",
    "absolute": "quantile --quantile_tau 0.5",
    "quantile(0.9)": "quantile --quantile_tau 0.9",
}


def peers(table: Table, data: Data, kept: dict[str, Any], again: bool) -> dict[str, Any]:
    """Return {"peers": scores by name, "oracles": ...}: stored ones, or of Vowpal Wabbit."""
    if table.loss in ("logistic", "squared", "softmax") and not table.only:
        known = stored_scores().get(data.name, {})
        real = {k: v for k, v in known.items() if k.startswith(("VW", "River"))}
        best = {k: v for k, v in known.items() if k.startswith("tuned")}
        return {"peers": real, "oracles": best} if real else kept
    return kept if kept and not again else vowpal(table.loss, data)


def stored_scores() -> dict[str, dict[str, float]]:
    """Return all stored scores by data set."""
    files = sorted(SHARED.glob("peers/*.json"))
    return {name: found for file in files for name, found in json.loads(file.read_text()).items()}


def vowpal(loss: str, data: Data) -> dict[str, Any]:
    """Run Vowpal Wabbit and return its scores, without and with oracles."""
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder, "rows")
        write_text(text, data.X, data.y)
        made = variants(text, loss)
        wider = {f"-l {rate}": predictions(text, loss, f"-l {rate}") for rate in WIDER}
        if loss == "hinge":
            wider |= {f"{name}, clipped": np.clip(p, -1, 1) for name, p in made.items()}
        if loss in ("absolute", "quantile(0.9)"):
            mean, deviation = data.y.mean(), data.y.std()
            write_text(text, data.X, (data.y - mean) / deviation)
            for name, p in variants(text, loss).items():
                wider[f"{name}, targets standardised"] = mean + deviation * p
    return {"peers": scored(loss, data, made), "oracles": scored(loss, data, wider)}


def scored(loss: str, data: Data, made: dict[str, np.ndarray]) -> dict[str, float]:
    """Return the scores of predictions by name."""
    return {f"VW {name}": measured(loss, data.y, p) for name, p in made.items()}


def variants(text: Path, loss: str) -> dict[str, np.ndarray]:
    """Return the predictions of the default, of --coin and of all learning rates."""
    options = ["default", "--coin", *(f"-l {rate:g}" for rate in RATES)]
    return {option: predictions(text, loss, option) for option in options}


def write_text(path: Path, X: Any, y: np.ndarray) -> None:
    """Write the rows in Vowpal Wabbit's format; features are numbered by column."""
    X = sp.csr_array(X)
    with path.open("w") as file:
        for row, label in enumerate(y):
            span = slice(X.indptr[row], X.indptr[row + 1])
            values = zip(X.indices[span], X.data[span], strict=True)
            file.write(f"{label:.9g} | " + " ".join(f"{j}:{v:.9g}" for j, v in values) + "\n")


def predictions(text: Path, loss: str, variant: str) -> np.ndarray:
    """Return the progressive predictions of Vowpal Wabbit."""
    from vowpalwabbit import Workspace

    out = text.with_suffix(".out")
    option = "" if variant == "default" else variant
    arguments = f"-d {text} -p {out} --loss_function {VW_LOSSES[loss]} {option} --quiet"
    Workspace(arguments).finish()
    return np.loadtxt(out, usecols=0)


# Results


def run(names: list[str], again: bool) -> list[dict[str, Any]]:
    """Return one record per table and data set, and print a line for each."""
    kept = {(r["table"], r["set"]): r for r in (load()["records"] if RESULTS.exists() else [])}
    records = []
    for table in TABLES:
        for data in sets(table.task, table.only):
            if names and data.name not in names:
                continue
            started, old = time.perf_counter(), kept.get((table.name, data.name), {})
            theirs = {k: old[k] for k in ("peers", "oracles") if k in old}
            record = {"table": table.name, "set": data.name, "rows": len(data.y)}
            record |= {"columns": data.X.shape[1], **ours(table, data)}
            spent = time.perf_counter() - started
            records.append(record | peers(table, data, theirs, again))
            print(f"{table.name:26} {line(records[-1])}   {spent:.1f} s", flush=True)
    return records


def load() -> dict[str, Any]:
    """Return the stored results."""
    return json.loads(RESULTS.read_text())


def best(scores: dict[str, float]) -> tuple[str, float]:
    """Return the name and the score of the best; nan if there is none."""
    name = min(scores, key=scores.__getitem__, default="")
    return name, scores.get(name, np.nan)


def line(record: dict[str, Any]) -> str:
    """Format one record as text."""
    name, peer = best(record["peers"])
    ratio = f"{record['ours'] / peer:.3f} of {peer:.4f} ({name})" if name else "no peer's score"
    extra = f"   log loss {record['log loss']:.4f}" if "log loss" in record else ""
    return f"{record['set']:18} {record['ours']:.4f}   {ratio}{extra}"


class Summary(NamedTuple):
    """The figures of one table."""

    real: float
    ahead: int
    of: int
    oracle: float
    ahead_of_oracles: int
    held: bool


def summary(table: Table, records: list[dict[str, Any]]) -> Summary:
    """Summarise a table: geometric means, data sets on which we are ahead, limits kept."""
    own = [r for r in records if r["table"] == table.name and r["peers"]]
    real = np.array([r["ours"] / best(r["peers"])[1] for r in own])
    oracle = np.array([r["ours"] / best(r["oracles"])[1] for r in own])
    means = [float(np.exp(np.mean(np.log(a)))) if len(a) else np.nan for a in (real, oracle)]
    ahead, needed = int((real < 1).sum()), table.ahead or len(real)
    held = means[0] <= table.at_most and ahead >= needed
    held &= table.oracle == np.inf or means[1] <= table.oracle
    held &= all(r["ours"] <= table.score for r in own)
    return Summary(means[0], ahead, len(real), means[1], int((oracle < 1).sum()), held)


def goal(table: Table) -> str:
    """Format the limits of a table."""
    parts = [f"{table.at_most:g} of the best peer"] if table.at_most < 1 else []
    if table.ahead >= 0:
        parts += [f"ahead on {table.ahead or 'all'}"] if table.score == np.inf else []
    parts += [f"{table.oracle:g} of the best oracle"] if table.oracle < np.inf else []
    parts += [f"{table.score:g}"] if table.score < np.inf else []
    return ", ".join(parts)


HEADINGS = [
    "sets",
    "measure",
    "ours / best peer",
    "ahead on",
    "ours / best oracle",
    "must reach",
    "",
]


def overview(records: list[dict[str, Any]]) -> list[list[str]]:
    """Return the geometric means with their limits, one row per table."""
    cells = []
    for table in TABLES:
        made = summary(table, records)
        if made.of:
            oracle = "" if np.isnan(made.oracle) else f"{made.oracle:.3f}"
            size = f"{made.of} {table.name}" if made.of > 1 else table.name
            row = [size, MEASURES[table.loss], f"{made.real:.3f}", f"{made.ahead} of {made.of}"]
            cells.append([*row, oracle, goal(table), "held" if made.held else "MISSED"])
    return cells


def details(records: list[dict[str, Any]], table: Table) -> list[list[str]]:
    """Return one row per data set."""
    cells = []
    for r in (r for r in records if r["table"] == table.name):
        (name, peer), (_, oracle) = best(r["peers"]), best(r["oracles"])
        own = f"{r['ours']:.4f}" + (f" ({r['log loss']:.4f})" if "log loss" in r else "")
        beside = [f"{peer:.4f}", name, f"{r['ours'] / peer:.3f}"] if name else ["", "", ""]
        beside += [f"{oracle:.4f}" if r["oracles"] else ""]
        cells.append([r["set"], str(r["rows"]), str(r["columns"]), own, *beside])
    return cells


def markdown(kept: dict[str, Any]) -> str:
    """Return all tables of the page."""
    note = f"Measured on {kept['date']} with version {kept['version']}."
    parts = [in_markdown(HEADINGS, overview(kept["records"])), note]
    for table in TABLES:
        own = MEASURES[table.loss] + (" (log loss)" if table.loss == "softmax" else "")
        head = ["set", "n", "d", "ours", "best peer", "which", "ratio", "best oracle"]
        found = details(kept["records"], table)
        if found:
            parts += [
                f"### {table.name[0].upper()}{table.name[1:]}: {own}",
                in_markdown(head, found),
            ]
    return "\n\n".join(parts)


def in_markdown(head: list[str], cells: list[list[str]]) -> str:
    """Format a table in Markdown."""
    rows = [head, ["---"] * len(head), *cells]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def aligned(cells: list[list[str]]) -> str:
    """Format a table as text."""
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    )


def write_between(name: str, text: str) -> None:
    """Write generated text between the markers of the page."""
    start, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, _, rest = PAGE.read_text().partition(start)
    _, found, after = rest.partition(end)
    if not found:
        raise SystemExit(f"{PAGE} lacks the markers {start} and {end}")
    PAGE.write_text(f"{before}{start}\n{text}\n{end}{after}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sets", nargs="*", help="only these data sets; nothing is written")
    parser.add_argument("--peers", action="store_true", help="run Vowpal Wabbit again as well")
    parser.add_argument("--markdown", action="store_true", help="print the stored tables")
    parser.add_argument(
        "--write", action="store_true", help="write the stored tables into the page"
    )
    options = parser.parse_args()
    if options.markdown:
        print(markdown(load()))
    elif options.write:
        write_between("quality", markdown(load()))
    else:
        measure(options.sets, options.peers)


def measure(names: list[str], again: bool) -> None:
    """Run, print and store."""
    if not (SHARED / "data").exists():
        print(f"{SHARED / 'data'} not found: using scikit-learn's data sets, nothing is written")
    records = run(names, again)
    print("\n" + aligned([HEADINGS, *overview(records)]))
    if not names and (SHARED / "data").exists():
        kept = {"date": date.today().isoformat(), "version": version("unitless"), "rates": RATES}
        RESULTS.parent.mkdir(exist_ok=True)
        RESULTS.write_text(json.dumps(kept | {"records": records}, indent=1) + "\n")


if __name__ == "__main__":
    main()
