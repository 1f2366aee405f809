"""The file of predictions: CSV, a row a row, in their order."""

import csv
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Self

from unitless.cli.screen import plain

if TYPE_CHECKING:
    from unitless.evaluation.tally import Float
    from unitless.streams import StreamModel


class Predictions:
    """Writes predictions while they come; `-` is standard output.

    Columns: `row` (from 1), `prediction`, and `p(class)` for every class, where there are
    probabilities: every class of the first rows. Numbers have all their digits.
    """

    def __init__(self, path: str | None, done: int = 0) -> None:
        self.path, self.rows = path, done
        self._file: Any = None
        self._names: list[str] = []

    def __enter__(self) -> Self:
        if self.path == "-":
            self._file = sys.stdout.buffer if hasattr(sys.stdout, "buffer") else sys.stdout
        elif self.path is not None:
            self._file = open(self.path, "r+b" if self.rows and os.path.exists(self.path) else "wb")
            if self.rows:
                self._names = _after(self._file, self.rows)
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

        columns: dict[str, Any] = {"row": range(start + 1, self.rows + 1)}
        answers = model.answers(scores)
        columns["prediction"] = answers if answers.dtype != object else list(map(plain, answers))
        chances = model.probabilities(scores)
        if chances is not None:
            columns |= {f"p({plain(c)})": chances[:, k] for k, c in enumerate(model.labels)}
        first = not self._names
        self._names = self._names or list(columns)
        frame = polars.DataFrame(columns).select(self._names)
        with self._named_errors():
            self._file.write(frame.write_csv(include_header=first).encode())

    def flush(self) -> None:
        """What was written is in the file, as far as the system goes."""
        if self._file is not None:
            with self._named_errors():
                self._file.flush()

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        """An error of the disk names the file, which then is given up."""
        try:
            yield
        except OSError as error:
            if self.path != "-":
                error.filename = self.path
                with suppress(OSError):
                    self._file.close()
            self._file = None
            raise


def _after(file: Any, rows: int) -> list[str]:
    """Cut the file behind so many rows, and go there; its header."""
    (header,) = csv.reader([file.readline().decode()])
    for _ in range(rows):
        file.readline()
    file.truncate()
    return header
