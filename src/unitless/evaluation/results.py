"""Read and write results files: the content of a report as JSON (docs/reference/results-format.md).

A schema is a type, a value, a list with the schema of all its items or of each, a dict with the
schema of each key (a trailing `?` marks a key that may be missing, "*" any other key), or a tuple
of alternatives.
"""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

import numpy as np

from unitless import __version__
from unitless.blend.blend import Blend
from unitless.evaluation.certified import certified
from unitless.evaluation.evaluation import Evaluation
from unitless.evaluation.metrics import LABELS, Facts
from unitless.labels import text_of
from unitless.model.effects import effects
from unitless.persistence.container import Pathlike, replace

FORMAT = 1
TOP = 100  # columns whose effects are kept
MAX_COLUMNS = 200  # columns that are described


def _each(kind: Any, names: str) -> Facts:
    """A schema with the same kind for several keys."""
    return dict.fromkeys(names.split(), kind)


NUMBER = (int, float)
MAYBE = (int, float, None)
SCORE = (int, float, None, [MAYBE])
MEMBER = {"loss": NUMBER, "overhead": NUMBER, "rows": int}
BOUND = _each(MAYBE, "certified sharp promised") | _each((str, None), "theorem by?")
CERTIFICATE = {
    "loss?": MAYBE,
    "rows": int,
    "members": {"*": MEMBER},
    "claims": [{"against": str, "rows": int, **BOUND}],
    "clipped?": str,
}
LINE = {
    **_each(int, "rows features?"),
    **_each(MAYBE, "loss since? target? baseline last? total?"),
    "score?": SCORE,
    "certified?": (None, CERTIFICATE),
    "blend?": (None, {"*": MAYBE}),
}
EFFECT = {
    **_each(str, "column class?"),
    "moves": NUMBER,
    "change?": MAYBE,
    **_each((str, int, float), "from? to?"),
}
METRICS = {f"{name}?": NUMBER for name in LABELS}
TEST = {"source": (str, None), "rows": int, "unknown": int, "metrics": METRICS}
TRIAL = {"units": str, "moved": MAYBE, "scores": NUMBER}
NUMBERS = [NUMBER]
SLIDER = {
    "feature": str,
    "rows": [int],
    "range": NUMBERS,
    "trials": [{"exponent": int, "*": NUMBERS}],
}
RESULTS = {
    "results": FORMAT,
    "task": ("binary", "multiclass", "regression"),
    **_each(int, "rows learned unlabelled held_out passes skipped coerced features"),
    "first_scored?": int,
    **_each(str, "package learner loss"),
    **_each((str, None), "source target"),
    "labels": [str],
    "holdouts": [MAYBE],
    "metrics": METRICS,
    "not_fresh?": (None, METRICS),
    "delay?": (int, None),
    "baseline": (None, {"score": SCORE, "loss": NUMBER}),
    "last?": (None, {"loss": NUMBER, **_each(MAYBE, "same? chance? correlation?")}),
    "test?": (None, TEST),
    "certificate": (None, CERTIFICATE),
    "lines": [LINE],
    "curve": [[MAYBE, MAYBE]],
    "calibration": [[MAYBE, MAYBE, MAYBE]],
    "effects?": [EFFECT],
    "blend": (None, {"*": MAYBE}),
    "alarms": [{"feature": (str, int), "row": int, **_each(NUMBER, "before now factor")}],
    "classes?": [NUMBER],
    "confusion?": [[NUMBER]],
    "thresholds?": [[NUMBER, NUMBER, NUMBER]],
    "sample?": [[NUMBER, NUMBER, NUMBER]],
    "worst?": [{"row": int, **_each(MAYBE, "target predicted loss"), "features": {"*": MAYBE}}],
    "columns?": [{**_each(str, "column kind"), **_each(int, "features missing")}],
    "file_rows?": (int, None),
    **_each([str], "decisions? notes?"),
    **_each(str, "command? date?"),
    "seconds?": MAYBE,
    "units?": (None, {"rows": int, "trials": [TRIAL]}),
    "slider?": (None, SLIDER),
    "comparison?": (None, [{"learner": str, **_each(MAYBE, "loss elsewhere")}]),
    "*": object,
}


