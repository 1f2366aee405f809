"""Data, models and comparisons that the tests of the estimators share."""

import datetime
from functools import partial

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

import unitless
from unitless.learners import get
from unitless.learners.one_vs_rest import with_classes

OnlineClassifier = partial(unitless.OnlineClassifier, shuffle=False)
OnlineRegressor = partial(unitless.OnlineRegressor, shuffle=False)
"""`fit` in the order given, which does what `partial_fit` does."""

X, Y = load_breast_cancer(return_X_y=True)
A, B = load_diabetes(return_X_y=True, scaled=False)
NAMED = np.array(["malignant", "benign"])[Y]  # benign, the larger code, sorts first
SIGNS = np.where(NAMED == "malignant", 1.0, -1.0)
order = np.random.default_rng(0).permutation(178)
W, WINE = (part[order] for part in load_wine(return_X_y=True))
GRAPES = np.array(["barolo", "grignolino", "barbera"])[WINE]


FAMILIES = ("arow", "bayes", "blend", "coordinate", "full", "nag", "newton", "ogd", "vaw")
"""A learner of every base class; the laws are about all learners."""


def learners_for(loss, **parameters):
    """The names of those that take a loss."""

    def fits(name):
        try:
            get(name)(loss, **parameters)
        except (TypeError, ValueError):
            return False
        return True

    return [name for name in FAMILIES if fits(name)]


def several_classes(name):
    """Whether a learner knows more than two classes."""
    try:
        with_classes(get(name), 3)
    except ValueError:
        return False
    return True


BINARY = learners_for("logistic")
REAL = dict.fromkeys(learners_for("squared"), "squared") | dict.fromkeys(
    learners_for("quantile(0.3)"), "quantile(0.3)"
)
SEVERAL = [name for name in BINARY if several_classes(name)]


def standard(rows):
    """Rows that learners which depend on units can learn from as well."""
    return (rows - rows.mean(axis=0)) / rows.std(axis=0)


each_model = pytest.mark.parametrize(
    ("model", "data"),
    [
        (OnlineClassifier(), (X, Y)),
        (OnlineClassifier(), (W, GRAPES)),
        (OnlineRegressor(), (A, B)),
        (OnlineClassifier("coordinate"), (W, WINE)),
        (OnlineRegressor("full", "absolute"), (A, B)),
    ],
    ids=["two classes", "three classes", "numbers", "coordinate", "full"],
)
each_kind = pytest.mark.parametrize("kind", [OnlineClassifier, OnlineRegressor])


def same_model(one, two, rows):
    """Assert that two models will say the same, to the bit."""
    np.testing.assert_array_equal(one.predict(rows), two.predict(rows))
    np.testing.assert_array_equal(one._scores(rows), two._scores(rows))


# Frames

DAYS = "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"
LIBRARIES = {"pandas": pandas.DataFrame, "polars": polars.DataFrame, "pyarrow": pyarrow.table}
each_library = pytest.mark.parametrize("library", LIBRARIES)


def people(n=200, seed=0):
    """Columns of every kind, with holes, and a label they explain in part."""
    rng = np.random.default_rng(seed)
    height, colour = rng.normal(1.7, 0.1, n), rng.choice(["red", "green", "blue"], n)
    member, days = rng.random(n) < 0.5, rng.integers(0, 3650, n)
    label = (height > 1.7) ^ (colour == "red")
    holes = rng.random((n, 4)) < 0.1
    start = datetime.datetime(2016, 2, 28, 22, 30)
    columns = {
        "height": height.tolist(),
        "colour": colour.tolist(),
        "member": member.tolist(),
        "joined": [start + datetime.timedelta(hours=7 * int(day)) for day in days],
    }
    for gone, name in zip(holes.T, columns, strict=True):
        columns[name] = [
            None if hole else value for value, hole in zip(columns[name], gone, strict=True)
        ]
    return columns, np.where(label, "tall", "short")


def some(columns, *rows):
    """A run of the rows."""
    return {name: values[slice(*rows)] for name, values in columns.items()}


def spread_out(columns):
    """The same as numbers, written out by hand: (names, table)."""
    n, made = len(columns["height"]), {}

    def put(name, row, value):
        made.setdefault(name, np.zeros(n))[row] = value

    for row in range(n):
        for name in ("height", "member"):
            value = columns[name][row]
            put(name, row, np.nan if value is None else float(value))
        if columns["colour"][row] is not None:
            put(f"colour={columns['colour'][row]}", row, 1)
        when = columns["joined"][row]
        if when is None:
            put("joined", row, np.nan)
            continue
        put("joined", row, (when - datetime.datetime(1970, 1, 1)) / datetime.timedelta(days=1))
        put(f"joined.hour={when.hour}", row, 1)
        put(f"joined.weekday={DAYS[when.weekday()]}", row, 1)
        put(f"joined.month={when.month}", row, 1)
    return list(made), np.column_stack(list(made.values()))
