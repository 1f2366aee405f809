"""fit_sharded without Ray: what is exact, and what is refused."""

import numpy as np
import polars as pl
import pytest

from distributed.files import classes, in_one_pass, numbers, parquet, predictions, table
from distributed.here import stay_here
from unitless import persistence
from unitless.distributed import Source, fit_sharded, sharded
from unitless.distributed.learning import start_of
from unitless.encoders import Columns
from unitless.learners import REGISTRY, Vaw
from unitless.persistence.saving import as_bytes


@pytest.fixture(autouse=True)
def _here(monkeypatch):
    stay_here(monkeypatch)


@pytest.mark.parametrize("shards", [1, 5, 12])
def test_vaw_is_one_pass(tmp_path, shards):
    source = numbers(parquet(tmp_path))
    made, whole = fit_sharded("vaw", source, shards=shards), in_one_pass("vaw", source)
    assert (made.shards, made.rows, len(made.losses)) == (shards, 600, shards)
    assert made.model.columns.state() == whole.columns.state()
    assert made.model.position == whole.position
    new, size = table(100, seed=1), 200.0
    assert np.abs(predictions(made.model, new) - predictions(whole, new)).max() <= 1e-10 * size


def test_levels_beyond_the_limit_share_features_as_in_one_pass(tmp_path):
    path, how = parquet(tmp_path), {"max_levels": 5, "hash_bits": 3}
    with pytest.warns(UserWarning, match="more than 5 levels"):
        whole = in_one_pass("vaw", numbers(path, columns=Columns(**how)))
    with pytest.warns(UserWarning, match="more than 5 levels"):
        made = fit_sharded("vaw", numbers(path, columns=Columns(**how)), shards=6)
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


TASKS = {
    "logistic": {"target": "late", "ignore": ["delay", "how", "weight"]},
    "squared": {"target": "delay", "ignore": ["late", "how", "weight"]},
    "softmax": {"target": "how", "ignore": ["late", "delay", "weight"], "task": "multiclass"},
    "hinge": {"target": "late", "ignore": ["delay", "how", "weight"], "loss": "hinge"},
    "absolute": {"target": "delay", "ignore": ["late", "how", "weight"], "loss": "absolute"},
}


@pytest.mark.parametrize(
    ("name", "weight"),
    [*((name, None) for name in TASKS), ("logistic", "weight"), ("squared", "weight")],
)
def test_a_blend_by_its_members_is_the_plain_one_to_the_bit(tmp_path, name, weight):
    source = Source(parquet(tmp_path), **TASKS[name], weight=weight)
    made, whole = fit_sharded("blend", source, shards=3), in_one_pass("blend", source)
    assert as_bytes(made.model) == as_bytes(whole)
    assert made.losses["blend"] > 0
    assert len(made.losses) == 1 + len(whole.learner.ensemble.members)
    again = table(100, seed=1).drop("weight").with_columns(weight=1.0)
    assert (predictions(made.model, again) == predictions(whole, again)).all()


def test_members_that_leave_leave_as_in_one_pass(tmp_path):
    """More than 256 features, then more than 1024: first small, then dense members leave."""
    rng = np.random.default_rng(0)
    lines = []
    for k in range(700):
        columns = np.unique(rng.integers(0, 1 + 3 * k, 6))
        value = 1e90 if k == 400 else 1.0  # one value is too wide for its unit
        lines.append(f"{rng.choice([-1, 1])} " + " ".join(f"{j}:{value}" for j in columns))
    for k in range(4):
        (tmp_path / f"{k}.svm").write_text("\n".join(lines[175 * k : 175 * k + 175]) + "\n")
    source = Source(tmp_path)
    made, whole = fit_sharded("blend", source, shards=4), in_one_pass("blend", source)
    assert None in whole.learner.ensemble.learners
    assert not whole.learner.ensemble.dense
    assert as_bytes(made.model) == as_bytes(whole)


def test_classes_and_labels_that_come_late_or_never(tmp_path):
    frame = table(600).with_columns(
        how=pl.when(pl.int_range(600) % 7 == 3).then(None).otherwise(pl.col("how"))
    )
    late = frame.with_columns(
        how=pl.when(pl.int_range(600) == 444).then(pl.lit("lost")).otherwise(pl.col("how"))
    )
    late.write_parquet(tmp_path / "a.parquet", row_group_size=100)
    source = Source(tmp_path / "a.parquet", **TASKS["softmax"])
    made, whole = fit_sharded("blend", source, shards=6), in_one_pass("blend", source)
    assert made.model.labels == ["fine", "late", "very", "lost"]
    assert made.rows == whole.rows == late["how"].is_not_null().sum()
    assert as_bytes(made.model) == as_bytes(whole)