def results_of(run: Evaluation, **more: Any) -> Facts:
    """The results of an evaluation; `more` (units, comparison, seconds, ...) is added unchanged."""
    model = run.model
    learner = model.learner
    constant = run.constant()
    bins = run.tally.calibration[run.tally.calibration[:, 0] > 0]
    by_task: Facts = {"sample": run.examples.sample.kept.tolist()}
    if model.task != "regression":
        by_task = {"classes": run.tally.classes.tolist()}
        by_task["confusion"] = run.tally.confusion_matrix()
        by_task["thresholds"] = run.tally.thresholds()
    return {
        "results": FORMAT,
        "package": __version__,
        "source": model.file.source,
        "task": model.task,
        "target": model.file.target,
        "learner": learner.name,
        "loss": learner.loss.name,
        "labels": [text_of(label) for label in model.labels],
        "rows": run.rows,
        "learned": model.rows,
        "unlabelled": run.unlabelled,
        "first_scored": run.first_scored,
        "held_out": run.held_out,
        "holdouts": run.holdouts,
        "passes": run.passes,
        "skipped": model.file.position.skipped,
        "coerced": model.file.position.coerced,
        "features": len(model.feature_names()),
        "metrics": run.tally.metrics(),
        "not_fresh": run.metrics_not_fresh(),
        "delay": run.delay,
        "baseline": None if constant is None else constant._asdict(),
        "last": run.last(),
        "certificate": certified(learner, constant),
        "lines": run.lines,
        "curve": run.curve.points(),
        "calibration": np.column_stack([bins[:, 0], bins[:, 1:] / bins[:, :1]]).tolist(),
        **by_task,
        "worst": run.examples.worst,
        "columns": _columns(run),
        "effects": effects(model, TOP),
        "blend": learner.mixture_weights() if isinstance(learner, Blend) else None,
        "alarms": run.alarms,
        "decisions": model.file.decisions,
        **more,
    }


def _columns(run: Evaluation) -> list[Facts]:
    """The columns of a table: kind, number of features, missing numbers."""
    encoder = run.model.encoder
    if encoder is None:
        return []
    made: dict[str, Facts] = {}
    for name, kind in encoder.kinds.items():
        made[name] = {"column": name, "kind": kind, "features": 0, "missing": 0}
    for place, names in enumerate(encoder.sources):
        if len(names) == 1 and names[0] in made:
            entry = made[names[0]]
            entry["features"] += 1
            if place < len(run.examples.missing):
                entry["missing"] += int(run.examples.missing[place])
    return list(made.values())[:MAX_COLUMNS]


def write_results(path: Pathlike, results: Facts) -> None:
    """Write a results file; numbers that are not finite become null."""
    without_nan = json.loads(json.dumps(results), parse_constant=lambda name: None)
    text = json.dumps(without_nan, indent=1, ensure_ascii=False)
    replace(path, text.encode() + b"\n")


def read_results(path: Pathlike) -> Facts:
    """Read a results file; a file of another kind, or with values of another type, is an error.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_results(f"{folder}/r.json", {"results": 1, "rows": 3})
    ...     try:
    ...         read_results(f"{folder}/r.json")
    ...     except ValueError as error:
    ...         print(str(error).rpartition(": ")[2])
    task is missing
    """
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        wrong = next(_problems(found, RESULTS), None)
    except RecursionError:
        wrong = "it is nested too deeply"
    except ValueError:
        wrong = "it is not JSON"
    if wrong:
        raise ValueError(f"{os.fspath(path)}: not a results file of format {FORMAT}: {wrong}")
    for name in ("curve", "calibration"):  # a loss that was not finite has no place on a chart
        found[name] = [point for point in found[name] if None not in point]
    found["lines"] = [line for line in found["lines"] if line.get("total", 0) is not None]
    return dict(found)


def _problems(found: Any, schema: Any, where: str = "") -> Iterator[str]:
    """What does not fit a schema, in words."""
    if isinstance(schema, tuple):
        fits = any(next(_problems(found, each), None) is None for each in schema)
    elif isinstance(schema, list | dict):
        fits = type(found) is type(schema)
        if isinstance(schema, list) and len(schema) > 1:
            fits = fits and len(found) == len(schema)
    elif isinstance(schema, type):  # an int is no bool here
        fits = schema is object or type(found) is schema
    else:
        fits = type(found) is type(schema) and found == schema
    if not fits:
        yield f"{where or 'it'} is {shortened(found)}"
    elif isinstance(schema, list):
        for k, each in enumerate(found):
            yield from _problems(each, schema[k % len(schema)], f"{where}[{k}]")
    elif isinstance(schema, dict):
        prefix = f"{where}." if where else ""
        kinds = {key.removesuffix("?"): kind for key, kind in schema.items()}
        for key in schema:
            if key[-1] not in "?*" and key not in found:
                yield f"{prefix}{key} is missing"
        for key, each in found.items():
            if key not in kinds and "*" not in kinds:
                yield f"{prefix}{key} is unknown"
            yield from _problems(each, kinds.get(key, kinds.get("*")), prefix + key)
