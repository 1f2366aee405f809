"""Figures about classes: confusion, ROC, precision and recall, calibration."""

import math

from unitless.report.charts import Figure, Record, Results, axis, chart, with_diagonal

LINE = {"type": "line", "color": "var(--c0)", "point": {"size": 12}}
WHOLE = {"domain": [0, 1]}
MAX_COUNTS = 12
"""With more classes, the cells of the confusion matrix have no numbers."""


def confusion(results: Results) -> Figure:
    """Show actual against predicted classes."""
    table = results.get("confusion") or []
    totals = results.get("classes") or []
    records = []
    for row, label, rows in zip(table, results["labels"], totals, strict=False):
        actual = f"{label} ({rows:,.0f} rows)"
        for count, predicted in zip(row, results["labels"], strict=False):
            share = count / rows if rows else 0.0
            record = {"actual": actual, "predicted": predicted, "rows": count}
            records.append(record | {"share of the actual class": share})
    angle = {"labelAngle": 0 if len(table) <= 6 else -90}
    names = {"x": axis("predicted", None, "nominal", sort=None, axis=angle)}
    names["y"] = axis("actual", None, "nominal", sort=None)
    opacity = {"domain": [0, 1], "range": [0.04, 0.6]}
    cells = axis("share of the actual class", "", legend=None, scale=opacity)
    tiles = {"type": "rect", "fill": "var(--c0)"}
    spec = chart(records, tiles, False, **names, fillOpacity=cells)
    if spec is not None and len(table) <= MAX_COUNTS:
        marks = {name: spec.pop(name) for name in ("mark", "encoding")}
        counts = {"text": axis("rows", format=",.6~g")}
        text_mark = {"type": "text", "color": "currentColor", "tooltip": {"content": "data"}}
        spec["layer"] = [marks, {"mark": text_mark, "encoding": names | counts}]
    text = "Rows by actual and predicted class; darker: a larger share of the actual class."
    return Figure("Confusion matrix", text, spec)


def rates(results: Results) -> list[Record]:
    """Return threshold, rates, precision, recall and F1 for each threshold of the results."""
    found = results.get("thresholds") or []
    if not found or len(results["labels"]) != 2:
        return []
    negatives, positives = found[0][1:]
    records = []
    for score, false, true in found:
        if not (negatives and positives and false + true):
            continue
        threshold = score
        if results["loss"] == "logistic":
            threshold = 1 / (1 + math.exp(-max(score, -700)))
        record = {"threshold": threshold, "false positive rate": false / negatives}
        record |= {"recall": true / positives, "precision": true / (false + true)}
        record |= {"F1": 2 * true / (positives + false + true)}
        records.append(record | {"share": (false + true) / (negatives + positives)})
    return records


def roc(results: Results) -> Figure:
    """Show the ROC curve."""
    records = rates(results)
    if records:
        records = [*records, {"false positive rate": 0.0, "recall": 0.0}]
    x = axis("false positive rate", scale=WHOLE)
    spec = chart(records, LINE, x=x, y=axis("recall", scale=WHOLE), order=axis(x["field"]))
    what = results["labels"][-1] if results["labels"] else "the second class"
    text = f"How many rows of {what} are found, and at which price. The diagonal is guessing."
    auc = results["metrics"].get("auc")
    text += f" Area under the curve: {auc:.3f}." if auc is not None else ""
    return Figure("ROC curve", text, with_diagonal(spec, 0.0, 1.0))


def precision_recall(results: Results) -> Figure:
    """Show precision against recall."""
    x = axis("recall", scale=WHOLE)
    y = axis("precision", scale=WHOLE)
    spec = chart(rates(results), LINE, x=x, y=y, order=axis("recall"))
    what = results["labels"][-1] if results["labels"] else "the second class"
    text = (
        f"Precision: the share of rows predicted as {what} that are {what}. Recall: the share of "
        f"all rows of {what} that are found."
    )
    return Figure("Precision and recall", text, spec)


def calibration(results: Results) -> Figure:
    """Show predicted probabilities against observed frequencies."""
    records = [
        {"probability": chance, "observed frequency": happened, "rows": weight}
        for weight, chance, happened in results["calibration"]
    ]
    dots = {"type": "circle", "color": "var(--c0)", "opacity": 0.9}
    x = axis("probability", "predicted probability", scale=WHOLE)
    y = axis("observed frequency", scale=WHOLE)
    size = axis("rows", legend=None, scale={"range": [30, 400]})
    is_binary = results["task"] == "binary" and results["labels"]
    what = results["labels"][-1] if is_binary else "the predicted class"
    text = (
        f"Observed frequency of {what} by its predicted probability; larger dots are more rows. On "
        "the diagonal, probabilities are right."
    )
    error = results["metrics"].get("calibration_error")
    text += "" if error is None else f" The mean difference is {error:.3f}."
    spec = chart(records, dots, x=x, y=y, size=size)
    return Figure("Calibration", text, with_diagonal(spec, 0.0, 1.0))
