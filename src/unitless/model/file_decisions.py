"""What is decided about a file by its first block: separator, numbers, dates, text, task, others.

Each decision is a record, which model files keep. The functions here decide and know no words;
`decision_sentences` words the records.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from unitless.labels import Label
from unitless.model.input_names import features
from unitless.model.intake import raw_targets
from unitless.readers.blocks import FileBlock, Position

if TYPE_CHECKING:
    from unitless.encoders.column_findings import ColumnFindings
    from unitless.model import Model

MOST_NAMED = 5
"""Columns, classes and cells that a record names, and columns with a record of their own."""
MANY_CLASSES = 100
"""Fewest classes that are doubted if nearly each row has its own."""
NUMBER = re.compile(r"[+-]?\d+(\.\d*)?([eE][+-]?\d+)?")


class FirstOf(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first of some names, classes or cells, and how many there are."""

    first: list[Label]
    count: int

    @classmethod
    def these(cls, given: Iterable[Label]) -> "FirstOf":
        """The record of all that are given.

        >>> FirstOf.these("abcdefg")
        FirstOf(first=['a', 'b', 'c', 'd', 'e'], count=7)
        """
        known = [*given]
        return cls(known[:MOST_NAMED], len(known))


class FileDecision(msgspec.Struct, forbid_unknown_fields=True, tag_field="about", tag=True):
    """Something that was decided, or found worth telling. JSON says which by its key "about"."""


class SeveralFiles(FileDecision):
    """Several files are read as one stream."""

    first: str


class FieldSeparator(FileDecision):
    """The fields of a CSV file are separated by this character."""

    char: str


class TextEncoding(FileDecision):
    """The encoding of a file of text."""

    name: str


class ColumnsRenamed(FileDecision):
    """Names that come several times in the header have a suffix."""

    names: dict[str, str]
    """Of the first ones: the new name, and that in the header."""
    count: int


class NumbersAsNames(FileDecision):
    """Names in the header are numbers, so that it may be data."""

    names: FirstOf


class NumberSpelling(FileDecision):
    """The numbers of some columns are written like an example."""

    example: str
    columns: FirstOf


class ColumnTypes(FileDecision):
    """How many columns are numeric, and which are something else."""

    numeric: int
    categorical: FirstOf
    dates: FirstOf
    text: FirstOf
    lists: FirstOf


class DateFormat(FileDecision):
    """The dates of some columns are written in a format; "" for ISO 8601."""

    format: str
    columns: FirstOf


class TextColumns(FileDecision):
    """The words of these columns are counted."""

    columns: FirstOf


class PossibleDates(FileDecision):
    """A column of strings that is dates in one of these formats; "" for ISO 8601."""

    column: str
    formats: list[str]


class IdentifiersLeftOut(FileDecision):
    """Columns are left out, because every row has another value."""

    columns: FirstOf


class RowCounter(FileDecision):
    """A column counts the rows."""

    column: str


class EmptyLeftOut(FileDecision):
    """Columns are left out, because no row has a value so far."""

    columns: FirstOf


class LeadingZeros(FileDecision):
    """Columns of whole numbers are categorical, because some begin with zeros."""

    columns: FirstOf


class AlikeLevels(FileDecision):
    """Levels of a column differ only in case or blanks."""

    column: str
    levels: list[str]


class NearlyNumbers(FileDecision):
    """A column is categorical, although most of its cells are numbers."""

    column: str
    numbers: int
    present: int
    others: FirstOf
    """Cells that are no numbers."""


class DifferentUnits(FileDecision):
    """A column of numbers is categorical, because their units differ; "" for none."""

    column: str
    units: list[str]


class ChosenTask(FileDecision):
    """The task that follows from the labels."""

    task: str
    target: str | None
    """The column of the labels, if they have one."""
    classes: FirstOf


class TooManyClasses(FileDecision):
    """The classes of a target are nearly as many as the rows."""

    target: str | None
    classes: int
    rows: int
    are_numbers: bool
    """Whether most of them are numbers, so that regression is possible."""


AnyDecision = (
    SeveralFiles
    | FieldSeparator
    | TextEncoding
    | ColumnsRenamed
    | NumbersAsNames
    | NumberSpelling
    | ColumnTypes
    | DateFormat
    | TextColumns
    | PossibleDates
    | IdentifiersLeftOut
    | RowCounter
    | EmptyLeftOut
    | LeadingZeros
    | AlikeLevels
    | NearlyNumbers
    | DifferentUnits
    | ChosenTask
    | TooManyClasses
)
"""What msgspec reads from model files."""


