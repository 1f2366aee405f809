"""Cells of text by examples, and against Python's own parsers: kinds of columns, and values."""

import datetime
import itertools

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitless.readers.cells import (
    THOUSANDS,
    converted,
    date_kind,
    decimal_sign,
    kind_of_cells,
    number_kind,
    number_kinds,
)

COLUMNS = [
    ("1 2.5 -3e5", "number"),
    ("1 2 x", "string"),
    ("1 - . -- unknown 2", "number"),
    ("- unknown", "string"),
    ("", "number"),
    ("1 nan", "number"),
    ("TRUE FALSE", "boolean"),
    ("true True", "boolean"),
    ("true false maybe", "string"),
    ("true 1", "string"),
    ("1,5 2,5", "string"),
    ("2024-01-01 2024-01-02", "date"),
    ("5" + " 5" * 18 + " x", "number"),
    ("5" + " 5" * 17 + " x", "string"),
    ("5" + " 5" * 97 + " x y", "string"),
    ("5" + " 5" * 197 + " x y", "number"),
    ("5" + " 5" * 18 + " x" + " ." * 9, "number"),
    ("x" + " ." * 200, "string"),
]


@pytest.mark.parametrize(("cells", "wanted"), COLUMNS)
def test_kinds(cells, wanted):
    column = pl.Series(cells.split(" ") if cells else [None], dtype=pl.String)
    assert kind_of_cells(column) == wanted


@pytest.mark.parametrize(
    ("present", "most"), [(1, 0), (19, 0), (20, 1), (100, 1), (199, 1), (200, 2), (1000, 10)]
)
def test_how_many_cells_may_be_odd(present, most):
    cells = pl.Series(["5"] * (present - most) + ["x"] * most)
    assert kind_of_cells(cells) == "number"
    assert kind_of_cells(pl.Series([*cells[1:], "x"])) == "string"


# Numbers

NUMBERS = [
    # cells, decimal sign of the file, kind, values
    ("1,234|950", ".", "number 1,234.5", [1234, 950]),
    ("1,234|950", ",", "number 1234,5", [1.234, 950]),
    ("1,234.5|7", ".", "number 1,234.5", [1234.5, 7]),
    ("1,234.5|7", ",", "number 1,234.5", [1234.5, 7]),
    ("1,5|2", ".", "string", None),
    ("1,5|2", ",", "number 1234,5", [1.5, 2]),
    ("1.234|2", ",", "number 1.234,5", [1234, 2]),
    ("1.234|2", ".", "number", [1.234, 2]),
    ("52.52|13.4", ",", "number", [52.52, 13.4]),
    ("0.123|0.5", ",", "number", [0.123, 0.5]),
    ("1.234.567|2", ".", "number 1.234,5", [1234567, 2]),
    ("1.234.567,8|2", ",", "number 1.234,5", [1234567.8, 2]),
    ("1 234,5|2", ",", "number 1 234,5", [1234.5, 2]),
    ("1\u00a0234|1\u202f234", ".", "number 1 234.5", [1234, 1234]),
    ("1'234.5|2", ".", "number 1'234.5", [1234.5, 2]),
    ("5%|7.5 %|-1%", ".", "number 1234.5 %", [5, 7.5, -1]),
    ("$5|-$1,250.75|$ 3", ".", "number 1,234.5 $", [5, -1250.75, 3]),
    ("€ 7|1.234,50 €", ",", "number 1.234,5 €", [7, 1234.5]),
    ("5$|6€", ".", "string", None),
    ("1,23,456|2", ".", "string", None),
    ("12,34.5|2", ".", "string", None),
    ("1e3|2,5e-1", ",", "number 1234,5", [1000, 0.25]),
    ("1.2.3|4.5.6", ".", "string", None),
    ("A1|B2", ".", "string", None),
    (" 5 | 6", ".", "number", [5, 6]),
]


@pytest.mark.parametrize(("cells", "usual", "kind", "values"), NUMBERS)
def test_spellings_of_numbers(cells, usual, kind, values):
    column = pl.Series(cells.split("|"))
    assert kind_of_cells(column, number_kinds(usual)) == kind
    if values is not None:
        numbers, is_odd = converted(column, kind)
        assert numbers.to_list() == values
        assert not is_odd.any()


@pytest.mark.parametrize(
    ("columns", "separator", "wanted"),
    [
        (["1,5|2"], ";", ","),
        (["1,5|2"], "\t", ","),
        (["1,5|2"], ",", "."),
        (["1,5|2"], "|", "."),
        (["1,234|2"], ";", ","),
        (["1,234|2"], "\t", "."),
        (["1,234|2", "1.5|2"], ";", "."),
        (["1,234|2", "1.5|2", "7,25|1"], ";", ","),
        (["1.234,5|2"], "\t", ","),
        (["0,125|2"], "\t", ","),
        (["1.5|2"], ";", "."),
        (["a,b|c"], ";", "."),
        (["1,234,567|2"], ";", "."),
    ],
)
def test_decimal_sign(columns, separator, wanted):
    cells = pl.DataFrame({str(k): each.split("|") for k, each in enumerate(columns)})
    assert decimal_sign(cells, separator) == wanted


@pytest.mark.parametrize(
    ("cells", "decimal", "thousands", "wanted"),
    [
        ("1,5|2", ",", None, "number 1234,5"),
        ("1.5|2", ",", None, None),
        ("1,234|2", ".", None, "number 1,234.5"),
        ("1,234|2", ".", "", None),
        ("1,234|2", ",", None, "number 1234,5"),
        ("1.234|2", ",", ".", "number 1.234,5"),
        ("1.234|2", None, ".", "number"),
        ("1 234|2", None, "'", None),
    ],
)
def test_signs_can_be_given(cells, decimal, thousands, wanted):
    kinds = number_kinds(decimal or ".", decimal, thousands)
    assert number_kind(pl.Series(cells.split("|")), kinds) == wanted


