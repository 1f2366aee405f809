from unitless.baselines.dense cimport DenseLearner
from unitless.core.array cimport Array


cdef class FullMatrixLearner(DenseLearner):
    cdef public double a        # A = a I at the start
    cdef readonly Array U       # A = U'DU: row after row, right of its diagonal of 1s
    cdef readonly Array D
    cdef Array rotated          # room for a row that is rotated into A
    cdef Array zeros
    cdef Array ignored
