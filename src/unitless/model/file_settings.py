"""What belongs to the file that a model learns from."""

from typing import Any

import msgspec

from unitless.model.file_decisions import AnyDecision
from unitless.readers.blocks import Position


class FileSettings(msgspec.Struct, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """What the columns of a file mean, how it is read, and where the model is in it.

    >>> settings = FileSettings(target="price", ignore=["id"])
    >>> msgspec.to_builtins(settings)
    {'target': 'price', 'ignore': ['id']}
    """

    target: str | None = None
    """Tables: the column to predict."""
    weight: str | None = None
    """Tables: the column of sample weights."""
    ignore: list[str] = []
    """Tables: columns that are no features."""
    keep: list[str] = []
    """Tables: the only columns that are features, if there are any."""
    source: str = ""
    """The file as it was named."""
    reading: dict[str, Any] = {}
    """Options of the reader."""
    position: Position = Position()
    """Where the reader is."""
    decisions: list[AnyDecision] = []
    """What was decided about the file; `unitless.model.decision_sentences` words it."""
