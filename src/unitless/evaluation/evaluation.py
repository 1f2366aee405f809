"""Progressive evaluation: each row is predicted before its label is used.

An `Evaluation` is a model with the metrics of its predictions so far. It is saved with the model,
and a resumed evaluation gives bit-for-bit the same results. Blocks are split where the table has a
line (rows 1, 2, 4, ...), where a checkpoint is due and where a class appears for the first time;
this does not change any result.
"""

import os
import warnings
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless import persistence
from unitless.blend.blend import Blend
from unitless.encoders import FrameEncoder
from unitless.evaluation.alarms import Watch
from unitless.evaluation.baselines import Constant, Sample, best_constant
from unitless.evaluation.curve import LearningCurve
from unitless.evaluation.explanations import certified, taken_apart
from unitless.evaluation.metrics import LOSS, WEIGHT, RunningMetrics
from unitless.model import Model, Prepared
from unitless.persistence.saving import extra
from unitless.readers.blocks import Block
from unitless.rows import Rows

Float = NDArray[np.float64]
PIECE = 4096
"""Number of rows processed together; a `Step` is reported for each piece."""


class Step(NamedTuple):
    """The rows of a piece, with their scores."""

    rows: Rows
    scores: Float
    """Made before the labels were used."""
    line: dict[str, Any] | None
    """A line of the table, at rows 1, 2, 4, ..."""
    done: float | None
    """Share of the file, if its size is known."""


