"""Arrays of compiled code: seen by NumPy without a copy, grown with a fifth in reserve."""

import copy
import ctypes
import pickle
import sys

import numpy as np
import pytest

from unitless.core.array import Array
from unitless.learners import HistogramTrees
from unitless.rows import as_rows


def test_a_view_is_no_copy():
    array = Array("d", 3)
    view = np.asarray(array)
    assert view.tolist() == [0, 0, 0]
    view[1] = 5.0
    assert np.array(array).tolist() == [0, 5, 0]
    assert view.ctypes.data % 128 == 0


def test_records_have_names():
    array = Array([("h", "8d"), ("s2", "8d")], 2)
    view = np.asarray(array)
    assert view.dtype.names == ("h", "s2")
    assert view["h"].shape == (2, 8)


def test_it_is_not_replaced_while_it_is_looked_at():
    array = Array("d", 3)
    view = np.asarray(array)
    with pytest.raises(BufferError, match="a view of it exists"):
        array.replace(np.ones(5))
    assert view.tolist() == [0, 0, 0]
    del view
    array.replace(np.ones(5))
    assert np.array(array).tolist() == [1] * 5


def test_the_first_size_has_no_spare_room():
    """The columns of the first block are most often all there will be."""
    assert sys.getsizeof(Array("d", 1000)) - sys.getsizeof(Array("d", 0)) == 8000


def test_what_is_cut_is_spare_room():
    """When rows leave, those that stay are the first items, and the room behind them is kept, as 0.

    Only compiled code can cut; these trees do when their memory is full.
    """
    learner = HistogramTrees(max_memory=0.02)
    X = np.arange(1.0, 401.0).reshape(400, 1)
    rows, room = [0], [0]
    for t in range(400):
        learner.learn(as_rows(X[t : t + 1], [1.0]))
        kept = np.array(learner.rows)
        room.append(sys.getsizeof(learner.rows) - sys.getsizeof(Array("f", 0)))
        at = np.asarray(learner.rows).ctypes.data
        assert not any(ctypes.string_at(at + kept.nbytes, room[-1] - kept.nbytes))
        stored = kept.reshape(-1, 2)[:, 1] / np.array(learner.own_unit)
        assert np.isin(stored, X).all()
        assert (np.diff(stored) > 0).all()
        rows.append(len(stored))
    assert (np.diff(rows) < 0).sum() == 2
    assert (np.diff(room) >= 0).all()


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda a: pickle.loads(pickle.dumps(a))])
def test_copies(copied):
    array = Array("i", 3)
    np.asarray(array)[:] = 1, 2, 3
    other = copied(array)
    np.asarray(array)[:] = 0
    assert np.array(other).tolist() == [1, 2, 3]
    assert np.array(other).dtype == np.int32


@pytest.mark.parametrize("size", [2**62, 2**63 - 1])
def test_sizes_beyond_memory_are_refused(size):
    with pytest.raises(MemoryError, match="no memory for"):
        Array("d", size)
