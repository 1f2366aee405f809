"""Class labels <-> -1 and +1."""

import numpy as np
import pytest

from unitless.targets import as_labels, as_signs


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


def test_a_score_of_zero_is_the_second_class():
    """As 'at least 1/2' is."""
    classes = np.array(["no", "yes"])
    assert as_labels(np.array([0.0, -0.0, -1e-300, 1e300]), classes).tolist() == [
        "yes", "yes", "no", "yes",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (
            ["no", "yes", "maybe"],
            r"row 2: label .*'maybe'.* is not one of the classes \['no', 'yes'\]",
        ),
        ([1, 0], "row 0: label .*1"),
    ],
)
def test_unknown_labels(labels, message):
    with pytest.raises(ValueError, match=message):
        as_signs(labels, np.array(["no", "yes"]))


def test_one_class():
    """A stream may begin with one class; all its scores, of either sign, mean that class."""
    only = np.array(["yes"])
    assert as_signs(["yes", "yes"], only).tolist() == [1, 1]
    assert as_labels(np.array([-1.0, 0.0, 1.0]), only).tolist() == ["yes"] * 3


def test_no_labels():
    assert as_signs([], np.array([0, 1])).shape == (0,)
    assert as_labels(np.empty(0), np.array([0, 1])).shape == (0,)
