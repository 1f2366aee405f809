"""Write frames or sparse rows to files; one function per family of formats.

What is written is read back by `readers` as the same rows, names, labels and importances. CSV
is the exception: there a category `5` is read back as a number, and `NA` as missing.
"""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import math
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import IO, TYPE_CHECKING, Any, NamedTuple, cast
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

from unitless.escaping import frame_without_formulas, standard_output
from unitless.rows import Rows

if TYPE_CHECKING:
    import polars

LARGEST_WHOLE = 2.0**53
"""Up to here, float64 has every whole number."""

UNQUOTED = {ord(char): f"%{ord(char):02X}" for char in "%:|\x7f"}
UNQUOTED |= {code: f"%{code:02X}" for code in range(33)}
"""Characters with a meaning in sparse text, and how they are escaped in names."""


class Sparse(NamedTuple):
    """Sparse rows with labels and importance weights, the names of their columns, and their tags.

    `names` are those of all columns so far; None if the columns are numbered (svmlight).
    """

    rows: Rows
    names: Sequence[str] | None
    tags: Sequence[str] | None = None


@contextmanager
def opened(path: str) -> Iterator[IO[bytes]]:
    """A file to write to, or standard output; compressed as its ending says.

    The file appears, or replaces an older one, only when all of it is written.
    """
    if path == "-":
        stream = standard_output()
        yield stream
        stream.flush()
        return
    special = os.path.exists(path) and not os.path.isfile(path)
    part = path if special else f"{path}.part"
    try:
        with open(part, "wb") as file, _packed(path, file) as packed:
            yield packed
        if not special:
            os.replace(part, path)
    except BaseException as error:
        if isinstance(error, OSError) and error.filename is None:
            error.filename = path
        if not special and os.path.exists(part):
            os.remove(part)
        raise


def _packed(path: str, file: IO[bytes]) -> Any:
    """The file, compressed as the ending of its name says."""
    name, _, ending = path.rpartition(".")
    if ending == "gz":
        return gzip.GzipFile("", "wb", fileobj=file, mtime=0)
    if ending == "bz2":
        return bz2.open(file, "wb")
    if ending == "xz":
        return lzma.open(file, "wb")
    if ending == "zip":
        return _zipped(file, os.path.basename(name))
    if ending == "zst":
        import zstandard

        return zstandard.ZstdCompressor().stream_writer(file, closefd=False)
    return nullcontext(file)


@contextmanager
def _zipped(file: IO[bytes], member: str) -> Iterator[IO[bytes]]:
    archive = ZipFile(file, "w", ZIP_DEFLATED)
    with archive, archive.open(member, "w", force_zip64=True) as made:
        yield made


def write_frames(
    frames: Iterable[polars.DataFrame], file: IO[bytes], format: str, *, safe_csv: bool = False
) -> None:
    """Frames of the same columns as one table: csv, tsv, jsonl, parquet or arrow.

    With `safe_csv`, no text in csv or tsv begins like a formula of a spreadsheet.
    """
    if format in ("parquet", "arrow"):
        _store(iter(frames), file, format)
        return
    separator = "\t" if format == "tsv" else ","
    for k, frame in enumerate(map(_whole, frames)):
        if format == "jsonl":
            text = frame.write_ndjson()
        else:
            frame = _with_json(frame)
            frame = frame_without_formulas(frame) if safe_csv else frame
            text = frame.write_csv(include_header=k == 0, separator=separator)
        file.write(text.encode())  # not by polars, whose errors hide those of the system


def _whole(frame: polars.DataFrame) -> polars.DataFrame:
    """The frame with integers instead of numbers that are all whole: 5, not 5.0."""
    import polars as pl

    for column in frame.select(pl.selectors.float()):
        values = column.drop_nulls().to_numpy()
        is_whole = (values == np.trunc(values)) & (np.abs(values) < LARGEST_WHOLE)
        if (is_whole & ~((values == 0) & np.signbit(values))).all():  # -0.0 is no integer
            frame = frame.with_columns(column.cast(pl.Int64))
    return frame


def _with_json(frame: polars.DataFrame) -> polars.DataFrame:
    """The frame with JSON text instead of lists and structs, which a cell of CSV cannot hold.

    >>> import polars
    >>> _with_json(polars.DataFrame({"a": [[1, 2], None]}))["a"].to_list()
    ['[1, 2]', None]
    """
    import polars as pl

    for column in frame.select(pl.selectors.nested()):
        cells = [None if cell is None else _as_json(cell) for cell in column.to_list()]
        frame = frame.with_columns(pl.Series(column.name, cells, dtype=pl.String))
    return frame


