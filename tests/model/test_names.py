"""Names that a model of a table does not have, and names that a row does not have."""

import json
import warnings
from copy import deepcopy

import numpy as np
import pandas
import polars
import pytest

import unitless
from unitless import Model, OnlineClassifier, OnlineRegressor
from unitless.evaluation import Evaluation
from unitless.learners import Coordinate
from unitless.model.input_names import UnknownColumns
from unitless.readers import open_blocks

RNG = np.random.default_rng(5)
FRAME = pandas.DataFrame(
    {
        "temp": RNG.normal(20, 5, 80),
        "wind": RNG.normal(3, 1, 80),
        "sky": RNG.choice(["clear", "cloudy"], 80),
        "station": range(80),
    }
)
TARGET = 40 * FRAME["temp"] - 9 * FRAME["wind"] + 30 * (FRAME["sky"] == "clear")


@pytest.fixture(params=["frame", "csv", "jsonl"])
def model(request, tmp_path):
    """A model of each kind of table; "station" is ignored."""
    if request.param == "frame":
        made = OnlineRegressor().fit(FRAME, TARGET).to_model()
        made.file.target, made.file.ignore = "rides", ["station"]
        made.file.keep.remove("station")
        return made
    path = tmp_path / f"rows.{request.param}"
    table = polars.from_pandas(FRAME.assign(rides=TARGET, weight=1.0))
    table.write_csv(path) if request.param == "csv" else table.write_ndjson(path)
    blocks = list(open_blocks(path, target="rides", weight="weight"))
    fields = {"target": "rides", "weight": "weight", "ignore": ["station"]}
    run = Evaluation(Model.from_first_block(blocks[0], **fields))
    for _ in run.over(blocks):
        pass
    return run.model


ROW = {"temp": 21.0, "wind": 2.0, "sky": "clear"}


def test_an_unknown_name_is_refused_and_the_way_out_is_named(model):
    slip = {"tmp": 21.0, "wind": 2.0, "sky": "clear"}
    message = r"^the model has no column 'tmp'; did you mean 'temp'\? unknown='ignore' leaves"
    for call in (model.predict, model.scores, model.explain):
        with pytest.raises(ValueError, match=message):
            call(slip)
    with pytest.raises(ValueError, match=r"^row 1: the model has no column 'tmp'"):
        model.predict([ROW, slip])
    with pytest.raises(ValueError, match=r"no column 'zzz'; it has 'temp', 'wind', '"):
        model.predict({**ROW, "zzz": 1})
    with pytest.raises(ValueError, match="unknown = 'skip': it is 'error' or 'ignore'"):
        model.predict(ROW, unknown="skip")


def test_ignored_names_leave_no_trace(model):
    expected = model.predict(ROW)
    assert model.predict({**ROW, "zzz": 1, "tmp": "?"}, unknown="ignore") == expected
    names = model.feature_names()
    with pytest.raises(ValueError, match="no column 'zzz'"):
        model.learn_one({**ROW, "zzz": 1}, 800.0)
    assert (model.predict(ROW), model.rows) == (expected, 80)
    assert model.learn_one({**ROW, "zzz": 1}, 800.0, unknown="ignore") == expected
    assert (model.rows, model.feature_names()) == (81, names)


def test_target_weight_and_ignored_columns_are_accepted(model):
    more = {
        name: 1.0 for name in (model.file.target, model.file.weight, *model.file.ignore) if name
    }
    assert len(more) >= 2
    assert model.predict(ROW | more) == model.predict(ROW)
    before = model.predict(ROW)
    assert model.learn([ROW | more], [800.0]) == before


@pytest.mark.parametrize("gone", [["temp"], ["sky"], ["wind", "sky"], list(ROW)])
def test_absent_is_missing_as_null_is(model, gone):
    absent = {name: value for name, value in ROW.items() if name not in gone}
    null = ROW | dict.fromkeys(gone)
    nan = ROW | dict.fromkeys(gone, np.nan)
    assert model.predict(absent) == model.predict(null) == model.predict(nan)
    assert [*model.predict([ROW, absent])] == [model.predict(ROW), model.predict(null)]
    if len(gone) < len(ROW):  # a frame without columns has no rows
        assert model.predict(polars.DataFrame([absent]))[0] == model.predict(null)
    if "temp" in gone:
        assert model.predict(absent) != model.predict(null | {"temp": 0.0})


def test_learning_absent_and_null_is_the_same(model):
    other = deepcopy(model)
    for row, y in zip(FRAME.drop(columns="station").to_dict("records"), TARGET, strict=True):
        given = {name: value for name, value in row.items() if RNG.random() < 0.6}
        assert model.learn_one(given, y) == other.learn_one(dict.fromkeys(ROW) | given, y)
    np.testing.assert_array_equal(model.scores(FRAME), other.scores(FRAME))


def test_json_lines_with_absent_keys_and_with_nulls(tmp_path):
    rows = FRAME.drop(columns="station").assign(rides=TARGET).to_dict("records")
    thin = [{k: v for k, v in row.items() if k == "rides" or RNG.random() < 0.6} for row in rows]
    full = [dict.fromkeys(rows[0]) | row for row in thin]
    found = []
    for name, given, size in (("a", thin, 1 << 20), ("b", full, 1 << 20), ("c", thin, 300)):
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(row) + "\n" for row in given))
        blocks = list(open_blocks(path, target="rides", block_bytes=size))
        run = Evaluation(Model.from_first_block(blocks[0], target="rides", task="regression"))
        found.append(np.concatenate([step.scores for step in run.over(blocks)]))
    np.testing.assert_array_equal(found[0], found[1])
    np.testing.assert_array_equal(found[0], found[2])


def test_a_frame_with_other_columns_is_one_warning(model):
    table = FRAME.assign(tmp=1.0, more=2.0)
    with pytest.warns(UnknownColumns, match=r"'tmp', 'more' are not in .* 'temp'") as all:
        found = model.predict(table)
    assert len(all) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(found, model.predict(FRAME))
        np.testing.assert_array_equal(found, model.predict(table, unknown="ignore"))
        np.testing.assert_array_equal(found, model.predict(FRAME[FRAME.columns[::-1]]))


def test_the_order_of_columns_does_not_matter_with_interactions():
    fitted = OnlineRegressor("newton", interactions=["::"]).fit(FRAME, TARGET)
    other = FRAME[["sky", "station", "wind", "temp"]]
    model = fitted.to_model()
    np.testing.assert_array_equal(model.predict(other), model.predict(FRAME))
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(other)  # scikit-learn's own check


def test_bare_learners_and_river_know_no_table(tmp_path):
    """Their dicts may have any names, and what is absent is zero."""
    from unitless.river import UnitlessRegressor

    learner = Coordinate()
    learner.learn_one({"a": 1.0}, 1)
    assert learner.predict_one({}) == learner.predict_one({"a": 0.0})
    unitless.save(learner, tmp_path / "model")
    assert unitless.load(tmp_path / "model").predict({"b": 3.0}) == 1
    river = UnitlessRegressor("newton")
    river.learn_one({"a": 1.0}, 2.0)
    assert river.predict_one({}) == river.predict_one({"a": 0.0})


def test_an_estimator_of_arrays_has_numbered_names():
    model = OnlineClassifier("coordinate").fit([[1.0, 2.0], [2.0, 1.0]], [0, 1]).to_model()
    assert model.predict({"x0": 1.0, "x1": 2.0}) == model.predict([[1.0, 2.0]])[0]
