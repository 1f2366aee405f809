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

from unitless.kernels.arithmetic import MAX_EXPONENT as LEAST_EXPONENT
from unitless.kernels.arithmetic import bounded_exp
from unitless.kernels.decorators import inlined, kernel
from unitless.kernels.simd import LANES, every, fma, load, store, total
from unitless.learners.base import Field, Float
from unitless.learners.coordinate import MAX_EXPONENT, TINY, A, Coordinate, count_new
from unitless.learners.coordinatewise import loop
from unitless.learners.declared import AT_LEAST_ALPHA_0, parameter
from unitless.learners.slopes import add_slopes


@inlined
def predict(parameters, totals, v, x, f, scratch):
    half = parameters[0]
    h = f[0]
    s2 = f[1]
    gamma = f[2]
    d = count_new(parameters[2], totals, x, s2)
    score = every(0.0)
    for k in range(0, x.size, LANES):
        z = load(x, k)
        inverse = 1.0 / max(fma(z, z, load(s2, k)), TINY)
        own = load(h, k)
        exponent = (own * own * inverse - load(gamma, k)) * half
        exponent = max(min(exponent, MAX_EXPONENT), -LEAST_EXPONENT)
        score += own * inverse * bounded_exp(exponent) * z
    p = parameters[1] / d * total(score)
    scratch[0] = p
    return p, p


@inlined
def update(parameters, totals, trial, x, f, scratch):
    g = trial.g
    h = f[0]
    s2 = f[1]
    gamma = f[2]
    for k in range(0, x.size, LANES):
        z = load(x, k)
        now = fma(z, z, load(s2, k))
        store(s2, k, now)
        store(h, k, load(h, k) - g * z)
        store(gamma, k, load(gamma, k) + g * g * (z * z / max(now, TINY)))
    totals[A] += g * scratch[0]


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    rows = loop(predict, update, 3, task, parameters, block, targets, weights, scores, state)
    add_slopes(task, targets, weights, scores, state[2])
    return rows


class Coordinate2(Coordinate):
    """Algorithm 2 of the paper per coordinate, invariant to the unit of each feature.

    >>> from unitless.testing import example_loss
    >>> print(example_loss(Coordinate2()))
    0.6467
    """

    alpha: float = parameter(9 / 8, "larger ones make weights smaller", AT_LEAST_ALPHA_0)

    name = "coordinate2"
    theorem = "Theorem 2 per coordinate"
    fields = (*Coordinate.fields, Field("gamma", "1", "Gamma_i = sum g^2 x_i^2 / s2_i"))
    kernel = staticmethod(run)

    def gammas(self) -> Float:
        """Gamma_i by coordinate, the logarithmic terms of the theorem."""
        return self.state.records[:, 0, 2].copy()
