"""The figures of a report, each from the results and nothing else: (title, picture, what it says).

A figure for which the results have nothing is None.
"""

from typing import Any

from unitless.evaluation.explanations import what_scores_are
from unitless.report.charts import Line, area_chart, bar_chart, line_chart, short, square_chart

Results = dict[str, Any]
Figure = tuple[str, str, str] | None
SHOWN = 7
"""Members of a blend with a colour of their own."""


def learning_curve(results: Results) -> Figure:
    """Average and windowed loss, and that of the best constant."""
    lines = [line for line in results["lines"] if line["loss"] is not None]
    chart = line_chart(
        [
            Line("loss by window", [(x, y) for x, y in results["curve"]], 3),
            Line("average so far", [(line["rows"], line["loss"]) for line in lines], 0, dots=True),
            Line(
                "best constant so far",
                [
                    (line["rows"], line["baseline"])
                    for line in lines
                    if line["baseline"] is not None
                ],
                1,
                dashed=True,
            ),
        ],
        "rows",
        f"{results['loss']} loss",
    )
    text = (
        f"The {results['loss']} loss of predictions made before each label was used, averaged over "
        "all rows so far and by window, beside the best constant in hindsight."
    )
    return ("Learning curve", chart, text) if chart else None


def regret(results: Results) -> Figure:
    """Regret per row against the best constant: true, certified, promised."""
    true: list[tuple[float, float]] = []
    series: dict[tuple[str, str | None], list[tuple[float, float]]] = {}
    for line in results["lines"]:
        known = line["certified"] or {"claims": [], "rows": 0}
        if not line["baseline"] or not line["loss"]:  # one class only: no finite constant
            continue
        n, weight = line["rows"], line["total"] / line["loss"]
        true.append((n, line["loss"] - line["baseline"]))
        for claim in known["claims"]:
            if claim["against"] == "the best constant" and claim["rows"] == known["rows"]:
                for what, key in (("certified", "certified"), ("promised", "sharp")):
                    if claim[key] is not None:
                        series.setdefault((what, claim["theorem"]), []).append(
                            (n, claim[key] / weight)
                        )
    if not series:
        return None
    lines = [Line("true", [p for p in true if p[0] >= 8], 0, dots=True)]
    theorems = list(dict.fromkeys(theorem for _, theorem in series))
    for (what, theorem), points in series.items():
        name = f"{what}, {theorem}" if theorem else what
        points = [p for p in points if p[0] >= 8]
        colour = (1, 4, 5)[theorems.index(theorem) % 3]
        lines.append(Line(name, points, colour, dashed=what == "promised"))
    chart = line_chart(lines, "rows", "regret per row", zero=True)
    text = (
        "Loss per row above that of the best constant: what it was, what the learner could certify "
        "while it ran, and what its theorem had promised in advance. Each is at most the next."
    )
    return ("Regret, certificate, theorem", chart, text) if chart else None


def members(results: Results) -> Figure:
    """The blend against its best member: how far behind it was, and could have been."""
    lead, allowed = [], []
    for line in results["lines"]:
        known = (line["certified"] or {}).get("members", {})
        staying = [m for m in known.values() if m["rows"] == line["certified"]["rows"]]
        if staying and line["rows"] >= 8:
            best = min(staying, key=lambda m: m["loss"])
            lead.append((line["rows"], (line["certified"]["loss"] - best["loss"]) / line["rows"]))
            allowed.append((line["rows"], best["overhead"] / line["rows"]))
    chart = line_chart(
        [
            Line("blend - best member, per row", lead, 0, dots=True),
            Line("at most", allowed, 1, dashed=True),
        ],
        "rows",
        "loss per row",
        zero=True,
    )
    text = (
        "What the blend lost beyond its best member (below 0: it was better than all of them), and "
        "the bound on that, which is known while it runs."
    )
    return ("The blend and its best member", chart, text) if chart else None


def calibration(results: Results) -> Figure:
    """Probabilities against what happened."""
    points = [(chance, happened, weight) for weight, chance, happened in results["calibration"]]
    chart = square_chart(points, "probability", "share that happened")
    if not chart:
        return None
    what = results["labels"][-1] if results["task"] == "binary" else "the predicted class"
    error = results["metrics"].get("calibration_error")
    text = f"How often {what} came, by the probability it was given; larger dots are more rows."
    if error is not None:
        text += f" On average they differ by {error:.3f}."
    return "Calibration", chart, text


def weights(results: Results) -> Figure:
    """What one typical deviation of each feature changes, and what one unit changes."""
    rows = results["weights"][:20]
    by = "per_deviation" if rows and rows[0].get("per_deviation") is not None else "per_unit"
    bars = [
        (_named(row), row[by], f"{short(row['per_unit'])}/unit")
        for row in rows
        if row.get(by) is not None and row["per_unit"] is not None
    ]
    chart = bar_chart(bars)
    if not chart:
        return None
    adds = f"adds to {what_scores_are(results)}"
    what = (
        "one typical deviation of a feature" if by == "per_deviation" else "one unit of a feature"
    )
    text = f"Bars: what {what} {adds}. Numbers: what one unit of it adds."
    return "Weights by feature", chart, text


def _named(row: dict[str, Any]) -> str:
    return row["feature"] + (f" → {row['class']}" if "class" in row else "")


def blend(results: Results) -> Figure:
    """The weights of a blend's members over time."""
    lines = [line for line in results["lines"] if line.get("blend")]
    if results["blend"] and lines and lines[-1]["rows"] < results["rows"]:
        lines = [*lines, {"rows": results["rows"], "blend": results["blend"]}]
    most: dict[str, float] = {}
    for line in lines:
        for name, share in line["blend"].items():
            most[name] = max(most.get(name, 0.0), share)
    names = sorted(most, key=lambda name: -most[name])[:SHOWN]
    shares = [[line["blend"].get(name, 0.0) for name in names] for line in lines]
    shares = [[*each, max(0.0, 1 - sum(each))] for each in shares]
    chart = area_chart([*names, "others"], [line["rows"] for line in lines], shares)
    text = "How much of the prediction each member of the blend carried, row after row."
    return ("Blend weights", chart, text) if chart else None


def comparison(results: Results) -> Figure:
    """Losses of several learners, in the file's units and in others."""
    found = results.get("comparison") or []
    bars = []
    for entry in found:
        for where, loss in (("", entry["loss"]), (", other units", entry["elsewhere"])):
            text = "diverged" if loss is None else f"{loss:.4g}"
            bars.append((entry["learner"] + where, loss or 0.0, text))
    chart = bar_chart(bars, log=True)
    rows = (results.get("units") or {}).get("rows", "first")
    text = (
        f"Average loss of {rows} rows of the file for several learners, untuned, in the units of "
        "the file and with every feature multiplied by a random power of two from 2^-20 to 2^20. "
        "Bars that would differ too much show logarithms."
    )
    return ("Learners compared", chart, text) if chart else None
