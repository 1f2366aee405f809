"""Class labels <-> -1 and +1, or 0, 1, 2, ..."""

import numpy as np
import pytest

from unitless.labels import SeenLabels, as_labels, as_numbers, as_signs


@pytest.mark.parametrize(
    "classes", [[0, 1], ["no", "yes"], [False, True], [-5.0, 2.5], [-1, 1]], ids=str
)
def test_there_and_back(classes):
    classes = np.array(classes)
    labels = classes[[0, 1, 1, 0]]
    signs = as_signs(labels, classes)
    assert signs.tolist() == [-1, 1, 1, -1]
    assert signs.dtype == np.float64
    np.testing.assert_array_equal(as_labels(signs, classes), labels)


@pytest.mark.parametrize("classes", [[0, 1, 7], ["a", "b", "c"], [-1.5, 0.0, 2.0]], ids=str)
def test_several_there_and_back(classes):
    classes = np.array(classes)
    labels = classes[[2, 0, 1, 2]]
    numbers = as_numbers(labels, classes)
    assert numbers.tolist() == [2, 0, 1, 2]
    assert numbers.dtype == np.float64
    np.testing.assert_array_equal(as_labels(np.eye(3)[numbers.astype(int)], classes), labels)


def test_a_score_of_zero_is_the_second_class():
    """As 'at least 1/2' is."""
    classes = np.array(["no", "yes"])
    assert as_labels(np.array([0.0, -0.0, -1e-300, 1e300]), classes).tolist() == [
        "yes", "yes", "no", "yes",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("labels", "row", "label"),
    [(["no", "yes", "maybe"], 2, "'maybe'"), ([1, 0], 0, "1"), (["no", None], 1, "None")],
)
@pytest.mark.parametrize(
    ("code", "classes"), [(as_signs, ["no", "yes"]), (as_numbers, ["no", "so", "yes"])]
)
def test_unknown_labels(code, classes, labels, row, label):
    message = rf"row {row}: y contains a previously unseen label: .*{label}.* is not one of"
    with pytest.raises(ValueError, match=message):
        code(labels, np.array(classes))


def test_one_class():
    """A stream may begin with one class; all its scores, of either sign, mean that class."""
    only = np.array(["yes"])
    assert as_signs(["yes", "yes"], only).tolist() == [1, 1]
    assert as_labels(np.array([-1.0, 0.0, 1.0]), only).tolist() == ["yes"] * 3


def test_no_labels():
    assert as_signs([], np.array([0, 1])).shape == (0,)
    assert as_labels(np.empty(0), np.array([0, 1])).shape == (0,)


# Labels of a stream


@pytest.mark.parametrize(
    ("stream", "codes", "shown"),
    [
        ([True], [1], [False, True]),
        ([False, True], [-1, 1], [False, True]),
        ([1, 0], [1, -1], [0, 1]),
        ([1, 2], [1, -1], [2, 1]),
        ([2, 1], [-1, 1], [2, 1]),
        (["ham", "spam", "ham"], [-1, 1, -1], ["ham", "spam"]),
        ([np.bool_(True), np.bool_(False)], [1, -1], [False, True]),
        ([(1, "a"), frozenset("b")], [-1, 1], [(1, "a"), frozenset("b")]),
        (["ham"], [-1], ["ham"]),
        ([], [], [False, True]),
    ],
    ids=str,
)
def test_two_labels_as_they_come(stream, codes, shown):
    labels = SeenLabels(several=False)
    assert [labels.keep(label) for label in stream] == codes
    assert labels.shown == shown


def test_several_labels_as_they_come():
    labels = SeenLabels(several=True)
    assert labels.shown == []
    assert [labels.keep(label) for label in ("b", 7, "a", 7)] == [0, 1, 2, 1]
    assert labels.shown == ["b", 7, "a"]


def test_asking_for_a_code_keeps_nothing():
    labels = SeenLabels(several=True)
    assert labels.code("new") == labels.code("other") == 0
    assert labels.shown == []


@pytest.mark.parametrize("missing", [None, float("nan")])
@pytest.mark.parametrize("several", [False, True])
def test_no_label_is_no_label(missing, several):
    with pytest.raises(ValueError, match="is not a label; leave out"):
        SeenLabels(several).keep(missing)


def test_a_third_of_two():
    labels = SeenLabels(several=False)
    for label in ("ham", "spam"):
        labels.keep(label)
    with pytest.raises(ValueError, match=r"'eggs' is a third class.*'ham' and 'spam'.*multiclass"):
        labels.keep("eggs")
    assert labels.shown == ["ham", "spam"]
