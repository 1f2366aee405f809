"""From the options of a command to the blocks of a file."""

import os
import shlex
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import polars
from scipy.sparse import csr_array, vstack

from unitless import persistence, readers
from unitless.cli.options import CommandOptions
from unitless.model import Model
from unitless.model.column_types import known_types, no_features, type_of_target, types_of_model
from unitless.model.input_names import UnknownColumns, unknown_columns_note, unknown_names
from unitless.model.reservoir import Reservoir
from unitless.readers import SPARSE, FileBlock, format_of
from unitless.readers.blocks import Position, shown
from unitless.readers.files import common_format
from unitless.rows import Rows, as_rows


def open_new(
    options: CommandOptions, waiting: Callable[..., Any] = iter
) -> tuple[Model, Iterator[FileBlock]]:
    """Open a file; return a new model, and the blocks, wrapped by `waiting`."""
    reading = options.reading()
    settings: dict[str, Any] = {"target": options.target, "weight": options.weight}
    format = reading.get("format") or common_format(options.data, format_of)
    if format not in SPARSE:
        reading["types"] = known_types(
            format, reading, options.target, options.task, options.ignore
        )
    elif options.task != "auto":
        settings["settle"] = 1  # nothing to detect: do not wait for the lines of a slow pipe
    blocks = waiting(_blocks(options, reading | settings))
    first = next(blocks)
    meaning = options.meaning() | {"learner": options.learner, "source": options.source}
    meaning |= {"delay": options.delay, "intervals": options.interval}
    model = Model.from_first_block(first, **meaning)
    model.file.reading = reading
    model.reservoir = Reservoir(options.reservoir)
    return model, chain([first], blocks)


def open_known(
    options: CommandOptions,
    model: Model,
    *,
    resume: bool = False,
    labelled: bool = True,
    **more: object,
) -> Iterator[FileBlock]:
    """Open a file for a model that knows names and columns.

    With `resume`, start where the model stopped. For predictions the target is not needed; its
    column, if there is one, is ignored. `more` are further options of `open_blocks`.
    """
    settings = model.file.reading | {"settle": 1, "names": [*map(str, model.learner.names.columns)]}
    settings |= more
    format = model.file.reading.get("format") or common_format(options.data, format_of)
    types = settings.get("types")
    if resume:
        settings["resume"] = model.file.position
    else:
        types = types_of_model(model, format, labelled=labelled)
        is_csv = format in ("csv", "tsv") and model.file.position.columns is not None
        if is_csv and not labelled:
            types = (types or {}) | _others_as_text(options, model)
        if not labelled and format == "jsonl" and model.encoder is not None:
            settings["boolean_numbers"] = True  # which they are to models of data frames
    if types is not None:
        settings["types"] = types | (type_of_target(model) if labelled else {})
    if labelled:
        settings |= {"target": model.file.target, "weight": model.file.weight}
    return _blocks(options, settings)


def open_for_prediction(options: CommandOptions, model: Model, **more: Any) -> Iterator[FileBlock]:
    """Open a file whose rows are to be predicted; `more` are further options of `open_blocks`."""
    # Files have extensions; a pipe has the format of the training data.
    format = model.file.position.format if options.source == "-" else None
    model.file.reading |= {"format": format} | options.reading()
    return noting_columns(model, open_known(options, model, labelled=False, **more), learned=False)


def noting_columns(
    model: Model, blocks: Iterable[FileBlock], *, learned: bool
) -> Iterator[FileBlock]:
    """Yield the blocks, with a note about columns that the model does not have.

    Columns that are learned may appear at any time; only those of the first block are noted.
    """
    told: set[str] = set()
    for k, block in enumerate(blocks):
        names = () if block.frame is None or (learned and k) else block.frame.columns
        new = [name for name in names if name not in told]
        if unknown := unknown_names(model, new) if new else []:
            note = unknown_columns_note(model, unknown, learned)
            warnings.warn(note, UnknownColumns, stacklevel=1)
        told.update(new)
        yield block


def _blocks(options: CommandOptions, settings: dict[str, object]) -> Iterator[FileBlock]:
    blocks = readers.open_blocks(options.data, **options.strictness() | settings)
    return shuffled(blocks) if options.shuffle else blocks


NOT_FITTING = {
    "number": ("a number", "numbers"),
    "boolean": ("true or false", "true or false"),
    **dict.fromkeys(("date", "datetime"), ("a date", "dates")),
    **dict.fromkeys(("string", "category"), ("text", "text")),
}


