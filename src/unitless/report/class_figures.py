"""Figures about classes: confusion, ROC, precision and recall, calibration, class counts."""

import math

from unitless.report.charts import Figure, Record, Results, axis, chart, tall, with_diagonal


def confusion(results: Results) -> Figure:
    """Show actual against predicted classes."""
    records = []
    table = results.get("confusion") or []
    for row, label in zip(table, results["labels"], strict=False):
        total = sum(row)
        for count, predicted in zip(row, results["labels"], strict=False):
            share = count / total if total else 0.0
            record = {"actual": label, "predicted": predicted, "rows": count}
            records.append(record | {"share of the actual class": share})
    share = axis("share of the actual class", "", legend=None)
    angle = {"labelAngle": 0 if len(table) <= 6 else -90}
    names = {"x": axis("predicted", None, "nominal", sort=None, axis=angle)}
    names["y"] = axis("actual", None, "nominal", sort=None)
    cells = {**share, "scale": {"domain": [0, 1], "range": [0.04, 0.85]}}
    tiles = {"type": "rect", "fill": "var(--c0)"}
    spec = chart(records, tiles, False, **names, fillOpacity=cells)
    if spec is not None and len(table) <= 12:
        marks = {name: spec.pop(name) for name in ("mark", "encoding")}
        counts = {"text": axis("rows", None, "quantitative", format=",.4~g")}
        text_mark = {"type": "text", "color": "currentColor", "tooltip": {"content": "data"}}
        spec["layer"] = [marks, {"mark": text_mark, "encoding": names | counts}]
    text = "Rows by actual and predicted class; darker: a larger share of the actual class."
    return Figure("Confusion matrix", text, spec)


def classes(results: Results) -> Figure:
    """Show how often each class occurs."""
    records = []
    for label, count in zip(results["labels"], results.get("classes") or (), strict=False):
        records.append({"class": label, "rows": count})
    text = "Rows of each class (their total sample weight)."
    names = axis("class", " ", "nominal", sort=None, axis={"labelLimit": 150})
    bars = {"type": "bar", "color": "var(--c0)"}
    spec = chart(records[:50], bars, False, x=axis("rows"), y=names)
    return Figure("Classes", text, tall(spec, min(len(records), 50)))


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
        records.append(
            {
                "threshold": threshold,
                "false positive rate": false / negatives,
                "recall": true / positives,
                "precision": true / (false + true),
                "F1": 2 * true / (positives + false + true),
                "share": (false + true) / (negatives + positives),
            }
        )
    return records


def roc(results: Results) -> Figure:
    """Show the ROC curve."""
    records = rates(results)
    if records:
        records = [*records, {"false positive rate": 0.0, "recall": 0.0}]
    line = {"type": "line", "color": "var(--c0)", "point": {"size": 12}}
    x = axis("false positive rate")
    y = axis("recall", "true positive rate (recall)")
    spec = chart(records, line, x=x, y=y, order=axis("false positive rate"))
    auc = results["metrics"].get("auc")
    text = "How many rows of the second class are found at which price. The diagonal is guessing."
    text += f" Area under the curve: {auc:.3f}." if auc is not None else ""
    return Figure("ROC curve", text, with_diagonal(spec, 0.0, 1.0))


def precision_recall(results: Results) -> Figure:
    """Show precision against recall."""
    line = {"type": "line", "color": "var(--c0)", "point": {"size": 12}}
    x = axis("recall", scale={"domain": [0, 1]})
    y = axis("precision", scale={"domain": [0, 1]})
    spec = chart(rates(results), line, x=x, y=y, order=axis("recall"))
    what = results["labels"][-1] if results["labels"] else "the second class"
    text = f"Precision: how many rows predicted as {what} are. Recall: how many of them are found."
    return Figure("Precision and recall", text, spec)


def calibration(results: Results) -> Figure:
    """Show predicted probabilities against observed frequencies."""
    records = []
    for weight, chance, happened in results["calibration"]:
        records.append({"probability": chance, "observed frequency": happened, "rows": weight})
    dots = {"type": "circle", "color": "var(--c0)", "opacity": 0.9}
    x = axis("probability", scale={"domain": [0, 1]})
    y = axis("observed frequency", scale={"domain": [0, 1]})
    size = axis("rows", legend=None, scale={"range": [30, 400]})
    spec = chart(records, dots, x=x, y=y, size=size)
    is_binary = results["task"] == "binary" and results["labels"]
    what = results["labels"][-1] if is_binary else "the predicted class"
    text = f"Observed frequency of {what} by predicted probability; larger dots are more rows."
    error = results["metrics"].get("calibration_error")
    text += "" if error is None else f" The mean difference is {error:.3f}."
    return Figure("Calibration", text, with_diagonal(spec, 0.0, 1.0))
