"""Rows: made without copying where types allow, right by construction, refused with a sentence."""

import math
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from unitless import rows as rows_module
from unitless.learners import get
from unitless.rows import InfiniteValue, Rows, as_rows

DENSE = np.array([[1.0, 0.0, 3.0], [0.0, 0.0, 0.0], [0.0, 5.0, 6.0], [7.0, 0.0, 0.0]])
FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


def dense_of(rows):
    """The block as a table again, one stored value at a time; an index twice would show."""
    if rows.starts is None:
        return rows.values
    table = np.zeros((len(rows), rows.columns))
    for row in range(len(rows)):
        for k in range(rows.starts[row], rows.starts[row + 1]):
            assert table[row, rows.indices[k]] == 0
            table[row, rows.indices[k]] = rows.values[k]
    return table


def repeated():
    """CSR with unsorted and repeated indices: [[2, 0, 4], [0, 0, 0], [0, 0, 1]]."""
    data, indices, starts = [4.0, 1.5, 0.5, 1.0], [2, 0, 0, 2], [0, 3, 3, 4]
    return sp.csr_array((data, indices, starts), shape=(3, 3))


def strictly_increasing(rows):
    pairs = zip(rows.starts[:-1], rows.starts[1:], strict=True)
    return all((np.diff(rows.indices[a:b]) > 0).all() for a, b in pairs)


# No copies


def test_dense_is_not_copied():
    targets, weights = np.ones(4), np.ones(4)
    rows = as_rows(DENSE, targets, weights)
    assert np.shares_memory(rows.values, DENSE)
    assert np.shares_memory(rows.targets, targets)
    assert np.shares_memory(rows.weights, weights)


@pytest.mark.parametrize("make", [sp.csr_array, sp.csr_matrix])
def test_csr_is_not_copied(make):
    X = make(DENSE)
    rows = as_rows(X)
    assert np.shares_memory(rows.values, X.data)
    assert np.shares_memory(rows.indices, X.indices)
    assert rows.indices.dtype == np.int32


def test_read_only_arrays_are_neither_copied_nor_written():
    """They come from memory maps and from other processes."""
    X, targets = DENSE.copy(), np.ones(4)
    csr = sp.csr_array(DENSE)
    for array in (X, targets, csr.data, csr.indices, csr.indptr):
        array.flags.writeable = False
    dense, sparse = as_rows(X, targets, targets), as_rows(csr)
    for ours, given in [
        (dense.values, X), (dense.targets, targets), (dense.weights, targets),
        (sparse.values, csr.data), (sparse.indices, csr.indices),
    ]:  # fmt: skip
        assert np.shares_memory(ours, given)
    for name in ("coordinate", "full", "blend"):
        scores = get(name)().learn(dense)
        np.testing.assert_array_equal(scores, get(name)().learn(as_rows(DENSE, np.ones(4))))
    np.testing.assert_array_equal(dense.values, DENSE)
    np.testing.assert_array_equal(dense_of(sparse), DENSE)


def test_targets_may_be_a_column_of_a_table():
    """With steps between its numbers, as of any array."""
    table = np.arange(12.0).reshape(4, 3)
    rows = as_rows(DENSE).with_targets(table[:, 1])
    for name in ("vaw", "blend"):
        one, other = (get(name)("squared") for _ in range(2))
        scores = one.learn(rows)
        np.testing.assert_array_equal(scores, other.learn(as_rows(DENSE, table[:, 1].copy())))


def test_a_view_of_a_read_only_array_keeps_it_alive():
    X = np.full((1000, 100), 3.0)
    X.flags.writeable = False
    rows = as_rows(X)
    del X
    junk = [np.zeros((1000, 100)) for _ in range(5)]
    assert (rows.values == 3.0).all()
    assert len(junk) == 5


@pytest.mark.parametrize("order", ["F", "strided", "reversed"])
def test_other_layouts_are_copied_into_rows(order):
    if order == "F":
        X = np.asfortranarray(DENSE)
    else:
        X = np.repeat(DENSE, 2, axis=1)[:, ::2] if order == "strided" else DENSE[::-1][::-1]
    rows = as_rows(X)
    assert rows.values.flags.c_contiguous
    np.testing.assert_array_equal(rows.values, DENSE)


