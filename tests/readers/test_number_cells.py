"""How the numbers of a column are written, by examples, and against Python's own parser."""

import itertools

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unitless.readers.cells import kind_of_cells
from unitless.readers.number_cells import (
    THOUSANDS,
    NumberFormat,
    NumberSigns,
    decimal_sign,
    number_format,
    numbers_of,
)

COLUMNS = [
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


@pytest.mark.parametrize(("cells", "usual", "kind", "values"), COLUMNS)
def test_formats(cells, usual, kind, values):
    column = pl.Series(cells.split("|"))
    assert kind_of_cells(column, NumberSigns(usual=usual)) == kind
    if values is not None:
        numbers, is_odd = numbers_of(column, NumberFormat.of(kind))
        assert numbers.to_list() == values
        assert not is_odd.any()
        assert NumberFormat.of(kind).kind == kind


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
    signs = NumberSigns(decimal, thousands, decimal or ".")
    found = number_format(pl.Series(cells.split("|")), signs)
    assert (found and found.kind) == wanted


FORMATS = [NumberFormat(*each) for each in itertools.product(".,", THOUSANDS, ["", "$", "%"])]


@given(
    st.sampled_from([format for format in FORMATS if format.decimal != format.thousands]),
    st.lists(st.floats(-1e9, 1e9).map(lambda value: round(value, 4)), min_size=1),
)
def test_what_is_written_in_a_format_is_read_in_it(format, values):
    table = str.maketrans({",": format.thousands, ".": format.decimal})
    cells = [f"{value:,.4f}".translate(table) + format.unit for value in values]
    numbers, is_odd = numbers_of(pl.Series(cells), format)
    assert numbers.to_list() == values
    assert not is_odd.any()


@given(st.sampled_from(FORMATS), st.text("0123456789.,' -+eE$%x", max_size=9))
def test_a_cell_is_its_value_or_odd(format, cell):
    """The groups have three digits, and what is left without them is a number for Python."""
    numbers, is_odd = numbers_of(pl.Series([cell]), format)
    if numbers[0] is None:
        return
    assert not is_odd[0]
    if format == NumberFormat():
        assert numbers[0] == float(cell)
        return
    sign = format.thousands
    whole, _, rest = cell.strip().replace(format.unit or "\0", "").partition(format.decimal)
    groups = whole.strip(" +-").split(sign) if sign else [whole]
    assert len(groups) == 1 or all(len(group) == 3 for group in groups[1:])
    plain = f"{whole.replace(sign, '') if sign else whole}.{rest}" if rest else whole
    assert numbers[0] == float(plain.replace(sign or "\0", "").replace(" ", ""))
