from unitless.core.array cimport Array
from unitless.core.learner cimport GradientLearner
from unitless.core.row cimport Row


cdef class Coordinatewise(GradientLearner):
    cdef readonly Array records     # of groups of eight coordinates
    cdef int width                  # fields per coordinate
    cdef list names_of_numbers      # of the state that belong to no feature; None: not asked yet
    cdef Array gathered             # room for the records of a sparse row
    cdef Array kept                 # the records of a dense row before it is learned on its own
    cdef Array scaled               # room for a row times its sample weight
    cdef double* own                # the records of the row at hand
    cdef const double* z            # its slots, times the sample weight where that is due
    cdef double* work               # one number per slot, which `predict_row` leaves to `learn_row`
    cdef Array room                 # the memory of `work`

    cdef int gather(self, const Row* row) except -1 nogil
    cdef void scatter(self, const Row* row) noexcept nogil
    cdef double predict_row(self, const Row* row) noexcept nogil
    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil
    cdef bint _is_finite(self, const Row* row) noexcept nogil
