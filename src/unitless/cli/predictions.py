"""The file of predictions: CSV, one line per row, in the order of the rows."""

import csv
import os
import sys
from contextlib import suppress
from typing import Any, Self

import polars
from numpy.typing import NDArray

from unitless.labels import text_of
from unitless.model import Model


class Predictions:
    """Writes predictions as they are made.

    Columns: `row` (from 1), `prediction`, and `p(class)` for every class of the first rows if the
    loss has probabilities. Numbers have all their digits.

    The file is called `FILE.partial` until it is complete, so that a run that fails leaves an older
    FILE as it was. If there is no older one, a partial file gets its name in any case. A path of
    "-" is standard output, None writes nothing; `done` rows were predicted by an earlier run.
    """

    def __init__(self, path: str | None, done: int = 0) -> None:
        self.path = path
        self.rows = done
        self._file: Any = None
        self._names: list[str] = []
        self._size = 0
        """Bytes of the file up to the last whole line."""
        # Devices and named pipes are written in place.
        is_special = path is not None and os.path.exists(path) and not os.path.isfile(path)
        self._partial = str(path) if is_special else f"{path}.partial"

    def __enter__(self) -> Self:
        if self.path == "-":
            self._file = getattr(sys.stdout, "buffer", sys.stdout)
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

    def write(self, model: Model, scores: NDArray[Any]) -> None:
        """Write the predictions of some rows."""
        start = self.rows
        self.rows += len(scores)
        if self._file is None:
            return
        text = self._lines(model, scores, start).encode()
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

    def _lines(self, model: Model, scores: NDArray[Any], start: int) -> str:
        columns: dict[str, Any] = {"row": range(start + 1, self.rows + 1)}
        answers = model.answers(scores)
        columns["prediction"] = answers if answers.dtype != object else list(map(text_of, answers))
        probabilities = model.probabilities(scores)
        if probabilities is not None:
            for k, label in enumerate(model.labels):
                columns[f"p({text_of(label)})"] = probabilities[:, k]
        is_first = not self._names
        self._names = self._names or list(columns)
        return polars.DataFrame(columns).select(self._names).write_csv(include_header=is_first)

    def flush(self) -> None:
        """Pass everything written so far to the system."""
        if self._file is not None:
            self._file.flush()


def _find_end(path: str, rows: int) -> tuple[list[str], int]:
    """Return the header of a file of predictions, and the offset after that many rows, or 0."""
    with open(path, "rb") as file, suppress(ValueError):
        names = next(csv.reader([file.readline().decode()]), [])
        while (line := file.readline()).endswith(b"\n"):
            if int(line.partition(b",")[0]) == rows:
                return names, file.tell()
    return [], 0