# What may come in


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, np.float32, object, ">f8"])
def test_other_types_become_float64(dtype):
    rows = as_rows(DENSE.astype(dtype), targets=np.ones(4).astype(dtype))
    assert rows.values.dtype == rows.targets.dtype == np.float64
    assert rows.values.dtype.isnative
    np.testing.assert_array_equal(rows.values, DENSE.astype(bool) if dtype is bool else DENSE)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float32])
def test_other_types_in_csr_become_float64(dtype):
    rows = as_rows(sp.csr_array(DENSE.astype(dtype)))
    assert rows.values.dtype == np.float64
    assert rows.starts.dtype == np.int64
    np.testing.assert_array_equal(dense_of(rows), DENSE.astype(bool) if dtype is bool else DENSE)


def test_lists_and_python_numbers():
    rows = as_rows([[1, 2.5], [True, None]], targets=[1, -1], weights=[0, 2])
    np.testing.assert_array_equal(rows.values, [[1, 2.5], [1, np.nan]])
    assert rows.targets.tolist() == [1, -1]
    assert rows.weights.tolist() == [0, 2]


def test_nan_is_a_missing_value():
    X = np.array([[np.nan, 1.0], [-np.nan, np.nan]])
    assert np.shares_memory(as_rows(X).values, X)
    rows = as_rows(sp.csr_array(([np.nan, 1.0], [0, 1], [0, 1, 2]), shape=(2, 2)))
    assert math.isnan(rows.values[0])


@pytest.mark.parametrize("form", FORMATS)
def test_every_sparse_format(form):
    X = sp.coo_array(DENSE).asformat(form)
    rows = as_rows(X)
    np.testing.assert_array_equal(dense_of(rows), DENSE)
    assert strictly_increasing(rows)
    assert rows.columns == 3


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_repeated_indices_are_added_up_and_unsorted_ones_sorted(dtype):
    X = repeated()
    X.indices, X.indptr = X.indices.astype(dtype), X.indptr.astype(dtype)
    before = [X.data.copy(), X.indices.copy(), X.indptr.copy()]
    rows = as_rows(X)
    np.testing.assert_array_equal(dense_of(rows), [[2, 0, 4], [0, 0, 0], [0, 0, 1]])
    assert strictly_increasing(rows)
    assert rows.indices.dtype == np.int32
    for array, was in zip([X.data, X.indices, X.indptr], before, strict=True):
        np.testing.assert_array_equal(array, was)  # the caller's matrix is the caller's


def test_repeated_indices_whose_flags_lie():
    """SciPy remembers that a matrix was sorted, even when its arrays have changed since."""
    X = repeated()
    X.has_sorted_indices = True
    X.has_canonical_format = True
    np.testing.assert_array_equal(dense_of(as_rows(X)), [[2, 0, 4], [0, 0, 0], [0, 0, 1]])


@pytest.mark.parametrize(
    ("dtype", "value"), [(np.int8, 100), (bool, True), (np.float32, 1 + 2**-23)]
)
def test_repeated_indices_are_added_up_in_float64(dtype, value):
    """100 + 100 is 200 in a learner, though not in 8 bits."""
    data = np.array([value, value, value], dtype=dtype)
    rows = as_rows(sp.csr_array((data, [1, 1, 1], [0, 3]), shape=(1, 2)))
    assert rows.values.tolist() == [3.0 * value]


def test_a_stored_zero_is_allowed():
    rows = as_rows(sp.csr_array(([0.0, 2.0], [0, 1], [0, 2]), shape=(1, 2)))
    assert dense_of(rows).tolist() == [[0, 2]]


@pytest.mark.parametrize("X", [np.empty((0, 3)), sp.csr_array((0, 3)), sp.csr_array((4, 0))])
def test_empty_blocks(X):
    rows = as_rows(X, targets=np.ones(X.shape[0]))
    assert (len(rows), rows.columns) == X.shape


def test_no_columns():
    rows = as_rows(np.empty((4, 0)))
    assert (len(rows), rows.columns) == (4, 0)


# What may not


