"""Write the table of README.md from the results files.

    python benchmarks/readme_table.py

`results/quality.json` has the linear peers on all rows of 17 binary data sets, `results/rivals` and
`results/curves.json` the others on at most 20 000 rows of each. The default has the experts of
version 0.1.0, whose scores are in `results/rivals/blend-0.1.0.json`.
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
    "vw": "Vowpal Wabbit with all pairs of features (`-q ::`)",
}
PEERS = {
    "VW default": "Vowpal Wabbit",
    "VW --coin": "Vowpal Wabbit `--coin`",
    "VW best -l of 7": "Vowpal Wabbit, best of 7 learning rates in hindsight",
    "River scaler+LR": "River `StandardScaler` and `LogisticRegression`",
}
Pairs = list[tuple[float, float]]


def stored(name: str) -> Any:
    """Return the contents of a results file."""
    return json.loads((RESULTS / name).read_text())


def losses() -> dict[str, Pairs]:
    """Return (its loss, loss of the default) by data set, for each rival."""
    records = [each for each in stored("quality.json")["records"] if each["table"] == "binary"]
    pairs: dict[str, Pairs] = {}
    for record in records:
        for peer, loss in record["peers"].items():
            pairs.setdefault(PEERS[peer], []).append((loss, record["ours"]))
    streams = [f"shuffled/{record['set']}" for record in records]
    default = stored("rivals/blend-0.1.0.json")["streams"]
    others = {label: stored(f"rivals/{name}.json")["streams"] for name, label in RIVALS.items()}
    curves = {each["stream"]: each for each in stored("curves.json")["records"]}
    others['this package, `Blend(views="all")`'] = curves
    for label, found in others.items():
        pairs[label] = [(found[s]["log loss"], default[s]["log loss"]) for s in streams]
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
