"""Read and write results files: the content of a report as JSON (docs/reference/results-format.md).

The records say what a file may hold, and msgspec checks it. In memory results are plain dicts.
"""

import json
import os
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
from msgspec import UNSET, UnsetType

from unitless import __version__
from unitless.blend.blend import Blend
from unitless.evaluation.certified import certified
from unitless.evaluation.evaluation import Evaluation
from unitless.evaluation.metrics import Facts
from unitless.labels import text_of
from unitless.model.decision_sentences import sentences
from unitless.model.effects import effects
from unitless.persistence.container import Pathlike, replace

FORMAT = 1
TOP = 100  # columns whose effects are kept
MAX_DESCRIBED_COLUMNS = 200  # columns that are described


Number = float | None
Score = float | None | list[float | None]
Weights = dict[str, float | None]
"""The weight of each member of a Blend."""


class ResultsEntry(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """A part of the results; what has a default may be missing."""


class Metrics(ResultsEntry):
    """See `metrics.LABELS`."""

    loss: float | UnsetType = UNSET
    auc: float | UnsetType = UNSET
    accuracy: float | UnsetType = UNSET
    precision: float | UnsetType = UNSET
    recall: float | UnsetType = UNSET
    average_precision: float | UnsetType = UNSET
    calibration_error: float | UnsetType = UNSET
    brier: float | UnsetType = UNSET
    r2: float | UnsetType = UNSET
    mae: float | UnsetType = UNSET
    rmse: float | UnsetType = UNSET
    bias: float | UnsetType = UNSET
    slope: float | UnsetType = UNSET
    below: float | UnsetType = UNSET


class Member(ResultsEntry):
    """A member of a Blend, and the bound on what the Blend loses more."""

    loss: float
    overhead: float
    rows: int


class Claim(ResultsEntry):
    """A bound on the regret."""

    against: str
    rows: int
    certified: Number
    sharp: Number
    promised: Number
    theorem: str | None
    by: str | None = None


class CertificateOfRun(ResultsEntry):
    """The regret certificate."""

    rows: int
    members: dict[str, Member]
    claims: list[Claim]
    loss: Number = None
    clipped: str | UnsetType = UNSET


class TableLine(ResultsEntry):
    """A line of the table, at rows 1, 2, 4, ..."""

    rows: int
    loss: Number
    features: int | UnsetType = UNSET
    since: Number = None
    target: Number = None
    baseline: Number = None
    last: Number = None
    total: Number = None
    score: Score = None
    certified: CertificateOfRun | None = None
    blend: Weights | None = None


class Effect(ResultsEntry, rename={"low": "from", "high": "to", "label": "class"}):
    """The effect of a column on the prediction."""

    column: str
    moves: float
    label: str | UnsetType = UNSET
    change: Number = None
    low: str | float | UnsetType = UNSET
    high: str | float | UnsetType = UNSET


class RowsOfTest(ResultsEntry):
    """The metrics of rows that were not learned."""

    source: str | None
    rows: int
    unknown: int
    metrics: Metrics


class BestConstant(ResultsEntry):
    """The best constant in hindsight."""

    score: Score
    loss: float


class LastLabel(ResultsEntry):
    """How well the label of the row before predicts."""

    loss: float
    same: Number = None
    chance: Number = None
    correlation: Number = None


class IntervalsOfRun(ResultsEntry):
    """Prediction intervals or sets of one declared coverage."""

    asked: float
    share: float
    width: Number
    low: Number
    high: Number


class VerdictOfRun(ResultsEntry):
    """Whether predictions are better than a baseline, see `LossDifference`."""

    mean: Number
    low: Number
    high: Number
    row: int | None
    level: float


class Verdicts(ResultsEntry):
    """See `BaselineTests`."""

    constant: VerdictOfRun | UnsetType = UNSET
    last: VerdictOfRun | UnsetType = UNSET
    constant_not_fresh: VerdictOfRun | UnsetType = UNSET


class DriftOfRun(ResultsEntry):
    """A change of the loss, see `unitless.uncertainty.Drift`."""

    row: int
    start: int
    before: float
    now: float


class AlarmOfRun(ResultsEntry):
    """A feature that may have changed its unit."""

    feature: str | int
    row: int
    before: float
    now: float
    factor: float


class WorstRow(ResultsEntry):
    """A row with one of the largest losses."""

    row: int
    target: Number
    predicted: Number
    loss: Number
    features: dict[str, float | None]


class Column(ResultsEntry):
    """A column of a table."""

    column: str
    kind: str
    features: int
    missing: int


class Trial(ResultsEntry):
    """A trial in other units."""

    units: str
    moved: Number
    scores: float


class UnitTrials(ResultsEntry):
    """Trials on some rows in other units."""

    rows: int
    trials: list[Trial]


class Slider(ResultsEntry):
    """Predictions when the values of a feature are multiplied by powers of two."""

    feature: str
    rows: list[int]
    range: list[float]
    trials: list[dict[str, int | list[float]]]


class Compared(ResultsEntry):
    """The loss of another learner on the same rows."""

    learner: str
    loss: Number
    elsewhere: Number


class Results(ResultsEntry):
    """The results of a run: docs/reference/results-format.md says what each entry is."""

    results: Literal[1]
    package: str
    task: Literal["binary", "multiclass", "regression"]
    learner: str
    loss: str
    source: str | None
    target: str | None
    labels: list[str]
    rows: int
    learned: int
    unlabelled: int
    held_out: int
    passes: int
    skipped: int
    coerced: int
    features: int
    holdouts: list[float | None]
    metrics: Metrics
    baseline: BestConstant | None
    certificate: CertificateOfRun | None
    lines: list[TableLine]
    curve: list[tuple[Number, Number]]
    calibration: list[tuple[Number, Number, Number]]
    blend: Weights | None
    alarms: list[AlarmOfRun]
    first_scored: int | UnsetType = UNSET
    not_fresh: Metrics | None = None
    delay: int | None = None
    last: LastLabel | None = None
    verdicts: Verdicts | UnsetType = UNSET
    intervals: list[IntervalsOfRun] | UnsetType = UNSET
    intervals_not_fresh: list[IntervalsOfRun] | UnsetType = UNSET
    interval_curve: list[list[float]] | UnsetType = UNSET
    band: list[list[Number]] | UnsetType = UNSET
    drifts: list[DriftOfRun] | UnsetType = UNSET
    test: RowsOfTest | None = None
    effects: list[Effect] | UnsetType = UNSET
    classes: list[float] | UnsetType = UNSET
    confusion: list[list[float]] | UnsetType = UNSET
    thresholds: list[tuple[float, float, float]] | UnsetType = UNSET
    sample: list[tuple[float, float, float]] | UnsetType = UNSET
    worst: list[WorstRow] | UnsetType = UNSET
    columns: list[Column] | UnsetType = UNSET
    file_rows: int | None = None
    decisions: list[str] | UnsetType = UNSET
    notes: list[str] | UnsetType = UNSET
    command: str | UnsetType = UNSET
    date: str | UnsetType = UNSET
    seconds: Number = None
    units: UnitTrials | None = None
    slider: Slider | None = None
    comparison: list[Compared] | None = None


def results_of(run: Evaluation, **more: object) -> Facts:
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
        "verdicts": run.tests.facts(),
        "intervals": run.interval_scores.facts(model.intervals, fresh=True),
        "intervals_not_fresh": run.interval_scores.facts(model.intervals, fresh=False),
        "interval_curve": run.interval_scores.curve.points() if model.intervals else [],
        "band": run.interval_scores.band.kept.tolist(),
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
        "drifts": run.drifts,
        "decisions": sentences(model.file.decisions),
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
    return list(made.values())[:MAX_DESCRIBED_COLUMNS]


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
    ...         print(str(error).partition("json: ")[2])
    not a results file of format 1: Object missing required field `package`
    """
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        wrong = None
        msgspec.convert(found, Results)
    except msgspec.ValidationError as error:
        wrong = str(error)
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
