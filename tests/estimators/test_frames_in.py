"""Data frames of pandas, polars and pyarrow: columns of every kind, by name."""

from copy import deepcopy

import numpy as np
import pandas
import polars
import pyarrow
import pytest

from estimators.material import (
    LIBRARIES,
    A,
    B,
    OnlineClassifier,
    OnlineRegressor,
    each_library,
    people,
    some,
    spread_out,
)
from unitless.encoders import ManyLevels

COLUMNS, LABELS = people()


def made(library, *rows):
    return LIBRARIES[library](some(COLUMNS, *rows or (None,)))


def near(model, expected):
    """Scores up to the rounding that sums in another order have."""
    np.testing.assert_allclose(model.progressive_, expected.progressive_, rtol=1e-9, atol=1e-11)


@each_library
@pytest.mark.parametrize("learner", ["blend", "coordinate"])
def test_without_preparation(library, learner):
    """A frame is what its categories, booleans and dates are when they are written out."""
    names, table = spread_out(COLUMNS)
    model = OnlineClassifier(learner).fit(made(library), LABELS)
    assert sorted(model.feature_names_) == sorted(names)
    assert model.feature_names_in_.tolist() == list(COLUMNS)
    assert model.n_features_in_ == 4
    in_order = table[:, [names.index(name) for name in model.feature_names_]]
    near(model, OnlineClassifier(learner).fit(in_order, LABELS))


@pytest.mark.parametrize("learner", ["blend", "coordinate"])
def test_libraries_agree_to_the_bit(learner):
    one, two, three = (OnlineClassifier(learner).fit(made(name), LABELS) for name in LIBRARIES)
    np.testing.assert_array_equal(one.progressive_, two.progressive_)
    np.testing.assert_array_equal(one.progressive_, three.progressive_)
    assert one.feature_names_ == two.feature_names_ == three.feature_names_


@each_library
@pytest.mark.parametrize("learner", ["blend", "coordinate"])
def test_blocks_in_which_levels_appear(library, learner):
    whole = OnlineClassifier(learner).fit(made(library), LABELS)
    parts, scores = OnlineClassifier(learner), []
    for start in range(0, len(LABELS), 7):
        parts.partial_fit(made(library, start, start + 7), LABELS[start : start + 7])
        scores.append(parts.progressive_)
    np.testing.assert_array_equal(np.concatenate(scores), whole.progressive_)
    assert parts.feature_names_ == whole.feature_names_
    np.testing.assert_array_equal(parts.predict(made(library)), whole.predict(made(library)))


CATEGORICAL = {
    "pandas": pandas.DataFrame(COLUMNS).astype({"colour": "category"}),
    "polars": polars.DataFrame(COLUMNS).cast({"colour": polars.Categorical}),
    "polars enum": polars.DataFrame(COLUMNS).cast(
        {"colour": polars.Enum(["green", "blue", "red"])}
    ),
    "pyarrow": pyarrow.table(
        COLUMNS | {"colour": pyarrow.array(COLUMNS["colour"]).dictionary_encode()}
    ),
}


@pytest.mark.parametrize("frame", CATEGORICAL.values(), ids=CATEGORICAL)
def test_categories_are_strings_that_repeat(frame):
    plain = OnlineClassifier().fit(made("pandas"), LABELS)
    coded = OnlineClassifier().fit(frame, LABELS)
    np.testing.assert_array_equal(plain.progressive_, coded.progressive_)


@each_library
def test_a_category_never_seen_before(library):
    """No error; it says nothing, and a later block may teach it."""
    model = OnlineClassifier().fit(made(library), LABELS)
    before = model.feature_names_
    new = some(COLUMNS, 2) | {"colour": ["violet", None]}
    scores = model.decision_function(LIBRARIES[library](new))
    assert scores[0] == model.decision_function(LIBRARIES[library](some(new, 1)))[0]
    assert model.feature_names_ == before
    model.partial_fit(LIBRARIES[library](new), LABELS[:2])
    assert model.feature_names_ == [*before, "colour=violet"]


