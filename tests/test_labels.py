"""Class labels <-> -1 and +1, or 0, 1, 2, ..."""

import numpy as np
import pytest

from unitless.labels import WrongLabel, add_label, as_labels, classes, codes_of


@pytest.mark.parametrize(
    "known", [[0, 1], ["no", "yes"], [False, True], [-5.0, 2.5], [-1, 1]], ids=str
)
@pytest.mark.parametrize("form", [np.array, list], ids=["array", "list"])
def test_there_and_back(known, form):
    labels = [known[k] for k in (0, 1, 1, 0)]
    signs, new = codes_of(form(labels), "binary", known)
    assert (signs.tolist(), new) == ([-1, 1, 1, -1], [])
    assert signs.dtype == np.float64
    assert as_labels(signs, np.array(known)).tolist() == labels


@pytest.mark.parametrize("known", [[0, 1, 7], ["a", "b", "c"], [-1.5, 0.0, 2.0]], ids=str)
@pytest.mark.parametrize("form", [np.array, list], ids=["array", "list"])
def test_several_there_and_back(known, form):
    labels = [known[k] for k in (2, 0, 1, 2)]
    numbers, new = codes_of(form(labels), "multiclass", known)
    assert (numbers.tolist(), new) == ([2, 0, 1, 2], [])
    assert as_labels(np.eye(3)[numbers.astype(int)], np.array(known)).tolist() == labels


def test_a_score_of_zero_is_the_second_class():
    """As 'at least 1/2' is."""
    both = np.array(["no", "yes"])
    assert as_labels(np.array([0.0, -0.0, -1e-300, 1e300]), both).tolist() == [
        "yes", "yes", "no", "yes",
    ]  # fmt: skip


def test_one_class():
    """A stream may begin with one class; all its scores, of either sign, mean that class."""
    assert as_labels(np.array([-1.0, 0.0, 1.0]), np.array(["yes"])).tolist() == ["yes"] * 3


def test_no_labels():
    assert codes_of([], "binary", [0, 1])[0].shape == (0,)
    assert as_labels(np.empty(0), np.array([0, 1])).shape == (0,)


# Labels of a stream


@pytest.mark.parametrize(
    ("stream", "codes", "labels"),
    [
        ([True], [1], [None, True]),
        ([False, True], [-1, 1], [False, True]),
        ([1, 0], [1, -1], [0, 1]),
        ([1, 2], [1, -1], [2, 1]),
        ([2, 1], [-1, 1], [2, 1]),
        (["ham", "spam", "ham"], [-1, 1, -1], ["ham", "spam"]),
        ([np.bool_(True), np.bool_(False)], [1, -1], [False, True]),
        ([(1, "a"), frozenset("b")], [-1, 1], [(1, "a"), frozenset("b")]),
        (["ham"], [-1], ["ham"]),
        ([], [], []),
    ],
    ids=str,
)
def test_two_labels_as_they_come(stream, codes, labels):
    """All at once, and one by one."""
    assert codes_of(stream, "binary", [])[0].tolist() == codes
    known, found = [], []
    for label in stream:
        code, new = codes_of([label], "binary", known)
        found += code.tolist()
        for _, each in new:
            add_label(known, each, binary=True)
    assert (found, known) == (codes, labels)
    assert classes(known) == [label for label in labels if label is not None]


def test_several_labels_as_they_come():
    codes, new = codes_of(["b", 7, "a", 7, 1], "multiclass", [])
    assert codes.tolist() == [0, 1, 2, 1, 3]
    assert new == [(0, "b"), (1, 7), (2, "a"), (4, 1)]


@pytest.mark.parametrize("missing", [None, float("nan")])
@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_no_label_is_no_label(missing, task):
    with pytest.raises(WrongLabel, match=r"row 1: .* is not a label; leave out"):
        codes_of(["a", missing], task, [])
    codes, new = codes_of(["a", missing], task, ["a"], missing=True)
    assert np.isnan(codes).tolist() == [False, True]
    assert new == []


def test_a_third_of_two():
    message = r"row 1: 'eggs' is a third class after 'ham' and 'spam'"
    with pytest.raises(WrongLabel, match=message):
        codes_of(["spam", "eggs"], "binary", ["ham", "spam"])
    with pytest.raises(WrongLabel, match="row 2: 'c' is a third class after 1 and 'b'"):
        codes_of([1, "b", "c"], "binary", [])


def test_words_are_no_numbers():
    with pytest.raises(WrongLabel, match="row 1: 'a' is not a number but a class"):
        codes_of([1.0, "a"], "regression", [])
    assert codes_of(np.array([1, 2]), "regression", [])[0].tolist() == [1.0, 2.0]
