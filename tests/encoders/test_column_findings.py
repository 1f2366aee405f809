"""What the first rows show about columns: pure functions of a frame, without a file or a model."""

import pandas as pd
import polars as pl
import pytest

from unitless.encoders.column_findings import (
    ColumnFindings,
    empty_columns,
    findings,
    identifier_columns,
)
from unitless.encoders.column_kinds import declared_kind, kind_of_written_numbers, string_kind

ROWS = 40
WHOLE = [str(k) for k in range(ROWS)]
COLUMNS = {
    "mail": [f"please come to room {k}" for k in range(ROWS)],
    "id": [f"u{k}" for k in range(ROWS)],
    "row": range(1, ROWS + 1),
    "none": pl.Series([None] * ROWS, dtype=pl.Float64),
    "zip": ["02139", "10115"] * (ROWS // 2),
    "day": ["05/06/2021"] * ROWS,
    "city": ["Oslo", "oslo ", "Rome", "Rome"] * (ROWS // 4),
    "size": [*(f"{k % 7}" for k in range(ROWS - 6)), *"abcdef"],
    "weight": ["1 kg", "2 lb"] * (ROWS // 2),
    "plain": ["a", "b"] * (ROWS // 2),
}
FOUND = ColumnFindings(
    text=["mail"],
    identifiers=["id"],
    counters=["row"],
    empty=["none"],
    codes=["zip"],
    dates={"day": ["date %d/%m/%Y", "date %m/%d/%Y"]},
    alike={"city": [["Oslo", "oslo "]]},
    nearly_numbers={},
    units={"weight": ["kg", "lb"]},
)


def test_every_finding():
    found = findings(pl.DataFrame(COLUMNS))
    fit = found.nearly_numbers.pop("size")
    assert (fit.numbers, fit.odd) == (ROWS - 6, 6)
    assert found == FOUND


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_is_judged_alone(name):
    """The other columns of the frame do not matter."""
    found = findings(pl.DataFrame({name: COLUMNS[name]}))
    for of_all, own in zip(FOUND, found, strict=True):
        if isinstance(of_all, list):
            assert own == [each for each in of_all if each == name]
        elif name != "size":
            assert own == {each: of_all[each] for each in of_all if each == name}


def test_what_a_user_asked_for_is_no_finding():
    found = findings(pl.DataFrame(COLUMNS), {"mail", "id", "row", "day"})
    assert not found.text
    assert not found.identifiers
    assert not found.counters
    assert not found.dates
    assert not findings(pl.DataFrame(COLUMNS), identifier_as_feature=True).identifiers


@pytest.mark.parametrize("library", [pl.DataFrame, pd.DataFrame])
def test_frames_of_any_library(library):
    import narwhals.stable.v2 as nw

    given = {"id": COLUMNS["id"], "none": [float("nan")] * ROWS, "plain": COLUMNS["plain"]}
    table = nw.from_native(library(given), eager_only=True)
    assert identifier_columns(table) == ["id"]
    assert empty_columns(table) == ["none"]


@pytest.mark.parametrize(
    ("cells", "declared", "kind"),
    [
        (["1", "2"], "number", "number"),
        (["$1", "x"], "number", "number 1234.5 $"),
        (["x", "y"], "number", "number"),
        (["3", "x"], "label", "string"),
        (["2024-01-01"], "date", "date"),
        (["2024-01-01T10:00"], "date", "datetime"),
        (["1", "2"], "category", "category"),
    ],
)
def test_declared_kinds(cells, declared, kind):
    assert declared_kind(pl.Series(cells), declared) == kind


def test_targets_of_few_whole_numbers_are_classes_where_numbers_can_be_written():
    few = pl.Series(["3", "7"] * 10)
    assert kind_of_written_numbers(few) == "number 1234.5"
    assert kind_of_written_numbers(few, is_target=True) is None
    assert kind_of_written_numbers(few, is_target=True, is_mixed=True) == "number"
    assert kind_of_written_numbers(few, declared="label", is_mixed=True) is None


def test_strings_are_dates_only_if_cells_leave_no_doubt():
    assert string_kind(pl.Series(["31/01/2021"])) == "date %d/%m/%Y"
    assert string_kind(pl.Series(["05/06/2021"])) == "string"
