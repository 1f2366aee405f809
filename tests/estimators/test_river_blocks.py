"""learn_many is learn_one row by row, and predict_many is predict_one, to the bit."""

from copy import deepcopy

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from estimators.material import BINARY, REAL, SEVERAL, people
from unitless.estimators.river import Classifier, Regressor

rng = np.random.default_rng(0)
NAMES = list("abcdefg")
FRAMES = []
for names in (NAMES[:3], NAMES, NAMES[2:6], NAMES[:1], NAMES[::-1], ["d", "new", "a", "g"]):
    table = rng.standard_normal((25, len(names))) * 10.0 ** rng.integers(-2, 3, len(names))
    table[rng.random(table.shape) < 0.2] = 0
    table[rng.random(table.shape) < 0.05] = np.nan
    FRAMES.append(pandas.DataFrame(table, columns=names))
SIGNS = [rng.random(25) < 0.5 for _ in FRAMES]
SEVEN = [rng.choice(np.arange(2 + k), 25) for k in range(len(FRAMES))]
NUMBERS = [rng.normal(5, 2, 25) for _ in FRAMES]
QUESTIONS = pandas.concat(FRAMES)[NAMES][::3]


def records(frame):
    return frame.to_dict("records")


def one_by_one(model, frame, targets, weights=None):
    for k, (x, y) in enumerate(zip(records(frame), targets, strict=True)):
        model.learn_one(x, y, *([] if weights is None else [weights[k]]))


def answers(model, frame):
    ask = getattr(model, "predict_proba_one", model.predict_one)
    return [ask(x) for x in records(frame)]


def learned_both_ways(model, targets, weights=None):
    """A model that learned the frames, and one that learned their rows."""
    many, one = deepcopy(model), deepcopy(model)
    for frame, y in zip(FRAMES, targets, strict=True):
        many.learn_many(frame, pandas.Series(y), *([] if weights is None else [weights]))
        one_by_one(one, frame, y, weights)
    return many, one


DIVERGE = ("adaptive_normal", "kt")
"""Made for rows that are scaled; on these they may refuse to go on."""


def models():
    yield from ((Classifier(name), SIGNS) for name in BINARY if name not in DIVERGE)
    yield from ((Classifier(name, True), SEVEN) for name in SEVERAL if name not in DIVERGE)
    yield from (
        (Regressor(name, loss), NUMBERS) for name, loss in REAL.items() if name not in DIVERGE
    )


each = pytest.mark.parametrize(
    ("model", "targets"), list(models()), ids=lambda x: "" if isinstance(x, list) else repr(x)
)


@each
def test_learn_many_is_learn_one(model, targets):
    """Columns come, go, come back in another order and are new; so are classes."""
    many, one = learned_both_ways(model, targets)
    assert answers(many, QUESTIONS) == answers(one, QUESTIONS)


@each
def test_weights(model, targets):
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], 25)
    many, one = learned_both_ways(model, targets, weights)
    assert answers(many, QUESTIONS) == answers(one, QUESTIONS)


@pytest.mark.parametrize(
    ("model", "targets"),
    [(Classifier(), SIGNS), (Classifier("full"), SIGNS), (Classifier("nag", True), SEVEN),
     (Classifier(multiclass=True), SEVEN), (Regressor(), NUMBERS)],
)  # fmt: skip
def test_keys_in_another_order(model, targets):
    """Sums in another order: the same up to rounding."""
    many, one = deepcopy(model), deepcopy(model)
    for frame, y in zip(FRAMES, targets, strict=True):
        many.learn_many(frame, pandas.Series(y))
        one_by_one(one, frame[frame.columns[::-1]], y)
    for p, q in zip(answers(many, QUESTIONS), answers(one, QUESTIONS), strict=True):
        assert q == pytest.approx(p, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    "model",
    [
        Classifier(),
        Classifier("coordinate"),
        Classifier(multiclass=True),
        Regressor(),
        Regressor("vaw"),
    ],
)
def test_categories_that_appear(model):
    columns, labels = people(60)
    del columns["joined"]
    frame = pandas.DataFrame(columns)
    y = np.arange(60.0) if isinstance(model, Regressor) else labels
    many, one = deepcopy(model), deepcopy(model)
    for start in range(0, 60, 13):
        many.learn_many(frame[start : start + 13], pandas.Series(y[start : start + 13]))
    one_by_one(one, frame, y)
    assert answers(many, frame) == answers(one, frame)
    assert list(many._model.learner.names.columns) == list(one._model.learner.names.columns)


@pytest.mark.parametrize("library", [polars.DataFrame, pyarrow.table, pandas.DataFrame])
def test_frames_of_every_library(library):
    columns, labels = people(60)
    del columns["joined"]
    frame, plain = library(columns), pandas.DataFrame(columns)
    for part in ({"height": columns["height"], "member": columns["member"]}, columns):
        frame, plain = library(part), pandas.DataFrame(part)
        many, one = Classifier(), Classifier()
        many.learn_many(frame, labels)
        one_by_one(one, plain, labels)
        assert answers(many, plain) == answers(one, plain)
        found = many.predict_many(frame)
        found = found.to_pylist() if hasattr(found, "to_pylist") else list(found)
        assert found == [one.predict_one(x) for x in records(plain)]
        assert isinstance(many.predict_proba_many(frame), type(frame))


