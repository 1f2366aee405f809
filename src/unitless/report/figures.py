"""The figures of a report, made from a results file."""

from unitless.compare.rivals import TITLES
from unitless.model.explanations import what_predictions_are
from unitless.report.charts import (
    ROWS_AXIS,
    WHOLE,
    Figure,
    Record,
    Results,
    axis,
    chart,
    colour,
    layered,
    loss_axis,
    over_rows,
    wider,
    with_diagonal,
)
from unitless.report.class_figures import calibration, confusion, positive, precision_recall, roc

NAMES = TITLES | {"coordinate": "Algorithm 1", "ogd": "gradient descent"}
"""What learners of a comparison are called in its figure."""
MIN_ROWS = 8  # averages over fewer rows are not shown: they would hide the others
SHOWN_MEMBERS = 7
BAND = 100  # rows of the sample whose intervals are shown
DOTS = {"type": "circle", "color": "var(--c0)", "opacity": 0.5, "size": 22}


def over_time(results: Results) -> Figure:
    """Show the loss by window, the average, and those of the baselines."""
    curve = wider(results["curve"])
    records = [{"rows": rows, "loss": loss, "series": "by window"} for rows, loss in curve]
    last = "last value" if results["task"] == "regression" else "last class"
    names = {"loss": "average so far", "baseline": "best constant so far", "last": f"{last} so far"}
    for key, series in names.items():
        final = results["metrics"] if key == "loss" else results.get(key) or {}
        points = [(line["rows"], line.get(key)) for line in results["lines"]]
        for rows, loss in [*points, (results["rows"], final.get("loss"))]:
            if loss is not None and rows >= MIN_ROWS:
                records.append({"rows": rows, "loss": loss, "series": series})
    if len(curve) < 2:
        records = []
    name = f"{results['loss']} loss"
    first = results.get("first_scored", 1)
    scored = f" Scores count from row {first:,} on." if first > 1 else ""
    text = (
        f"The {name} per row, of predictions made before each label was used.{scored} A line that "
        "rises late means that the data changed."
    )
    if results["alarms"]:
        text += " What was noticed about units is below the figures."
    y = loss_axis(records, f"{name} per row", zero=False)
    return Figure("Loss over time", text, over_rows(records, y, "series"), True)


def effects(results: Results) -> Figure:
    """Show how far each column moves the prediction."""
    records = []
    for row in results.get("effects", [])[:15]:
        record = {"column": row["column"], "change": row["moves"]}
        if row.get("change") is not None:
            record |= {"between": f"{row['from']} and {row['to']}", "difference": row["change"]}
        records.append(record)
    what = what_predictions_are(results)
    text = (
        f"How much {what} changes, on average, when a column has the value of another row and all "
        "other columns stay as they are."
    )
    names = axis("column", " ", "nominal", sort=None, axis={"labelLimit": 190})
    change = axis("change", f"typical change of {what}")
    bars = {"type": "bar", "height": {"band": min(0.85, 0.2 * len(records))}}
    spec = chart(records, bars, False, x=change, y=names)
    return Figure("Effects of the columns", text, spec)


def members(results: Results) -> Figure:
    """Show the weights of a blend's members over time."""
    shares = {line["rows"]: line["blend"] for line in results["lines"] if line.get("blend")}
    if results["blend"] and shares:
        shares[results["rows"]] = results["blend"]
    most: dict[str, float] = {}
    for share in shares.values():
        for name, weight in share.items():
            most[name] = max(most.get(name, 0.0), weight or 0.0)
    names = sorted(most, key=lambda name: -most[name])[:SHOWN_MEMBERS]
    records = []
    if len(shares) > 1:
        for rows, share in shares.items():
            for name in names:
                records.append({"rows": rows, "weight": share.get(name) or 0.0, "member": name})
    spec = over_rows(records, axis("weight", "weight in the prediction", scale=WHOLE), "member")
    text = "How much the members with the largest weights count in the prediction of the Blend."
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
        "the true regret is at most the certified one, which is at most the bound of the theorem. "
        "Certificates count row 1, which scores do not."
    )
    y = axis("regret", f"regret per row ({results['loss']} loss)")
    spec = over_rows(records, y, "line")
    return Figure("What is guaranteed", text, spec, True, needs_glossary=True)


def comparison(results: Results) -> Figure:
    """Show the losses of several learners, in the units of the file and in others."""
    records = []
    for entry in results.get("comparison") or ():
        learner = NAMES.get(entry["learner"], entry["learner"])
        for name, key in (("own units", "loss"), ("other units", "elsewhere")):
            if entry[key] is not None:
                records.append({"learner": learner, "loss": entry[key], "units": name})
    units = results.get("units") or {"rows": 0, "trials": ()}
    text = (
        f"Average loss on the first {units['rows']:,} rows, without tuning: in the units of the "
        f"file and, for {results['learner']}, with every feature multiplied by a random power of "
        "two from 2^-20 to 2^20. The others are retrained on all past rows each time these have "
        "grown by half."
    )
    for trial in units["trials"][:1]:
        if trial["moved"] is not None:
            change = f"at most {trial['moved']:.1e}" if trial["moved"] else "exactly 0"
            text += f" The scores of {results['learner']} change by {change}."
    x = loss_axis(records, f"average {results['loss']} loss", zero=True)
    names = axis("learner", " ", "nominal", sort=None, axis={"labelLimit": 210, "grid": True})
    by_units = colour("units", ["own units", "other units"])
    dots = {"type": "point", "filled": True, "size": 90, "clip": False}
    apart = axis("units", None, "nominal", sort=None)
    spec = chart(records, dots, False, x=x, y=names, yOffset=apart, color=by_units)
    return Figure("Other learners", text, spec)


