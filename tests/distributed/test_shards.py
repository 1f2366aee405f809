"""fit_sharded: least squares from shards is one pass; everything else is refused."""

from dataclasses import replace
from datetime import date

import numpy as np
import polars as pl
import pytest

from distributed.files import in_one_pass, numbers, parquet, predictions, table
from distributed.test_by_key import dated
from unitless import persistence
from unitless.distributed import PartitionedData, shards
from unitless.distributed import fit_sharded as fit_sharded_on
from unitless.distributed.learning import start_of
from unitless.encoders import FrameEncoder
from unitless.learners import REGISTRY, Vaw


def fit_sharded(*arguments, **options):
    """In this process."""
    return fit_sharded_on(*arguments, workers=1, **options)


@pytest.mark.parametrize("count", [1, 5, 12])
def test_vaw_is_one_pass(tmp_path, count):
    source = numbers(parquet(tmp_path))
    made, whole = fit_sharded("vaw", source, shards=count), in_one_pass("vaw", source)
    assert (made.shards, made.rows, len(made.losses)) == (count, 600, count)
    assert made.model.columns.state() == whole.columns.state()
    assert made.model.position == whole.position
    new, size = table(100, seed=1), 200.0
    assert np.abs(predictions(made.model, new) - predictions(whole, new)).max() <= 1e-10 * size


def test_levels_beyond_the_limit_share_features_as_in_one_pass(tmp_path):
    path, how = parquet(tmp_path), {"max_levels": 5, "hash_bits": 3}
    with pytest.warns(UserWarning, match="more than 5 levels"):
        whole = in_one_pass("vaw", numbers(path, columns=FrameEncoder(**how)))
    with pytest.warns(UserWarning, match="more than 5 levels"):
        made = fit_sharded("vaw", numbers(path, columns=FrameEncoder(**how)), shards=6)
    assert sorted(made.model.columns.names) == sorted(whole.columns.names)
    assert any("#" in name for name in whole.columns.names)
    new = table(100, seed=1)
    assert np.abs(predictions(made.model, new) - predictions(whole, new)).max() <= 1e-10 * 200


def test_a_sharded_model_is_a_model_like_any_other(tmp_path):
    made = fit_sharded("vaw", numbers(parquet(tmp_path)), shards=4)
    made.save(tmp_path / "model")
    again = persistence.load(tmp_path / "model")
    new = table(100, seed=1)
    assert (predictions(again, new) == predictions(made.model, new)).all()
    notes = persistence.header(tmp_path / "model")["notes"]
    assert notes == {"shards": 4, "rows": 600, "losses": made.losses}


def test_all_else_is_refused_with_the_reason():
    for name in [name for name in REGISTRY if name != "vaw"]:
        with pytest.raises(ValueError, match=f"^{name} cannot be learned in shards: .*; use vaw"):
            fit_sharded(name, "nothing.svm", shards=2)


def test_other_refusals(tmp_path):
    path = parquet(tmp_path)
    with pytest.raises(ValueError, match="shards = 13: the source has only 12 parts"):
        fit_sharded("vaw", numbers(path), shards=13)
    with pytest.raises(ValueError, match="shards = 0: must be at least 1"):
        fit_sharded("vaw", numbers(path), shards=0)
    with pytest.raises(ValueError, match="retries = -1"):
        fit_sharded("vaw", numbers(path), shards=2, retries=-1)
    used = Vaw()
    used.learn_one({"x": 1.0}, 2.0)
    with pytest.raises(ValueError, match="has learned rows before"):
        fit_sharded(used, numbers(path), shards=2)
    with pytest.raises(ValueError, match="vaw takes the squared loss, not 'logistic'"):
        fit_sharded("vaw", PartitionedData(path, target="late", task="binary"), shards=2)
    with pytest.raises(FileNotFoundError, match="there is no such file or folder"):
        fit_sharded("vaw", tmp_path / "nothing", shards=2)


def test_a_column_of_two_kinds_is_named(tmp_path):
    pl.DataFrame({"x": [1.0, 2.0], "y": [1.0, 2.0]}).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame({"x": ["a", "b"], "y": [1.0, 2.0]}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(ValueError, match="column 'x' is a number in some rows and a category"):
        fit_sharded("vaw", PartitionedData(tmp_path, target="y"), shards=2)


def test_a_bad_row_is_named_by_file_part_and_line(tmp_path):
    for day in range(3):
        rows = [f"{k},{k % 3}" for k in range(20)]
        rows[7] = "7,oops" if day == 2 else rows[7]
        (tmp_path / f"{day}.csv").write_text("\n".join(["x,y", *rows]) + "\n")
    with pytest.raises(ValueError, match=r"2\.csv, line 9, column 'y'.*'oops' \(part 3 of 3\)"):
        fit_sharded("vaw", PartitionedData(tmp_path, target="y", task="regression"), shards=3)


def test_a_file_that_goes_is_named_by_its_part(tmp_path, monkeypatch):
    for day in range(3):
        (tmp_path / f"{day}.csv").write_text("x,y\n1,2\n2,3\n")

    def start_then_lose(*arguments):
        made = start_of(*arguments)
        (tmp_path / "2.csv").unlink()
        return made

    monkeypatch.setattr(shards, "start_of", start_then_lose)
    with pytest.raises(FileNotFoundError, match=r"2\.csv: there is no such file.*\(part 3 of 3\)"):
        fit_sharded("vaw", PartitionedData(tmp_path, target="y", task="regression"), shards=3)


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "svm", "arrow"])
def test_every_format_in_files(tmp_path, ending):
    frame = table(300)
    for k in range(3):
        own, path = frame[100 * k : 100 * k + 100], tmp_path / f"{k}.{ending}"
        if ending in ("csv", "tsv"):
            own.write_csv(path, separator="," if ending == "csv" else "\t")
        elif ending == "arrow":
            own.write_ipc(path)
        elif ending == "jsonl":
            own.write_ndjson(path)
        else:
            rows = own.select("delay", "distance", "minutes").rows()
            path.write_text("".join(f"{y} 1:{a} 3:{b}\n" for y, a, b in rows))
    how = {} if ending == "svm" else {"target": "delay", "ignore": ["late", "how", "weight"]}
    source = PartitionedData(tmp_path, task="regression", **how)
    made, whole = fit_sharded("vaw", source, shards=3), in_one_pass("vaw", source)
    assert made.rows == 300
    weights = made.model.learner.weights(), whole.learner.weights()
    new = np.ones((1, len(weights[0].features))), np.ones((1, len(weights[1].features)))
    p, q = (w.intercept + x @ w.features for w, x in zip(weights, new, strict=True))
    assert abs(p[0] - q[0]) < 1e-10 * 200
    assert made.model.feature_names() == whole.feature_names()


def test_dates_of_csv_files(tmp_path):
    source = dated(tmp_path / "all")
    made = fit_sharded("vaw", replace(source, ignore=["carrier"]), shards=3)
    one = in_one_pass("vaw", replace(source, ignore=["carrier"], task="regression"))
    assert made.model.columns.kinds == one.columns.kinds == {"day": "date"}
    days = pl.DataFrame({"day": [date(2024, 2, 1), date(2024, 3, 28)]})
    np.testing.assert_allclose(predictions(made.model, days), predictions(one, days), rtol=1e-9)
