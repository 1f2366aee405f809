"""The file of predictions: CSV, one line per row, in the order of the rows."""

import csv
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from unitless.evaluation.metrics import Float
    from unitless.model import Model


class Predictions:
    """Writes predictions as they are made.

    Columns: `row` (from 1), `prediction`, and `p(class)` for every class of the first rows if the
    loss has probabilities. Numbers have all their digits.

    The file is called `FILE.partial` until it is complete, so that a run that fails leaves an older
    FILE as it was. If there is no older one, a partial file gets its name in any case.

    Parameters
    ----------
    path
        The file; "-" for standard output, None to write nothing.
    done
        Number of rows that a resumed run has predicted before.
    complete
        Whether a resumed run had predicted all rows: then nothing is written.
    """

    def __init__(self, path: str | None, done: int = 0, complete: bool = False) -> None:
        self.path = None if complete and path == "-" else path
        self.rows = done
        self.complete = complete
        self._file: Any = None
        self._names: list[str] = []
        self._ends: list[tuple[int, int]] = []
        """(bytes, rows) of the file after each write, and before the first."""
        # Devices and named pipes are written in place.
        is_special = path is not None and os.path.exists(path) and not os.path.isfile(path)
        self._partial = path if path in (None, "-") or is_special else f"{path}.partial"
        self._place = self._partial

    def __enter__(self) -> Self:
        if self.path is None:
            return self
        if self.complete:
            if os.path.isfile(str(self._partial)):
                self.finish()
        elif self.path == "-":
            self._file = sys.stdout.buffer if hasattr(sys.stdout, "buffer") else sys.stdout
        else:
            size = self._continue() if self.rows else 0
            # Without a buffer, the size of the file is known when the disk is full.
            self._file = open(str(self._place), "r+b" if size else "wb", buffering=0)
            if size:
                self._file.truncate(self._file.seek(size))
            self._ends = [(size, self.rows)]
        return self

    def _continue(self) -> int:
        """Return the size of the predictions of a resumed run; 0 if they are elsewhere."""
        assert self.path is not None
        found = [str(each) for each in (self._partial, self.path) if os.path.isfile(str(each))]
        for file in found:
            try:
                self._names, size = _find_end(file, self.rows)
            except ValueError:
                if file == found[-1]:
                    raise
                continue
            if file != self._partial:
                os.replace(file, str(self._partial))
            return size
        return 0

    def __exit__(self, error: object, *_: object) -> None:
        try:
            self.flush()
        finally:
            is_new = self.path is not None and not os.path.exists(self.path)
            if error is None or is_new:
                self.finish()
            else:
                self._close()

    def _close(self) -> None:
        if self._file is not None and self.path != "-":
            self._file.close()
        self._file = None

    def finish(self) -> None:
        """Give the file its name; nothing is written afterwards."""
        self._close()
        if self._place != self.path and os.path.isfile(str(self._place)):
            os.replace(str(self._place), str(self.path))
            self._place = self.path

    def write(self, model: "Model", scores: "Float") -> None:
        """Write the predictions of some rows."""
        start = self.rows
        self.rows += len(scores)
        if self._file is None:
            return
        text = left = memoryview(self._lines(model, scores, start).encode())
        with self._named_errors():
            while left:
                left = left[self._file.write(left) :]
        if self.path != "-":
            self._ends.append((self._ends[-1][0] + len(text), self.rows))

    def _lines(self, model: "Model", scores: "Float", start: int) -> str:
        import polars

        from unitless.labels import text_of

        columns: dict[str, Any] = {"row": range(start + 1, self.rows + 1)}
        answers = model.answers(scores)
        columns["prediction"] = answers if answers.dtype != object else list(map(text_of, answers))
        probabilities = model.probabilities(scores)
        if probabilities is not None:
            names = [f"p({text_of(label)})" for label in model.labels]
            columns |= {name: probabilities[:, k] for k, name in enumerate(names)}
        is_first = not self._names
        self._names = self._names or list(columns)
        return polars.DataFrame(columns).select(self._names).write_csv(include_header=is_first)

    def give_back(self, size: int) -> int | None:
        """Remove the last rows, at least `size` bytes; return the rows left, None if impossible."""
        if len(self._ends) < 2:
            return None
        wanted = self._ends[-1][0] - size
        while len(self._ends) > 1 and self._ends[-1][0] > wanted:
            self._ends.pop()
        with suppress(OSError):  # a pipe cannot be cut
            os.truncate(str(self._place), self._ends[-1][0])
            return self._ends[-1][1]
        return None

    def flush(self) -> None:
        """Pass everything written so far to the system."""
        if self._file is not None:
            with self._named_errors():
                self._file.flush()

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        """Name the file in errors of the disk, and end it after its last whole line."""
        try:
            yield
        except OSError as error:
            if self.path != "-":
                error.filename = self.path
                with suppress(OSError), self._file:
                    self._file.truncate(self._ends[-1][0])
            self._file = None
            raise


def _find_end(path: str, rows: int) -> tuple[list[str], int]:
    """Return the header of a file of predictions, and the offset after that many rows."""
    last = 0
    offset = 0
    names: list[str] = []
    with open(path, "rb") as file, suppress(ValueError):
        names = next(csv.reader([file.readline().decode()]), [])
        while last < rows and (line := file.readline()).endswith(b"\n"):
            last = int(line.partition(b",")[0])
            offset = file.tell()
    if last != rows:
        raise ValueError(
            f"{path} does not contain the predictions up to row {rows:,}, where the model "
            "continues; choose another file for the remaining rows"
        )
    return names, offset
