"""Progressive evaluation: a model with the metrics of its predictions so far.

It is saved with the model, and a resumed evaluation gives bit-for-bit the same results. Blocks are
split where the table has a line (rows 1, 2, 4, ...) and where a checkpoint is due, which does not
change any result.

Scores count from the first row for which any forecaster has seen a target: the first prediction of
a regression is 0 in the unit of the target, and could outweigh all others. Certificates count all
rows.
"""

import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from operator import attrgetter

import numpy as np

from unitless import persistence
from unitless.blend.blend import Blend
from unitless.encoders import FrameEncoder
from unitless.evaluation.alarms import Watch
from unitless.evaluation.baseline_tests import BaselineTests
from unitless.evaluation.baselines import Constant, Previous, Sample, best_constant, last_label
from unitless.evaluation.certified import certified
from unitless.evaluation.examples import Examples
from unitless.evaluation.interval_scores import IntervalScores
from unitless.evaluation.metrics import LOSS, ROWS, WEIGHT, Facts, LearningCurve, RunningMetrics
from unitless.evaluation.progressive import Bool, Step, is_held_out, progressive
from unitless.model import Model
from unitless.model.explanations import contributions
from unitless.persistence.container import Pathlike
from unitless.persistence.saving import extra
from unitless.readers.blocks import FileBlock
from unitless.regret import InformationTest
from unitless.rows import Rows
from unitless.uncertainty import Drift, DriftDetector
from unitless.uncertainty.drift import Float

STEP_ROWS = 4096  # most rows of a step
KEPT = (
    *("rows", "unlabelled", "first_scored", "held_out", "passes", "lines", "holdouts", "alarms"),
    *("since", "held", "delay", "drifts"),
)
PARTS = (
    "tally",
    "not_fresh",
    "curve",
    "sample",
    "examples",
    "examples.sample",
    "previous",
    "watch",
    "drift",
    "tests",
    "tests.constant",
    "tests.last",
    "tests.constant_not_fresh",
    "interval_scores",
    "interval_scores.curve",
    "interval_scores.band",
)
"""What a model file keeps of an evaluation, and the parts of which it keeps arrays and lists."""


