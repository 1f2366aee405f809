"""Write the table of README.md from the results files.

    python benchmarks/readme_table.py

`results/curves.json` has the default, and `results/rivals` others, on at most 20 000 rows of 17
binary data sets; `results/quality.json` has linear peers on all rows of them, so they are compared
on the shorter sets.
"""

import json
import math
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
README = HERE.parent / "README.md"
RESULTS = HERE / "results"
BEGIN, END = "<!-- rivals -->", "<!-- end of rivals -->"
RIVALS = {
    "lightgbm": "LightGBM, retrained on all past rows at each 30 % growth",
    "blend-0.1.0": 'this package, `Blend(views="smooth")`, as in 0.1.0',
    "vw": "Vowpal Wabbit with all pairs of features (`-q ::`)",
}
PEERS = {
    "VW default": "Vowpal Wabbit",
    "VW --coin": "Vowpal Wabbit `--coin`",
    "VW best -l of 7": "Vowpal Wabbit, best of 7 learning rates in hindsight",
    "River scaler+LR": "River `StandardScaler` and `LogisticRegression`",
}
MAX_ROWS = 20_000
Pairs = list[tuple[float, float]]


def stored(name: str) -> Any:
    """Return the contents of a results file."""
    return json.loads((RESULTS / name).read_text())


def losses() -> dict[str, Pairs]:
    """Return (its loss, loss of the default) by data set, for each rival."""
    records = [each for each in stored("quality.json")["records"] if each["table"] == "binary"]
    pairs: dict[str, Pairs] = {}
    default = {each["stream"]: each for each in stored("curves.json")["records"]}
    others = {label: stored(f"rivals/{name}.json")["streams"] for name, label in RIVALS.items()}
    for record in records:
        stream = f"shuffled/{record['set']}"
        peers = record["peers"] if record["rows"] <= MAX_ROWS else {}
        found = {PEERS[peer]: loss for peer, loss in peers.items()}
        found |= {label: streams[stream]["log loss"] for label, streams in others.items()}
        for label, loss in found.items():
            pairs.setdefault(label, []).append((loss, default[stream]["log loss"]))
    return pairs


def row_of(label: str, pairs: Pairs) -> list[str]:
    """Return the cells of a rival."""
    ratios = [theirs / ours for theirs, ours in pairs]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    worse = sum(ratio > 1 for ratio in ratios)
    return [label, f"{mean:.2f}", f"{worse} of {len(ratios)}"]


def text() -> str:
    """Return the table."""
    rows = sorted((row_of(*each) for each in losses().items()), key=lambda row: float(row[1]))
    head = ["", "log loss / the default's", "the default is better on"]
    table = [head, ["---", "---:", "---:"], *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in table)


def page_with_table() -> str:
    """Return README.md with the present table."""
    before, _, rest = README.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{text()}\n{END}{after}"


if __name__ == "__main__":
    README.write_text(page_with_table())
    print(text())
