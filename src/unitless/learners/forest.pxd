from unitless.core.array cimport Array
from unitless.core.stateful cimport Stateful


cdef enum:
    FIRST_COLUMN = 1        # of a row; column 0 is 0, where a walk ends at a leaf


cdef struct Node:
    float threshold         # a row goes left if x[column] <= threshold
    int column
    int child               # the left one; the right one follows. A leaf is its own child


cdef class Forest(Stateful):
    cdef readonly Py_ssize_t classes
    cdef readonly Array base            # by class
    cdef readonly Array roots           # by tree
    cdef readonly Array nodes
    cdef readonly Array values          # by node and class

    cdef void add_up(self, const float* x, double* scores) noexcept nogil
    cdef Py_ssize_t add_tree(self, Py_ssize_t nodes) except -1 nogil
    cdef void plant(self, Py_ssize_t node) noexcept nogil