def slider(results: Results) -> Figure:
    """Show predictions in a unit that the reader chooses."""
    found = results.get("slider")
    if not found or not found["trials"]:
        return Figure("Drag the unit", "", None)
    names = [name for name in found["trials"][0] if name != "exponent"]
    records = []
    for trial in found["trials"]:
        for name in names:
            for row, value in zip(found["rows"], trial.get(name, ()), strict=False):
                record = {"row": row, "prediction": value, "learner": name}
                records.append(record | {"exponent": trial["exponent"]})
    dots = {"type": "point", "filled": True, "size": 26, "opacity": 0.8, "clip": False}
    whole = {"format": "d", "tickMinStep": 1}
    x = axis("row", scale={"zero": False, "nice": False}, axis=whole)
    y = axis("prediction", _what_is_predicted(results), scale={"domain": found["range"]})
    spec = chart(records, dots, False, x=x, y=y, color=colour("learner", names))
    if spec is not None:
        bind = {
            "input": "range",
            "min": found["trials"][0]["exponent"],
            "max": found["trials"][-1]["exponent"],
            "step": 2,
            "name": "times 2 to the power of ",
        }
        spec["params"] = [{"name": "exponent", "value": 0, "bind": bind}]
        spec["transform"] = [{"filter": "datum.exponent == exponent"}]
    text = (
        f"Multiply {found['feature']!r} by a power of two. The predictions of this model stay the "
        f"same to the last bit. Those of {names[-1]} on the same rows move."
    )
    return Figure("Drag the unit", text, spec)


def _what_is_predicted(results: Results) -> str:
    if results["task"] == "regression":
        return f"predicted {results['target'] or 'value'}"
    if results["task"] == "multiclass":
        return "probability of the actual class"
    return f"probability of {positive(results)}" if results["loss"] == "logistic" else "score"


# Figures of numbers


def predicted_against_actual(results: Results) -> Figure:
    """Show a sample of predictions against the targets."""
    what = results["target"] or "value"
    x = axis("actual", f"actual {what}", scale={"zero": False})
    y = axis("predicted", f"predicted {what}", scale={"zero": False})
    records = _sample(results)
    spec = chart(records, DOTS, x=x, y=y)
    text = "A sample of the rows. Points on the line were predicted exactly."
    actual = [record["actual"] for record in records] or [0.0]
    spec = with_diagonal(spec, min(actual), max(actual))
    return Figure("Predicted against actual", text, spec)


def residuals(results: Results) -> Figure:
    """Show the errors of a sample over time."""
    y = axis("error", f"predicted minus actual {results['target'] or 'value'}")
    spec = chart(_sample(results), DOTS | {"color": "var(--c1)"}, x=ROWS_AXIS, y=y)
    text = "Errors of a sample of the rows. They should shrink at the start, then scatter evenly."
    return Figure("Errors over time", text, spec, True)


def band(results: Results) -> Figure:
    """Show the intervals around predictions, and the targets, for a sample of the rows."""
    finite = [each for each in results.get("band") or () if None not in each]
    ends = {int(row): (low, high) for row, low, high in finite}
    declared = results.get("intervals") or [{"asked": 0.0}]
    share = f"{100 * max(own['asked'] for own in declared):g} %"
    records = []
    for record in _sample(results)[-BAND:]:
        if record["rows"] in ends:
            low, high = ends[record["rows"]]
            records.append(record | {"low": low, "high": high})
    what = results["target"] or "value"
    y = axis("actual", f"{what} and its interval", scale={"zero": False})
    spec = chart(records, DOTS | {"color": "var(--c1)"}, x=ROWS_AXIS, y=y)
    if spec is not None:
        ends_of_bars = {"y": axis("low", y["title"]), "y2": {"field": "high"}, "x": ROWS_AXIS}
        bars = {"type": "rule", "color": "var(--c0)", "opacity": 0.35, "strokeWidth": 3}
        spec = layered(spec, below={"mark": bars | {"clip": True}, "encoding": ends_of_bars})
    text = (
        f"The last rows of a sample: the interval that was given for {share} coverage before the "
        "target was known, and the target."
    )
    return Figure("Intervals around predictions", text, spec, True)


def coverage_over_time(results: Results) -> Figure:
    """Show the share of rows that intervals or sets covered, by window."""
    declared = results.get("intervals") or []
    records = []
    for rows, *shares in wider(results.get("interval_curve") or []):
        for own, share in zip(declared, shares, strict=True):
            name = f"{100 * own['asked']:g} % asked for"
            records.append({"rows": rows, "covered": share, "coverage": name})
    if len(records) <= len(declared):
        records = []
    y = axis("covered", "share of rows covered", scale={"zero": False})
    told = [
        f"{100 * own['share']:.1f} % of all rows are covered where {100 * own['asked']:g} % were "
        f"asked for, and at least {100 * own['low']:.1f} % was certain whatever the data are"
        for own in declared
    ]
    text = "The share of rows covered by window: " + "; ".join(told) + "."
    return Figure("Coverage over time", text, over_rows(records, y, "coverage"), True)


def _sample(results: Results) -> list[Record]:
    records = []
    for row, target, score in results.get("sample") or ():
        record = {"rows": row, "actual": target, "predicted": score}
        records.append(record | {"error": score - target})
    return records


FIGURES = (
    over_time,
    confusion,
    predicted_against_actual,
    residuals,
    band,
    coverage_over_time,
    roc,
    precision_recall,
    calibration,
    effects,
    members,
    comparison,
    slider,
    theory,
)
"""In the order of the page; those without data are left out."""
