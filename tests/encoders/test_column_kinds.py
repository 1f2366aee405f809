"""Cells of text by examples, and against Python's own parsers: kinds of columns, and values."""

import datetime
import itertools

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitless.encoders.column_kinds import converted, date_kinds, kind_of_cells
from unitless.encoders.date_formats import iso_kind
from unitless.encoders.number_spellings import THOUSANDS, decimal_sign, number_kind, number_kinds

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
    ("5" + " 5" * 7 + " x", "string"),
    ("5" + " 5" * 8 + " x", "number"),
    ("5" + " 5" * 97 + " x y", "number"),
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
def test_how_many_cells_of_a_target_may_be_odd(present, most):
    cells = pl.Series(["5"] * (present - most) + ["x"] * most)
    assert kind_of_cells(cells, is_label=True) == "number"
    assert kind_of_cells(pl.Series([*cells[1:], "x"]), is_label=True) == "string"


@pytest.mark.parametrize(
    ("present", "odd", "spellings", "wanted"),
    [
        (2000, 40, 1, "number"),
        (2000, 200, 5, "number"),
        (2000, 201, 1, "string"),
        (2000, 200, 6, "string"),
        (2000, 20, 20, "number"),
        (2000, 21, 21, "string"),
        (9, 1, 1, "string"),
        (10, 1, 1, "number"),
    ],
)
def test_how_many_cells_of_a_feature_may_be_odd(present, odd, spellings, wanted):
    texts = [f"{' ' * (k % 2)}n.v.{chr(97 + k % spellings)}" for k in range(odd)]
    cells = pl.Series([*map(str, range(present - odd)), *texts, None])
    assert kind_of_cells(cells) == wanted
    assert kind_of_cells(cells.reverse()) == wanted


# Numbers