@pytest.mark.parametrize(
    ("model", "targets"),
    [(Classifier(), SIGNS), (Classifier("full"), SIGNS), (Classifier(multiclass=True), SEVEN),
     (Regressor(), NUMBERS), (Regressor("vaw"), NUMBERS)],
)  # fmt: skip
def test_predict_many_is_predict_one(model, targets):
    model, _ = learned_both_ways(model, targets)
    for frame in (*FRAMES, QUESTIONS, FRAMES[0].assign(colour="red", other=7.0)):
        found = model.predict_many(frame)
        assert found.index.equals(frame.index)
        assert found.tolist() == [model.predict_one(x) for x in records(frame)]
        if isinstance(model, Classifier):
            p = model.predict_proba_many(frame)
            assert p.index.equals(frame.index)
            assert p.to_dict("records") == [model.predict_proba_one(x) for x in records(frame)]


def test_before_anything_is_learned():
    frame = FRAMES[0]
    assert Classifier().predict_many(frame).tolist() == [False] * 25
    assert Classifier(multiclass=True).predict_many(frame).tolist() == [None] * 25
    assert Classifier(multiclass=True).predict_proba_many(frame).shape == (25, 0)
    assert Regressor().predict_many(frame).tolist() == [0.0] * 25


def test_a_question_about_new_names_does_not_confuse_later_rows():
    """A name asked about, then found in a frame behind others."""
    one, many = Regressor(), Regressor()
    for model in (one, many):
        model.learn_one({"a": 1.0, "b": 2.0}, 1.0)
        model.predict_one({"a": 1.0, "z": 2.0})
    frame = pandas.DataFrame({"y": [3.0, 1.0], "z": [1.0, 2.0]})
    many.learn_many(frame, pandas.Series([1.0, 2.0]))
    one_by_one(one, frame, [1.0, 2.0])
    for model in (one, many):
        model.learn_one({"a": 1.0, "z": 5.0}, 3.0)
    assert answers(one, QUESTIONS) == answers(many, QUESTIONS)
    assert one.predict_one({"z": 1.0}) == many.predict_one({"z": 1.0})


# Wrong frames


@pytest.mark.parametrize(
    ("frame", "labels", "weights", "message"),
    [
        (FRAMES[1].assign(c=np.inf), SEVEN[1], None, "row 0, feature 'c': inf"),
        (FRAMES[1].assign(c=[*"x" * 24, np.inf]), SEVEN[1], None, "row 24, feature 'c': inf"),
        (FRAMES[1].assign(c=[*"x" * 24, ()]), SEVEN[1], None, r"row 24, feature 'c': \(\) is not"),
        (FRAMES[1], SEVEN[1][:-1], None, "inconsistent numbers of samples: 25 rows and 24 targets"),
        (FRAMES[1], SEVEN[1], np.ones(24), "weights has shape"),
        (FRAMES[1], [*SEVEN[1][:24], "new"], [1.0] * 24 + [-1.0], "row 24: weight -1"),
        (FRAMES[1], [*SEVEN[1][:24], None], None, "None is not a label"),
    ],
    ids=["infinity", "infinity among words", "object", "labels", "weights", "weight", "label"],
)
@pytest.mark.parametrize(
    "model", [Classifier(multiclass=True), Classifier("full", multiclass=True)]
)
def test_a_frame_is_learned_whole_or_not_at_all(model, frame, labels, weights, message):
    model = deepcopy(model)
    model.learn_many(FRAMES[0], SEVEN[0])
    before = deepcopy(model)
    with pytest.raises(ValueError, match=message):
        model.learn_many(frame, labels, weights)
    assert answers(model, QUESTIONS) == answers(before, QUESTIONS)
    for one in (model, before):
        one.learn_many(FRAMES[2], SEVEN[2])
    assert answers(model, QUESTIONS) == answers(before, QUESTIONS)


def test_a_late_bad_weight_takes_back_early_new_classes():
    model = Classifier("nag", multiclass=True)
    model.learn_many(FRAMES[0], ["a"] * 25)
    before = deepcopy(model)
    with pytest.raises(ValueError, match="weight 1e"):
        model.learn_many(FRAMES[0], ["b"] * 24 + ["c"], [1.0] * 24 + [1e300])
    assert answers(model, QUESTIONS) == answers(before, QUESTIONS)
    assert set(model.predict_proba_one({})) == {"a"}


def test_targets_that_are_no_numbers():
    model = Regressor()
    with pytest.raises(ValueError, match="'seven' is not a number"):
        model.learn_many(FRAMES[0][:1], np.array(["seven"], dtype=object))
    assert model.predict_one({"a": 1.0}) == 0