SIGNS = [each for each in itertools.product(".,", THOUSANDS, ["", "$", "%"]) if each[0] != each[1]]


def kind_of(decimal, thousands, unit):
    if (decimal, thousands, unit) == (".", "", ""):
        return "number"
    return f"number 1{thousands}234{decimal}5 {unit}".rstrip()


@given(
    st.sampled_from(SIGNS),
    st.lists(st.floats(-1e9, 1e9).map(lambda value: round(value, 4)), min_size=1),
)
def test_what_is_written_in_a_format_is_read_in_it(signs, values):
    decimal, thousands, unit = signs
    table = str.maketrans({",": thousands, ".": decimal})
    cells = [f"{value:,.4f}".translate(table) + unit for value in values]
    numbers, is_odd = converted(pl.Series(cells), kind_of(*signs))
    assert numbers.to_list() == values
    assert not is_odd.any()


@given(st.sampled_from(SIGNS), st.text("0123456789.,' -+eE$%x", max_size=9))
def test_a_cell_is_its_value_or_odd(signs, cell):
    """The groups have three digits, and what is left without them is a number for Python."""
    decimal, sign, unit = signs
    numbers, is_odd = converted(pl.Series([cell]), kind_of(*signs))
    if numbers[0] is None:
        return
    assert not is_odd[0]
    if signs == (".", "", ""):
        assert numbers[0] == float(cell)
        return
    whole, _, rest = cell.strip().replace(unit or "\0", "").partition(decimal)
    groups = whole.strip(" +-").split(sign) if sign else [whole]
    assert len(groups) == 1 or all(len(group) == 3 for group in groups[1:])
    plain = f"{whole.replace(sign, '') if sign else whole}.{rest}" if rest else whole
    assert numbers[0] == float(plain.replace(" ", ""))


# Dates

DATES = [
    ("2024-01-31", "date"),
    ("2024-01-31|", "date"),
    ("2024-01-31 10:15", "datetime"),
    ("2024-01-31T10:15:30", "datetime"),
    ("2024-01-31T10:15:30.123456", "datetime"),
    ("2024-01-31 10:15:30,5", "datetime"),
    ("2024-01-31T10:15Z", "datetime"),
    ("2024-01-31 10:15:30+02:00|2024-07-31 10:15:30+0100", "datetime"),
    ("2024-01-31|2024-01-31 10:15", "datetime"),
    ("2024-01-31" + "|2024-02-01" * 18 + "|soon", "date"),
    ("2024-01-31" + "|2024-02-01" * 17 + "|soon", "string"),
    ("2024-02-30", "string"),
    ("2024-13-01", "string"),
    ("2024-01-31 25:00", "string"),
    ("2024-01-31x", "string"),
    ("31.01.2024", "string"),
    ("2024-01", "string"),
    ("20240131", "number"),
    ("10:15", "string"),
]


@pytest.mark.parametrize(("cells", "wanted"), DATES)
def test_kinds_of_dates(cells, wanted):
    column = pl.Series([cell or None for cell in cells.split("|")])
    assert kind_of_cells(column) == wanted


@pytest.mark.parametrize(
    ("kind", "cell", "wanted"),
    [
        ("date %d.%m.%Y", "31.01.2024", datetime.date(2024, 1, 31)),
        ("date %m/%d/%y", "1/31/24", datetime.date(2024, 1, 31)),
        ("date %d.%m.%Y %H:%M", "31.01.2024 10:15", datetime.datetime(2024, 1, 31, 10, 15)),
        ("date %d.%m.%Y", "31/01/2024", None),
        ("date %d.%m.%Y", "31.02.2024", None),
        ("date", "2024-01-31 10:15", None),
        ("datetime", "2024-01-31", datetime.datetime(2024, 1, 31)),
    ],
)
def test_formats_of_dates(kind, cell, wanted):
    dates, is_odd = converted(pl.Series("when", [cell, None]), kind)
    assert dates.to_list() == [wanted, None]
    assert is_odd.to_list() == [wanted is None, False]
    assert dates.name == "when"


@given(st.lists(st.datetimes(), min_size=1), st.sampled_from(["T", " "]))
def test_dates_that_python_writes_are_read_back(times, separator):
    column = pl.Series([time.isoformat(separator) for time in times])
    assert date_kind(column) == "datetime"
    assert converted(column, "datetime")[0].to_list() == times
    days = pl.Series([str(time.date()) for time in times])
    assert date_kind(days) == "date"
    assert converted(days, "date")[0].to_list() == [time.date() for time in times]


@given(st.text("0123456789-T: .Z+", max_size=20))
def test_a_cell_is_its_date_or_odd(cell):
    dates, is_odd = converted(pl.Series([cell]), "datetime")
    assert is_odd[0] == (dates[0] is None)
    if dates[0] is not None:
        text = cell.strip().replace(",", ".")
        head, dot, fraction = text.partition(".")
        digits = fraction.rstrip("Z+-:") if dot else ""
        text = f"{head}.{digits[:6]:0<6}" if dot and digits.isdigit() else text
        found = datetime.datetime.fromisoformat(text.removesuffix("Z").strip())
        assert dates[0] == found.replace(tzinfo=None)
