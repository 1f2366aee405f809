"""DictEncoder: the columns of the feature names of dict rows, and a buffer for one row."""

import math

import numpy as np

cimport cython
from cpython.dict cimport PyDict_Next, PyDict_Size
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.list cimport PyList_GET_ITEM, PyList_GET_SIZE
from cpython.ref cimport PyObject

from unitless.core.array cimport Array, numbers, records


@cython.final
cdef class DictEncoder:
    """The columns of named features, in order of first appearance, and a buffer for one row.

    New names of a row get their columns in sorted order, and a row is loaded by column, so that
    the order of the keys of a dict does not matter.

    A stream of dicts mostly repeats its keys. `load` remembers the last ones, so that the same key
    objects in the same order cost a pointer comparison each.

    >>> encoder = DictEncoder()
    >>> encoder.load({"height": 1.8, "weight": None})
    True
    >>> encoder.add_unknown()
    >>> encoder.load({"weight": 70, "height": 1.7})
    False
    >>> encoder.values, encoder.indices
    (array([ 1.7, 70. ]), array([0, 1], dtype=int32))
    """

    def __init__(self, columns=None):
        self.columns = dict(columns or {})
        self.unknown = {}
        self.numbers = numbers(8)
        self.ids = records("i", 8)
        self.places = records("i", 8)
        self._set_order({})

    def __reduce__(self):
        return DictEncoder, (self.columns,)

    @property
    def values(self):
        """The values of the loaded row, by column."""
        return np.array(self.numbers)[: self.n]

    @property
    def indices(self):
        """The column of each value of the loaded row."""
        return np.array(self.ids)[: self.n]

    @property
    def count(self):
        """The number of columns with those of the loaded row."""
        return len(self.columns) + len(self.unknown)

    def load(self, x):
        """Put the row into `values` and `indices`; True if some of its names are unknown.

        An unknown name gets a column beyond the known ones, which `add_unknown` makes permanent.
        """
        if type(x) is not dict:
            if not hasattr(x, "items"):
                raise no_dict(x)
            x = dict(x)
        return self.put(x)

    cdef bint put(self, dict x) except -1:
        cdef Py_ssize_t position = 0
        cdef Py_ssize_t k = 0
        cdef PyObject* key
        cdef PyObject* value
        cdef int* places
        if PyDict_Size(x) != PyList_GET_SIZE(self.order):
            self._set_order(x)
        places = <int*>self.places.at
        while PyDict_Next(x, &position, &key, &value):
            if k >= PyList_GET_SIZE(self.order):
                raise RuntimeError("the row changed while it was read")
            if key != <PyObject*>PyList_GET_ITEM(self.order, k):
                if not _same(<object>key, self.order[k]):
                    self._set_order(x)
                    return self.put(x)
            if PyFloat_CheckExact(<object>value):
                self.numbers.at[places[k]] = PyFloat_AS_DOUBLE(<object>value)
            else:
                self.numbers.at[places[k]] = as_number(<object>key, <object>value)
            k += 1
        return len(self.unknown) > 0

    cdef const int* ids_or_null(self) noexcept:
        """The column of each value; NULL if value k is of column k."""
        return NULL if self.is_dense else <const int*>self.ids.at

    def add_unknown(self):
        """Keep the names of the loaded row that were unknown."""
        if self.unknown:
            self.columns.update(self.unknown)
            self.unknown = {}

    def add(self, names):
        """Give these names, which are unknown, the next columns."""
        for name in names:
            self.columns[name] = len(self.columns)
        self._set_order({})

    def refuse_infinity(self):
        """An infinite value in the loaded row is an error that names it."""
        for name, value in zip(self.loaded, self.values.tolist()):
            if math.isinf(value):
                raise ValueError(
                    f"feature {name!r}: {value} is not a number to learn from; leave it out, or "
                    "use None for a missing value"
                )

    def _set_order(self, dict x):
        """Expect these keys, in this order, from now on."""
        cdef int* ids
        cdef int* places
        cdef Py_ssize_t k
        new = sorted((name for name in x if name not in self.columns), key=_by_name)
        self.unknown = {name: len(self.columns) + k for k, name in enumerate(new)}
        columns = {**self.columns, **self.unknown} if new else self.columns
        self.order = list(x)
        self.loaded = sorted(x, key=columns.__getitem__)
        self.n = len(x)
        self.numbers.resize(self.n)
        self.ids.resize(self.n)
        self.places.resize(self.n)
        ids = <int*>self.ids.at
        places = <int*>self.places.at
        self.is_dense = True
        place_of = {}
        for k, name in enumerate(self.loaded):
            ids[k] = columns[name]
            place_of[name] = k
            self.is_dense &= ids[k] == k
        for k, name in enumerate(self.order):
            places[k] = place_of[name]


cdef bint _same(object key, object known) except -1:
    """Whether two keys are the same name: 1 and True are not."""
    return type(key) is type(known) and key == known


def _by_name(name):
    """Sorts names of any type: those of a type together, numbers by size."""
    return type(name).__name__, name if isinstance(name, str | int | float) else str(name)


def no_dict(x):
    """The error for a row that is not a dict."""
    return TypeError(
        f"a row is a dict, {{feature: value}}, and not a {type(x).__name__}: "
        "dict(zip(names, x)) makes one of a list"
    )


def as_number(name, value):
    """The number of a cell; NaN for None."""
    if value is None:
        return math.nan
    try:
        if not isinstance(value, str | bytes):
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise ValueError(
        f"feature {name!r}: {value!r} is not a number; use None for a missing value, and "
        f"{{'{name}={value}': 1}} for a category"
    )
