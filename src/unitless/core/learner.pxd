from unitless.core.array cimport Array
from unitless.core.names cimport DictEncoder
from unitless.core.row cimport Row, RowReader
from unitless.core.stateful cimport Stateful


cdef enum Outcome:
    LEARNED = 0
    NOT_FINITE = 1      # the state would not be finite: a scale-dependent learner diverged


cdef class Learner(Stateful):
    cdef public object loss             # unitless.losses.Loss
    cdef readonly bint intercept
    cdef readonly Py_ssize_t classes    # 1 except with the softmax loss
    cdef public Py_ssize_t columns      # columns that there is room for
    cdef readonly Py_ssize_t outputs    # scores per row
    cdef public double t                # rows learned
    cdef public double target_size      # least |y| except 0, for losses with a kink
    cdef public bint weighs_gradients
    cdef public DictEncoder names
    cdef readonly Array units           # of each coordinate; empty while values were in range
    cdef int code                       # of the loss
    cdef double loss_parameter
    cdef double per_slope               # 1 / L
    cdef bint has_kink                  # whether the slope jumps where the score is the target
    cdef bint is_bounded                # whether short slopes count as 0
    cdef bint scale_free                # whether scores depend on no unit
    cdef bint scales_row                # a sample weight multiplies the row
    cdef bint guarded                   # rows that make the state infinite are refused
    cdef bint fresh                     # predictions may use the labels of the rows just before
    cdef double* first_score            # of the block that is learned,
    cdef double* first_not_fresh        # and of the answers without recent labels, if asked for
    cdef Array x                        # room for one row
    cdef Array in_units                 # room for the values of one row in their units

    # What a learner implements.
    cdef int score(self, const Row* row, double* scores) except -1 nogil
    cdef int begin(self, const Row* row, double* scores) except -1 nogil
    cdef int update(self, const Row* row, double y) except -1 nogil
    cdef int reserve(self, Py_ssize_t columns) except -1 nogil
    cdef void expect(self, const int* ids, Py_ssize_t n) noexcept nogil

    # What it gets for that.
    cdef int load(self, Row* row) except -1 nogil
    cdef int run(self, RowReader rows, double* scores) except -1
    cdef int run_row(self, Row* row, const double* y, double* scores) except -1 nogil
    cdef int run_row_in_units(self, Row* row, const double* y, double* scores) except -1
    cdef bint to_units(self, Row* row, bint keeps) except -1 nogil
    cdef object _run_one(self, const double* y, double weight)


cdef class GradientLearner(Learner):
    cdef double p                       # where the gradient of the last score is taken
    cdef double slope_outside           # of a loss from outside the package, at p,
    cdef double value_outside           # and its value, if it has a kink

    cdef int step(self, const Row* row, double y, double g) except -1 nogil
    cdef double weight_of(self, const Row* row) noexcept nogil
    cdef double scale_of(self, const Row* row) noexcept nogil
    cdef double loss_without_slope(self, double y) noexcept nogil
    cdef int ask_outside(self, double y) except -1 nogil


cdef bint covered(const Row* row) noexcept nogil
cdef double unit_of(double x) noexcept nogil
