"""The file of predictions: CSV, a row a row, in their order."""

import csv
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from unitless.evaluation.metrics import Float
    from unitless.model import StreamModel


class Predictions:
    """Writes predictions while they come; `-` is standard output.

    Columns: `row` (from 1), `prediction`, and `p(class)` for every class, where there are
    probabilities: every class of the first rows. Numbers have all their digits.
    """

    def __init__(self, path: str | None, done: int = 0) -> None:
        self.path, self.rows = path, done
        self._file: Any = None
        self._names: list[str] = []
        self._ends: list[tuple[int, int]] = []
        """(size, rows) of the file after each of the writes to it, the first before any."""

    def __enter__(self) -> Self:
        if self.path == "-":
            self._file = sys.stdout.buffer if hasattr(sys.stdout, "buffer") else sys.stdout
        elif self.path is not None:
            size = 0
            if self.rows and os.path.isfile(self.path):
                self._names, size = _behind(self.path, self.rows)
            # Without a buffer: what is not written when the disk is full is known.
            self._file = open(self.path, "r+b" if size else "wb", buffering=0)
            if size:
                self._file.truncate(self._file.seek(size))
            self._ends = [(size, self.rows)]
        return self

    def __exit__(self, *_: object) -> None:
        self.flush()
        if self._file is not None and self.path != "-":
            self._file.close()

    def write(self, model: "StreamModel", scores: "Float") -> None:
        """Write the predictions that these scores are."""
        start, self.rows = self.rows, self.rows + len(scores)
        if self._file is None:
            return
        import polars

        from unitless.model import text_of

        columns: dict[str, Any] = {"row": range(start + 1, self.rows + 1)}
        answers = model.answers(scores)
        columns["prediction"] = answers if answers.dtype != object else list(map(text_of, answers))
        chances = model.probabilities(scores)
        if chances is not None:
            columns |= {f"p({text_of(c)})": chances[:, k] for k, c in enumerate(model.labels)}
        first = not self._names
        self._names = self._names or list(columns)
        frame = polars.DataFrame(columns).select(self._names)
        text = left = memoryview(frame.write_csv(include_header=first).encode())
        with self._named_errors():
            while left:
                left = left[self._file.write(left) :]
        if self.path != "-":
            self._ends.append((self._ends[-1][0] + len(text), self.rows))

    def give_back(self, size: int) -> int | None:
        """Take back the last rows, so many bytes or more: the rows left, None if none can go."""
        if len(self._ends) < 2 or self.path is None:
            return None
        wanted = self._ends[-1][0] - size
        while len(self._ends) > 1 and self._ends[-1][0] > wanted:
            self._ends.pop()
        with suppress(OSError):  # a pipe has nothing to give
            os.truncate(self.path, self._ends[-1][0])
            return self._ends[-1][1]
        return None

    def flush(self) -> None:
        """What was written is in the file, as far as the system goes."""
        if self._file is not None:
            with self._named_errors():
                self._file.flush()

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        """An error of the disk names the file, which then is given up, its last line whole."""
        try:
            yield
        except OSError as error:
            if self.path != "-":
                error.filename = self.path
                with suppress(OSError), self._file:
                    self._file.truncate(self._ends[-1][0])
            self._file = None
            raise


def _behind(path: str, rows: int) -> tuple[list[str], int]:
    """The header of a file of predictions, and the place behind those of so many rows."""
    last, place = 0, 0
    with open(path, "rb") as file, suppress(ValueError):
        names = next(csv.reader([file.readline().decode()]), [])
        while last < rows and (line := file.readline()).endswith(b"\n"):
            last, place = int(line.partition(b",")[0]), file.tell()
    if last != rows:
        raise ValueError(
            f"{path} does not hold the predictions up to row {rows:,}, behind which the model goes "
            "on: give another file for the rest"
        )
    return names, place