def odd_cell_notes(
    position: Position, target: str | None = None, *, is_new: bool = True
) -> list[str]:
    """Return a sentence about each column with cells that are not numbers, or not booleans.

    `is_new` says that options can still change what the column is.

    >>> from unitless.readers.blocks import OddCells
    >>> print(*odd_cell_notes(Position(odd_cells={"age": OddCells(3, 17, "abc")})))
    column 'age': 3 cells are not numbers and count as missing, the first in line 17: 'abc'; for \
categories, use --category age
    """
    notes = []
    for name, odd in position.odd_cells.items():
        kind = ((position.columns or {}).get(name) or "number").partition(" ")[0]
        one, many = NOT_FITTING[kind]
        note = (
            f"column {name!r}: {odd.count:,} cells are not {many} and count as missing, the first"
        )
        if odd.count == 1:
            note = f"column {name!r}: 1 cell is not {one} and counts as missing,"
        place = f"line {odd.line}" if odd.file is None else f"line {odd.line} of {odd.file}"
        note += f" in {place}: {shown(odd.text)}"
        if name == target:
            note += "; if it is a class, use --task binary or --task multiclass"
        elif is_new:
            note += f"; for categories, use --category {shlex.quote(name)}"
        notes.append(note)
    return notes


def no_labels(model: Model, rows: int) -> str:
    """Return the message that no row of a file has a label, with the way out."""
    text = f"column {model.file.target!r}: none of {rows:,} rows has a label, its cells are"
    odd = model.file.position.odd_cells.get(model.file.target or "")
    if odd is None:
        return f"{text} missing; check --target"
    place = f"the first in line {odd.line}: {shown(odd.text)}"
    return f"{text} not numbers, {place}; check --target, or use --task multiclass for classes"


def _others_as_text(options: CommandOptions, model: Model) -> dict[str, str]:
    """Return text as the type of the columns of a file that are not features.

    In a column of text every cell is valid. A pipe can be read only once, so its columns are not
    known before.
    """
    if not os.path.isfile(options.data[0]):
        return {}
    settings = model.file.reading | {"types": {}, "block_bytes": 1 << 16, "skip_bad": 1 << 30}
    beginning = readers.open_blocks(options.data[0], read_ahead=False, **settings)
    there = getattr(next(beginning).frame, "columns", ())
    return dict.fromkeys({*there} & no_features(model), "string")


def labelled_rows(parts: list[Rows]) -> Rows:
    """Return the rows with a label as one block; later parts may have more columns."""
    rows = joined(parts)
    return rows.take(np.flatnonzero(~np.isnan(np.asarray(rows.targets))))


def joined(parts: list[Rows]) -> Rows:
    """Return all rows as one block; later parts may have more columns."""
    width = max(part.columns for part in parts)
    targets = [part.targets for part in parts if part.targets is not None]
    weights = [np.ones(len(part)) if part.weights is None else part.weights for part in parts]
    if all(part.starts is None and part.columns == width for part in parts):
        X: object = np.concatenate([part.values for part in parts])
    else:
        X = vstack([_matrix(part, width) for part in parts], format="csr")
    is_weighted = any(part.weights is not None for part in parts)
    return as_rows(
        X,
        np.concatenate(targets) if targets else None,
        np.concatenate(weights) if is_weighted else None,
    )


def _matrix(rows: Rows, width: int) -> object:
    if rows.starts is None:
        missing = width - rows.columns
        return csr_array(np.pad(rows.values, ((0, 0), (0, missing))))
    return csr_array((rows.values, rows.indices, rows.starts), shape=(len(rows), width))


def shuffled(blocks: Iterable[FileBlock]) -> Iterator[FileBlock]:
    """Yield all rows as one block, in an order that depends only on their number."""
    parts = list(blocks)
    filled = [part for part in parts if len(part)]
    if not filled:
        yield from parts
        return
    order = np.random.default_rng(0).permutation(sum(map(len, filled)))
    made: dict[str, Any] = {"position": parts[-1].position, "tags": None, "done": 1.0}
    made["first_rows"] = {}
    made["new_names"] = list(chain.from_iterable(part.new_names for part in parts))
    for name in ("lines", "targets", "weights"):
        arrays = [getattr(part, name) for part in filled]
        if any(array is not None for array in arrays):  # weights may be missing in some
            pairs = zip(filled, arrays, strict=True)
            whole = [np.ones(len(part)) if array is None else array for part, array in pairs]
            made[name] = np.concatenate(whole)[order]
    if filled[0].frame is None:
        made["rows"] = joined([part.rows for part in filled if part.rows is not None]).take(order)
    else:
        frames = [part.frame for part in filled if part.frame is not None]
        made["frame"] = polars.concat(frames, how="diagonal_relaxed")[order]
    yield replace(parts[0], **made)


def load_model(path: str, data: str = "-") -> Model:
    """Load a model file; if `data` is the model file, say that the arguments were swapped."""
    try:
        found = persistence.load(path)
        if persistence.is_bandit(found):
            raise ValueError(f"{path} is a bandit, which chooses actions: use `unitless decide`")
        return Model.of(found)
    except (persistence.ModelFileError, OSError):
        if data != "-" and _succeeds(persistence.header, data):
            raise ValueError(
                f"{data} is a model file and {path} is not: the arguments are swapped, the model "
                "comes first"
            ) from None
        if os.path.isfile(path) and _succeeds(format_of, path):
            raise ValueError(f"{path} is a data file, and a model file was expected") from None
        raise


def _succeeds(function: Callable[[str], object], path: str) -> bool:
    try:
        function(path)
    except (ValueError, OSError):
        return False
    return True