@pytest.mark.parametrize("value", [math.inf, -math.inf])
@pytest.mark.parametrize("place", [(0, 0), (0, 6), (700, 3), (1999, 6)])
def test_infinity_names_row_and_column(value, place):
    X = np.ones((2000, 7))
    X[place] = value
    X[1999, 6] = value  # a later one too: the first is named
    X[0, 1] = np.nan
    message = f"^row {place[0]}, column {place[1]}: {value} is not a number to learn from; .*NaN"
    rows = as_rows(X)
    for _ in range(2):
        with pytest.raises(ValueError, match=message):
            rows.refuse_infinity()
    with pytest.raises(ValueError, match=message):
        as_rows(sp.csr_array(X)).refuse_infinity()
    with pytest.raises(ValueError, match=message):
        as_rows(X.astype(np.float32)).refuse_infinity()


@pytest.mark.parametrize("size", [1, 7, 31, 32, 33, 64, 100])
def test_no_missing_value_hides_an_infinity(size):
    """The search keeps the largest of many numbers, and NaN must not become the largest."""
    for place in range(size):
        for other in (np.nan, 1e308):
            X = np.full((1, size), other)
            X[0, place] = -math.inf
            with pytest.raises(ValueError, match=f"row 0, column {place}: -inf"):
                as_rows(X).refuse_infinity()
    assert np.isnan(as_rows(np.full((1, size), np.nan)).values).all()


def test_infinity_in_csr_after_empty_rows():
    X = sp.csr_array(([1.0, math.inf], [4, 2], [0, 0, 1, 1, 1, 2, 2]), shape=(6, 5))
    with pytest.raises(ValueError, match=r"^row 4, column 2: inf"):
        as_rows(X).refuse_infinity()


def test_an_infinite_value_knows_its_place():
    X = np.ones((4, 5))
    X[2, [1, 4]] = -math.inf, math.inf
    X[3, 0] = math.inf
    for form in (np.asarray, sp.csr_array):
        with pytest.raises(InfiniteValue) as caught:
            as_rows(form(X)).refuse_infinity()
        copy = pickle.loads(pickle.dumps(caught.value))
        for error in (caught.value, copy):
            assert (error.row, error.columns, error.value) == (2, [1, 4], -math.inf)
            assert str(error).startswith("row 2, column 1: -inf is not a number to learn from")


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_a_part_of_rows_that_were_looked_at_is_not_looked_at_again(form, monkeypatch):
    whole = as_rows(form([[1.0, 2.0], [4.0, 8.0], [0.5, np.nan]]))
    assert whole.extent == (0.5, 8.0)
    monkeypatch.setattr(rows_module, "extent", None)
    for part in (whole[1:], whole[:2][1:], whole.with_targets([1.0, 2.0, 3.0])[:1]):
        low, high = part.extent
        values = np.abs(part.values[~np.isnan(part.values)])
        assert low <= values.min() <= values.max() <= high


def test_a_part_without_the_infinite_value_is_good():
    whole = as_rows([[1.0], [math.inf], [2.0]])
    assert whole.extent[1] == math.inf
    whole[2:].refuse_infinity()
    with pytest.raises(InfiniteValue, match="row 0, column 0"):
        whole[1:].refuse_infinity()


def test_infinity_hidden_by_a_sum():
    """inf - inf is NaN, which would pass for a missing value."""
    X = sp.csr_array(([math.inf, -math.inf], [2, 2], [0, 0, 2]), shape=(2, 5))
    with pytest.raises(ValueError, match=r"^row 1, column 2: inf"):
        as_rows(X)


def test_infinity_made_by_a_sum():
    X = sp.csr_array(([1e308, 1e308], [2, 2], [0, 0, 2]), shape=(2, 5))
    with pytest.raises(ValueError, match=r"^row 1, column 2: inf"):
        as_rows(X).refuse_infinity()


@pytest.mark.parametrize("X", [np.ones(3), np.ones((2, 2, 2)), [1.0, 2.0], []])
def test_a_table_is_needed(X):
    with pytest.raises(ValueError, match="rows and columns") as error:
        as_rows(X)
    assert str(np.shape(X)) in str(error.value)
    assert "reshape(1, -1)" in str(error.value)


def test_a_sparse_vector_is_not_a_table():
    with pytest.raises(ValueError, match="rows and columns"):
        as_rows(sp.coo_array([1.0, 2.0, 0.0]))


