"""What kind of column cells of text make, and the values of the cells in a column of that kind.

A kind of column says how its cells are written. "number" is as in Python, other spellings of
numbers are named by an example (see `number_spellings`). "date" is an ISO 8601 date, "datetime" one
with a time (a cell without is midnight), "date %d.%m.%Y" another spelling in the codes of
`strftime` (see `date_formats`); a time zone is left out, because dates are encoded in local time.
Others are "boolean" (true and false in any case), "string" and "category". These functions only
look at cells: readers give them the first ones of a column, and keep the answer.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from unitless.encoders.date_formats import (
    dates,
    formats_by_order,
    is_plausible,
    iso_kind,
    number_formats,
)
from unitless.encoders.number_spellings import (
    USUAL,
    Converted,
    are_codes,
    forced_kind,
    most_odd_cells,
    number_kind,
    numbers_of,
    plain_numbers,
    target_kind,
    with_groups,
)


def converted(cells: pl.Series, kind: str) -> Converted:
    """The values of cells in a column of that kind, null where missing; and which cells are odd.

    >>> values, is_odd = converted(pl.Series(["-1.234,5 €", None, "-", "abc"]), "number 1.234,5 €")
    >>> values.to_list(), is_odd.to_list()
    ([-1234.5, None, None, None], [False, False, False, True])
    """
    if kind.startswith("number"):
        return numbers_of(cells, kind)
    if kind in ("string", "category"):
        values = cells
    elif kind == "boolean":
        words = {"true": True, "false": False}
        lower = cells.str.to_lowercase()
        values = lower.replace_strict(words, default=None, return_dtype=pl.Boolean)
    else:
        values = dates(cells, kind)
    return values.alias(cells.name), values.is_null() & cells.is_not_null()


def fits(cells: pl.Series, kind: str) -> bool:
    """Whether cells, null where missing, make a column of that kind: all of them, or nearly all."""
    values = cells
    few = cells.head(20 + len(cells) // 50)
    for part in (few, cells):  # the first few usually tell
        values, is_odd = converted(part, kind)
        odd = int(is_odd.sum())
        present = len(part) - values.null_count() + odd
        most = most_odd_cells(present if part is cells else len(cells))
        if odd > (0 if kind == "boolean" else most):
            return False
    return values.null_count() < len(cells) or cells.null_count() == len(cells)


def odd_cells(cells: pl.Series, kind: str) -> int:
    """How many cells do not fit that kind."""
    return int(converted(cells, kind)[1].sum())


def date_kinds(cells: pl.Series) -> list[str]:
    """The kinds of dates that fit the cells best: several, if cells do not show which is right.

    Only the order of day, month and year may be open. Between points the day comes first, if that
    fits.

    >>> date_kinds(pl.Series(["05/06/2021", "31/01/2021"])), date_kinds(pl.Series(["05/06/2021"]))
    (['date %d/%m/%Y'], ['date %d/%m/%Y', 'date %m/%d/%Y'])
    """
    iso = iso_kind(cells)
    if cells.null_count() < len(cells) and fits(cells, iso):
        return [iso]
    odd: dict[str, int] = {}
    for forms in formats_by_order(cells).values():
        counts = {f"date {form}": 0 for form in forms if fits(cells, f"date {form}")}
        for kind in counts:
            counts[kind] = odd_cells(cells, kind)
        if counts:
            best = min(counts, key=lambda kind: counts[kind])
            odd[best] = counts[best]
    found = [kind for kind in odd if odd[kind] == min(odd.values())]
    usual = [kind for kind in found if kind.startswith("date %d.%m.")]
    return usual or found


def epoch_kind(name: str, cells: pl.Series) -> str | None:
    """The kind of a column of numbers that are dates, because of its name and their sizes.

    >>> epoch_kind("event_time", pl.Series([1612101600.0, 1612188000.0]))
    'date %s'
    """
    forms = number_formats(name)
    numbers = cells if cells.dtype.is_numeric() or not forms else plain_numbers(cells)
    present = len(cells) - cells.null_count()
    for form in forms if present else ():
        others = present - int(is_plausible(numbers, form).sum())
        is_written = cells.dtype.is_numeric() or fits(cells, f"date {form}")
        if others <= most_odd_cells(present) and is_written:
            return f"date {form}"
    return None


def kind_of_cells(
    cells: pl.Series, numbers: Sequence[str] = USUAL, *, is_label: bool = False
) -> str:
    """The kind of a column with these first cells, null where they are missing.

    Labels, which are never dates, keep the spelling of the file if they are not numbers.
    """
    if cells.null_count() == len(cells):
        return numbers[0]
    if is_label:
        return target_kind(cells, numbers) or "string"
    number = number_kind(cells, numbers)
    if number is not None:
        return epoch_kind(cells.name, cells) or number
    if fits(cells, "boolean"):
        return "boolean"
    return string_kind(cells)


def string_kind(cells: pl.Series) -> str:
    """The kind of a column of strings that are no numbers: dates, if it is clear of which kind."""
    found = date_kinds(cells)
    return found[0] if len(found) == 1 else "string"


def declared_kind(
    cells: pl.Series,
    declared: str,
    numbers: Sequence[str] = USUAL,
    *,
    is_target: bool = False,
    has_groups: bool = False,
) -> str:
    """The kind of a column of which the user said what it is; cells show how it is written.

    Targets that are numbers may have any spelling. With `has_groups`, numbers may have points
    between thousands that the first ones do not show.

    >>> declared_kind(pl.Series(["$5", "a"]), "number"), declared_kind(pl.Series(["$5"]), "label")
    ('number 1234.5 $', 'string')
    """
    if declared == "label":
        return "string"
    spelling = with_groups(declared) if has_groups else declared
    is_open = is_target and declared == "number"
    if declared.startswith("number") and (is_open or not fits(cells, spelling)):
        return forced_kind(cells, numbers, declared)
    return iso_kind(cells) if declared == "date" else declared


def kind_of_written_numbers(
    cells: pl.Series,
    numbers: Sequence[str] = USUAL,
    declared: str | None = None,
    *,
    is_mixed: bool = False,
    is_target: bool = False,
    is_weight: bool = False,
) -> str | None:
    """The kind of a column of strings of a format that has numbers, if the strings are numbers.

    With `is_mixed`, other values of the column were numbers. A target of few distinct whole
    numbers, such as "3", is left as it is: where numbers could be written as such, these are
    classes.

    >>> cells = pl.Series(["$1,250", "$900"])
    >>> kind_of_written_numbers(cells), kind_of_written_numbers(pl.Series(["a", "b"]))
    ('number 1,234.5 $', None)
    """
    spellings = numbers if is_mixed else [kind for kind in numbers if kind != "number"]
    if declared == "number":
        return forced_kind(cells, spellings)
    if declared == "label" or not spellings:
        return None
    if not (is_target or is_weight):
        kind = number_kind(cells, spellings)
        return kind and (epoch_kind(cells.name, cells) or kind)
    if is_weight or is_mixed or not are_codes(cells):
        return target_kind(cells, spellings)
    return None