@dataclass
class Evaluation:
    """A model with the metrics of its predictions so far.

    >>> import io
    >>> from unitless.readers import open_blocks
    >>> from unitless.model import Model
    >>> text = b"size,kind\\n1,cat\\n9,dog\\n2,cat\\n8,dog\\n1.5,cat\\n,\\n"
    >>> (block,) = open_blocks(io.BytesIO(text))
    >>> run = Evaluation(Model.from_first_block(block, target="kind", learner="coordinate"))
    >>> for step in run.over([block]):
    ...     if step.line:
    ...         print(step.line["rows"], round(step.line["loss"], 3))
    1 0.693
    2 0.715
    4 0.705
    >>> run.rows, run.unlabelled
    (6, 1)
    """

    model: Model
    rows: int = 0
    unlabelled: int = 0
    held_out: int = 0
    passes: int = 0
    lines: list[dict[str, Any]] = field(default_factory=list)
    holdouts: list[float] = field(default_factory=list)
    """Average loss of the rows held out, by pass."""
    audited: list[dict[str, Any]] | None = None
    """What each feature added to the score of one row: see `explanations.taken_apart`."""
    certify: bool = False
    """Whether each line of the table has a certificate, which takes time; a report shows them."""
    alarms: list[dict[str, Any]] = field(default_factory=list)
    """Features that may have changed their unit: see `unitless.evaluation.alarms.Alarm`."""

    def __post_init__(self) -> None:
        loss = self.model.learner.loss
        self.tally, self.curve, self.sample = (
            RunningMetrics(self.model.task, loss),
            LearningCurve(),
            Sample(),
        )
        self.held, self.watch = RunningMetrics(self.model.task, loss), Watch()
        self._since = np.zeros(2)

    # The pass

    def over(
        self,
        blocks: Iterable[Block],
        *,
        holdout: int = 0,
        delay: int = 0,
        every: int = 0,
        audit: int = 0,
    ) -> Iterator[Step]:
        """Predict and learn the blocks' rows.

        Parameters
        ----------
        holdout : int
            Every `holdout`-th row is predicted and not learned; 0 learns all rows.
        delay : int
            How many rows later a label arrives.
        every : int
            A step ends at each multiple of this number of rows, for checkpoints.
        audit : int
            The row, from 1, whose score is to be taken apart (`audited`) before it is learned.
        """
        first, place = self.passes == 0, self.model.position
        at = self.rows if first else place.get("rows", 0) + place.get("skip", 0)
        waiting: deque[tuple[Rows, bool]] = deque()
        before = 0.0
        for block in blocks:
            if not len(block):  # bad lines at the end of a pipe
                self.model.position = block.position
                continue
            prepared = self.model.prepared(block)
            for start, stop in _cuts(prepared, at, every, audit, first):
                for row, label in prepared.new:
                    if row == start:
                        self.model.add_class(label)
                piece = prepared.rows[start:stop]
                if at == audit - 1:
                    self.audited = taken_apart(self.model, piece[:1])
                learns, held = self._roles(piece, at, holdout)
                scores = self._scores(piece, learns, delay, waiting)
                if first:
                    self._watch(piece, at)
                at += stop - start
                self.model.position = block.position_at(stop)
                line = self._count(piece, scores, held) if first else None
                self._count_held(piece, scores, held)
                done = block.done
                if done is not None:
                    done = before + (done - before) * stop / len(prepared.rows)
                yield Step(piece, scores, line, done)
            before = block.done or 0.0
        for late, learn in waiting:
            if learn:
                self._learn(late)
        self._end()

    def _roles(self, piece: Rows, at: int, holdout: int) -> tuple[NDArray[Any], NDArray[Any]]:
        """Which rows are learned, and which are held out."""
        assert piece.targets is not None
        labelled = ~np.isnan(piece.targets)
        held = np.zeros(len(piece), dtype=bool)
        if holdout:
            held = labelled & ((at + np.arange(len(piece))) % holdout == holdout - 1)
        return labelled & ~held, held

    def _scores(self, piece: Rows, learns: NDArray[Any], delay: int, waiting: Any) -> Float:
        """Predict every row and learn those of `learns`, in runs of consecutive rows."""
        if delay:
            return self._delayed(piece, learns, delay, waiting)
        ends = [*np.flatnonzero(np.diff(learns)) + 1, len(piece)]
        parts, start = [], 0
        for end in ends:
            run = piece[start:end]
            parts.append(self._learn(run) if learns[start] else self.model.learner.predict(run))
            start = int(end)
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    def _learn(self, rows: Rows) -> Float:
        scores = self.model.learner.learn(rows)
        self.model.rows += len(rows)
        return scores

    def _delayed(self, piece: Rows, learns: NDArray[Any], delay: int, waiting: Any) -> Float:
        """Score each row at once, and learn it when its label arrives."""
        parts = []
        for r in range(len(piece)):
            parts.append(self.model.learner.predict(piece[r : r + 1]))
            waiting.append((piece[r : r + 1], learns[r]))
            if len(waiting) > delay:
                row, learn = waiting.popleft()
                if learn:
                    self._learn(row)
        return np.concatenate(parts)

    # Metrics

    def _count(self, piece: Rows, scores: Float, held: NDArray[Any]) -> dict[str, Any] | None:
        targets = piece.targets
        assert targets is not None
        there = ~np.isnan(targets)
        v = None if piece.weights is None else piece.weights[there]
        losses = self.tally.add(targets[there], scores[there], v)
        self.curve.add(losses, v)
        self.sample.add(targets[there], v)
        self._since += [
            len(losses) if v is None else v.sum(),
            np.sum(losses if v is None else losses * v),
        ]
        self.rows += len(piece)
        self.unlabelled += int((~there).sum())
        if self.rows & (self.rows - 1):
            return None
        return self._line(piece, scores)

    def _count_held(self, piece: Rows, scores: Float, held: NDArray[Any]) -> None:
        if held.any():
            assert piece.targets is not None
            self.held_out += int(held.sum()) if self.passes == 0 else 0
            v = None if piece.weights is None else piece.weights[held]
            self.held.add(piece.targets[held], scores[held], v)

    def _line(self, piece: Rows, scores: Float) -> dict[str, Any]:
        """The line of the table after 1, 2, 4, ... rows."""
        assert piece.targets is not None
        constant, learner = self.constant(), self.model.learner
        weight, loss = self._since
        line: dict[str, Any] = {
            "rows": self.rows,
            "loss": float(self.tally.totals[LOSS]) if self.tally.totals[WEIGHT] else None,
            "since": float(loss / weight) if weight else None,
            "target": _plain(piece.targets[-1]),
            "score": scores[-1].tolist(),
            "features": _features(piece),
            "baseline": constant and constant.loss,
            "total": float(self.tally.totals[LOSS] * self.tally.totals[WEIGHT]),
            "certified": certified(learner, constant) if self.certify else None,
        }
        if isinstance(learner, Blend):
            line["blend"] = learner.mixture_weights()
        self._since[:] = 0
        self.lines.append(line)
        return line

    def _watch(self, piece: Rows, at: int) -> None:
        """Warn of numbers that may have changed their unit, each once."""
        self.watch.rows = at
        found = self.watch.add(piece)
        columns, names = self.model.columns, self.model.feature_names() if found else []
        for alarm in found:
            name = names[alarm.feature] if alarm.feature < len(names) else str(alarm.feature)
            if columns is None or _is_number(columns, alarm.feature):
                alarm = alarm._replace(feature=name)
                self.alarms.append(alarm._asdict())
                warnings.warn(str(alarm), stacklevel=2)

    def constant(self) -> Constant | None:
        """The best constant in hindsight."""
        return best_constant(self.tally, self.sample)

    def _end(self) -> None:
        """End a pass."""
        self.passes += 1
        if self.held.totals[WEIGHT]:
            self.holdouts.append(float(self.held.totals[LOSS]))
            self.held = RunningMetrics(self.model.task, self.model.learner.loss)

    # Files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save the model with its metrics so far, so that the run can be resumed."""
        used = PARTS if self.held.totals[WEIGHT] else PARTS[:-1]
        parts: dict[str, Any] = {name: getattr(self, name) for name in used}
        arrays = {f"{n}.{k}": a for n, part in parts.items() for k, a in part.arrays().items()}
        notes = {name: getattr(self, name) for name in COUNTS}
        persistence.save(self.model, path, notes=notes, extra=arrays | {"since": self._since})


