from unitless.core.array cimport Array


cdef enum:
    BINS = 256              # of a column, with that of missing values; a number fits into a byte
    MOST_SLOPES = 7         # of a row, in a histogram
    MOST_LANES = 8


cdef struct Rules:
    Py_ssize_t leaves       # at most
    double fewest           # weight of the rows of a leaf
    double prior            # added to the denominator of what a leaf is worth


cdef struct Leaf:
    Py_ssize_t begin        # of its rows in `index`
    Py_ssize_t end
    int node
    int slot                # of its histograms in the pool
    double gain             # of its best split; 0: none
    int column
    int bin                 # the last one of the left side
    double[8] sums          # of its rows, by lane


cdef struct Branch:
    int column
    int bin                 # the last one of the left side
    int child               # the left one; the right one follows. A leaf is its own child
    int leaf
    double gain             # of the split; 0 at a leaf


cdef class TreeGrower:
    cdef int slopes                 # per row
    cdef int lanes                  # numbers per row: slopes, the weight, perhaps 0s
    cdef Py_ssize_t width           # columns of `bins`
    cdef Array bins                 # by row and column
    cdef Array lane                 # by row and lane
    cdef Array index                # rows, leaf after leaf
    cdef Array moved                # room to part them
    cdef Array pool                 # histograms, by slot, chosen column, bin and lane
    cdef Array leaves
    cdef Array branches
    cdef Array chosen               # columns that the tree may use
    cdef Array ends                 # by column: its bins, without that of missing values
    cdef Array starts               # by chosen column: the first cell of its histogram
    cdef Py_ssize_t cells           # of all histograms of a leaf
    cdef Py_ssize_t leaf_count
    cdef Py_ssize_t branch_count

    cdef int grow(self, Py_ssize_t rows, Rules rules) except -1 nogil
    cdef void split(self, Leaf* left, Leaf* right) noexcept nogil
    cdef Py_ssize_t lay_out(self) except -1 nogil
    cdef void fill(self, const Leaf* leaf) noexcept nogil
    cdef void subtract(self, int slot, int other) noexcept nogil
    cdef void find_split(self, Leaf* leaf, Rules rules) noexcept nogil
    cdef Py_ssize_t part(self, const Leaf* leaf) noexcept nogil
    cdef void start_leaf(self, Leaf* leaf, int node) noexcept nogil
    cdef double worth(self, const double* sums, double prior) noexcept nogil
