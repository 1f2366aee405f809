"""What was decided about a file, in the words of the command line."""

from collections.abc import Callable, Iterable
from shlex import quote
from typing import assert_never

from unitless.labels import Label, shown
from unitless.model.file_decisions import (
    AlikeLevels,
    AnyDecision,
    ChosenTask,
    ColumnsRenamed,
    ColumnTypes,
    DateFormat,
    DifferentUnits,
    EmptyLeftOut,
    FieldSeparator,
    FirstOf,
    IdentifiersLeftOut,
    LeadingZeros,
    NearlyNumbers,
    NumbersAsNames,
    NumberSpelling,
    PossibleDates,
    RowCounter,
    SeveralFiles,
    TextColumns,
    TextEncoding,
    TooManyClasses,
)
from unitless.suggestions import listed

SEPARATORS = {",": "comma", ";": "semicolon", "\t": "tab", " ": "space", "|": "bar"}
FORMATS = {"%s": "seconds since 1970", "%Q": "milliseconds since 1970"}
"""Formats of dates that have words."""
ENCODINGS = {"cp1252": "Windows-1252", "utf-16-le": "UTF-16", "utf-16-be": "UTF-16"}


def sentences(decisions: Iterable[AnyDecision]) -> list[str]:
    """One sentence for each decision."""
    return [*map(sentence, decisions)]


def sentence(decision: AnyDecision) -> str:
    """What was decided, and what says otherwise.

    >>> sentence(FieldSeparator(";")), sentence(RowCounter("id"))
    ('separator: semicolon', 'identifier: id counts the rows; --ignore id leaves it out')
    """
    match decision:
        case SeveralFiles(first):
            return f"files: one stream, which begins with {first}"
        case FieldSeparator(char):
            return f"separator: {SEPARATORS.get(char, char)}"
        case TextEncoding(name):
            shown_name = ENCODINGS.get(name, name.upper())
            return f"encoding: {shown_name} (--encoding names another one)"
        case ColumnsRenamed(renamed, count):
            pairs = [f"{name} (another {before})" for name, before in renamed.items()]
            names = listed(pairs, count=count)
            return f"header: names that come several times have a suffix: {names}"
        case NumbersAsNames(names):
            return f"header: {named(names)} are numbers; if they are data, use --no-header"
        case NumberSpelling(example, columns):
            advice = "(--decimal, --thousands and --category say otherwise)"
            return f"numbers: written like {example} in {named(columns)} {advice}"
        case ColumnTypes():
            return _types(decision)
        case DateFormat(form, columns):
            written = f", written as {FORMATS.get(form, form)}" if form else ""
            return f"dates: {named(columns)}{written} (--category makes a column categorical)"
        case TextColumns(columns):
            return f"text: the words of {named(columns)} are counted (--category: whole cells)"
        case PossibleDates(column, formats):
            specs = [f"{column}={form}" if form else column for form in formats]
            options = " or ".join(f"--date {quote(spec)}" for spec in specs)
            what = "may be dates" if len(formats) > 1 else "holds dates"
            return f"dates: {column} {what}; {options} reads them"
        case IdentifiersLeftOut(columns):
            why = "because every row has another value (--identifier-as-feature keeps them)"
            return f"identifiers: {named(columns)} left out, {why}"
        case RowCounter(column):
            return f"identifier: {column} counts the rows; --ignore {quote(column)} leaves it out"
        case EmptyLeftOut(columns):
            return f"empty: {named(columns)} left out, because no row has a value so far"
        case LeadingZeros(columns):
            return f"leading zeros: {named(columns)} categorical (--number makes a column numeric)"
        case AlikeLevels(column, levels):
            same = " and ".join(map(repr, levels))
            return f"categories: {same} of {column} differ only in case or blanks: is it one?"
        case NearlyNumbers(column, numbers, present, others):
            return (
                f"numbers: {column} is categorical, although {numbers:,} of {present:,} cells are "
                f"numbers; --number {quote(column)} makes others missing: {named(others, repr)}"
            )
        case DifferentUnits(column, units):
            several = ", ".join(repr(unit) if unit else "none" for unit in units)
            return f"numbers: {column} is categorical, because units differ: {several}"
        case ChosenTask():
            return _task(decision)
        case TooManyClasses():
            return _doubt(decision)
        case _:
            assert_never(decision)


def named(names: FirstOf, text: Callable[[Label], str] = str) -> str:
    """The names, and how many more there are.

    >>> named(FirstOf.these("abcdefg"))
    'a, b, c, d, e and 2 more'
    """
    return listed(map(text, names.first), count=names.count)


def _types(types: ColumnTypes) -> str:
    """How many columns there are of each type."""
    others = {
        "categorical": types.categorical,
        "date": types.dates,
        "text": types.text,
        "of lists, one feature per member": types.lists,
    }
    told = f"columns: {types.numeric} numeric"
    for what, names in others.items():
        if names.count:
            told += f", {names.count} {what} ({named(names)})"
    return told


def _task(chosen: ChosenTask) -> str:
    """The task, and why it is this one."""
    target = "the labels have" if chosen.target is None else f"{chosen.target!r} has"
    if chosen.task == "regression":
        return f"task: regression, because {target} numbers"
    what = f"the classes {named(chosen.classes, shown)}"
    if chosen.task == "binary" and chosen.classes.count == 2:
        what = f"two values, {' and '.join(map(shown, chosen.classes.first))}"
    return f"task: {chosen.task}, because {target} {what}"


def _doubt(found: TooManyClasses) -> str:
    """A doubt about a target that has a class for nearly every row."""
    counts = f"{found.classes:,} classes in {found.rows:,} rows, nearly one per row"
    if found.are_numbers:
        advice = "if they are numbers, use --task regression"
    else:
        advice = "to predict another column, use --target"
    return f"doubt: {found.target!r} has {counts}; {advice}"
