"""The figures of a report, made from a results file."""

from unitless.compare.rivals import TITLES
from unitless.model.explanations import what_scores_are
from unitless.report.charts import (
    Figure,
    Record,
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
from unitless.report.class_figures import calibration, confusion, precision_recall, roc

NAMES = TITLES | {"coordinate": "Algorithm 1", "ogd": "gradient descent"}
"""What learners of a comparison are called in its figure."""
LOG_RATIO = 100
"""If losses differ by a larger factor, their axis is logarithmic."""
MIN_ROWS = 8
"""Averages over fewer rows are not shown: they would hide the others."""
SHOWN_MEMBERS = 7
DOTS = {"type": "circle", "color": "var(--c0)", "opacity": 0.5, "size": 22}


def over_time(results: Results) -> Figure:
    """Show the loss by window, the average, and those of the baselines."""
    curve = wider(results["curve"])
    records = [{"rows": rows, "loss": loss, "series": "by window"} for rows, loss in curve]
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
    records = [
        {"rows": rows, "weight": share.get(name) or 0.0, "member": name}
        for rows, share in shares
        for name in names
    ]
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
        rows = line["total"] / line["loss"]
        values = {}
        for claim in certificate["claims"]:
            if claim["against"] == "the best constant" and claim["rows"] == certificate["rows"]:
                theorem = claim["theorem"] or "no theorem"
                values[f"certified, {theorem}"] = claim["certified"]
                values[f"bound, {theorem}"] = claim["sharp"]
        if values:
            values["true"] = rows * (line["loss"] - line["baseline"])
        for name, value in values.items():
            if value is not None:
                records.append({"rows": line["rows"], "regret": value / rows, "line": name})
    text = (
        "Regret is the loss above that of the best constant, which is known only at the end. The "
        "learner can certify a bound on it at any time, without any assumption about the data: "
        "the true regret is at most the certified one, which is at most the bound of the theorem."
    )
    spec = over_rows(records, "regret", "regret per row", "line")
    return Figure("What is guaranteed", text, spec, True, needs_glossary=True)


def comparison(results: Results) -> Figure:
    """Show the losses of several learners, in the units of the file and in others."""
    records = []
    diverged = []
    for entry in results.get("comparison") or ():
        learner = NAMES.get(entry["learner"], entry["learner"])
        for name, key in (("own units", "loss"), ("other units", "elsewhere")):
            if entry[key] is None:
                diverged.append(f"{learner} ({name})")
            else:
                records.append({"learner": learner, "loss": entry[key], "units": name})
    units = results.get("units") or {"rows": 0, "trials": ()}
    text = (
        f"Average loss on {units['rows']:,} rows of the file, without tuning: in its own units, "
        "and with every feature multiplied by a random power of two from 2^-20 to 2^20."
    )
    for trial in units["trials"][:1]:
        if trial["moved"] is not None:
            change = f"at most {trial['moved']:.1e}" if trial["moved"] else "exactly 0"
            text += f" The scores of {results['learner']} change by {change}."
    if diverged:
        text += f" Diverged: {', '.join(diverged)}."
    losses = [record["loss"] for record in records]
    is_log = bool(losses) and 0 < min(losses) < max(losses) / LOG_RATIO
    x = axis("loss", scale={"type": "log"} if is_log else {"zero": True})
    names = axis("learner", " ", "nominal", sort=None, axis={"labelLimit": 210, "grid": True})
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
    names = ["ours", "gradient descent"]
    records = [
        {"row": row, "prediction": value, "exponent": trial["exponent"], "learner": name}
        for trial in found["trials"]
        for name in names
        for row, value in zip(found["rows"], trial.get(name, ()), strict=False)
    ]
    dots = {"type": "point", "filled": True, "size": 26, "opacity": 0.8}
    x = axis("row", scale={"zero": False})
    y = axis("prediction", scale={"domain": found["range"], "nice": True})
    spec = chart(records, dots, False, x=x, y=y, color=colour("learner", names))
    if spec is not None:
        ends = [found["trials"][k]["exponent"] for k in (0, -1)]
        bind: Spec = {"input": "range", "min": ends[0], "max": ends[1], "step": 2}
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
    spec = chart(
        _sample(results),
        DOTS,
        x=number_axis("actual", "actual"),
        y=number_axis("predicted", "predicted"),
    )
    text = "A sample of the rows. Points on the line were predicted exactly."
    actual = [target for _, target, _ in results.get("sample") or ()] or [0.0]
    spec = with_diagonal(spec, min(actual), max(actual))
    return Figure("Predicted against actual", text, spec)


def residuals(results: Results) -> Figure:
    """Show the errors of a sample over time."""
    x = axis("rows", scale={"zero": False, "nice": False})
    y = axis("error", "prediction - actual")
    spec = chart(_sample(results), DOTS | {"color": "var(--c1)"}, x=x, y=y)
    text = "Errors of a sample of the rows. They should shrink at the start, then scatter evenly."
    return Figure("Errors over time", text, spec, True)


def _sample(results: Results) -> list[Record]:
    return [
        {"rows": row, "actual": target, "predicted": score, "error": score - target}
        for row, target, score in results.get("sample") or ()
    ]


FIGURES = (
    over_time,
    confusion,
    predicted_against_actual,
    residuals,
    roc,
    precision_recall,
    calibration,
    weights,
    members,
    comparison,
    slider,
    theory,
)
"""In the order of the page; those without data are left out."""