def file_decisions(
    model: "Model", block: FileBlock, task: str, found: "ColumnFindings | None"
) -> list[AnyDecision]:
    """Everything that the first block of a file led to, in the order in which it is told.

    `task` is what was asked for, which may be "auto"; `found` are the findings about the columns of
    a table.
    """
    place = block.position
    file = model.file
    made = [*_about_file(place)]
    if block.frame is not None and found is not None and model.encoder is not None:
        kinds = place.columns or {}
        if place.separator is not None:
            made += _about_header([*kinds], place.renamed)
        made += _spellings({name: kind for name, kind in kinds.items() if name not in file.ignore})
        made += _about_columns(features(model, block.frame), kinds, model.encoder.text, found)
    if task == "auto":
        classes = FirstOf.these(() if model.task == "regression" else model.labels)
        made.append(ChosenTask(model.task, file.target, classes))
        if model.task == "multiclass":
            given = raw_targets(block, file.target)
            made += _about_classes(file.target, len(model.labels), given)
    return made


def _about_file(place: Position) -> Iterator[AnyDecision]:
    if place.files:
        yield SeveralFiles(place.files[0])
    if place.separator is not None:
        yield FieldSeparator(place.separator)
    if place.encoding is not None:
        yield TextEncoding(place.encoding)


def _about_header(names: Sequence[str], renamed: Mapping[str, str]) -> Iterator[AnyDecision]:
    """Names that come several times, and names that are numbers."""
    if renamed:
        yield ColumnsRenamed(dict(islice(renamed.items(), MOST_NAMED)), len(renamed))
    given = [renamed.get(name, name) for name in names]
    numbers = [name for name in given if NUMBER.fullmatch(name)]
    is_unlikely = any("." in name or numbers.count(name) > 1 for name in numbers)
    if len(numbers) == len(given) or is_unlikely:
        yield NumbersAsNames(FirstOf.these(numbers))


def _spellings(kinds: Mapping[str, str | None]) -> Iterator[AnyDecision]:
    """The spellings of numbers that are not plain."""
    spelled = [name for name, kind in kinds.items() if kind and kind.startswith("number ")]
    for example, names in _by_format(spelled, kinds):
        yield NumberSpelling(example, FirstOf.these(names))


def _by_format(
    names: Iterable[str], kinds: Mapping[str, str | None]
) -> Collection[tuple[str, list[str]]]:
    """What follows the first word of the kinds of columns, and the columns of which it does."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault((kinds.get(name) or "").partition(" ")[2], []).append(name)
    return found.items()


def _about_columns(
    frame: Any,
    kinds: Mapping[str, str | None],
    text: Collection[str],
    found: "ColumnFindings",
) -> Iterator[AnyDecision]:
    """The types of the columns, and what was found about them."""
    words = [column.name for column in frame if str(column.dtype) == "String"]
    dates = [column.name for column in frame if column.dtype.is_temporal()]
    lists = [column.name for column in frame if str(column.dtype).startswith("List")]
    empty = [name for name in found.empty if name not in words]
    levels = [name for name in words if name not in {*text, *found.empty}]
    yield ColumnTypes(
        numeric=frame.width - len({*words, *dates, *lists, *empty}),
        categorical=FirstOf.these(levels),
        dates=FirstOf.these(dates),
        text=FirstOf.these(text),
        lists=FirstOf.these(lists),
    )
    for form, names in _by_format(dates, kinds):
        yield DateFormat(form, FirstOf.these(names))
    yield from _about_findings(found)


def _about_findings(found: "ColumnFindings") -> Iterator[AnyDecision]:
    """What is told of the findings."""
    if found.text:
        yield TextColumns(FirstOf.these(found.text))
    for name, forms in found.dates.items():
        yield PossibleDates(name, [kind.partition(" ")[2] for kind in forms])
    if found.identifiers:
        yield IdentifiersLeftOut(FirstOf.these(found.identifiers))
    yield from map(RowCounter, found.counters[:MOST_NAMED])
    if found.empty:
        yield EmptyLeftOut(FirstOf.these(found.empty))
    if found.codes:
        yield LeadingZeros(FirstOf.these(found.codes))
    for name, groups in islice(found.alike.items(), MOST_NAMED):
        yield AlikeLevels(name, groups[0])
    for name, fit in islice(found.nearly_numbers.items(), MOST_NAMED):
        others = FirstOf.these(fit.spellings)
        yield NearlyNumbers(name, fit.numbers, fit.present, others)
    for name, units in islice(found.units.items(), MOST_NAMED):
        if name not in found.nearly_numbers:
            yield DifferentUnits(name, units)


def _about_classes(
    target: str | None, count: int, given: np.ndarray[Any, Any] | Sequence[Label | None]
) -> Iterator[AnyDecision]:
    """A doubt about a text target that has too many classes."""
    from unitless.encoders.number_spellings import number_fit_of

    rows = sum(label is not None for label in given)
    if count >= MANY_CLASSES and 2 * count > rows:
        fit = number_fit_of([*given])
        are_numbers = fit is not None and 2 * fit.numbers > fit.present
        yield TooManyClasses(target, count, rows, are_numbers)
