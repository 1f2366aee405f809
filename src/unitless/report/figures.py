"""The figures of a report, made from a results file: (title, chart, caption).

A figure is None if the results have no data for it.
"""

from typing import Any

from unitless.evaluation.explanations import what_scores_are
from unitless.report.charts import Line, area_chart, bar_chart, line_chart, short, square_chart

Results = dict[str, Any]
Figure = tuple[str, str, str] | None
SHOWN_MEMBERS = 7
"""Number of members of a blend that are shown; the others are added up."""


def learning_curve(results: Results) -> Figure:
    """Show the average loss, the loss by window, and that of the best constant."""
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
    """Show the regret per row against the best constant, its certificate and its bound."""
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
                for what, key in (("certified", "certified"), ("bound", "sharp")):
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
        lines.append(Line(name, points, colour, dashed=what == "bound"))
    chart = line_chart(lines, "rows", "regret per row", zero=True)
    text = (
        "Loss per row above that of the best constant: the true regret, the certificate that the "
        "learner computed during the run, and the bound of its theorem. Each is at most the next."
    )
    return ("Regret, certificate, theorem", chart, text) if chart else None


def members(results: Results) -> Figure:
    """Show the difference between the blend and its best member, and the bound on it."""
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
        "Loss of the blend minus that of its best member (below 0, it was better than all of "
        "them), and the bound on this difference, which is known during the run."
    )
    return ("The blend and its best member", chart, text) if chart else None


def calibration(results: Results) -> Figure:
    """Show predicted probabilities against observed frequencies."""
    points = [(chance, happened, weight) for weight, chance, happened in results["calibration"]]
    chart = square_chart(points, "probability", "observed frequency")
    if not chart:
        return None
    what = results["labels"][-1] if results["task"] == "binary" else "the predicted class"
    error = results["metrics"].get("calibration_error")
    text = f"Observed frequency of {what} by predicted probability; larger dots are more rows."
    if error is not None:
        text += f" The mean difference is {error:.3f}."
    return "Calibration", chart, text


def weights(results: Results) -> Figure:
    """Show the effect of one standard deviation, and of one unit, of each feature."""
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
    change = "one standard deviation" if by == "per_deviation" else "one unit"
    text = (
        f"Bars: the effect of {change} of a feature on {what_scores_are(results)}. Numbers: the "
        "effect of one unit."
    )
    return "Weights by feature", chart, text


def _named(row: dict[str, Any]) -> str:
    return row["feature"] + (f" → {row['class']}" if "class" in row else "")


def blend(results: Results) -> Figure:
    """Show the mixture weights of a blend's members over time."""
    lines = [line for line in results["lines"] if line.get("blend")]
    if results["blend"] and lines and lines[-1]["rows"] < results["rows"]:
        lines = [*lines, {"rows": results["rows"], "blend": results["blend"]}]
    most: dict[str, float] = {}
    for line in lines:
        for name, share in line["blend"].items():
            most[name] = max(most.get(name, 0.0), share)
    names = sorted(most, key=lambda name: -most[name])[:SHOWN_MEMBERS]
    shares = [[line["blend"].get(name, 0.0) for name in names] for line in lines]
    shares = [[*each, max(0.0, 1 - sum(each))] for each in shares]
    chart = area_chart([*names, "others"], [line["rows"] for line in lines], shares)
    text = "Share of each member in the prediction of the blend, by number of rows."
    return ("Blend weights", chart, text) if chart else None


def comparison(results: Results) -> Figure:
    """Show the losses of several learners, in the units of the file and in others."""
    found = results.get("comparison") or []
    bars = []
    for entry in found:
        for where, loss in (("", entry["loss"]), (", other units", entry["elsewhere"])):
            text = "diverged" if loss is None else f"{loss:.4g}"
            bars.append((entry["learner"] + where, loss or 0.0, text))
    chart = bar_chart(bars, log=True)
    rows = (results.get("units") or {}).get("rows", "first")
    text = (
        f"Average loss of several learners, without tuning, on {rows} rows of the file: in its own "
        "units, and with every feature multiplied by a random power of two from 2^-20 to "
        "2^20. If losses differ by a factor of more than 100, bars show their logarithms."
    )
    return ("Learners compared", chart, text) if chart else None