NUMBERS = [
    # cells, decimal sign of the file, kind, values
    ("1|2.5|-3e5|+.5", ".", "number", [1, 2.5, -3e5, 0.5]),
    (" 5 | 6", ".", "number", [5, 6]),
    ("1,234|950", ".", "number 1,234.5", [1234, 950]),
    ("1,234|950", ",", "number 1234,5", [1.234, 950]),
    ("1,234.5|7", ".", "number 1,234.5", [1234.5, 7]),
    ("1,234.5|7", ",", "number 1,234.5", [1234.5, 7]),
    ("1,5|2", ".", "string", None),
    ("1,5|2", ",", "number 1234,5", [1.5, 2]),
    ("1.234|2", ",", "number 1.234,5", [1234, 2]),
    ("1.234|2", ".", "number", [1.234, 2]),
    ("950|7", ",", "number 1234,5", [950, 7]),
    ("52.52|13.4", ",", "number", [52.52, 13.4]),
    ("0.123|0.5", ",", "number", [0.123, 0.5]),
    ("1.234.567|2", ".", "number 1.234,5", [1234567, 2]),
    ("1.234.567,8|2", ",", "number 1.234,5", [1234567.8, 2]),
    ("1 234,5|2", ",", "number 1 234,5", [1234.5, 2]),
    ("1\u00a0234|1\u202f234", ".", "number 1 234.5", [1234, 1234]),
    ("1'234.5|1\u2019234", ".", "number 1'234.5", [1234.5, 1234]),
    ("1e3|2,5e-1", ",", "number 1234,5", [1000, 0.25]),
    ("1,23,456|2", ".", "string", None),
    ("12,34.5|2", ".", "string", None),
    ("1.2.3|4.5.6", ".", "string", None),
    ("A1|B2", ".", "string", None),
    # signs
    ("(5)|(2.5)|3", ".", "number 1234.5", [-5, -2.5, 3]),
    ("1.17-|2.5|3 -", ".", "number 1234.5", [-1.17, 2.5, -3]),
    ("\u22121.5|\u20132|- 3|+4", ".", "number 1234.5", [-1.5, -2, -3, 4]),
    ("1.234,50-|2,5", ",", "number 1.234,5", [-1234.5, 2.5]),
    ("(1,250.75)|3", ".", "number 1,234.5", [-1250.75, 3]),
    ("(-5)|-5-|(5|5)|--5|+-5", ".", "string", None),
    ("1e-5|(2e-3)|\u22121E+2", ".", "number 1234.5", [1e-5, -2e-3, -100]),
    # units that are signs
    ("5%|7.5 %|-1%", ".", "number 1234.5 %", [5, 7.5, -1]),
    ("$5|-$1,250.75|$ 3|4", ".", "number 1,234.5 $", [5, -1250.75, 3, 4]),
    ("($274.40)|$(3.5)|$ (1)|$41.91", ".", "number 1234.5 $", [-274.4, -3.5, -1, 41.91]),
    ("$-5|\u2212$6|$7-|- $8", ".", "number 1234.5 $", [-5, -6, -7, -8]),
    ("\u20ac 7|1.234,50 \u20ac|3,5 \u20ac-", ",", "number 1.234,5 \u20ac", [7, 1234.5, -3.5]),
    ("US$5|7 US$", ".", "number 1234.5 US$", [5, 7]),
    ("12 EUR|EUR 1,250|-3.5EUR", ".", "number 1,234.5 EUR", [12, 1250, -3.5]),
    ("5$|6\u20ac", ".", "string", None),
    ("12 EUR|12 USD", ".", "string", None),
    # units that are words
    ("12 kg|300kg|-0.5 kg", ".", "number 1234.5 kg", [12, 300, -0.5]),
    ("1,5 km/h|1.200 km/h", ",", "number 1.234,5 km/h", [1.5, 1200]),
    ("20 \u00b0C|(3) \u00b0C", ".", "number 1234.5 \u00b0C", [20, -3]),
    ("12 m\u00b2|1e2 m\u00b2", ".", "number 1234.5 m\u00b2", [12, 100]),
    ("12 kg|300 g", ".", "string", None),
    ("12 kg|300", ".", "string", None),
    ("kg 12|kg 13", ".", "string", None),
    ("user17|user18", ".", "string", None),
    ("10 to 20|30 to 40", ".", "string", None),
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
    ("usual", "others", "wanted"),
    [
        ("12 kg", ["300 g"] * 5, "string"),
        ("12 kg", ["300"], "string"),
        ("12 kg", ["n.v."], "number 1234.5 kg"),
        ("12 kg", ["n.v."] * 5, "string"),
        ("$12", ["\u20ac5"], "string"),
        ("$12", ["12a"], "number 1234.5 $"),
        ("$12", ["n.v."] * 5, "number 1234.5 $"),
        ("12", ["300 g"] * 5, "number"),
        ("4WD", ["AWD"] * 5, "string"),
        ("950", ["1,014"], "number 1,234.5"),
        ("950", ["1,5"], "number"),
    ],
)
def test_a_unit_counts_only_if_all_cells_share_it(usual, others, wanted):
    assert kind_of_cells(pl.Series([usual] * 95 + others)) == wanted


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
        ("1,5|2", ",", "", "number 1234,5"),
        ("1.234|2", ",", "", None),
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


@given(st.sampled_from(SIGNS), st.text("0123456789.,' -+eE$%x()\u2212", max_size=9))
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
    left = cell.strip().replace(unit or "\0", "").replace("\u2212", "-")
    digits = left.strip(" +-()")
    minuses = left.replace(digits, "")
    assert minuses.strip() in ("", "+", "-", "()")
    whole, _, rest = digits.partition(decimal)
    groups = whole.split(sign) if sign else [whole]
    assert len(groups) == 1 or all(len(group) == 3 for group in groups[1:])
    plain = f"{whole.replace(sign, '') if sign else whole}.{rest}" if rest else whole
    assert numbers[0] == float(plain) * (-1 if {*minuses} & {*"-("} else 1)


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
    ("31.02.2024", "string"),
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


