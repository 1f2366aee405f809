"""The types of columns that are known before a file is read: from options, or from a model.

All others are detected by their first cells, see `unitless.encoders.column_kinds`.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from unitless.encoders import FrameEncoder
from unitless.readers import SPARSE
from unitless.readers.blocks import KIND

if TYPE_CHECKING:
    from unitless.model import Model

SPELLED = ("date ", "number ")
"""Beginnings of kinds that say how cells are written."""
CSV = ("csv", "tsv")


def known_types(
    format: str,
    reading: Mapping[str, Any],
    target: str | None,
    task: str,
    ignore: Iterable[str],
) -> dict[str, str]:
    """The types of columns that are known before the first row is read.

    Ignored columns, and the classes of CSV files, are text, in which every cell is valid; classes
    of other tables keep their type.

    >>> known_types("csv", {}, target="price", task="regression", ignore=["id"])
    {'id': 'string', 'price': 'number'}
    """
    if format in SPARSE:
        return {}
    types = dict.fromkeys(ignore, "string") | reading.get("types", {})
    if target and task != "auto":
        classes = "string" if format in CSV else "label"
        types[target] = "number" if task == "regression" else classes
    return types


def types_of_model(model: "Model", format: str, *, labelled: bool) -> dict[str, str] | None:
    """The types of the features of a file for a model that has learned.

    In CSV every feature has the type of the file that the model learned from. Other formats have
    types of their own, and only what a new file may not show is told. If rows are not `labelled`, a
    first odd value must not decide on the type of a column. A model that is not of a table has the
    types that it was given, None if it was given none.
    """
    given: dict[str, str] | None = model.file.reading.get("types")
    if format in CSV and model.file.position.columns is not None:
        known = _features(model)
        return known | (given or {}) if labelled else known
    if format in CSV or format in SPARSE or model.encoder is None:
        return given
    known = _categories(model.encoder) | _spellings(model)
    if format == "jsonl" and not labelled:
        known = _numbers(model) | known
    return known | (given or {})


def no_features(model: "Model") -> set[str]:
    """The columns that are named and are no features."""
    return {*filter(None, (model.file.target, model.file.weight, *model.file.ignore))}


def _features(model: "Model") -> dict[str, str]:
    """The types that features had in the file that the model learned from."""
    others = no_features(model)
    keep = model.file.keep
    return {
        name: kind
        for name, kind in (model.file.position.columns or {}).items()
        if name not in others and (not keep or name in keep) and kind and KIND.fullmatch(kind)
    }


def _numbers(model: "Model") -> dict[str, str]:
    """The types of columns that are numbers to a model: numbers, or booleans."""
    assert model.encoder is not None
    read = model.file.position.columns or {}
    names = [name for name, kind in model.encoder.kinds.items() if kind == "number"]
    return {name: "boolean" if read.get(name) == "boolean" else "number" for name in names}


def _categories(columns: FrameEncoder) -> dict[str, str]:
    """The type of columns that are categories to a model, so that none becomes a date."""
    categories = {name for name, kind in columns.kinds.items() if kind == "category"}
    for feature, source in zip(columns.names, columns.sources, strict=True):
        if feature.lower().endswith(("=true", "=false")):  # the encoder spells booleans
            categories -= {*source}
    return dict.fromkeys(categories, "string")


def _spellings(model: "Model") -> dict[str, str]:
    """How dates and numbers of features are written: a new file may not show it."""
    known = (model.file.position.columns or {}).items()
    spelled = {name: kind for name, kind in known if kind and kind.startswith(SPELLED)}
    return {name: kind for name, kind in spelled.items() if name != model.file.target}


def type_of_target(model: "Model") -> dict[str, str]:
    """The type of the target, if a file that begins otherwise would not show it."""
    kind = (model.file.position.columns or {}).get(model.file.target or "")
    if model.file.target is None:
        return {}
    if kind and kind.startswith(SPELLED):
        return {model.file.target: kind}
    is_text = any(isinstance(label, str) for label in model.labels)
    return {model.file.target: "string"} if is_text else {}
