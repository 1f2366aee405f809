"""What was decided about a file, in sentences: separator, numbers, dates, text, task and others."""

from functools import partial
from typing import TYPE_CHECKING, Any

from unitless.labels import shown
from unitless.model.input_rows import features
from unitless.readers.blocks import FileBlock
from unitless.suggestions import listed

if TYPE_CHECKING:
    from unitless.model import Model

MAX_NAMED = 5
"""Number of columns or classes whose names are shown."""
named = partial(listed, most=MAX_NAMED)
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", " ": "space", "|": "bar"}
LIKE_A_DATE = r"^\s*\d{1,4}[./-]\d{1,2}[./-]\d{1,4}\b"
ENCODINGS = {"cp1252": "Windows-1252", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16"}


def decisions(model: "Model", block: FileBlock, task: str) -> list[str]:
    """One sentence for each decision that the first block of a file led to.

    Columns of text get an encoder that counts words. `task` is what was asked for, which may be
    "auto".
    """
    place = block.position
    found = []
    if "files" in place:
        found.append(f"files: one stream, which begins with {place['files'][0]}")
    if "separator" in place:
        separator = place["separator"]
        found.append(f"separator: {SEPARATORS.get(separator, separator)}")
    if "encoding" in place:
        encoding = place["encoding"]
        name = ENCODINGS.get(encoding, encoding.upper())
        found.append(f"encoding: {name} (--encoding names another one)")
    if block.frame is not None and model.columns is not None:
        kinds = place.get("columns", {})
        found += _numbers({k: v for k, v in kinds.items() if v and k not in model.ignore})
        found += _features(model, features(model, block.frame), kinds)
    if task == "auto":
        found.append(_task(model))
    return found


def _numbers(kinds: dict[str, str]) -> list[str]:
    """The spellings of numbers that are not plain."""
    formats: dict[str, list[str]] = {}
    for name, kind in kinds.items():
        if kind.startswith("number "):
            formats.setdefault(kind.removeprefix("number "), []).append(name)
    advice = "(--decimal and --thousands say otherwise)"
    return [
        f"numbers: written like {example} in {named(names)} {advice}"
        for example, names in formats.items()
    ]


def _features(model: "Model", frame: Any, kinds: dict[str, str]) -> list[str]:
    """The types of the columns; finds those of text."""
    from unitless.readers.cells import is_identifier, is_text

    assert model.columns is not None
    words = [column for column in frame if str(column.dtype) == "String"]
    asked = {*model.columns.text}
    text = [
        column.name
        for column in words
        if column.name not in asked and kinds.get(column.name) != "category" and is_text(column)
    ]
    model.columns.text += text
    dates = [column.name for column in frame if column.dtype.is_temporal()]
    lists = [column.name for column in frame if str(column.dtype).startswith("List")]
    levels = [column.name for column in words if column.name not in model.columns.text]
    same = {*dates, *lists, *model.columns.text}
    identifiers = [each.name for each in frame if each.name not in same and is_identifier(each)]
    counts = f"columns: {frame.width - len(words) - len(dates) - len(lists)} numeric"
    others = {"categorical": levels, "date": dates, "text": model.columns.text}
    others["of lists, one feature per member"] = lists
    for what, names in others.items():
        if names:
            counts += f", {len(names)} {what} ({named(names)})"
    found = [counts]
    if dates:
        found.append(f"dates: {named(dates)} (--category makes a column categorical)")
    if text:
        found.append(f"text: the words of {named(text)} are counted (--category: whole cells)")
    for column in words:
        share = column.str.contains(LIKE_A_DATE).mean() or 0
        if kinds.get(column.name) != "category" and share > 0.9:
            option = f"--date '{column.name}=%d.%m.%Y'"
            found.append(f"dates: {column.name} looks like dates; {option} reads such a format")
    for name in identifiers[:MAX_NAMED]:
        option = f"--ignore {name!r}" if " " in name else f"--ignore {name}"
        found.append(f"identifier: {name} is different in every row; {option} leaves it out")
    return found


def _task(model: "Model") -> str:
    """The task, and why it is this one."""
    target = "the labels have" if model.target is None else f"{model.target!r} has"
    if model.task == "regression":
        return f"task: regression, because {target} numbers"
    what = f"the classes {named(map(shown, model.labels))}"
    if model.task == "binary" and len(model.labels) == 2:
        what = f"two values, {' and '.join(map(shown, model.labels))}"
    return f"task: {model.task}, because {target} {what}"
