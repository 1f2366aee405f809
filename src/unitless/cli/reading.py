"""From the options of a command to the blocks of a file."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unitless.model import StreamModel
    from unitless.readers import Block


def reading_of(
    format: str | None = None,
    no_header: bool = False,
    separator: str | None = None,
    quote: str | None = None,
) -> dict[str, Any]:
    """What the options say about how the file is to be read; only what they say.

    >>> reading_of(no_header=True, quote="none")
    {'header': False, 'quote': None}
    """
    made: dict[str, Any] = {} if format is None else {"format": format}
    if no_header:
        made["header"] = False
    if separator is not None:
        made["separator"] = {"tab": "\t", "\\t": "\t", "space": " "}.get(separator, separator)
    if quote is not None:
        made["quote"] = None if quote == "none" else quote
    return made


def blocks_of(
    data: str,
    reading: dict[str, Any],
    *,
    target: str | None = None,
    weight: str | None = None,
    model: "StreamModel | None" = None,
    resume: bool = False,
    coerce: bool = False,
    skip_bad: int = 0,
    task: str = "auto",
) -> "Iterator[Block]":
    """The blocks of a file, for a fresh model or for one that knows names and columns.

    Without a target that column, if there is one, is no matter: for predictions. Where nothing is
    to be found out from the first rows, a slow pipe need not be waited for.
    """
    from unitless.readers import SPARSE, format_of, open_blocks

    options = dict(reading)
    sparse = (reading.get("format") or format_of(data)) in SPARSE
    if model is not None or (sparse and task != "auto"):
        options["settle"] = 1
    if model is not None:
        options["names"] = model.names or ()
        if resume:
            options["resume"] = model.position
        elif is_text(data, reading) and isinstance(model.position.get("columns"), dict):
            options["types"] = _types(model, data, reading, target)
    options |= {"target": target, "weight": weight, "coerce": coerce, "skip_bad": skip_bad}
    return open_blocks(data, **options)


def is_text(data: str, reading: dict[str, Any]) -> bool:
    """Whether it is CSV, where the types of columns are found out."""
    from unitless.readers import format_of

    return (reading.get("format") or format_of(data)) in ("csv", "tsv")


def _types(
    model: "StreamModel", data: str, reading: dict[str, Any], target: str | None
) -> dict[str, str]:
    """Features as they were in the file that the model learned from; what is none is text.

    Text fits everything, so that a column that does not matter cannot be wrong.
    """
    known = model.position["columns"]
    aside = {name for name in (model.target, model.weight, *model.ignore) if name}
    features = {*(model.keep or known)} - aside
    types = {k: v for k, v in known.items() if v in ("number", "string") and k in features}
    if target is not None:
        return types | reading.get("types", {})
    return types | dict.fromkeys(aside & {*_columns(data, reading)}, "string")


def _columns(data: str, reading: dict[str, Any]) -> list[str]:
    """The columns of a file; of a pipe, which can be read once, none."""
    from unitless.readers import open_blocks

    if data == "-":
        return []
    options = {k: v for k, v in reading.items() if k != "types"}
    blocks = open_blocks(data, **options, block_bytes=1 << 16, read_ahead=False, skip_bad=1 << 30)
    frame = next(iter(blocks)).frame
    return [] if frame is None else frame.columns


def same_file(data: str, source: str) -> bool:
    """Whether a file is the one that a model stopped in; a pipe never is."""
    return data != "-" and os.path.abspath(data) == os.path.abspath(source or "-")
