"""One model, every door: a file written by any interface opens in every other, and continues."""

import numpy as np
import pandas
import polars
import pytest

import unitless
from unitless import Model, OnlineClassifier, OnlineRegressor
from unitless.evaluation import Evaluation
from unitless.learners import Coordinate, Nag
from unitless.learners.one_vs_rest import with_classes
from unitless.readers import open_blocks
from unitless.rows import as_rows

RNG = np.random.default_rng(0)
FRAME = pandas.DataFrame({"size": RNG.normal(size=60), "colour": RNG.choice(["red", "blue"], 60)})
LABELS = np.where(FRAME["size"] + 0.3 * RNG.normal(size=60) > 0, "yes", "no")


@pytest.fixture
def saved(tmp_path):
    """Saves something and loads the model."""

    def run(thing):
        unitless.save(thing, tmp_path / "model")
        found = unitless.load(tmp_path / "model")
        assert type(found) is Model
        return found

    return run


@pytest.fixture
def of_file(tmp_path):
    """The model that `evaluate` makes of a CSV file."""
    path = tmp_path / "rows.csv"
    FRAME.assign(label=LABELS).to_csv(path, index=False)
    blocks = list(open_blocks(str(path), target="label"))
    run = Evaluation(Model.from_first_block(blocks[0], target="label", learner="coordinate"))
    for _ in run.over(blocks):
        pass
    return run.model


def test_estimator_to_model_to_estimator(saved):
    model = OnlineClassifier("coordinate").fit(FRAME[:40], LABELS[:40])
    found = saved(model)
    assert found.predict(FRAME).tolist() == model.predict(FRAME).tolist()
    np.testing.assert_array_equal(found.predict_proba(FRAME), model.predict_proba(FRAME))
    other = saved(found).to_sklearn()
    assert other.get_params() == model.get_params() | {"interactions": []}
    scores = found.learn(FRAME[40:], LABELS[40:])
    for estimator in (model, other):
        estimator.partial_fit(FRAME[40:], LABELS[40:])
        np.testing.assert_array_equal(estimator.progressive_, scores)


def test_command_line_to_python(saved, of_file):
    found = saved(of_file)
    expected = of_file.predict(FRAME).tolist()
    assert found.predict(FRAME).tolist() == expected
    assert found.predict(polars.from_pandas(FRAME)).tolist() == expected
    assert found.predict(FRAME.assign(label="?")).tolist() == expected
    assert found.predict(FRAME.to_dict("records")).tolist() == expected
    assert found.predict(FRAME.iloc[3].to_dict()) == expected[3]
    assert found.to_sklearn().predict(FRAME).tolist() == expected


def test_probabilities_of_a_dict(of_file):
    one = of_file.predict_proba(FRAME.iloc[0].to_dict())
    assert list(one) == ["no", "yes"]
    assert list(one.values()) == of_file.predict_proba(FRAME[:1])[0].tolist()


def test_command_line_to_river_and_back(saved, of_file):
    river = saved(of_file).to_river()
    rows = FRAME.to_dict("records")
    for x, label in zip(rows, of_file.predict(FRAME), strict=True):
        assert river.predict_one(x) == label
    river.learn_one(rows[0], "yes")
    again = saved(river)
    assert again.labels == ["no", "yes"]
    for x in rows:
        assert again.predict(x) == river.predict_one(x)


def test_river_to_python(saved):
    from unitless.estimators.river import Classifier, Regressor

    classifier, regressor = Classifier("nag", multiclass=True), Regressor("coordinate", "absolute")
    for x, y in zip(FRAME.to_dict("records"), LABELS, strict=True):
        classifier.learn_one(x, y)
        regressor.learn_one(x, float(y == "yes"))
    found = saved(classifier)
    assert found.task == "multiclass"
    assert found.predict({"size": 2.0, "colour": "red"}) == "yes"
    assert found.to_river().predict_proba_one({"size": 2.0}) == classifier.predict_proba_one(
        {"size": 2.0}
    )
    number = saved(regressor)
    assert number.task == "regression"
    assert number.predict({"size": 2.0}) == regressor.predict_one({"size": 2.0})


@pytest.mark.parametrize("learner", [Coordinate(), with_classes(Nag, 3), Nag("absolute")])
def test_bare_learners(saved, learner):
    X = RNG.normal(size=(30, 3))
    y = {"signs": np.sign(X[:, 0]), "classes": np.arange(30) % 3, "reals": X[:, 0]}
    learner.learn(as_rows(X, y[learner.loss.targets]))
    found = saved(learner)
    np.testing.assert_array_equal(found.scores(X), learner.predict(as_rows(X)))
    assert found.feature_names(3) == ["0", "1", "2"]


def test_new_classes_appear_and_an_error_leaves_no_trace():
    model = Model.of(OnlineClassifier("nag").fit([[1.0], [2.0], [3.0]], ["a", "b", "c"]))
    before = model.scores([[1.5]])
    with pytest.raises(ValueError, match="inf"):
        model.learn([[1.0], [np.inf]], ["d", "a"])
    assert model.labels == ["a", "b", "c"]
    np.testing.assert_array_equal(model.scores([[1.5]]), before)
    assert model.learn([[4.0], [1.0]], ["a", "d"]).shape == (2, 4)
    assert model.labels == ["a", "b", "c", "d"]
    assert model.scores([[1.0]]).shape == (1, 4)


def test_a_third_class_is_an_error():
    model = Model.of(OnlineClassifier("coordinate").fit([[1.0], [2.0]], ["a", "b"]))
    with pytest.raises(ValueError, match="'c' is a third class"):
        model.learn([[1.0]], ["c"])


def test_explain_rescale_and_certificate(saved):
    model = OnlineRegressor("full", "absolute").fit(FRAME, FRAME["size"] * 2)
    found = saved(model)
    parts = found.explain({"size": 1.0, "colour": "red"})
    assert {*parts} == {"(base)", "size", "colour"}
    assert sum(parts.values()) == pytest.approx(found.predict({"size": 1.0, "colour": "red"}))
    found.rescale({"size": 1024})
    assert found.predict({"size": 1024.0, "colour": "red"}) == pytest.approx(
        model.predict(pandas.DataFrame({"size": [1.0], "colour": ["red"]}))[0]
    )
    assert found.certificate().trials == 60
    with pytest.raises(ValueError, match="category, which has no unit"):
        found.rescale({"colour": 2.0})


def test_what_cannot_be_saved(tmp_path):
    with pytest.raises(TypeError, match="cannot be saved"):
        unitless.save(object(), tmp_path / "model")
    with pytest.raises(ValueError, match="not fitted yet"):
        unitless.save(OnlineClassifier(), tmp_path / "model")
