"""Parts: a fixed order, every row once."""

import polars as pl
import pytest

from unitless.distributed.partitioned_data import PartitionedData
from unitless.readers import ReadError


def test_files_by_name_then_row_groups_every_row_once(tmp_path):
    frame = pl.DataFrame({"x": range(10)})
    for k, name in enumerate(("b/2.parquet", "b/1.parquet", "a.parquet", "_done.parquet", ".x")):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        frame.with_columns(pl.col("x") + 100 * k).write_parquet(path, row_group_size=4)
    parts = PartitionedData(tmp_path).parts()
    rows = [
        row
        for part in parts
        for block in PartitionedData("").blocks(part)
        for row in block.frame["x"]
    ]
    assert rows == [*range(200, 210), *range(100, 110), *range(10)]
    assert [part.number for part in parts] == [*range(1, 10)]
    assert str(parts[1]).startswith("part 2 of 9: ")
    assert str(parts[1]).endswith("a.parquet, rows 5 to 8")


def test_patterns(tmp_path):
    for name in ("b.csv", "a.csv", "c.txt"):
        (tmp_path / name).write_text("x,y\n1,2\n")
    parts = PartitionedData(str(tmp_path / "*.csv")).parts()
    assert [part.file[-5:] for part in parts] == ["a.csv", "b.csv"]
    with pytest.raises(FileNotFoundError, match="no files in it"):
        PartitionedData(str(tmp_path / "*.jsonl")).parts()


def test_refusals(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.jsonl").write_text('{"x": 1}\n')
    with pytest.raises(ValueError, match=r"a\.csv is csv and .*b\.jsonl is jsonl, but files that"):
        PartitionedData(tmp_path).parts()
    (tmp_path / "c.vw").write_text("1 | a\n")
    with pytest.raises(ValueError, match="VW text cannot be split"):
        PartitionedData(tmp_path / "c.vw").parts()
    (tmp_path / "d.parquet").write_text("nothing")
    with pytest.raises(ReadError, match="this is not a Parquet file"):
        PartitionedData(tmp_path / "d.parquet").parts()
    pl.DataFrame({"x": []}).write_parquet(tmp_path / "e.parquet")
    with pytest.raises(ReadError, match="the source has no rows"):
        PartitionedData(tmp_path / "e.parquet").parts()