@dataclass
class Evaluation:
    """A model with the metrics of its predictions so far."""

    model: Model
    rows: int = 0
    unlabelled: int = 0
    held_out: int = 0
    passes: int = 0
    lines: list[Facts] = field(default_factory=list)
    holdouts: list[float] = field(default_factory=list)  # average loss of rows held out, by pass
    audited: list[Facts] | None = None  # what each column added to the score of one row
    certify: bool = False  # whether lines of the table have certificates, which take time
    alarms: list[Facts] = field(default_factory=list)  # see `alarms.Alarm`
    drifts: list[Facts] = field(default_factory=list)  # see `unitless.uncertainty.Drift`
    delay: int | None = None  # how late labels are, if that was said
    first_scored: int = 0  # number of the first row that counts, from 1; 0 before the first label

    def __post_init__(self) -> None:
        self.tally = self._new_metrics()
        self.not_fresh = self._new_metrics()  # of the scores without recent labels
        self.curve = LearningCurve()
        self.sample = Sample()
        self.examples = Examples()
        self.previous = Previous(self.delay or 0)
        self.drift = DriftDetector()
        self.tests = BaselineTests(self.delay or 0)
        self.watch = Watch()
        self.interval_scores = IntervalScores(self.model.intervals)
        self.information = InformationTest()  # of the rows since a run was resumed: it is not saved
        self.since = np.zeros(2)  # weight and loss since the last line of the table
        self.held = np.zeros(2)  # weight and loss of the rows held out in this pass

    def _new_metrics(self) -> RunningMetrics:
        return RunningMetrics(self.model.task, self.model.learner.loss)

    def over(
        self,
        blocks: Iterable[FileBlock],
        *,
        holdout: float = 0,
        delay: int = 0,
        every: int = 0,
        audit: int = 0,
    ) -> Iterator[Step]:
        """Predict and learn the rows of the blocks: one pass over a file, or the rest of one.

        Every `holdout`-th row, or a random share below 1, is predicted and not learned, and labels
        arrive `delay` rows late. A step ends at each multiple of `every` rows, for checkpoints.
        `audit` is the row, from 1, whose score is taken apart (`audited`) before it is learned.
        """
        is_first = self.passes == 0
        at = self.rows if is_first else self.model.file.position.row

        def cuts(at: int, count: int) -> Iterator[int]:
            yield audit - 1 - at
            for period in filter(None, (STEP_ROWS, every)):
                yield from range(period - at % period, count, period)
            if is_first:
                yield from (2**k - at for k in range((at + count).bit_length()))

        def before(at: int, rows: Rows) -> None:
            if at == audit - 1:
                self.audited = contributions(self.model, rows[:1], fresh=True)

        steps = progressive(
            self.model,
            blocks,
            first_row=at,
            holdout=holdout,
            delay=delay,
            cuts=cuts,
            before=before,
            calibrate=is_first,
        )
        for step in steps:
            if is_first:
                self._watch(step.rows)
                self.information.add(step.rows)
                step = step._replace(line=self._count(step, delay))
                self.held_out += int(np.count_nonzero(step.held))
            targets, scores, weights = step.scored(step.held)
            losses = self.model.learner.loss.value(targets, scores)
            self.held += [weights.sum(), np.sum(losses * weights)]
            yield step
        self.passes += 1
        if self.held[0]:
            self.holdouts.append(float(self.held[1] / self.held[0]))
            self.held[:] = 0

    def test(self, blocks: Iterable[FileBlock], share: float = 0) -> Facts:
        """Score rows that were not learned: all, or the share that `over` held out.

        Rows of classes that the model does not know have no score; they are counted.
        """
        model = self.model
        tally = self._new_metrics()
        at = 0
        unknown = 0
        for block in blocks:
            prepared = model.prepared_block(block)._replace(new=())
            for rows in model.pieces(prepared, range(0, len(block), STEP_ROWS)):
                targets = np.asarray(rows.targets)
                chosen = ~np.isnan(targets)
                if share:
                    chosen &= is_held_out(at + np.arange(len(rows)), share)
                at += len(rows)
                is_new = chosen & (model.task == "multiclass") & (targets >= len(model.labels))
                unknown += int(np.count_nonzero(is_new))
                scores = model.predict_rows(rows)
                step = Step(rows, scores, chosen, is_new, None, scores)
                tally.add(*step.scored(chosen & ~is_new))
        count = int(tally.totals[ROWS])
        return {"source": None, "rows": count, "unknown": unknown, "metrics": tally.metrics()}

    def metrics_not_fresh(self) -> Facts | None:
        """The metrics without recent labels; None if these changed no score."""
        if np.array_equal(self.tally.totals, self.not_fresh.totals):
            return None
        return self.not_fresh.metrics()

    def constant(self) -> Constant | None:
        """The best constant in hindsight."""
        return best_constant(self.tally, self.sample)

    def last(self) -> dict[str, float] | None:
        """How well the last label known predicts."""
        return last_label(self.tally, self.previous)

    def _count(self, step: Step, delay: int) -> Facts | None:
        """Add a step to the metrics; after 1, 2, 4, ... rows, return a line of the table."""
        counted = self._counted(step, delay)
        targets, scores, weights = step.scored(counted)
        losses = self.tally.add(targets, scores, weights)
        late = self.not_fresh.add(targets, step.not_fresh[counted], weights)
        self.drifts += [found._asdict() for found in self._drifts(losses, counted, weights)]
        self.tests.add(targets, losses, late, weights, self.tally.loss)
        self.curve.add(losses, weights)
        if step.intervals is not None:
            chosen = np.flatnonzero(counted)
            both = step.intervals[0][chosen], step.intervals[1][chosen]
            self.interval_scores.add(self.rows + 1 + chosen, targets, both)
        self.sample.add(np.column_stack([targets, weights]))
        names = self.model.feature_names
        self.examples.add(self.rows, step.rows, step.scores, counted, losses, names)
        labels, _, own = step.scored(step.labelled)
        self.previous.add(labels, own * counted[step.labelled], self.tally.loss)
        self.since += [weights.sum(), np.sum(losses * weights)]
        self.rows += len(step.rows)
        self.unlabelled += len(step.rows) - len(labels)
        is_power_of_two = self.rows & (self.rows - 1) == 0
        return self._line(step) if is_power_of_two else None

    def _counted(self, step: Step, delay: int) -> Bool:
        """Which rows count: those with a label, predicted when a label was known."""
        numbers = self.rows + 1 + np.arange(len(step.rows))
        weights = step.rows.weights
        if not self.first_scored:
            if self.tally.totals[ROWS]:  # a run saved by a version that scored row 1
                self.first_scored = 1
            known = step.labelled if weights is None else step.labelled & (weights > 0)
            if not self.first_scored and known.any():
                self.first_scored = int(numbers[np.argmax(known)]) + 1 + delay
        return step.labelled & (numbers >= self.first_scored)

    def _drifts(self, losses: Float, counted: Bool, weights: Float) -> Iterator[Drift]:
        """Alarms of the loss, with the numbers of rows of the stream."""
        kept = weights > 0
        numbers = self.rows + 1 + np.flatnonzero(counted)[kept]
        seen = int(self.drift.rows[0])
        for found in self.drift.add(losses[kept]):
            row = int(numbers[found.row - seen - 1])
            yield found._replace(row=row, start=row - (found.row - found.start))

    def _line(self, step: Step) -> Facts:
        assert step.rows.targets is not None
        last_target = float(step.rows.targets[-1])
        constant = self.constant()
        self.tests.learn_constant(self.tally, constant)
        last = self.last()
        learner = self.model.learner
        average, total = self.tally.totals[[LOSS, WEIGHT]]
        weight, loss = self.since
        line: Facts = {
            "rows": self.rows,
            "loss": float(average) if total else None,
            "since": float(loss / weight) if weight else None,
            "target": None if np.isnan(last_target) else last_target,
            "score": step.scores[-1].tolist(),
            "baseline": constant and constant.loss,
            "last": last and last["loss"],
            "total": float(average * total),
            "certified": certified(learner, constant) if self.certify else None,
        }
        if isinstance(learner, Blend):
            line["blend"] = learner.mixture_weights()
        self.since[:] = 0
        self.lines.append(line)
        return line

    def _watch(self, rows: Rows) -> None:
        """Warn of numbers that may have changed their unit, each once."""
        self.watch.rows = self.rows
        found = self.watch.add(rows)
        columns = self.model.encoder
        names = self.model.feature_names(rows.columns) if found else []
        for alarm in found:
            if columns is None or _is_number(columns, alarm.feature):
                alarm = alarm._replace(feature=names[alarm.feature])
                self.alarms.append(alarm._asdict())
                warnings.warn(str(alarm), stacklevel=2)

    def save(self, file: Pathlike) -> None:
        """Save the model with its metrics so far, so that the run can be resumed."""
        self.watch.forget_unseen()
        notes: Facts = {}
        arrays: Facts = {}
        for path in _state(self):
            value = attrgetter(path)(self)
            kind = arrays if isinstance(value, np.ndarray) else notes
            kind[path] = value
        persistence.save(self.model, file, notes=notes, extra=arrays)


