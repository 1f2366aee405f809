"""The base class of the baselines that keep a few numbers per feature, and fields they share.

In all formulas g is the derivative of the loss divided by its Lipschitz constant, and q_i = g x_i.
A sample weight multiplies g, or where `scales_instance` is set the instance.
"""

from unitless.state import Field

THETA = Field("theta", "x", "negative sum of gradients, -sum q_i")
G = Field("G", "x^2", "sum of squared gradients, sum q_i^2")
B = Field("b", "|x|", "largest absolute value, max |x_i|")


cdef class Baseline(Coordinatewise):
    """Base of the baselines that keep a few numbers per feature."""

    invariance = "none"
    needs = ()
    """Names of the parameters whose right values are known only in hindsight."""
    bound_is_euclidean = False
    """Whether the parameter `bound`, if there is one, bounds |g x| or every |g x_i|."""
    inverse_rate = ""
    """Name of the parameter that is the inverse of a learning rate, if there is one."""

    def regret_bound(self, trajectory):
        """The largest possible regret against u, in units of L; None where no bound applies."""
        return None
