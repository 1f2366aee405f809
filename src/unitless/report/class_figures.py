"""Figures about classes: confusion, ROC, precision and recall, calibration."""

import math

from unitless.report.charts import (
    HEIGHT,
    WHOLE,
    Figure,
    Record,
    Results,
    axis,
    chart,
    layered,
    with_diagonal,
)

LINE = {"type": "line", "color": "var(--c0)", "point": {"size": 12}}
MAX_COUNTS = 12  # with more classes, the cells of the confusion matrix have no numbers


def confusion(results: Results) -> Figure:
    """Show actual against predicted classes."""
    labels = results["labels"]
    table = results.get("confusion") or []
    records = []
    for row, label, rows in zip(table, labels, results.get("classes") or [], strict=False):
        for count, predicted in zip(row, labels, strict=False):
            record = {"actual": f"{label} ({rows:,.0f} rows)", "predicted": predicted}
            share = count / rows if rows else 0.0
            records.append(record | {"rows": count, "share of the actual class": share})
    places = {
        "x": axis("predicted", "predicted class", "nominal", sort=None),
        "y": axis("actual", "actual class", "nominal", sort=None),
    }
    places["x"]["axis"] = {"labelAngle": 0 if len(table) <= 6 else -90}
    opacity = {"domain": [0, 1], "range": [0.04, 0.6]}
    cells = axis("share of the actual class", "", legend=None, scale=opacity)
    tiles = {"type": "rect", "fill": "var(--c0)"}
    spec = chart(records, tiles, False, **places, fillOpacity=cells)
    if spec is not None:
        spec["height"] = max(HEIGHT, 16 * len(table))
        if len(table) <= MAX_COUNTS:
            text_mark = {"type": "text", "color": "currentColor", "tooltip": {"content": "data"}}
            counts = {"text": axis("rows", format=",.6~g")}
            spec = layered(spec, above={"mark": text_mark, "encoding": places | counts})
    text = (
        "Number of rows by actual and predicted class. The darker a cell, the larger its share of "
        "the actual class."
    )
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
        records.append(
            {
                "threshold": threshold,
                "false positive rate": false / negatives,
                "recall": true / positives,
                "precision": true / (false + true),
                "F1": 2 * true / (positives + false + true),
                "share of rows": (false + true) / (negatives + positives),
            }
        )
    return records


def positive(results: Results) -> str:
    """Return the name of the second class."""
    labels = results["labels"]
    return labels[1] if len(labels) == 2 else "the second class"


def roc(results: Results) -> Figure:
    """Show the ROC curve."""
    records = rates(results)
    if records:
        records.append({"false positive rate": 0.0, "recall": 0.0})
    x = axis("false positive rate", scale=WHOLE)
    y = axis("recall", "recall (true positive rate)", scale=WHOLE)
    spec = chart(records, LINE, x=x, y=y, order=axis("false positive rate"))
    what = positive(results)
    text = (
        f"The share of the rows of {what} that are found, against the share of the other rows that "
        f"are taken for {what}. The diagonal is guessing."
    )
    if "auc" in results["metrics"]:
        text += f" Area under the curve: {results['metrics']['auc']:.3f}."
    return Figure("ROC curve", text, with_diagonal(spec, 0.0, 1.0))


def precision_recall(results: Results) -> Figure:
    """Show precision against recall."""
    x = axis("recall", scale=WHOLE)
    y = axis("precision", scale=WHOLE)
    spec = chart(rates(results), LINE, x=x, y=y, order=axis("recall"))
    what = positive(results)
    text = (
        f"Precision is the share of the rows predicted as {what} that are {what}. Recall is the "
        f"share of the rows of {what} that are found."
    )
    return Figure("Precision and recall", text, spec)


def calibration(results: Results) -> Figure:
    """Show predicted probabilities against observed frequencies."""
    records = [
        {"probability": chance, "observed frequency": happened, "rows": weight}
        for weight, chance, happened in results["calibration"]
    ]
    dots = {"type": "circle", "color": "var(--c0)", "opacity": 0.9, "clip": False}
    x = axis("probability", "predicted probability", scale=WHOLE)
    y = axis("observed frequency", scale=WHOLE)
    size = axis("rows", legend=None, scale={"range": [30, 400]})
    is_binary = results["task"] == "binary"
    what = f"a row is {positive(results)}" if is_binary else "the predicted class is right"
    text = (
        f"How often {what}, by the predicted probability. Larger dots stand for more rows. On the "
        "diagonal, the probabilities are right."
    )
    if "calibration_error" in results["metrics"]:
        text += f" The mean difference is {results['metrics']['calibration_error']:.3f}."
    spec = chart(records, dots, zoom=False, x=x, y=y, size=size)
    return Figure("Calibration", text, with_diagonal(spec, 0.0, 1.0))
