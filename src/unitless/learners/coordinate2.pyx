"""Algorithm 2 of the paper applied to each coordinate: scale-invariant, O(nonzeros) per row.

Kotlowski, "Scale-Invariant Unconstrained Online Learning" (2017), Algorithm 2 with d = 1, once per
coordinate, each with an equal part of the wealth eps. At trial t, with alpha >= alpha_0 and d
coordinates seen so far::

    s2_i += x_i^2
    w_i   = eps / (alpha d) * h_i / s2_i * exp((h_i^2 / s2_i - Gamma_i) / (2 alpha))
    p     = sum_i w_i x_i;   g = loss'(y, p) / L;   Gamma_i += g^2 x_i^2 / s2_i;   h_i -= g x_i

It is not in the paper. Its regret bound (docs/explanation/theory.md, section 1) has
e^(Gamma_i / (2 alpha)) in place of the T of Theorem 1, and no additive term that grows with T.
Sample weights and a d that is counted are as in Algorithm 1.
"""

cimport cython

from unitless.core.arithmetic cimport Room, Values, bounded_exp, fused, total
from unitless.core.row cimport Row
from unitless.learners.coordinate cimport Coordinate

from unitless.core.parameters import AT_LEAST_ALPHA_0, Parameter
from unitless.state import Field

cdef double TINY = 2.0**-1022       # stands for s2 = 0, where h and x are 0 as well
cdef double MAX_POTENTIAL_EXPONENT = 500.0    # keeps sums of potentials finite for any gradients of a caller
cdef double MIN_EXPONENT = -700.0   # e^-700 is far below any weight that counts

GAMMA = Field(
    "gamma",
    "1",
    "sum of squared slopes times leverages, Gamma_i = sum g^2 x_i^2 / s2_i",
    ("coordinates",),
    low=0.0,
)


cdef struct Eight:
    double[8] h         # -sum g x
    double[8] s2        # sum x^2
    double[8] gamma     # sum g^2 x^2 / s2


cdef inline double weight(double h, double s2, double gamma, double half) noexcept nogil:
    """w_i without its factor eps / (alpha d); s2 includes x^2 and half is 1 / (2 alpha)."""
    cdef double inverse = 1.0 / max(s2, TINY)
    cdef double exponent = (h * h * inverse - gamma) * half
    return h * inverse * bounded_exp(max(min(exponent, MAX_POTENTIAL_EXPONENT), MIN_EXPONENT))


cdef inline void look(const Eight* own, Values x, double half, Room score, Room new) noexcept nogil:
    """score += w_i x_i without its factor;   new += whether coordinate i is seen first now"""
    cdef int k
    for k in range(8):
        new[k] += 1.0 if own.s2[k] == 0 and x[k] != 0 else 0.0
        score[k] += weight(own.h[k], fused(x[k], x[k], own.s2[k]), own.gamma[k], half) * x[k]


cdef inline void take_in(Eight* own, Values x, double g) noexcept nogil:
    """s2 += x^2;   h -= g x;   gamma += g^2 x^2 / s2"""
    cdef int k
    for k in range(8):
        own.s2[k] = fused(x[k], x[k], own.s2[k])
        own.h[k] -= g * x[k]
        own.gamma[k] += g * g * (x[k] * x[k] / max(own.s2[k], TINY))


@cython.final
cdef class Coordinate2(Coordinate):
    """Algorithm 2 of the paper per coordinate, invariant to the unit of each feature.

    >>> from unitless.testing import example_loss
    >>> print(example_loss(Coordinate2()))
    0.6467
    """

    name = "coordinate2"
    theorem = "Theorem 2 per coordinate"
    parameters = (
        Parameter("alpha", 1.125, "larger ones make weights smaller", AT_LEAST_ALPHA_0),
        *Coordinate.parameters[1:],
    )
    fields = (*Coordinate.fields, GAMMA)
    saved = (*Coordinate.saved, GAMMA)

    cdef double predict_row(self, const Row* row) noexcept nogil:
        cdef double[8] score = [0, 0, 0, 0, 0, 0, 0, 0]
        cdef double[8] new = [0, 0, 0, 0, 0, 0, 0, 0]
        cdef double half = 0.5 / self.alpha
        cdef Py_ssize_t tile
        for tile in range(row.slots // 8):
            look(<Eight*>self.own + tile, self.z + 8 * tile, half, score, new)
        self.p = self.wealth / self.alpha / self.dimension(new) * total(score)
        self.scaled_p = self.p
        return self.p

    cdef void learn_row(self, const Row* row, double y, double g) noexcept nogil:
        cdef Py_ssize_t tile
        for tile in range(row.slots // 8):
            take_in(<Eight*>self.own + tile, self.z + 8 * tile, g)
        self.add_up(row, y, g)

    def gammas(self):
        """Gamma_i by coordinate, the logarithmic terms of the theorem."""
        return self.read("gamma")