def _state(run: Evaluation) -> list[str]:
    """What a model file keeps, as paths of attributes."""
    found = [*KEPT]
    for part in PARTS:
        values = vars(attrgetter(part)(run))
        found += [f"{part}.{k}" for k, v in values.items() if isinstance(v, np.ndarray | list)]
    return found


def resumed(path: Pathlike) -> Evaluation:
    """The evaluation that `Evaluation.save` saved; for a model saved otherwise, a fresh one."""
    model = persistence.load(path)
    if not isinstance(model, Model):
        raise persistence.ModelFileError(path, "it was not saved by `evaluate` or `fit`")
    run = Evaluation(model)
    try:
        notes = persistence.header(path)["notes"]
        if "lines" in notes:
            _restore(run, {**notes, **extra(path)})
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        reason = f"the scores of its run are damaged ({error!r})"
        raise persistence.ModelFileError(path, reason) from None
    return run


def _restore(run: Evaluation, saved: Facts) -> None:
    for path in _state(run):
        owner, _, name = path.rpartition(".")
        place = attrgetter(owner)(run) if owner else run
        fresh = getattr(place, name)
        found = saved.get(path, fresh)  # older files lack some
        if type(found) is not type(fresh):
            raise TypeError(f"{path} is {found!r}")
        is_array = isinstance(fresh, np.ndarray)
        if is_array and (found.dtype, found.shape[1:]) != (fresh.dtype, fresh.shape[1:]):
            raise ValueError(f"{path} is an array of {found.dtype} of the shape {found.shape}")
        setattr(place, name, found)


def _is_number(columns: FrameEncoder, place: int) -> bool:
    """Whether a feature is a column of numbers itself: products, dates and levels have no unit."""
    names = columns.sources[place]
    return len(names) == 1 and columns.kinds.get(names[0], "number") == "number"
