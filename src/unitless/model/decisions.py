"""What was decided about a file, in sentences: separator, numbers, dates, text, task and others."""

import re
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, Any

from unitless.labels import shown
from unitless.model.input_names import features
from unitless.model.intake import raw_targets
from unitless.readers.blocks import FileBlock
from unitless.suggestions import listed

if TYPE_CHECKING:
    from unitless.encoders.column_findings import ColumnFindings
    from unitless.model import Model

MAX_NAMED = 5
"""Number of columns or classes whose names are shown."""
MANY_CLASSES = 100
"""Fewest classes that are doubted if nearly each row has its own."""
named = partial(listed, most=MAX_NAMED)
SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", " ": "space", "|": "bar"}
NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?")
FORMATS = {"%s": "seconds since 1970", "%Q": "milliseconds since 1970"}
"""Formats of dates that have words."""
ENCODINGS = {"cp1252": "Windows-1252", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16"}


def decisions(
    model: "Model", block: FileBlock, task: str, found_columns: "ColumnFindings | None"
) -> list[str]:
    """One sentence for each decision that the first block of a file led to.

    `task` is what was asked for, which may be "auto".
    """
    place = block.position
    found = []
    if place.files:
        found.append(f"files: one stream, which begins with {place.files[0]}")
    if place.separator is not None:
        found.append(f"separator: {SEPARATORS.get(place.separator, place.separator)}")
    if place.encoding is not None:
        name = ENCODINGS.get(place.encoding, place.encoding.upper())
        found.append(f"encoding: {name} (--encoding names another one)")
    if block.frame is not None and found_columns is not None:
        kinds = place.columns or {}
        if place.separator is not None:
            found += _header([*kinds], place.renamed)
        found += _numbers({k: v for k, v in kinds.items() if v and k not in model.file.ignore})
        found += _features(model, features(model, block.frame), kinds, found_columns)
    if task == "auto":
        found.append(_task(model))
        found += _doubts(model, block)
    return found


def _header(names: list[str], renamed: dict[str, str]) -> list[str]:
    """Names that come several times, and names that are numbers."""
    found = []
    if renamed:
        pairs = named(f"{name} (another {before})" for name, before in renamed.items())
        found.append(f"header: names that come several times have a suffix: {pairs}")
    given = [renamed.get(name, name) for name in names]
    numbers = [name for name in given if NUMBER.fullmatch(name)]
    is_unlikely = any("." in name or numbers.count(name) > 1 for name in numbers)
    if len(numbers) == len(given) or is_unlikely:
        found.append(f"header: {named(numbers)} are numbers; if they are data, use --no-header")
    return found


def _numbers(kinds: dict[str, str]) -> list[str]:
    """The spellings of numbers that are not plain."""
    formats: dict[str, list[str]] = {}
    for name, kind in kinds.items():
        if kind.startswith("number "):
            formats.setdefault(kind.removeprefix("number "), []).append(name)
    advice = "(--decimal, --thousands and --category say otherwise)"
    return [
        f"numbers: written like {example} in {named(names)} {advice}"
        for example, names in formats.items()
    ]


def _features(
    model: "Model", frame: Any, kinds: dict[str, str | None], found: "ColumnFindings"
) -> list[str]:
    """The types of the columns, and what was found about them."""
    assert model.encoder is not None
    text = model.encoder.text
    dates = [column.name for column in frame if column.dtype.is_temporal()]
    lists = [column.name for column in frame if str(column.dtype).startswith("List")]
    words = [column.name for column in frame if str(column.dtype) == "String"]
    levels = [name for name in words if name not in {*text, *found.empty}]
    empty = [name for name in found.empty if name not in words]
    others = {"categorical": levels, "date": dates, "text": text}
    others["of lists, one feature per member"] = lists
    counts = f"columns: {frame.width - len({*words, *dates, *lists, *empty})} numeric"
    for what, names in others.items():
        if names:
            counts += f", {len(names)} {what} ({named(names)})"
    told = [counts, *_dates(dates, kinds)]
    if found.text:
        told.append(f"text: the words of {named(found.text)} are counted (--category: whole cells)")
    for name, formats in found.dates.items():
        told.append(_date_hint(name, formats))
    return told + _left_out(found) + _spellings(found) + _nearly_numbers(found)


def _left_out(found: "ColumnFindings") -> list[str]:
    """Columns that are no features, or should perhaps be none."""
    told = []
    if found.identifiers:
        told.append(
            f"identifiers: {named(found.identifiers)} left out, because every row has another "
            "value (--identifier-as-feature keeps them)"
        )
    for name in found.counters[:MAX_NAMED]:
        told.append(f"identifier: {name} counts the rows; --ignore {quote(name)} leaves it out")
    if found.empty:
        told.append(f"empty: {named(found.empty)} left out, because no row has a value so far")
    return told


def _spellings(found: "ColumnFindings") -> list[str]:
    """Codes, and levels that may be the same."""
    told = []
    if found.codes:
        told.append(
            f"leading zeros: {named(found.codes)} categorical (--number makes a column numeric)"
        )
    for name, groups in [*found.alike.items()][:MAX_NAMED]:
        same = " and ".join(map(repr, groups[0]))
        told.append(f"categories: {same} of {name} differ only in case or blanks: is it one?")
    return told


def _nearly_numbers(found: "ColumnFindings") -> list[str]:
    """Columns that are categorical although most of their cells are numbers."""
    told = []
    for name, fit in [*found.nearly_numbers.items()][:MAX_NAMED]:
        count = f"{fit.numbers:,} of {fit.present:,} cells are numbers"
        others = f"--number {quote(name)} makes others missing"
        told.append(
            f"numbers: {name} is categorical, although {count}; {others}: "
            f"{named(map(repr, fit.spellings))}"
        )
    for name, units in [*found.units.items()][:MAX_NAMED]:
        if name not in found.nearly_numbers:
            several = ", ".join(repr(unit) if unit else "none" for unit in units)
            told.append(f"numbers: {name} is categorical, because units differ: {several}")
    return told


def _dates(names: list[str], kinds: dict[str, str | None]) -> list[str]:
    """The columns of dates, by format."""
    by_format: dict[str, list[str]] = {}
    for name in names:
        by_format.setdefault((kinds.get(name) or "").partition(" ")[2], []).append(name)
    found = []
    for form, same in by_format.items():
        written = f", written as {FORMATS.get(form, form)}" if form else ""
        found.append(f"dates: {named(same)}{written} (--category makes a column categorical)")
    return found


def _date_hint(name: str, formats: list[str]) -> str:
    """A hint for a column of strings that these kinds of dates fit."""
    forms = [kind.partition(" ")[2] for kind in formats]
    options = [f"--date {quote(f'{name}={form}' if form else name)}" for form in forms]
    what = "may be dates" if len(options) > 1 else "holds dates"
    return f"dates: {name} {what}; {' or '.join(options)} reads them"


def _doubts(model: "Model", block: FileBlock) -> list[str]:
    """A sentence about a text target that has too many classes."""
    from unitless.encoders.number_spellings import number_fit_of

    given = raw_targets(block, model.file.target)
    rows = sum(label is not None for label in given)
    count = len(model.labels)
    if model.task != "multiclass" or count < MANY_CLASSES or 2 * count <= rows:
        return []
    text = (
        f"doubt: {model.file.target!r} has {count:,} classes in {rows:,} rows, nearly one per row"
    )
    fit = number_fit_of(given)
    if fit is not None and 2 * fit.numbers > fit.present:
        return [f"{text}; if they are numbers, use --task regression"]
    return [f"{text}; to predict another column, use --target"]


def _task(model: "Model") -> str:
    """The task, and why it is this one."""
    target = "the labels have" if model.file.target is None else f"{model.file.target!r} has"
    if model.task == "regression":
        return f"task: regression, because {target} numbers"
    what = f"the classes {named(map(shown, model.labels))}"
    if model.task == "binary" and len(model.labels) == 2:
        what = f"two values, {' and '.join(map(shown, model.labels))}"
    return f"task: {model.task}, because {target} {what}"
