"""The figures of a report, made from a results file."""

from unitless.evaluation.explanations import what_scores_are
from unitless.report.charts import (
    Figure,
    Results,
    Spec,
    axis,
    chart,
    colour,
    number_axis,
    over_rows,
    tall,
    wider,
    with_diagonal,
)
from unitless.report.class_figures import calibration, classes, confusion, precision_recall, roc

LOG_RATIO = 100
"""If losses differ by a larger factor, their axis is logarithmic."""
MIN_ROWS = 8
"""Averages over fewer rows are not shown: they would hide the others."""
SHOWN_MEMBERS = 7


def over_time(results: Results) -> Figure:
    """Show the loss by window, the average, and those of the baselines."""
    records = []
    for rows, loss in wider(results["curve"]):
        records.append({"rows": rows, "loss": loss, "series": "by window"})
    last = "last value" if results["task"] == "regression" else "last class"
    names = {"loss": "average so far", "baseline": "best constant so far", "last": f"{last} so far"}
    for key, series in names.items():
        for line in results["lines"]:
            if line.get(key) is not None and line["rows"] >= MIN_ROWS:
                records.append({"rows": line["rows"], "loss": line[key], "series": series})
        final = results["metrics"] if key == "loss" else results.get(key)
        if final and final.get("loss") is not None:
            records.append({"rows": results["rows"], "loss": final["loss"], "series": series})
    if len(results["curve"]) < 2:
        records = []
    name = f"{results['loss']} loss"
    text = (
        f"The {name} of predictions made before each label was used. A line that rises late means "
        "that the data changed; look at the alarms."
    )
    return Figure("Loss over time", text, over_rows(records, "loss", name, "series"), True)


def weights(results: Results) -> Figure:
    """Show the effect of one standard deviation of each feature."""
    rows = results["weights"][:20]
    by = "per_deviation" if rows and rows[0].get("per_deviation") is not None else "per_unit"
    records = []
    for row in rows:
        name = row["feature"] + (f" → {row['class']}" if "class" in row else "")
        if row.get(by) is not None:
            record = {"feature": name, "effect": row[by], "per unit": row["per_unit"]}
            records.append(record | {"sign": "down" if row[by] < 0 else "up"})
    change = "one standard deviation" if by == "per_deviation" else "one unit"
    text = f"Effect of {change} of a feature on {what_scores_are(results)}."
    names = axis("feature", " ", "nominal", sort=None, axis={"labelLimit": 150})
    effect = axis("effect")
    sign = colour("sign", ["up", "down"]) | {"legend": None}
    spec = chart(records, "bar", False, x=effect, y=names, color=sign)
    return Figure("Weights by feature", text, tall(spec, len(records)))


def members(results: Results) -> Figure:
    """Show the weights of a blend's members over time."""
    shares = [(line["rows"], line["blend"]) for line in results["lines"] if line.get("blend")]
    if results["blend"] and shares and shares[-1][0] < results["rows"]:
        shares.append((results["rows"], results["blend"]))
    most: dict[str, float] = {}
    for _, share in shares:
        for name, weight in share.items():
            most[name] = max(most.get(name, 0.0), weight or 0.0)
    names = sorted(most, key=lambda name: -most[name])[:SHOWN_MEMBERS]
    records = []
    for rows, share in shares:
        for name in names:
            records.append({"rows": rows, "weight": share.get(name) or 0.0, "member": name})
    spec = over_rows(records, "weight", "weight", "member") if len(shares) > 1 else None
    text = "Weight of the members of the Blend in its prediction; those with the largest weights."
    return Figure("Weights of the members", text, spec, True)


def theory(results: Results) -> Figure:
    """Show the regret against the best constant, and what is known about it during the run."""
    records = []
    for line in results["lines"]:
        certificate = line.get("certified")
        # With one class only, no constant is finite.
        if line["rows"] < MIN_ROWS or not line["baseline"] or not line["loss"] or not certificate:
            continue
        weight = line["total"] / line["loss"]
        values = {"true": line["loss"] - line["baseline"]}
        for claim in certificate["claims"]:
            if claim["against"] == "the best constant" and claim["rows"] == certificate["rows"]:
                theorem = claim["theorem"] or "no theorem"
                for name, key in (("certified", "certified"), ("bound", "sharp")):
                    if claim[key] is not None:
                        values[f"{name}, {theorem}"] = claim[key] / weight
        if len(values) > 1:
            for name, value in values.items():
                records.append({"rows": line["rows"], "regret per row": value, "line": name})
    text = (
        "Regret is the loss above that of the best constant, which is known only at the end. The "
        "learner can certify a bound on it at any time, without any assumption about the data: "
        "the true regret is at most the certified one, which is at most the bound of the theorem."
    )
    spec = over_rows(records, "regret per row", "regret per row", "line")
    return Figure("What is guaranteed", text, spec, True, needs_glossary=True)


