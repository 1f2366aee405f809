"""From the options of a command to the blocks of a file."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from unitless.cli.options import ColumnOptions, ReadingOptions

if TYPE_CHECKING:
    from unitless.model import Model
    from unitless.readers import Block


def new_blocks(
    data: str, reading: dict[str, Any], options: ReadingOptions, columns: ColumnOptions, task: str
) -> "Iterator[Block]":
    """Open a file for a new model."""
    from unitless.readers import SPARSE, format_of, open_blocks

    settings = dict(reading)
    if (reading.get("format") or format_of(data)) in SPARSE and task != "auto":
        settings["settle"] = 1  # nothing to detect: do not wait for the lines of a slow pipe
    return open_blocks(
        data,
        **settings,
        target=columns.target,
        weight=columns.weight,
        coerce=options.coerce,
        skip_bad=options.skip_bad,
    )


def model_blocks(
    data: str,
    reading: dict[str, Any],
    options: ReadingOptions,
    model: "Model",
    *,
    resume: bool = False,
    labelled: bool = True,
) -> "Iterator[Block]":
    """Open a file for a model that knows names and columns.

    Parameters
    ----------
    resume
        Start where the model stopped, not at the beginning of the file.
    labelled
        Whether the target is needed; for predictions its column, if there is one, is ignored.
    """
    from unitless.readers import open_blocks

    settings = reading | {"settle": 1, "names": model.names or ()}
    if resume:
        settings["resume"] = model.position
    elif is_csv(data, reading) and isinstance(model.position.get("columns"), dict):
        settings["types"] = _types(model, data, reading, labelled)
    return open_blocks(
        data,
        **settings,
        target=model.target if labelled else None,
        weight=model.weight if labelled else None,
        coerce=options.coerce,
        skip_bad=options.skip_bad,
    )


def is_csv(data: str, reading: dict[str, Any]) -> bool:
    """Return whether the types of columns are detected, as in CSV files."""
    from unitless.readers import format_of

    return (reading.get("format") or format_of(data)) in ("csv", "tsv")


def _types(model: "Model", data: str, reading: dict[str, Any], labelled: bool) -> dict[str, str]:
    """Return the types that features had in the file that the model learned from.

    Columns that are not features are read as text, in which every cell is valid.
    """
    known = model.position["columns"]
    others = {name for name in (model.target, model.weight, *model.ignore) if name}
    features = {*(model.keep or known)} - others
    types = {k: v for k, v in known.items() if v in ("number", "string") and k in features}
    if labelled:
        return types | reading.get("types", {})
    return types | dict.fromkeys(others & {*_column_names(data, reading)}, "string")


def _column_names(data: str, reading: dict[str, Any]) -> list[str]:
    """Return the columns of a file; none for standard input, which can be read only once."""
    from unitless.readers import open_blocks

    if data == "-":
        return []
    settings = {k: v for k, v in reading.items() if k != "types"}
    blocks = open_blocks(data, **settings, block_bytes=1 << 16, read_ahead=False, skip_bad=1 << 30)
    frame = next(iter(blocks)).frame
    return [] if frame is None else frame.columns


def is_source(data: str, source: str) -> bool:
    """Return whether a file is the one in which a model stopped; standard input never is."""
    return data != "-" and os.path.abspath(data) == os.path.abspath(source or "-")
