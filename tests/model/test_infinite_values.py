"""An infinite value is looked for once, at the door, and its error names it as the input does."""

import io
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from unitless import Model, OnlineClassifier, OnlineRegressor, rows
from unitless.encoders import FrameEncoder
from unitless.readers import ReadError, open_blocks

INF = float("inf")
LIBRARIES = {
    "pandas": lambda table: table.to_pandas(),
    "polars": lambda table: table,
    "pyarrow": lambda table: table.to_arrow(),
}
Y = [1.0, 2.0, 3.0]


def fitted(X, **options):
    return OnlineRegressor("vaw", **options).fit(X, Y).to_model()


def refused(model, X, message):
    """Neither learned nor predicted, and nothing has changed."""
    before = repr(model.encoder and model.encoder.state()), model.rows, list(model.feature_names(9))
    for call in (lambda: model.learn(X, Y), lambda: model.predict(X)):
        with pytest.raises(ValueError, match=message):
            call()
    after = repr(model.encoder and model.encoder.state()), model.rows, list(model.feature_names(9))
    assert before == after


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("other", [[1.0, 2.0, 3.0], ["a", "b", "c"]])
def test_frames(library, other):
    """In a dense block and in a sparse one."""
    table = pl.DataFrame({"other": other, "height": [1.0, None, 2.0]})
    made = LIBRARIES[library]
    bad = table.with_columns(height=pl.Series([1.0, None, -INF]))
    refused(
        fitted(made(table)), made(bad), r"^row 2, column 'height': -inf is not a number .* None"
    )


def test_a_level_that_is_new_in_the_same_row():
    """Features that the block adds have names, too."""
    model = fitted(pd.DataFrame({"colour": ["red", "blue", "red"], "size": [1.0, 2.0, 3.0]}))
    bad = pd.DataFrame({"colour": ["green", "grey", "red"], "size": [1.0, 2.0, INF]})
    with pytest.raises(ValueError, match="row 2, column 'size': inf"):
        model.learn(bad, Y)


@pytest.mark.parametrize("value", [10**400, Decimal("Infinity"), INF])
def test_objects(value):
    good = pd.DataFrame({"x": pd.Series([1.0, None, 2], dtype="object")})
    bad = pd.DataFrame({"x": pd.Series([1.0, None, value], dtype="object")})
    refused(fitted(good), bad, r"^row 2, column 'x': inf is not a number to learn from")


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_arrays(form):
    good = np.arange(6.0).reshape(3, 2)
    bad = good.copy()
    bad[1, 1] = -INF
    refused(fitted(form(good)), form(bad), r"^row 1, column 1: -inf .*NaN")


def test_arrays_with_new_classes():
    """The row is that of the array, also behind rows with a new class."""
    model = OnlineClassifier("coordinate").fit([[1.0], [2.0], [3.0]], ["a", "b", "c"]).to_model()
    with pytest.raises(ValueError, match="row 3, column 0: inf"):
        model.learn([[1.0], [2.0], [3.0], [INF]], ["a", "d", "a", "a"])
    assert model.classes == ["a", "b", "c"]


def test_dicts():
    model = fitted(pd.DataFrame({"a": [1.0, 2.0, 3.0]}))
    records = [{"a": 1.0}, {"a": 2.0}, {"a": INF}]
    refused(model, records, r"^row 2, column 'a': inf .* None")


def test_dicts_of_a_model_without_a_table():
    from unitless.learners import get

    learner = get("vaw")()
    learner.learn_one({"a": 1.0}, 1.0)
    model = Model.of(learner)
    records = [{"a": 1.0}, {"a": 2.0}, {"new": INF}]
    with pytest.raises(ValueError, match=r"row 2, feature 'new': inf .* None for a missing value"):
        model.learn(records, Y)
    assert [*learner.names.columns] == ["a"]
    with pytest.raises(ValueError, match="feature 'new': inf"):
        model.learn_one({"new": INF}, 1.0)


PRODUCT = "the product is beyond float64; give one of the two columns in a larger unit"


def test_products():
    good = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, 3.0]})
    model = fitted(good, interactions=["a:b"])
    bad = good.assign(a=[1.0, 1e200, 2.0], b=[1.0, 1e200, 2.0])
    refused(model, bad, rf"^row 1, column 'a:b': {PRODUCT}")
    refused(model, good.assign(a=[1.0, INF, 2.0]), r"^row 1, column 'a': inf is not a number")


def test_products_of_a_file_name_file_and_line(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,b,y\n" + "1,2,3\n" * 5 + "1e200,1e200,3\n")
    block = next(open_blocks(path))
    options = {"target": "y", "columns": FrameEncoder(interactions=["a:b"]), "task": "regression"}
    model = Model.from_first_block(block, learner="vaw", **options)
    with pytest.raises(ReadError, match=PRODUCT) as caught:
        model.prepared_block(block, grow=True)
    error = caught.value
    assert (error.file, error.line, error.column) == (str(path), 7, "a:b")
    assert not len(model.encoder)


# Looked at once


@pytest.fixture
def looks(monkeypatch):
    """The sizes of all arrays in which somebody looks for infinite and extreme values."""
    found = []
    extent = rows.extent
    monkeypatch.setattr(rows, "extent", lambda values: found.append(len(values)) or extent(values))
    return found


FRAME = pd.DataFrame({"a": [1.0, 2.0, 3.0], "b": [3.0, 1.0, 2.0]})


@pytest.mark.parametrize(
    "X",
    [FRAME, pl.DataFrame(FRAME), FRAME.to_numpy(), sp.csr_array(FRAME.to_numpy()),
     FRAME.to_dict("records")],
    ids=["pandas", "polars", "array", "csr", "dicts"],
)  # fmt: skip
def test_rows_are_looked_at_once(X, looks):
    model = fitted(FRAME if isinstance(X, list) else X)
    looks.clear()
    model.learn(X, Y)
    assert looks == [6]
    model.predict(X)
    assert looks == [6, 6]


def test_a_block_of_a_file_is_looked_at_once(looks):
    """However it is cut for the learner."""
    text = "a,b,y\n" + "1,2,3\n4,5,6\n7,8,9\n" * 100
    block = next(open_blocks(io.BytesIO(text.encode())))
    model = Model.from_first_block(block, learner="vaw", task="regression", target="y")
    looks.clear()
    prepared = model.prepared_block(block, grow=True)
    assert looks == [600]
    for piece in model.pieces(prepared, range(0, 300, 7)):
        model.learn_rows(piece)
    assert looks == [600]