def test_indices_outside_the_columns():
    X = sp.csr_array(DENSE)
    for bad in (3, -1):
        X.indices[2] = bad
        with pytest.raises(ValueError, match="outside the 3 columns"):
            as_rows(X)


def test_too_many_columns():
    X = sp.csr_array((np.ones(1), np.array([2**31]), np.array([0, 1])), shape=(1, 2**31 + 1))
    with pytest.raises(ValueError, match="2147483649 columns"):
        as_rows(X)
    last = sp.csr_array((np.ones(1), np.array([2**31 - 2]), np.array([0, 1])), shape=(1, 2**31 - 1))
    assert as_rows(last).indices.tolist() == [2**31 - 2]


@pytest.mark.parametrize("name", ["targets", "weights"])
@pytest.mark.parametrize("given", [np.ones(3), np.ones(5), np.ones((4, 1)), []])
@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
def test_one_target_and_one_weight_a_row(name, given, make):
    with pytest.raises(ValueError, match=f"^{name} has shape .* 4 rows") as error:
        as_rows(make(DENSE), **{name: given})
    assert str(np.shape(given)) in str(error.value)


@pytest.mark.parametrize("bad", [-1.0, -5e-324, math.nan, math.inf, -math.inf])
def test_bad_weights_name_their_row(bad):
    with pytest.raises(ValueError, match=r"^row 2: weight .* is neither 0 nor between"):
        as_rows(DENSE, weights=[1.0, 0.0, bad, bad])
    assert as_rows(DENSE, weights=[0.0, -0.0, 5e-324, 1e308]).weights[3] == 1e308


@pytest.mark.parametrize(
    "X", [np.array([["a", "b"]]), np.array([[b"1"]]), np.array([["2026-01-01"]], "M8[D]")]
)
def test_strings_and_dates_are_refused(X):
    with pytest.raises(ValueError, match="expected numbers, got an array of"):
        as_rows(X)
    with pytest.raises(ValueError, match="expected numbers, got an array of"):
        as_rows(np.ones((1, 1)), targets=X[0, :1])


@pytest.mark.parametrize("cell", ["red", "1.5", b"2", {}, 1j])
def test_a_cell_that_is_no_number_is_named(cell):
    """A string is refused even where float() would take it: a category is not a quantity."""
    X = np.array([[1.0, None], [2.0, 3.0]], dtype=object)
    X[1, 0] = cell
    with pytest.raises(ValueError, match=r"^row 1, column 0: .* is not a number"):
        as_rows(X)
    with pytest.raises(ValueError, match=r"^row 1: .* is not a number"):
        as_rows(DENSE[:2], targets=X[:, 0])


def test_complex_numbers_are_refused():
    with pytest.raises(ValueError, match="complex"):
        as_rows(np.array([[1j]]))
    with pytest.raises(ValueError, match="complex"):
        as_rows(sp.csr_array([[1j]]))


# Runs of rows


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array])
@pytest.mark.parametrize(
    "cut",
    [
        slice(None),
        slice(1, 3),
        slice(0, 0),
        slice(4, 4),
        slice(3, 1),
        slice(-2, None),
        slice(2, 99),
    ],
    ids=str,
)
def test_a_run_is_a_view(make, cut):
    rows = as_rows(make(DENSE), targets=np.arange(4.0), weights=np.arange(4.0))
    run = rows[cut]
    assert isinstance(run, Rows)
    assert len(run) == len(DENSE[cut])
    assert run.columns == 3
    np.testing.assert_array_equal(dense_of(run), DENSE[cut])
    np.testing.assert_array_equal(run.targets, np.arange(4.0)[cut])
    np.testing.assert_array_equal(run.weights, np.arange(4.0)[cut])
    if run.values.size:
        assert np.shares_memory(run.values, rows.values)
        assert np.shares_memory(run.targets, rows.targets)


def test_a_run_of_a_run():
    rows = as_rows(sp.csr_array(DENSE))[1:][1:3]
    np.testing.assert_array_equal(dense_of(rows), DENSE[2:4])
    assert rows.starts[0] == 0
    assert rows.targets is rows.weights is None


@pytest.mark.parametrize("step", [2, -1])
def test_a_run_has_no_gaps(step):
    with pytest.raises(ValueError, match="step of 1"):
        as_rows(DENSE)[::step]
