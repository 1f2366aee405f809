"""fit_by_key: one model per key, each what one process makes of the rows of that key."""

import gc
import os
from dataclasses import replace

import polars as pl
import pytest

from distributed.files import classes, in_one_pass, numbers, parquet, table
from unitless.distributed import PartitionedData, by_key
from unitless.distributed import fit_by_key as fit_by_key_on
from unitless.model.decision_sentences import sentences
from unitless.persistence.saving import as_bytes
from unitless.readers import Position


def fit_by_key(*arguments, **options):
    """In this process."""
    return fit_by_key_on(*arguments, workers=1, **options)


def alone(path, source, frame, name):
    """The model of the rows of one key, from a file of their own."""
    frame.filter(pl.col("carrier") == name).write_parquet(path)
    own = replace(source, path=path)
    return in_one_pass("coordinate" if source.target == "late" else "vaw", own, key="carrier")


@pytest.mark.parametrize("make", [classes, numbers])
def test_each_model_is_that_of_its_rows_alone(tmp_path, make):
    source, frame = make(parquet(tmp_path)), table()
    learner = "coordinate" if make is classes else "vaw"
    made = fit_by_key(learner, source, "carrier", save=tmp_path / "models")
    assert list(made) == sorted(frame["carrier"].unique())
    assert made.rows == 600
    for name in made:
        mine, other = made[name], alone(tmp_path / f"{name}.parquet", source, frame, name)
        other.file.source, other.file.position, other.labels = (
            mine.file.source,
            Position(),
            mine.labels,
        )
        assert "carrier" not in mine.encoder.kinds
        assert as_bytes(mine) == as_bytes(other)


def test_files_of_different_columns_are_learned_one_after_the_other(tmp_path):
    """A column that a file does not have is absent there, which is 0, and not missing."""
    folder, frame = tmp_path / "all", table().drop("late", "how", "weight")
    folder.mkdir()
    frames = [frame[:200], frame[200:400].drop("minutes"), frame[400:]]
    for k, own in enumerate(frames):
        own.write_parquet(folder / f"{k}.parquet")
    source = PartitionedData(folder, target="delay", task="regression")
    made = fit_by_key("vaw", source, "carrier")
    alone = tmp_path / "alone"
    alone.mkdir()
    for k, own in enumerate(frames):
        own.filter(pl.col("carrier") == "c1").write_parquet(alone / f"{k}.parquet")
    mine, other = made["c1"], in_one_pass("vaw", replace(source, path=alone), key="carrier")
    other.file.source, other.file.position = mine.file.source, Position()
    assert as_bytes(mine) == as_bytes(other)


def test_a_row_that_cannot_be_learned_is_named_by_its_part(tmp_path):
    """Rows of a key are learned in blocks of many parts, of which one is wrong."""
    how = pl.when(pl.int_range(600) == 333).then(pl.lit("lost")).otherwise(pl.col("how"))
    frame = table().with_columns(how=how).filter(pl.col("how") != "very")
    frame.write_parquet(tmp_path / "a.parquet", row_group_size=50)
    line = 1 + frame["how"].to_list().index("lost")
    source = PartitionedData(
        tmp_path / "a.parquet", target="how", task="binary", ignore=["late", "delay"]
    )
    place = rf"^[^:]*a\.parquet, line {line}, column 'how': 'lost' is a third class"
    with pytest.raises(ValueError, match=rf"{place}.*\(part {-(-line // 50)} of \d+\)"):
        fit_by_key("coordinate", source, "carrier")


def test_the_number_of_partitions_changes_nothing(tmp_path, monkeypatch):
    source = classes(parquet(tmp_path))
    usual = fit_by_key("coordinate", source, "carrier", save=tmp_path / "a")
    monkeypatch.setattr(by_key, "MIN_PARTITIONS", 3)
    other = fit_by_key("coordinate", source, "carrier", save=tmp_path / "b")
    assert list(usual) == list(other)
    assert all(as_bytes(usual[name]) == as_bytes(other[name]) for name in usual)


def test_keys_are_text_or_exact_numbers(tmp_path):
    path = tmp_path / "a.parquet"
    frame = pl.DataFrame({"k": [7, 7, 8, 2**53 + 1], "x": [1.0, 2, 3, 4], "y": [1.0, 2, 3, 4]})
    frame[:3].write_parquet(path)
    source = PartitionedData(path, target="y", task="regression")
    assert list(fit_by_key("vaw", source, "k")) == ["7", "8"]
    frame.with_columns(k=pl.lit(0.5)).write_parquet(path)
    assert list(fit_by_key("vaw", source, "k")) == ["0.5"]
    frame.write_parquet(path)
    with pytest.raises(
        ValueError, match=r"line 4, column 'k': the key 9007199254740992 is not below"
    ):
        fit_by_key("vaw", source, "k")
    (tmp_path / "b.csv").write_text("k,x,y\n007,1,2\n7,2,3\n007,3,4\n7,4,7\n7,5,1\n")
    assert list(fit_by_key("vaw", PartitionedData(tmp_path / "b.csv", target="y"), "k")) == [
        "007",
        "7",
    ]


def test_refusals(tmp_path):
    frame = pl.DataFrame({"k": ["a", None], "x": [1.0, 2.0], "y": [1.0, 2.0]})
    frame.write_parquet(tmp_path / "a.parquet")
    source = PartitionedData(tmp_path / "a.parquet", target="y", task="regression")
    with pytest.raises(ValueError, match=r"line 2, column 'k': the key is missing \(part 1 of 1\)"):
        fit_by_key("vaw", source, "k", save=tmp_path / "m")
    assert sorted(os.listdir(tmp_path)) == ["a.parquet"]
    with pytest.raises(ValueError, match="there is no column 'z'; there are 'k', 'x'"):
        fit_by_key("vaw", source, "z")
    with pytest.raises(ValueError, match="cannot be both key and target"):
        fit_by_key("vaw", source, "y")
    (tmp_path / "a.svm").write_text("1 1:1\n")
    with pytest.raises(ValueError, match="svmlight files have no column 'k'"):
        fit_by_key("vaw", tmp_path / "a.svm", "k")


def test_a_temporary_file_goes_with_the_result(tmp_path):
    made = fit_by_key("coordinate", classes(parquet(tmp_path)), "carrier")
    path = made.path
    assert os.path.exists(path)
    del made
    gc.collect()
    assert not os.path.exists(path)


def dated(folder, keys=("c1", "c2")):
    """CSV files with a column of dates, and what is to be predicted from them."""
    folder.mkdir()
    for k in range(3):
        lines = ["carrier,day,score"]
        for row in range(40):
            day = f"2024-{1 + k:02}-{1 + row % 28:02}"
            lines += [f"{key},{day},{row % 7 + k}.5" for key in ("c1", "c2") if key in keys]
        (folder / f"{k}.csv").write_text("\n".join(lines) + "\n")
    return PartitionedData(folder, target="score")


def test_dates_of_csv_files(tmp_path):
    made = fit_by_key("vaw", dated(tmp_path / "all"), "carrier")
    assert any(text.startswith("dates: day") for text in sentences(made.decisions))
    for name in made:
        own = in_one_pass("vaw", dated(tmp_path / name, [name]), key="carrier")
        mine = made[name]
        assert mine.encoder.kinds["day"] == "date"
        own.file.source, own.file.position = mine.file.source, Position()
        assert as_bytes(mine) == as_bytes(own)
