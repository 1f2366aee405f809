"""A file written by any interface opens in every other one, and continues to the bit."""

import io

import numpy as np
import pandas
import pytest

import unitless
from unitless import Model, OnlineClassifier, OnlineRegressor
from unitless.evaluation import Evaluation
from unitless.learners import get
from unitless.learners.one_vs_rest import with_classes
from unitless.readers import open_blocks
from unitless.river import UnitlessClassifier, UnitlessRegressor
from unitless.rows import as_rows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3)) * [1.0, 1000.0, 1e-3]
FRAME = pandas.DataFrame(X, columns=["a", "b", "c"])
CODES = np.append([0, 1, 2], RNG.integers(0, 3, 57))
TARGETS = {
    "binary": np.append([-1, 1], np.where(X[2:, 0] > 0, 1, -1)),
    "multiclass": CODES,
    "regression": X[:, 0] + X[:, 1] / 1000,
}
HALF = 30


def loss_of(task):
    return {"binary": "logistic", "multiclass": "softmax", "regression": "squared"}[task]


# Each door begins with the first half of the stream


def begin_learner(task, name, part):
    learner = with_classes(get(name), 3) if task == "multiclass" else get(name)(loss_of(task))
    learner.learn(as_rows(X[part], TARGETS[task][part]))
    return learner


def begin_sklearn(task, name, part, data=FRAME):
    kind = OnlineRegressor if task == "regression" else OnlineClassifier
    return kind(name, shuffle=False).fit(data[part], TARGETS[task][part])


def begin_array(task, name, part):
    return begin_sklearn(task, name, part, X)


def begin_river(task, name, part):
    model = UnitlessRegressor(name)
    if task != "regression":
        model = UnitlessClassifier(name, multiclass=task == "multiclass")
    return continue_river(model, task, part)


def begin_file(task, name, part):
    blocks = file_blocks(task, part)
    model = Model.from_first_block(blocks[0], target="y", learner=name, task=task)
    return run_file(model, blocks)


def file_blocks(task, part):
    text = FRAME[part].assign(y=TARGETS[task][part]).to_csv(index=False).encode()
    return list(open_blocks(io.BytesIO(text), target="y"))


def run_file(model, blocks):
    for _ in Evaluation(model).over(blocks):
        pass
    return model


# Each door continues a model


def continue_learner(model, task, part):
    model.learner.learn(as_rows(X[part], TARGETS[task][part]))
    return model


def continue_model(model, task, part):
    by_name = model.encoder is not None or model.learner.names.columns
    model.learn(FRAME[part] if by_name else X[part], TARGETS[task][part])
    return model


def continue_sklearn(model, task, part):
    estimator = model.to_sklearn()
    by_name = model.encoder is not None or model.learner.names.columns
    rows = FRAME[part] if by_name else X[part]
    return estimator.partial_fit(rows, TARGETS[task][part])


def continue_river(model, task, part):
    model = model.to_river() if isinstance(model, Model) else model
    names = list(model.to_model().learner.names.columns) or list(FRAME)
    for row, y in zip(X[part].tolist(), TARGETS[task][part].tolist(), strict=True):
        model.learn_one(dict(zip(names, row, strict=True)), y)
    return model


def continue_file(model, task, part):
    model.file.target = "y"
    return run_file(model, file_blocks(task, part))


BEGIN = [begin_learner, begin_sklearn, begin_array, begin_river, begin_file]
CONTINUE = [continue_learner, continue_model, continue_sklearn, continue_river, continue_file]


def named(function):
    return function.__name__.rpartition("_")[2]


@pytest.mark.parametrize("task", TARGETS)
@pytest.mark.parametrize("begin", BEGIN, ids=named)
def test_a_file_of_any_door_continues_in_every_other(tmp_path, task, begin):
    name = "nag"
    unitless.save(begin(task, name, slice(HALF)), tmp_path / "model")
    found = {}
    for go_on in CONTINUE:
        model = unitless.load(tmp_path / "model")
        assert type(model) is Model
        if go_on is continue_file and begin is begin_learner:
            continue  # a bare learner has no names for the columns of a file
        after = Model.of(go_on(model, task, slice(HALF, None)))
        assert after.task == task
        unitless.save(after, tmp_path / "after")
        again = unitless.load(tmp_path / "after").learner.predict(as_rows(X))
        found[named(go_on)] = again.tobytes()
    straight = Model.of(begin(task, name, slice(None))).learner.predict(as_rows(X))
    assert found == dict.fromkeys(found, straight.tobytes())


@pytest.mark.parametrize("task", TARGETS)
def test_the_default_continues_too(tmp_path, task):
    unitless.save(begin_sklearn(task, "blend", slice(HALF)), tmp_path / "model")
    straight = begin_sklearn(task, "blend", slice(None)).learner_.predict(as_rows(X)).tobytes()
    for go_on in (continue_river, continue_file):
        after = Model.of(go_on(unitless.load(tmp_path / "model"), task, slice(HALF, None)))
        assert after.learner.predict(as_rows(X)).tobytes() == straight


def test_class_weights_go_through_every_door(tmp_path):
    model = OnlineClassifier("coordinate", class_weight={1: 5.0}, shuffle=False)
    unitless.save(model.fit(FRAME[:HALF], TARGETS["binary"][:HALF]), tmp_path / "model")
    straight = model.fit(FRAME, TARGETS["binary"]).learner_.predict(as_rows(X)).tobytes()
    for go_on in CONTINUE[1:]:
        after = go_on(unitless.load(tmp_path / "model"), "binary", slice(HALF, None))
        assert Model.of(after).learner.predict(as_rows(X)).tobytes() == straight


def test_the_names_of_old_packages_are_gone():
    for name in ("models", "scale"):
        with pytest.raises(AttributeError):
            getattr(unitless, name)
        with pytest.raises(ModuleNotFoundError):
            __import__(f"unitless.{name}")


def test_a_dict_names_the_columns_of_an_array():
    model = begin_array("regression", "nag", slice(None)).model_
    row = {"x2": X[0, 2], "x0": X[0, 0], "x1": X[0, 1]}
    assert model.predict(row) == pytest.approx(model.predict(X[:1])[0], rel=1e-12)
    assert model.predict({"x1": 2.0}) == model.predict([[0.0, 2.0, 0.0]])[0]
