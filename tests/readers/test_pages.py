"""Parquet files that promise what they do not have are refused before polars reads them.

polars ends the process over some of them, so a test that reads such a file in vain ends as well.
"""

import io
import itertools
import random

import numpy as np
import polars as pl
import pyarrow.parquet
import pytest

from readers import forging
from readers.naive import read
from readers.test_parquet import FRAME
from unitless.readers import ReadError, pages


def frame(rows=300):
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "x": rng.normal(size=rows),
            "count": rng.integers(0, 5, rows),
            "word": rng.choice(["a", "bb", "ccc"], rows).tolist(),
            "yes": rng.random(rows) < 0.5,
            "gaps": [None if k % 3 else k for k in range(rows)],
        }
    )


def by_polars(table, **options):
    file = io.BytesIO()
    table.write_parquet(file, **options)
    return file.getvalue()


def by_arrow(table, **options):
    file = io.BytesIO()
    pyarrow.parquet.write_table(table.to_arrow(), file, data_page_size=256, **options)
    return file.getvalue()


FILES = {
    "polars": by_polars(frame(), row_group_size=100),
    "uncompressed": by_polars(frame(), compression="uncompressed"),
    "structs": by_polars(FRAME),
    "lists": by_polars(pl.DataFrame({"a": [[1, 2], [], [3]]})),
    "no rows": by_polars(FRAME.head(0)),
    "arrow": by_arrow(frame(), row_group_size=150),
    "plain": by_arrow(frame(), use_dictionary=False, compression="none"),
    "second version": by_arrow(frame(), data_page_version="2.0", write_page_checksum=True),
    "written with all": by_arrow(
        frame(), write_page_index=True, store_decimal_as_integer=True, sorting_columns=[
            pyarrow.parquet.SortingColumn(0)
        ],
    ),
}  # fmt: skip
COUNTS = [(forging.PAGE, (kind, 1)) for kind in (5, 7, 8)]
"""In front of a page: of plain values, of a dictionary, of values in the second version."""
files = pytest.mark.parametrize("name", FILES)


def checked(data, tmp_path):
    path = tmp_path / "file.parquet"
    path.write_bytes(data)
    pages.check(str(path))


@files
def test_what_is_true_is_believed(name, tmp_path):
    checked(FILES[name], tmp_path)


@files
def test_counts_that_cannot_be(name, tmp_path):
    """Of each page the number of its values, less than none or more than its column has."""
    data = FILES[name]
    found = [n for n in forging.numbers(data) if n[:2] in COUNTS]
    assert found or name == "no rows"
    for number, lie in itertools.product(found, [-1, -50, -8192, 8191]):
        forged = forging.forged(data, number, lie)
        if forged is not None:
            with pytest.raises(pages.Damaged, match="cannot be"):
                checked(forged, tmp_path)


def test_row_groups_that_cannot_be(tmp_path):
    data = FILES["polars"]
    rows = [n for n in forging.numbers(data) if n[:2] == (forging.FOOTER, (4, 3))]
    assert [number[-1] for number in rows] == [100, 100, 100]
    for lie in (-1, 2**31, 2**60):
        with pytest.raises(pages.Damaged, match="cannot be"):
            checked(forging.forged(data, rows[1], lie), tmp_path)


@pytest.mark.parametrize(
    "footer",
    [
        b"\x1c" * 100,  # structs in structs
        b"\x19\xfc" + b"\xff" * 8 + b"\x7f",  # a list of 2^63 structs
        b"\x18" + b"\xff" * 8 + b"\x7f",  # as many bytes
        b"\x15" + b"\xff" * 20,  # a number without an end
        b"\x16\x02\x00",  # another type than the format's
        b"\x1b\x00",  # a map, of which there are none
        b"\x15",
    ],
)
def test_damaged_footers(footer, tmp_path):
    data = b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1"
    with pytest.raises(pages.Damaged, match="byte 4 on cannot be"):
        checked(data, tmp_path)
    with pytest.raises(ReadError, match="no Parquet"):
        read(data, format="parquet")


@pytest.mark.parametrize("name", ["polars", "uncompressed", "arrow", "plain", "second version"])
def test_lies_are_read_or_refused(name):
    """Any number replaced: an error or rows, and the process goes on."""
    data, rng = FILES[name], random.Random(name)
    numbers, wrong = forging.numbers(data), 0
    for _ in range(200):
        lie = forging.forged(data, rng.choice(numbers), rng.choice(forging.ODD))
        if lie is not None:
            try:
                read(lie, format="parquet")
            except ReadError:
                wrong += 1
    assert wrong > 50
