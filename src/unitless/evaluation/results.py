"""Read and write results files: the content of a report as JSON (docs/results-format.md)."""

import json
import math
import os
from pathlib import Path
from typing import Any

from unitless import __version__
from unitless.blend.blend import Blend
from unitless.evaluation.evaluation import Evaluation
from unitless.evaluation.explanations import certified, weights_by_feature
from unitless.evaluation.results_schema import LENGTHS, RESULTS, problem
from unitless.labels import text_of
from unitless.model import LOSSES, Model
from unitless.persistence.container import replace

FORMAT = 1
TOP = 100
"""Features whose weights are kept."""


def results_of(run: Evaluation, **more: Any) -> dict[str, Any]:
    """The results of an evaluation; `more` (units, comparison, seconds, ...) is added unchanged."""
    model, constant = run.model, run.constant()
    weights = weights_by_feature(model, TOP)
    return {
        "results": FORMAT,
        "package": __version__,
        "source": model.source,
        "task": model.task,
        "target": model.target,
        "learner": model.learner.name,
        "loss": model.learner.loss.name,
        "labels": [text_of(label) for label in model.labels],
        "rows": run.rows,
        "learned": model.rows,
        "unlabelled": run.unlabelled,
        "held_out": run.held_out,
        "holdouts": run.holdouts,
        "passes": run.passes,
        "skipped": model.position.get("skipped", 0),
        "coerced": model.position.get("coerced", 0),
        "features": len(model.feature_names()),
        "metrics": run.tally.metrics(),
        "baseline": None if constant is None else {"score": constant.score, "loss": constant.loss},
        "certificate": certified(model.learner, constant),
        "lines": run.lines,
        "curve": run.curve.points(),
        "calibration": _calibration(run),
        "weights": weights,
        "blend": _blend(model),
        "alarms": run.alarms,
        **more,
    }


def _calibration(run: Evaluation) -> list[list[float]]:
    """[weight, mean probability, observed frequency] of the nonempty bins."""
    return [
        [float(weight), float(chance / weight), float(happened / weight)]
        for weight, chance, happened in run.tally.calibration
        if weight > 0
    ]


def _blend(model: Model) -> dict[str, float] | None:
    return model.learner.mixture_weights() if isinstance(model.learner, Blend) else None


def write_results(path: str | os.PathLike[str], results: dict[str, Any]) -> None:
    """Write a results file; numbers that are not finite become null."""
    text = json.dumps(_finite(results), indent=1, ensure_ascii=False, allow_nan=False)
    replace(path, text.encode() + b"\n")


def _finite(thing: Any) -> Any:
    if isinstance(thing, float):
        return thing if math.isfinite(thing) else None
    if isinstance(thing, dict):
        return {str(k): _finite(v) for k, v in thing.items()}
    return [_finite(v) for v in thing] if isinstance(thing, list | tuple) else thing


def read_results(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read a results file; a file of another kind, or with values of another type, is an error.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_results(f"{folder}/r.json", {"results": 1, "package": 3})
    ...     try:
    ...         read_results(f"{folder}/r.json")
    ...     except ValueError as error:
    ...         print(str(error).rpartition(": ")[2])
    package is 3
    """
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise ValueError(f"{os.fspath(path)}: it is not a results file (not JSON)") from None
    number = found.get("results") if isinstance(found, dict) else None
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= FORMAT:
        raise ValueError(f"{os.fspath(path)}: it is not a results file of format {FORMAT}")
    try:
        wrong = problem(found, RESULTS) or _contradiction(found)
    except RecursionError:
        wrong = "it is nested too deeply"
    if wrong:
        raise ValueError(f"{os.fspath(path)}: it is not a results file: {wrong}")
    for name in LENGTHS:  # a loss that was not finite has no place on a chart
        found[name] = [point for point in found[name] if None not in point]
    found["lines"] = [line for line in found["lines"] if line.get("total", 0) is not None]
    return dict(found)


def _contradiction(found: dict[str, Any]) -> str | None:
    """Describe an inconsistency between values of the right types; None if there is none."""
    if found["task"] not in LOSSES:
        return f"task is {found['task']!r}"
    if found["calibration"] and found["task"] == "binary" and not found["labels"]:
        return "labels is []"
    if found.get("units") and not found["units"]["trials"]:
        return "units.trials is []"
    for name, length in LENGTHS.items():
        if any(len(point) != length for point in found[name]):
            return f"{name} has points of other than {length} numbers"
    return None