DAY = datetime.date(2021, 1, 31)
MINUTE = datetime.datetime(2021, 1, 31, 14, 0)
SECOND = datetime.datetime(2021, 1, 31, 14, 0, 5)
SPELLINGS_OF_DATES = [
    # column, cell, kind, value
    ("day", "2021-01-31", "date", DAY),
    ("day", "2021-01-31 14:00", "datetime", MINUTE),
    ("day", "2021-01-31T14:00:05Z", "datetime", SECOND),
    ("day", "2021-01-31 14:00:05 UTC", "datetime", SECOND),
    ("day", "2021-1-31", "date %Y-%m-%d", DAY),
    ("day", "2021/01/31", "date %Y/%m/%d", DAY),
    ("day", "2021.01.31", "date %Y.%m.%d", DAY),
    ("day", "20210131T140005", "date %Y%m%dT%H%M%S", SECOND),
    ("day", "31.01.2021", "date %d.%m.%Y", DAY),
    ("day", "5.6.2021", "date %d.%m.%Y", datetime.date(2021, 6, 5)),
    ("day", "01.31.2021", "date %m.%d.%Y", DAY),
    ("day", "31.01.21", "date %d.%m.%y", DAY),
    ("day", "31.01.2021 14:00", "date %d.%m.%Y %H:%M", MINUTE),
    ("day", "01/31/2021", "date %m/%d/%Y", DAY),
    ("day", "1/31/2021 2:00 PM", "date %m/%d/%Y %I:%M %p", MINUTE),
    ("day", "01/31/2021 02:00:05pm", "date %m/%d/%Y %I:%M:%S%p", SECOND),
    ("day", "31/01/2021 14:00:05", "date %d/%m/%Y %H:%M:%S", SECOND),
    ("day", "31-01-2021", "date %d-%m-%Y", DAY),
    ("day", "31/12/99", "date %d/%m/%y", datetime.date(1999, 12, 31)),
    ("day", "31-Jan-2021", "date %d-%b-%Y", DAY),
    ("day", "31-JAN-21", "date %d-%b-%y", DAY),
    ("day", "31/Jan/2021:14:00:05", "date %d/%b/%Y:%H:%M:%S", SECOND),
    ("day", "31 January 2021", "date %d %B %Y", DAY),
    ("day", "Jan 31, 2021", "date %b %d, %Y", DAY),
    ("day", "January 31, 2021 14:00", "date %B %d, %Y %H:%M", MINUTE),
    ("day", "Sun, 31 Jan 2021 14:00:05", "date %a, %d %b %Y %H:%M:%S", SECOND),
    ("day", "20210131", "date %Y%m%d", DAY),
    ("created_at", "1612101605", "date %s", SECOND),
    ("Time", "1612101605.0", "date %s", SECOND),
    ("timestamp", "1612101605000", "date %Q", SECOND),
    ("serial", "1612101605", "number", 1612101605.0),
    ("serial", "20210131", "number", 20210131.0),
    ("time", "172800", "number", 172800.0),
]


@pytest.mark.parametrize(("name", "cell", "kind", "value"), SPELLINGS_OF_DATES)
def test_spellings_of_dates(name, cell, kind, value):
    """Also among missing cells, and if one of a hundred cells is something else."""
    assert kind_of_cells(pl.Series(name, [cell])) == kind
    column = pl.Series(name, [None, *[cell] * 99, "soon"])
    assert kind_of_cells(column) == kind
    dates, is_odd = converted(column, kind)
    assert dates.to_list() == [None, *[value] * 99, None]
    assert is_odd.to_list() == [False] * 100 + [True]


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        ("05/06/2021", "date %d/%m/%Y|date %m/%d/%Y"),
        ("05/06/2021|13/06/2021", "date %d/%m/%Y"),
        ("05/06/2021|06/13/2021", "date %m/%d/%Y"),
        ("05/06/2021" + "|06/05/2021" * 98 + "|13/06/2021", "date %d/%m/%Y"),
        ("05/06/2021 10:15", "date %d/%m/%Y %H:%M|date %m/%d/%Y %H:%M"),
        ("31/01/21", "date %d/%m/%y|date %y/%m/%d"),
        ("5.6.2021|12.6.2021", "date %d.%m.%Y"),
        ("May 1, 2021|June 1, 2021", "date %B %d, %Y"),
        ("13/13/2021", ""),
        ("05/06/2021|31.01.2021", ""),
        ("1.2.3|4.5.6", ""),
        ("31.01.2021|31.01.21", ""),
        ("12-34-5678", ""),
        ("A-1-2021", ""),
    ],
)
def test_formats_that_cells_leave_open(cells, wanted):
    """A kind is chosen only if one fits better than all others."""
    column = pl.Series("day", cells.split("|"))
    assert "|".join(date_kinds(column)) == wanted
    assert kind_of_cells(column) == (wanted if wanted and "|" not in wanted else "string")


@given(st.lists(st.datetimes(), min_size=1), st.sampled_from(["T", " "]))
def test_dates_that_python_writes_are_read_back(times, separator):
    column = pl.Series([time.isoformat(separator) for time in times])
    assert iso_kind(column) == "datetime"
    assert converted(column, "datetime")[0].to_list() == times
    days = pl.Series([str(time.date()) for time in times])
    assert iso_kind(days) == "date"
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
