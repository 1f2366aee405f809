"""The kind of a column of cells, by examples."""

import polars as pl
import pytest

from unitless.readers.cells import kind_of_cells

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