@each_library
def test_missing_is_missing(library):
    """A hole in a number is NaN, a hole in a category is no level at all."""
    numbers = {"a": [1.0, None, 3.0, 4.0], "b": [2, None, None, 1]}
    model = OnlineRegressor().fit(LIBRARIES[library](numbers), [1.0, 2.0, 3.0, 4.0])
    table = np.array([[1, 2], [np.nan, np.nan], [3, np.nan], [4, 1]])
    near(model, OnlineRegressor().fit(table, [1.0, 2.0, 3.0, 4.0]))
    words = {"a": ["x", None, "y", "x"]}
    model = OnlineRegressor().fit(LIBRARIES[library](words), [1.0, 2.0, 3.0, 4.0])
    assert model.feature_names_ == ["a=x", "a=y"]
    near(model, OnlineRegressor().fit([[1, 0], [0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0, 4.0]))


@each_library
def test_interactions_by_name(library):
    model = OnlineClassifier("coordinate", interactions=["height:colour"])
    model.fit(made(library), LABELS)
    names, table = spread_out(COLUMNS)
    for level in ("red", "green", "blue"):
        name = f"colour={level}"
        table = np.column_stack([table, np.where(table[:, names.index(name)], table[:, 0], 0)])
        names.append(f"height:{name}")
    assert sorted(model.feature_names_) == sorted(names)
    by_name = [names.index(name) for name in model.feature_names_]
    near(model, OnlineClassifier("coordinate").fit(table[:, by_name], LABELS))
    plain = OnlineClassifier("coordinate").fit(made(library), LABELS)
    assert np.mean((model.progressive_ >= 0) == (LABELS == "tall")) > np.mean(
        (plain.progressive_ >= 0) == (LABELS == "tall")
    )


@pytest.mark.parametrize("spec", ["hieght:colour", "colour:hieght", "hieght::"])
def test_an_interaction_of_no_column_is_a_slip(spec):
    with pytest.raises(ValueError, match="no column 'hieght'; did you mean 'height'"):
        OnlineClassifier(interactions=[spec]).fit(made("pandas"), LABELS)
    for good in ("height::", "::", ["height:colour"]):
        OnlineClassifier("nag", interactions=good).fit(made("polars"), LABELS)


def test_interactions_need_names():
    with pytest.raises(ValueError, match="go by name: give a data frame"):
        OnlineRegressor(interactions=["x0:x1"]).fit(A, B)


def test_many_levels_are_said_once():
    ids = [f"user {k}" for k in range(1200)]
    y = np.arange(1200) % 2
    model = OnlineClassifier("coordinate")
    with pytest.warns(ManyLevels, match="'id' has more than 1000 levels") as said:
        model.fit(pandas.DataFrame({"id": ids}), y)
    assert len(said) == 1
    model.partial_fit(pandas.DataFrame({"id": [f"guest {k}" for k in range(50)]}), y[:50])
    assert 1000 < len(model.feature_names_) <= 1250


def test_more_passes_over_a_frame():
    twice = OnlineClassifier(passes=2).fit(made("pandas"), LABELS)
    by_hand = OnlineClassifier().fit(made("pandas"), LABELS)
    by_hand.partial_fit(made("pandas"), LABELS)
    np.testing.assert_array_equal(twice.progressive_, by_hand.progressive_)
    mixed = OnlineClassifier(shuffle=True, random_state=0).fit(made("polars"), LABELS)
    order = np.random.RandomState(0).permutation(len(LABELS))
    rows = OnlineClassifier().fit(made("polars"), LABELS).model_.encoder.encode(made("polars")).X
    near(mixed, OnlineClassifier(shuffle=True, random_state=0).fit(rows, LABELS))
    assert len(order) == len(mixed.progressive_)


# Names


@each_library
def test_frames_of_numbers_are_arrays_with_names(library):
    names = [f"column {j}" for j in range(A.shape[1])]
    frame = LIBRARIES[library](dict(zip(names, A.T.copy(), strict=True)))
    model, plain = OnlineRegressor().fit(frame, B), OnlineRegressor().fit(A, B)
    np.testing.assert_array_equal(model.progressive_, plain.progressive_)
    np.testing.assert_array_equal(model.predict(frame), plain.predict(A))
    assert model.feature_names_in_.tolist() == model.feature_names_ == names
    assert plain.feature_names_ == [f"x{j}" for j in range(A.shape[1])]
    assert not hasattr(plain, "feature_names_in_")


@each_library
@pytest.mark.parametrize(
    "change",
    [
        lambda frame: {
            "tall": frame["height"],
            **{k: frame[k] for k in ("colour", "member", "joined")},
        },
        lambda frame: {k: frame[k] for k in ("height", "colour", "member")},
        lambda frame: frame | {"weight": frame["height"]},
        lambda frame: {k: frame[k] for k in reversed(frame)},
    ],
    ids=["renamed", "fewer", "more", "another order"],
)
def test_other_names_are_scikit_learn_s_error(library, change):
    model = OnlineClassifier().fit(made(library), LABELS)
    before = deepcopy(model)
    other = LIBRARIES[library](change(COLUMNS))
    with pytest.raises(ValueError, match="feature names should match those that were passed"):
        model.predict(other)
    with pytest.raises(ValueError, match="feature names should match those that were passed"):
        model.partial_fit(other, LABELS)
    np.testing.assert_array_equal(
        model.decision_function(made(library)), before.decision_function(made(library))
    )
    assert model.feature_names_ == before.feature_names_


@pytest.mark.parametrize(
    ("column", "values"),
    [("height", ["high", "low"]), ("colour", [7, 8]), ("height", [np.inf, 1]), ("joined", [1, 2])],
)
def test_a_value_of_another_kind_leaves_the_model_untouched(column, values):
    model = OnlineClassifier().fit(made("pandas"), LABELS)
    before = deepcopy(model)
    other = pandas.DataFrame(some(COLUMNS, 2) | {column: values})
    with pytest.raises(ValueError, match=f"row 0, column '{column}'"):
        model.partial_fit(other, LABELS[:2])
    with pytest.raises(ValueError, match=f"row 0, column '{column}'"):
        model.predict(other)
    np.testing.assert_array_equal(
        model.decision_function(made("pandas")), before.decision_function(made("pandas"))
    )


def test_levels_of_a_refused_block_are_forgotten():
    model = OnlineClassifier().fit(made("pandas"), LABELS)
    before = model.feature_names_
    new = pandas.DataFrame(some(COLUMNS, 2) | {"colour": ["violet", "pink"]})
    with pytest.raises(ValueError, match="weight -1"):
        model.partial_fit(new, LABELS[:2], sample_weight=[1, -1])
    assert model.feature_names_ == before


def test_an_array_after_a_frame():
    numbers = pandas.DataFrame(A).add_prefix("column ")
    model = OnlineRegressor().fit(numbers, B)
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        np.testing.assert_array_equal(model.predict(A), model.predict(numbers))
    mixed = OnlineClassifier().fit(made("pandas"), LABELS)
    with pytest.raises(ValueError, match="was fitted on a data frame whose columns are not all"):
        mixed.predict(np.zeros((2, 4)))
    with pytest.raises(ValueError, match="was fitted on a data frame whose columns are not all"):
        mixed.partial_fit(np.zeros((2, 4)), LABELS[:2])


@each_library
def test_a_frame_after_an_array(library):
    frame = LIBRARIES[library]({f"column {j}": A[:, j].copy() for j in range(A.shape[1])})
    model = OnlineRegressor().fit(A, B)
    with pytest.warns(
        UserWarning, match="X has feature names, but OnlineRegressor was fitted without"
    ):
        np.testing.assert_array_equal(model.predict(frame), model.predict(A))
    with pytest.warns(UserWarning, match="X has feature names"):
        model.partial_fit(frame, B)
    assert model.feature_names_[0] == "x0"


def test_a_lazy_frame_is_told_to_collect():
    with pytest.raises(TypeError, match="collect"):
        OnlineClassifier().fit(polars.DataFrame(COLUMNS).lazy(), LABELS)