PARTS = ("tally", "curve", "sample", "watch", "held")
COUNTS = ("rows", "unlabelled", "held_out", "passes", "lines", "holdouts", "alarms")


def resumed(path: str | os.PathLike[str]) -> Evaluation:
    """The evaluation that `Evaluation.save` saved; for a model saved otherwise, a fresh one."""
    model = persistence.load(path)
    if not isinstance(model, Model):
        raise persistence.ModelFileError(path, "it was not saved by `evaluate` or `fit`")
    run = Evaluation(model)
    try:
        _restore(run, persistence.header(path)["notes"], extra(path))
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise persistence.ModelFileError(
            path, f"the scores of its run are damaged ({error!r})"
        ) from None
    return run


def _restore(run: Evaluation, notes: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    if "lines" in notes:  # those of a run, not of a model made from shards
        for name in COUNTS:
            found = notes.get(name, getattr(run, name))  # an older file may lack the latest
            if type(found) is not type(getattr(run, name)):
                raise TypeError(f"{name} is {found!r}")
            setattr(run, name, found)
        run._since = arrays["since"]
    for name, array in arrays.items():
        part, dot, field_name = name.partition(".")
        if dot:
            _refuse_other(getattr(run, part).arrays()[field_name], array)
            setattr(getattr(run, part), field_name, array)


def _refuse_other(fresh: NDArray[Any], found: NDArray[Any]) -> None:
    """Refuse an array of a file with another type or shape: kernels do not check them."""
    alike = found.dtype == fresh.dtype and found.shape[1:] == fresh.shape[1:]
    if not alike or found.ndim != fresh.ndim:
        raise ValueError(f"an array of {found.dtype} and the shape {found.shape}")


def _cuts(
    prepared: Prepared, at: int, every: int, audit: int, lines: bool
) -> Iterator[tuple[int, int]]:
    """(start, stop) of the pieces of a block that begins at row `at` of the stream."""
    n = len(prepared.rows)
    ends = {*range(PIECE - at % PIECE, n, PIECE), *(row for row, _ in prepared.new)}
    ends |= {audit - 1 - at, n}
    if lines:
        ends |= {2**k - at for k in range(at.bit_length(), (at + n).bit_length() + 1)}
        ends.add(1 - at)
    if every:
        ends |= {*range(every - at % every, n, every)}
    start = 0
    for end in sorted(end for end in ends if 0 < end <= n):
        yield start, end
        start = end


def _is_number(columns: FrameEncoder, place: int) -> bool:
    """Whether a feature is a column of numbers itself: products, dates and levels have no unit."""
    names = columns.sources[place]
    return len(names) == 1 and columns.kinds.get(names[0], "number") == "number"


def _features(piece: Rows) -> int:
    """Number of non-missing nonzero values in the last row."""
    last = piece[len(piece) - 1 : len(piece)].values
    return int(np.count_nonzero(np.nan_to_num(last)))


def _plain(number: float) -> float | None:
    return None if np.isnan(number) else float(number)