def comparison(results: Results) -> Figure:
    """Show the losses of several learners, in the units of the file and in others."""
    records = []
    diverged = []
    for entry in results.get("comparison") or ():
        for units, key in (("own units", "loss"), ("other units", "elsewhere")):
            if entry[key] is None:
                diverged.append(f"{entry['learner']} ({units})")
            else:
                records.append({"learner": entry["learner"], "loss": entry[key], "units": units})
    rows = (results.get("units") or {}).get("rows", 0)
    text = (
        f"Average loss on {rows:,} rows of the file, without tuning: in its own units, and with "
        "every feature multiplied by a random power of two from 2^-20 to 2^20."
    )
    if diverged:
        text += f" Diverged: {', '.join(diverged)}."
    losses = [record["loss"] for record in records]
    is_log = bool(losses) and 0 < min(losses) < max(losses) / LOG_RATIO
    x = axis("loss", scale={"type": "log"} if is_log else {"zero": True})
    names = axis("learner", " ", "nominal", sort=None, axis={"labelLimit": 150, "grid": True})
    by_units = colour("units", ["own units", "other units"])
    dots = {"type": "point", "filled": True, "size": 90}
    apart = axis("units", None, "nominal", sort=None)
    spec = chart(records, dots, False, x=x, y=names, yOffset=apart, color=by_units)
    return Figure("Other learners", text, tall(spec, len(records)))


def slider(results: Results) -> Figure:
    """Show predictions in a unit that the reader chooses."""
    found = results.get("slider")
    if not found:
        return Figure("Drag the unit", "", None)
    records = []
    for trial in found["trials"]:
        for learner in ("ours", "gradient descent"):
            for row, value in zip(found["rows"], trial.get(learner, ()), strict=False):
                record = {"row": row, "prediction": value, "exponent": trial["exponent"]}
                records.append(record | {"learner": learner})
    scale: Spec = {"domain": found["range"], "nice": True}
    exponents = [trial["exponent"] for trial in found["trials"]]
    spec = chart(
        records,
        {"type": "point", "filled": True, "size": 26, "opacity": 0.8},
        False,
        x=axis("row", scale={"zero": False}),
        y=axis("prediction", scale=scale),
        color=colour("learner", ["ours", "gradient descent"]),
    )
    if spec is not None:
        bind: Spec = {"input": "range", "min": min(exponents), "max": max(exponents), "step": 2}
        bind["name"] = "unit: times 2 to the power of "
        spec["params"] = [{"name": "exponent", "value": 0, "bind": bind}]
        spec["transform"] = [{"filter": "datum.exponent == exponent"}]
    text = (
        f"Multiply {found['feature']!r} by a power of two. The predictions of this model stay, to "
        "the last bit; those of plain gradient descent on the same rows move (beyond the axis, "
        "they are drawn at its end)."
    )
    return Figure("Drag the unit", text, spec)


# Figures of numbers


def predicted_against_actual(results: Results) -> Figure:
    """Show a sample of predictions against the targets."""
    records = []
    for row, target, score in results.get("sample") or ():
        records.append({"row": row, "actual": target, "predicted": score})
    dots = {"type": "circle", "color": "var(--c0)", "opacity": 0.5, "size": 22}
    x = number_axis("actual", "actual")
    y = number_axis("predicted", "predicted")
    spec = chart(records, dots, x=x, y=y)
    actual = [record["actual"] for record in records]
    text = "A sample of the rows. Points on the line were predicted exactly."
    low = min(actual, default=0.0)
    diagonal = with_diagonal(spec, low, max(actual, default=1.0))
    return Figure("Predicted against actual", text, diagonal)


def residuals(results: Results) -> Figure:
    """Show the errors of a sample over time."""
    records = []
    for row, target, score in results.get("sample") or ():
        records.append({"rows": row, "error": score - target, "actual": target})
    dots = {"type": "circle", "color": "var(--c1)", "opacity": 0.5, "size": 22}
    x = axis("rows", scale={"zero": False, "nice": False})
    spec = chart(records, dots, x=x, y=axis("error", "prediction - actual"))
    text = "Errors of a sample of the rows. They should shrink at the start, then scatter evenly."
    return Figure("Errors over time", text, spec, True)


FIGURES = (
    over_time,
    confusion,
    predicted_against_actual,
    residuals,
    roc,
    precision_recall,
    calibration,
    classes,
    weights,
    members,
    comparison,
    slider,
    theory,
)
"""In the order of the page; those without data are left out."""
