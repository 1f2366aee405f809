"""Write the table of README.md from results/times.json, results/curves.json and results/rivals.

    python benchmarks/readme_table.py

`python benchmarks/times.py` and `python benchmarks/rivals.py arf` measure losses and times.
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
    "arf": "adaptive random forest (CapyMOA, 100 trees)",
    "river": "River `StandardScaler` and `LogisticRegression`",
    "sgd": "scikit-learn `StandardScaler` and `SGDClassifier`",
    "vw": "Vowpal Wabbit",
}
HEAD = ["", "log loss / ours", "CPU time / ours", "ours is better on"]


def row_of(label: str, theirs: dict[str, Any], ours: dict[str, Any]) -> list[str]:
    """Return the cells of a rival, over the data sets that it finished."""
    ratios = [theirs[name]["log loss"] / ours[name]["log loss"] for name in theirs]
    seconds = [sum(found[name]["seconds"] for name in theirs) for found in (theirs, ours)]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    worse = sum(ratio > 1 for ratio in ratios)
    time = seconds[0] / seconds[1]
    digits = ",.0f" if time >= 10 else ".2g"
    return [label, f"{mean:.2f}", f"{time:{digits}}", f"{worse} of {len(ratios)} sets"]


def text() -> str:
    """Return the table."""
    found = json.loads((RESULTS / "times.json").read_text())
    forests = json.loads((RESULTS / "rivals" / "arf.json").read_text())["streams"]
    found["arf"] = {}
    for name in found["default"]:
        if "log loss" in forests.get(f"shuffled/{name}", {}):  # else it was stopped for its time
            found["arf"][name] = forests[f"shuffled/{name}"]
    rows = [row_of(label, found[name], found["default"]) for name, label in RIVALS.items()]
    rows.sort(key=lambda row: float(row[1]))
    table = [HEAD, ["---", "---:", "---:", "---:"], *rows]
    lines = ["| " + " | ".join(cells) + " |" for cells in table]
    return "\n".join([*lines, "", lost(found)])


def lost(found: dict[str, Any]) -> str:
    """Say on which sets a rival is better."""
    names = set()
    for rival in RIVALS:
        for name, theirs in found[rival].items():
            if theirs["log loss"] < found["default"][name]["log loss"]:
                names.add(name)
    where = ", ".join(sorted(names)) or "none of these sets"
    better, sets = regression()
    return (
        f"One of these rivals is better than Unitless on: {where}. "
        f"In regression, on shuffled rows, LightGBM is better on {better} of {sets} sets."
    )


def regression() -> tuple[int, int]:
    """Count the shuffled regression sets on which LightGBM is better, and all of them."""
    records = json.loads((RESULTS / "curves.json").read_text())["records"]
    trees = json.loads((RESULTS / "rivals" / "lightgbm.json").read_text())["streams"]
    ours = {
        record["stream"]: record["error"]
        for record in records
        if record["task"] == "regression" and record["stream"].startswith("shuffled/")
    }
    return sum(trees[name]["error"] < error for name, error in ours.items()), len(ours)


def page_with_table() -> str:
    """Return README.md with the present table."""
    before, _, rest = README.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{text()}\n{END}{after}"


if __name__ == "__main__":
    README.write_text(page_with_table())
    print(text())