def _as_json(cell: object) -> str:
    """JSON text: numbers that are not finite are null, dates and times are text."""
    text = json.dumps(cell, ensure_ascii=False, default=str)
    if any(word in text for word in ("NaN", "Infinity")):  # perhaps within text
        plain = json.loads(text, parse_constant=lambda name: None)
        text = json.dumps(plain, ensure_ascii=False)
    return text


def _store(frames: Iterator[polars.DataFrame], file: IO[bytes], format: str) -> None:
    """Write the frames as they arrive; only a few are in memory at a time."""
    from polars.exceptions import PolarsError
    from polars.io.plugins import register_io_source

    first = next(frames)
    kept = _Kept(file)
    out = cast("IO[bytes]", kept)

    def source(*_: object) -> Iterator[polars.DataFrame]:
        yield first
        yield from frames

    table = register_io_source(source, schema=first.schema)
    try:
        (table.sink_parquet if format == "parquet" else table.sink_ipc)(out)
    except (PolarsError, OSError) as error:
        raise kept.error or error from None


class _Kept(io.RawIOBase):
    """A file to write to that keeps its last error, which polars would hide."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.error: OSError | None = None

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        try:
            return self.file.write(data)
        except OSError as error:
            self.error = error
            raise


def write_objects(blocks: Iterable[Sparse], file: IO[bytes], label: str, weight: str) -> None:
    """Sparse rows as JSON lines: names that a row does not have are absent."""
    for block in blocks:
        for number, (features, target, importance, tag) in enumerate(_rows(block)):
            row: dict[str, object] = {label: _json(target)}
            if importance != 1:
                row[weight] = importance
            if tag:
                row["tag"] = tag
            for column, value in features:
                name = _name(block, column)
                if name in row:
                    raise ValueError(
                        f"row {number} of a block has a feature {name!r} besides its label, "
                        "importance or tag: give those other names with --target and --weight"
                    )
                row[name] = _json(value)
            file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")


def write_vw(blocks: Iterable[Sparse], file: IO[bytes]) -> None:
    """VW text: `label importance 'tag| name:value ...`, missing values as nan.

    >>> import io
    >>> from unitless.rows import as_rows
    >>> from scipy.sparse import csr_array
    >>> file = io.BytesIO()
    >>> rows = as_rows(csr_array([[1.0, 0.5], [0.0, 2.0]]), [1.0, -1.0], [2.0, 1.0])
    >>> write_vw([Sparse(rows, ["red hot", "h"])], file)
    >>> print(file.getvalue().decode(), end="")
    1 2 | red%20hot h:0.5
    -1 | h:2
    """
    for block in blocks:
        for features, label, weight, tag in _rows(block):
            words = [] if math.isnan(label) else [_text(label)]
            if words and weight != 1:
                words.append(_text(weight))
            words.append(f"'{tag}|" if tag else "|")
            for column, value in features:
                name = quoted(_name(block, column))
                words.append(name if value == 1 else f"{name}:{_text(value)}")
            file.write(" ".join(words).encode() + b"\n")


def write_svmlight(blocks: Iterable[Sparse], file: IO[bytes]) -> None:
    """svmlight: `label index:value ...`; named columns count from 1, comments list the names."""
    written = 0
    for block in blocks:
        if block.rows.weights is not None:
            raise ValueError("svmlight has no place for importances: leave them out, or write VW")
        first = 0 if block.names is None else 1
        names = block.names or ()
        for column in range(written, len(names)):
            file.write(f"# {column + 1} {quoted(names[column])}\n".encode())
        written = len(names)
        for features, label, _, _ in _rows(block):
            words = [_text(label)]
            words += [f"{column + first}:{_text(value)}" for column, value in features]
            file.write(" ".join(words).encode() + b"\n")


def _rows(block: Sparse) -> Iterator[tuple[list[tuple[int, float]], float, float, str]]:
    """The columns and values, label, importance and tag of each row."""
    rows: Any = block.rows
    starts = rows.starts.tolist()
    features = list(zip(rows.indices.tolist(), rows.values.tolist(), strict=True))
    labels = rows.targets.tolist()
    weights = [1.0] * len(rows) if rows.weights is None else rows.weights.tolist()
    tags = block.tags or [""] * len(rows)
    for i in range(len(rows)):
        yield features[starts[i] : starts[i + 1]], labels[i], weights[i], tags[i]


def _name(block: Sparse, column: int) -> str:
    return str(column) if block.names is None else block.names[column]


def quoted(name: str) -> str:
    """A name without the characters that end one: those are written %20, %3A, ..."""
    return name.translate(UNQUOTED) or "%"


def _text(value: float) -> str:
    """The shortest text that is read back as the same number: 3, 0.1, -0.0."""
    text = repr(value)
    return text[:-2] if text.endswith(".0") and text != "-0.0" else text


def _json(value: float) -> float | None:
    return None if math.isnan(value) else value
