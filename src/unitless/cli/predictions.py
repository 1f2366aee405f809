"""The file of predictions: CSV or JSON lines, one line per row, in the order of the rows."""

import csv
import json
import math
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, Self

import numpy as np
import polars
from numpy.typing import NDArray

from unitless.escaping import escaped, frame_without_formulas, standard_output
from unitless.evaluation.progressive import Bool, Float, Pair
from unitless.labels import text_of
from unitless.model import Model


class Predictions:
    """Writes predictions as they are made.

    Columns: `row` (from 1), `prediction`, and `p(class)` for every class of the first rows if the
    loss has probabilities; for each coverage `low(0.9)` and `high(0.9)`, or of classes `set(0.9)`,
    whose classes are separated by "|". In a progressive evaluation follow
    `prediction_not_fresh`, the prediction without recent labels, and its intervals. Numbers
    have all their digits.

    The file is called `FILE.partial` until it is complete, so that a run that fails leaves an older
    FILE as it was. If there is no older one, a partial file gets its name in any case. A path of
    "-" is standard output, None writes nothing; `done` rows were predicted by an earlier run.

    With `as_json` there is one JSON object per row, with `row`, `prediction` and `probabilities` by
    class, or with `row`, `line` and `error` for a line that is no row. With `safe_csv`, no label in
    CSV begins like a formula of a spreadsheet.
    """

    def __init__(
        self,
        path: str | None,
        done: int = 0,
        as_json: bool = False,
        *,
        safe_csv: bool = False,
    ) -> None:
        self.path = path
        self._safe_csv = safe_csv
        self.rows = done
        self.as_json = as_json
        self.coverages: Sequence[float] = ()
        """The coverages of the intervals that are written; all declared ones by default."""
        self._file: Any = None
        self._names: list[str] = []
        self._size = 0
        """Bytes of the file up to the last whole line."""
        # Devices and named pipes are written in place.
        is_special = path is not None and os.path.exists(path) and not os.path.isfile(path)
        self._partial = str(path) if is_special else f"{path}.partial"

    def __enter__(self) -> Self:
        if self.path == "-":
            self._file = standard_output()
        elif self.path is not None:
            if self.rows:
                self._find_earlier()
            # Without a buffer, the size of the file is known when the disk is full.
            self._file = open(self._partial, "r+b" if self._size else "wb", buffering=0)
            if self._size:
                self._file.truncate(self._file.seek(self._size))
        return self

    def _find_earlier(self) -> None:
        """Find the predictions of the run that is resumed; there are none if they are elsewhere."""
        known = [file for file in (self._partial, str(self.path)) if os.path.isfile(file)]
        for file in known:
            self._names, self._size = _find_end(file, self.rows)
            if self._size:
                os.replace(file, self._partial)
                return
        if known:
            raise ValueError(
                f"{known[-1]} does not contain the predictions up to row {self.rows:,}, where the "
                "model continues; choose another file for the remaining rows"
            )

    def __exit__(self, error: object, *_: object) -> None:
        try:
            self.flush()
        finally:
            is_new = self.path is not None and not os.path.exists(self.path)
            if error is None or is_new:
                self.finish()
            elif self.path != "-" and self._file is not None:
                self._file.close()

    def finish(self) -> None:
        """Give the file its name; nothing is written afterwards."""
        if self.path in (None, "-") or self._file is None:
            return
        self._file.close()
        self._file = None
        if self._partial != self.path:
            os.replace(self._partial, str(self.path))

    def write(
        self,
        model: Model,
        scores: NDArray[Any],
        not_fresh: NDArray[Any] | None = None,
        intervals: Pair | None = None,
    ) -> None:
        """Write the predictions of some rows; `not_fresh` are scores without recent labels.

        `intervals` are those, or the sets, of both answers.
        """
        start = self.rows
        self.rows += len(scores)
        if self._file is None:
            return
        lines = self._objects if self.as_json else self._lines
        self._write(lines(model, scores, start, not_fresh, intervals).encode())

    def write_error(self, line: int, error: ValueError) -> None:
        """Answer a line that is no row; it counts as one."""
        self.rows += 1
        if self.as_json and self._file is not None:
            answer = {"row": self.rows, "line": line, "error": str(error)}
            self._write(json.dumps(answer, ensure_ascii=False).encode() + b"\n")
        else:
            print(f"unitless: {escaped(str(error))}", file=sys.stderr, flush=True)

    def _write(self, text: bytes) -> None:
        left = memoryview(text)
        try:
            while left:
                left = left[self._file.write(left) :]
        except OSError as error:
            if self.path != "-":  # name the file, and end it after its last whole line
                error.filename = self.path
                with suppress(OSError):
                    self._file.truncate(self._size)
            raise
        self._size += len(text)

    def _lines(
        self,
        model: Model,
        scores: NDArray[Any],
        start: int,
        not_fresh: NDArray[Any] | None,
        intervals: Pair | None,
    ) -> str:
        columns: dict[str, object] = {"row": range(start + 1, self.rows + 1)}
        columns["prediction"] = _answers(model, scores)
        probabilities = model.probabilities(scores)
        if probabilities is not None:
            for k, label in enumerate(model.labels):
                columns[f"p({text_of(label)})"] = probabilities[:, k]
        if intervals is not None:
            columns |= self._interval_columns(model, intervals[0])
        if not_fresh is not None:
            columns["prediction_not_fresh"] = _answers(model, not_fresh)
            if intervals is not None:
                columns |= self._interval_columns(model, intervals[1], "_not_fresh")
        is_first = not self._names
        self._names = self._names or list(columns)
        frame = polars.DataFrame({name: columns[name] for name in self._names})
        if self._safe_csv:
            frame = frame_without_formulas(frame)
        return frame.write_csv(include_header=is_first)

    def _objects(
        self,
        model: Model,
        scores: NDArray[Any],
        start: int,
        not_fresh: NDArray[Any] | None,
        intervals: Pair | None,
    ) -> str:
        probabilities = model.probabilities(scores)
        names = [*map(text_of, model.classes)]
        lines = []
        for k, answer in enumerate(model.answers(scores).tolist()):
            row = {"row": start + 1 + k, "prediction": answer}
            if probabilities is not None:
                row["probabilities"] = dict(zip(names, probabilities[k].tolist(), strict=True))
            if intervals is not None:
                row |= self._intervals_of_row(model, intervals[0][k])
            lines.append(json.dumps(row, ensure_ascii=False) + "\n")
        return "".join(lines)

    def _chosen(self, model: Model) -> list[float]:
        declared = () if model.intervals is None else model.intervals.coverages
        return [each for each in declared if not self.coverages or each in self.coverages]

    def _interval_columns(
        self, model: Model, found: Float | Bool, ending: str = ""
    ) -> dict[str, object]:
        """The ends of intervals, or the classes of sets as text, by coverage."""
        columns: dict[str, object] = {}
        for coverage in self._chosen(model):
            assert model.intervals is not None
            own = model.intervals.chosen(found, coverage)
            if model.task == "regression":
                columns[f"low{ending}({coverage:g})"] = own[:, 0]
                columns[f"high{ending}({coverage:g})"] = own[:, 1]
            else:
                names = np.array([*map(text_of, model.classes)], dtype=object)
                texts = ["|".join(names[row[: len(names)]]) for row in own]
                columns[f"set{ending}({coverage:g})"] = texts
        return columns

    def _intervals_of_row(self, model: Model, found: Float | Bool) -> dict[str, object]:
        """The intervals or sets of one row as JSON; an infinite end is null."""
        made: dict[str, object] = {}
        for coverage in self._chosen(model):
            assert model.intervals is not None
            own = model.intervals.chosen(found, coverage).tolist()
            if model.task == "regression":
                made[f"{coverage:g}"] = [end if math.isfinite(end) else None for end in own]
            else:
                pairs = zip(map(text_of, model.classes), own, strict=False)
                made[f"{coverage:g}"] = [name for name, is_in in pairs if is_in]
        return {"intervals" if model.task == "regression" else "sets": made}

    def flush(self) -> None:
        """Pass everything written so far to the system."""
        if self._file is not None:
            self._file.flush()


def _answers(model: Model, scores: NDArray[Any]) -> object:
    """The numbers, or the classes as text."""
    answers = model.answers(scores)
    if model.task == "regression":
        return answers
    return [None if each is None else text_of(each) for each in answers.tolist()]


def _find_end(path: str, rows: int) -> tuple[list[str], int]:
    """Return the header of a file of predictions, and the offset after that many rows, or 0."""
    with open(path, "rb") as file, suppress(ValueError):
        names = next(csv.reader([file.readline().decode()]), [])
        while (line := file.readline()).endswith(b"\n"):
            if int(line.partition(b",")[0]) == rows:
                return names, file.tell()
    return [], 0