def test_a_blend_that_has_learned_goes_on(tmp_path):
    source = classes(parquet(tmp_path))
    once = in_one_pass("blend", source).learner
    made, whole = fit_sharded(once, source, shards=2), in_one_pass(once, source)
    assert as_bytes(made.model) == as_bytes(whole)


@pytest.mark.parametrize("name", [name for name in REGISTRY if name not in ("vaw", "blend")])
def test_all_else_is_refused_with_the_reason(name):
    with pytest.raises(ValueError, match=f"^{name} cannot be learned in shards: .*; use vaw"):
        fit_sharded(name, "nothing.svm", shards=2)


def test_other_refusals(tmp_path):
    path = parquet(tmp_path)
    with pytest.raises(ValueError, match="shards = 13: the source has 12 parts"):
        fit_sharded("vaw", numbers(path), shards=13)
    with pytest.raises(ValueError, match="shards = 0: at least 1"):
        fit_sharded("vaw", numbers(path), shards=0)
    with pytest.raises(ValueError, match="retries = -1"):
        fit_sharded("vaw", numbers(path), shards=2, retries=-1)
    used = Vaw()
    used.learn_one({"x": 1.0}, 2.0)
    with pytest.raises(ValueError, match="has learned already"):
        fit_sharded(used, numbers(path), shards=2)
    with pytest.raises(ValueError, match="VAW is made for squared loss"):
        fit_sharded("vaw", Source(path, target="late", task="binary"), shards=2)
    with pytest.raises(FileNotFoundError, match="there is no such file or folder"):
        fit_sharded("vaw", tmp_path / "nothing", shards=2)


def test_a_column_of_two_kinds_is_named(tmp_path):
    pl.DataFrame({"x": [1.0, 2.0], "y": [1.0, 2.0]}).write_parquet(tmp_path / "a.parquet")
    pl.DataFrame({"x": ["a", "b"], "y": [1.0, 2.0]}).write_parquet(tmp_path / "b.parquet")
    with pytest.raises(ValueError, match="column 'x' is a number in some rows and a category"):
        fit_sharded("vaw", Source(tmp_path, target="y"), shards=2)


@pytest.mark.parametrize("kind", ["vaw", "blend"])
def test_a_bad_row_is_named_by_file_part_and_line(tmp_path, kind):
    for day in range(3):
        rows = [f"{k},{k % 3}" for k in range(20)]
        rows[7] = "7,oops" if day == 2 else rows[7]
        (tmp_path / f"{day}.csv").write_text("\n".join(["x,y", *rows]) + "\n")
    with pytest.raises(ValueError, match=r"2\.csv, line 9, column 'y'.*'oops' \(part 3 of 3\)"):
        fit_sharded(kind, Source(tmp_path, target="y", task="regression"), shards=3)


@pytest.mark.parametrize("kind", ["vaw", "blend"])
def test_a_file_that_goes_is_named_by_its_part(tmp_path, monkeypatch, kind):
    for day in range(3):
        (tmp_path / f"{day}.csv").write_text("x,y\n1,2\n2,3\n")

    def start_then_lose(*arguments):
        made = start_of(*arguments)
        (tmp_path / "2.csv").unlink()
        return made

    monkeypatch.setattr(sharded, "start_of", start_then_lose)
    with pytest.raises(FileNotFoundError, match=r"2\.csv: No such file .*\(part 3 of 3\)"):
        fit_sharded(kind, Source(tmp_path, target="y", task="regression"), shards=3)


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
    source = Source(tmp_path, task="regression", **how)
    made, whole = fit_sharded("vaw", source, shards=3), in_one_pass("vaw", source)
    assert made.rows == 300
    weights = made.model.learner.weights(), whole.learner.weights()
    new = np.ones((1, len(weights[0].features))), np.ones((1, len(weights[1].features)))
    p, q = (w.intercept + x @ w.features for w, x in zip(weights, new, strict=True))
    assert abs(p[0] - q[0]) < 1e-10 * 200
    assert made.model.feature_names() == whole.feature_names()
