"""The verdict of a report: how good the predictions are, and whether that is certain."""

import math

from unitless.report.charts import Results, shown

GRADES = {
    0.9: "far better",
    0.5: "much better",
    0.1: "better",
    0.01: "slightly better",
    -0.01: "no better",
    -math.inf: "worse",
}
"""By the share of a baseline's loss that the model saves at least."""
RIVALS = {
    "boosting": "HistGradientBoosting, retrained as rows arrive",
    "linear": "a scaled linear model, retrained as rows arrive",
}
"""Names of a comparison in a sentence."""


def verdict(results: Results) -> list[str]:
    """Return sentences; the first compares with the better of best constant and last label.

    >>> facts = {"task": "binary", "target": "spam", "rows": 200, "loss": "logistic"}
    >>> facts |= {"metrics": {"loss": 0.2}, "baseline": {"loss": 0.6}, "learner": "blend"}
    >>> print(*verdict(facts | {"curve": curve}), sep="\\n")
    Predictions of spam are much better than the best constant: the logistic loss is 0.2 instead
    of 0.6 (67 % less).
    This is certain (95 %, at any time) since row 120: by 0.35 to 0.45 per row.
    """
    loss = results["metrics"].get("loss")
    if loss is None or not results["baseline"]:
        return [
            "No row with a label was predicted after another label was known, so nothing can be "
            "said about the predictions."
        ]
    late = results.get("not_fresh") or {}
    if "loss" in late and results.get("delay") is None:
        return [*_without_recent_labels(results, late), *_against_rivals(results)]
    constant = results["baseline"]["loss"]
    last = (results.get("last") or {}).get("loss", math.inf)
    repeating = f"repeating the last {'value' if results['task'] == 'regression' else 'class'}"
    baseline, name = min((constant, "the best constant"), (last, repeating))
    verdicts = results.get("verdicts") or {}
    against = "constant" if baseline == constant else "last"
    certain = certainty(verdicts.get(against))
    what = f" of {results['target']}" if results["target"] else ""
    compared = _compared(results, loss, baseline, name)
    sentences = [f"Predictions{what} are {compared}{_in_other_words(results)}."]
    if baseline == constant:
        sentences.append(f"This is {certain}")
        if last < math.inf:
            sentences.append(f"{repeating.capitalize()} has a loss of {shown(last)}.")
    else:
        if last < loss:
            sentences.append("The rows come in an order that the features do not explain.")
        sentences.append(f"This is {certain}")
        sentences.append(f"The best constant has a loss of {shown(constant)}.")
    return sentences + _against_rivals(results)


def _compared(results: Results, loss: float, baseline: float, name: str) -> str:
    """Return how a loss compares with that of a baseline."""
    saved = (baseline - loss) / baseline if baseline else -loss
    grade = next(word for least, word in GRADES.items() if saved >= least)
    change = ""
    if baseline:
        digits = 0 if abs(saved) >= 0.1 else 1
        change = f" ({100 * abs(saved):.{digits}f} % {'less' if saved >= 0 else 'more'})"
    return (
        f"{grade} than {name}: the {results['loss']} loss is {shown(loss)} instead of "
        f"{shown(baseline)}{change}"
    )


def _without_recent_labels(results: Results, late: dict[str, float]) -> list[str]:
    """Return sentences about both situations, where recent labels make a difference."""
    constant = results["baseline"]["loss"]
    what = f" of {results['target']}" if results["target"] else ""
    words = _in_other_words(results | {"metrics": late})
    compared = _compared(results, late["loss"], constant, "the best constant")
    last = (results.get("last") or {}).get("loss")
    repeating = "" if last is None else f"; repeating the last label has {shown(last)}"
    verdicts = results.get("verdicts") or {}
    sentences = [
        f"If labels come later than the next row, predictions{what} are {compared}{words}.",
        f"This is {certainty(verdicts.get('constant_not_fresh'))}",
        "If every label is known before the next row, the loss is "
        f"{shown(results['metrics']['loss'])}{repeating}.",
    ]
    if last is not None:
        side = _side(verdicts.get("last"))
        sentences.append(f"That this is {side} is {certainty(verdicts.get('last'))}")
    return [*sentences, "Say which it is with --delay."]


def _side(found: Results | None) -> str:
    return "worse" if found and found["mean"] > 0 else "better"


def _in_other_words(results: Results) -> str:
    """Return the accuracy, or the typical error."""
    metrics = results["metrics"]
    classes = results.get("classes") or []
    if "accuracy" in metrics and sum(classes) > 0:
        right = f"{100 * metrics['accuracy']:.1f} %"
        most = f"{100 * max(classes) / sum(classes):.1f} %"
        if right == most:
            return f", and {right} of the rows are right, as many as with the most frequent class"
        return f", and {right} of the rows are right instead of {most} for the most frequent class"
    if "mae" in metrics:
        explained = f" (R² {metrics['r2']:.3f})" if "r2" in metrics else ""
        return f", and the mean absolute error is {shown(metrics['mae'])}{explained}"
    return ""


def certainty(found: Results | None) -> str:
    """Say whether a difference of losses is certain, and between which limits it is.

    >>> certainty({"mean": -0.4, "low": -0.45, "high": -0.35, "row": 120, "level": 0.95})
    'certain (95 %, at any time) since row 120: by 0.35 to 0.45 per row.'
    """
    if not found:
        return "not certain: there are too few rows to tell."
    level = f"{100 * found['level']:g} %, at any time"
    low, high = found["low"], found["high"]
    if low is None or high is None:
        return f"not certain ({level}): more rows would tell."
    if found["row"] is None:
        between = f"the difference per row is between {shown(low)} and {shown(high)}"
        return f"not certain ({level}): {between}."
    certain = f"certain ({level}) since row {found['row']:,}"
    if low <= 0 <= high:  # it was, and what came later differs
        return f"{certain}, but not of all rows: it is between {shown(low)} and {shown(high)} now."
    ends = sorted((abs(low), abs(high)))
    return f"{certain}: by {shown(ends[0])} to {shown(ends[1])} per row."


def _against_rivals(results: Results) -> list[str]:
    """Compare with models of scikit-learn on the rows that were kept."""
    found = {entry["learner"]: entry["loss"] for entry in results.get("comparison") or ()}
    own = found.get(results["learner"])
    rivals = [f"{shown(found[key])} for {name}" for key, name in RIVALS.items() if found.get(key)]
    if own is None or not rivals:
        return []
    rows = (results.get("units") or {}).get("rows", 0)
    return [f"On the first {rows:,} rows, the loss is {shown(own)}; it is {', and '.join(rivals)}."]
