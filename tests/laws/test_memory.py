"""Algorithm 1 remembers at most 40 bytes a feature seen, and nothing of a row.

Other learners of one record a feature remember that record, its unit, and a fifth in reserve.
"""

import gc
import pickle
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from cases import in_one_test
from laws.streams import each_learner_where, make
from unitless.core.array import Array
from unitless.core.coordinatewise import Coordinatewise
from unitless.core.stateful import Stateful
from unitless.learners import get
from unitless.rows import as_rows


def held(thing):
    """All arrays that an object and its parts hold, the private ones of compiled classes too."""
    arrays, waiting, known = [], [thing], set()
    while waiting:
        each = waiting.pop()
        if id(each) in known:
            continue
        known.add(id(each))
        if isinstance(each, Array | np.ndarray):
            arrays.append(each)
        elif isinstance(each, Stateful | list):
            waiting += gc.get_referents(each)
    return arrays


def memory(learner):
    """Bytes of all arrays a learner holds, with their spare room."""
    return sum(map(sys.getsizeof, held(learner)))


def sparse_rows(columns, n=200, per_row=50, size=1.0):
    """Rows in which the last column occurs, so that all columns exist."""
    rng = np.random.default_rng(columns)
    indices = rng.integers(0, columns, (n, per_row))
    indices[:, 0] = columns - 1
    values = rng.normal(size=(n, per_row)) * size
    starts = np.arange(0, n * per_row + 1, per_row)
    X = sp.csr_array((values.ravel(), indices.ravel(), starts), shape=(n, columns))
    return as_rows(X, rng.choice([-1.0, 1.0], n))


@in_one_test("size", [1.0, 1e-300])
@pytest.mark.parametrize("name", ["coordinate", "zero"])
def test_bytes_a_feature(name, size):
    """In columns that grow by a few at a time, and by doubling; with and without units."""
    learner = get(name)()
    sizes = [2**16, 2**16 + 1, 2**16 + 1000, 2**17, 2**17 + 1, 2**18]
    for columns in sizes:
        learner.learn(sparse_rows(columns, size=size))
        assert memory(learner) <= 40 * columns


def has_records(name):
    """Whether it keeps one record a feature, of declared fields."""
    return issubclass(get(name), Coordinatewise)


ROOM = {"eg": 2}
"""Numbers per feature that a learner of O(columns) per row computes for each row."""


@each_learner_where(has_records)
def test_bytes_a_record(name):
    learner = make(name)
    a_feature = 8 * (len(learner.fields) + 1 + ROOM.get(name, 0)) * 1.2
    for columns in (2**12, 2**12 + 1, 2**12 + 100, 2**13):
        learner.learn(sparse_rows(columns, n=20, size=0.1))
        assert memory(learner) <= a_feature * columns + 1000
        copied = pickle.loads(pickle.dumps(learner))
        assert memory(copied) <= a_feature * columns + 1000


def test_no_bytes_a_row():
    learner = get("coordinate")()
    learner.learn(sparse_rows(2**16, n=10))
    before = memory(learner)
    for _ in range(3):
        learner.learn(sparse_rows(2**16, n=2000))
        learner.predict(sparse_rows(2**16, n=2000))
    assert memory(learner) == before


@pytest.mark.parametrize("name", ["coordinate", "scinol2"])
def test_growing_by_one_is_linear(name):
    """Names that appear one by one: room is made ahead, so that no more is copied than used."""
    learner = get(name)()
    before, moves = {}, 0
    for t in range(3000):
        learner.learn_one({f"name {t}": 1.0}, 1)
        now = {id(array): np.asarray(array).ctypes.data for array in held(learner)}
        moves += sum(before.get(key) != place for key, place in now.items())
        before = now
    assert memory(learner) <= 48 * 3000
    assert moves <= 300  # growth by a fifth: some 40 times, in each of a few arrays
