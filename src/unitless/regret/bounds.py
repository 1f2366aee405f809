"""Upper bounds on the regret, one function per theorem, evaluated on the data seen.

Kotlowski (2017), with the errata of theory.md, whose numbers are used here: Theorems 1, 2 and 3 are
4, 9 and 6 in print. All hold for losses with Lipschitz constant 1, otherwise multiply by it, and at
each T, the number of trials so far. With sample weights v read v x for x.

The comparator u enters only through numbers without a unit: a_i = |u_i| s_i with
s_i^2 = sum x_i^2, or |u|_S = sqrt(sum (x.u)^2). Logarithms are taken of factors, never of
products, so that e^Gamma may lie far beyond float64.
"""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from unitless import learners
from unitless.regret import normalised_bounds
from unitless.regret.penalties import lambert, log_of, penalty
from unitless.state import Float

SHARP_ALPHA = 1.177397641
"""From this alpha on `additive` does not need kappa: the middle case of appendix A is negative."""


def kappa(alpha: float) -> float:
    """Lemma 3's overhead exp(1 / (2 (alpha - 9/8))), infinite as alpha falls to 9/8.

    >>> round(kappa(1.2), 1), round(kappa(2.0), 3)
    (785.8, 1.771)
    """
    above = alpha - 9 / 8
    if above < 1 / 1418:  # e^709 is near the largest float
        return math.inf
    return math.exp(0.5 / above)


def additive(T: int, alpha: float, wealth: float = 1.0, *, growing: bool = False) -> float:
    """The additive term of Theorem 1, sharp: the largest regret of Algorithm 1 against u = 0.

    wealth (1 + (c - 1)(1 + log T)), c = e^(1 / (2 alpha)), or wealth c (1 + log T) with d counted
    as features appear (`growing`). Below `SHARP_ALPHA` it is wealth kappa (1 + log T).

    >>> round(additive(10**4, 1.2), 2), round(additive(10**4, 1.15), -5)
    (6.28, 4953700000.0)
    """
    if T < 1:
        return 0.0
    harmonic = 1 + math.log(T)
    if alpha < SHARP_ALPHA:
        return wealth * kappa(alpha) * harmonic
    c = math.exp(0.5 / alpha)
    if growing:
        return wealth * c * harmonic
    return wealth * (1 + (c - 1) * harmonic)


def theorem_1(a: ArrayLike, *, d: int, T: int, alpha: float, wealth: float = 1.0) -> float:
    """Theorem 1 as printed: Algorithm 1 against any u, a_i = |u_i| s_i, d coordinates.

    With `wealth` eps, d T becomes d T / eps and kappa (1 + log T) is multiplied by eps.

    >>> round(theorem_1([1.0, 0.5], d=2, T=100, alpha=1.5), 2)
    27.23
    """
    if T < 1:
        return 0.0
    log_beta = math.log(d) + math.log(T) - math.log(wealth)
    f = penalty(a, alpha, log_beta)
    overhead = wealth * kappa(alpha) * (1 + math.log(T))
    return float(np.sum(f)) + overhead


def theorem_1_sharp(
    a: ArrayLike,
    *,
    d: int,
    T: int,
    alpha: float,
    wealth: float = 1.0,
    growing: bool = False,
) -> float:
    """Theorem 1 with `lambert` for f and `additive` for kappa: attained to 0.2 % at d = 1.

    `a` has one entry for each coordinate with s_i > 0, zeros included: each is worth -1 / (d T).

    >>> round(theorem_1_sharp([1.0, 0.5], d=2, T=100, alpha=1.5), 2)
    7.91
    """
    if T < 1:
        return 0.0
    log_beta = math.log(d) + math.log(T) - math.log(wealth)
    f = lambert(a, alpha, log_beta)
    overhead = additive(T, alpha, wealth, growing=growing)
    return float(np.sum(f)) + overhead


def theorem_1_bounded(
    U: float,
    X: float,
    *,
    d: int,
    T: int,
    alpha: float,
    wealth: float = 1.0,
) -> float:
    """Theorem 1 for |u| <= U and |x_t| <= X, for comparison with `gradient_descent` (section 3).

    By Cauchy-Schwarz sum a_i <= U X sqrt(T); the overhead is the root of a logarithm (erratum 6).

    >>> round(theorem_1_bounded(1.0, 1.0, d=10, T=100, alpha=1.5), 1)
    74.4
    """
    largest = gradient_descent(U, X, T)
    return theorem_1([largest], d=d, T=T, alpha=alpha, wealth=wealth)


def gradient_descent(U: float, X: float, T: int) -> float:
    """Online gradient descent tuned with U >= |u|, X >= |x_t| and T known: U X sqrt(T).

    >>> gradient_descent(2.0, 3.0, 100)
    60.0
    """
    return U * X * math.sqrt(T)


def theorem_2(norm: float, *, gamma: float, alpha: float, wealth: float = 1.0) -> float:
    """Theorem 2, corrected: Algorithm 2 against any u, norm = |u|_S, gamma = Gamma_T.

    |u|_S sqrt(alpha log(1 + alpha |u|_S^2) + Gamma_T) + 1, Gamma_T = sum g^2 x'S^+x (erratum 1).
    With `wealth` eps the |u|_S inside the logarithm is divided by eps and the 1 is eps.

    >>> round(theorem_2(2.2704, gamma=5.0, alpha=9 / 8), 3)
    7.074
    """
    log_norm = float(log_of(norm)) - math.log(wealth)
    log_square = math.log(alpha) + 2 * log_norm
    logarithm = np.logaddexp(0.0, log_square)
    return norm * math.sqrt(alpha * logarithm + gamma) + wealth


def theorem_2_sharp(norm: float, *, gamma: float, alpha: float, wealth: float = 1.0) -> float:
    """Theorem 2 before its last step: |u|_S sqrt(alpha log(1 + alpha |u|_S^2 e^(Gamma/alpha))) + 1.

    >>> round(theorem_2_sharp(2.2704, gamma=5.0, alpha=9 / 8), 3)
    6.998
    >>> round(theorem_2_sharp(1.0, gamma=1e6, alpha=9 / 8), 3)
    1001.0
    """
    log_beta = gamma / (2 * alpha) - math.log(wealth)
    return float(penalty(norm, alpha, log_beta)) + wealth


def theorem_2_sharpest(norm: float, *, gamma: float, alpha: float, wealth: float = 1.0) -> float:
    """Theorem 2 with `lambert` for f: the sharpest bound that the lemma of Algorithm 2 gives.

    >>> round(theorem_2_sharpest(2.2704, gamma=5.0, alpha=9 / 8), 3)
    5.085
    """
    log_beta = gamma / (2 * alpha) - math.log(wealth)
    return float(lambert(norm, alpha, log_beta)) + wealth


def theorem_2_per_coordinate(
    a: ArrayLike,
    *,
    gammas: ArrayLike,
    d: int,
    alpha: float,
    wealth: float = 1.0,
    growing: bool = False,
    sharp: bool = True,
) -> float:
    """Algorithm 2 per coordinate: the sum of the d = 1 bounds, each with wealth / d.

    `a` has one entry a_i = |u_i| s_i for each coordinate with s_i > 0, and `gammas` its Gamma_i.
    With d counted as features appear (`growing`), coordinate number k starts with wealth / k, so
    that the additive term is wealth (1 + log d). `sharp` uses `lambert`, otherwise `penalty`.

    >>> round(theorem_2_per_coordinate([1.0, 0.5], gammas=[2.0, 1.0], d=2, alpha=9 / 8), 2)
    1.96
    """
    exponents = np.asarray(gammas, dtype=np.float64) / (2 * alpha)
    log_beta = math.log(d) + exponents - math.log(wealth)
    form = lambert if sharp else penalty
    total = float(np.sum(form(a, alpha, log_beta)))
    if growing:
        return total + wealth * (1 + math.log(d))
    return total + wealth


def luo(rank: int, total: float, smallest: float) -> float:
    """Lemma 6 (Luo et al. 2016, Theorem 4): sum x'S_t^+x, hence Gamma_T, is at most this.

    rank of S_T, total = sum |x_t|^2, smallest = the least non-zero eigenvalue of any S_t.

    >>> round(luo(2, 300.0, 1.0), 2)
    15.85
    """
    if rank < 1:
        return 0.0
    pairs = rank * (1 + rank) / 2
    log_ratio = math.log(total) - math.log(pairs) - math.log(smallest)
    logarithm = float(np.logaddexp(0.0, log_ratio))
    return rank + pairs * logarithm


def theorem_2_luo(
    norm: float,
    *,
    rank: int,
    total: float,
    smallest: float,
    alpha: float,
    wealth: float = 1.0,
) -> float:
    """Theorem 2, corrected, with Lemma 6 for Gamma_T: it does not depend on the gradients.

    `luo_quantities` computes rank, total and smallest from the rows.

    >>> round(theorem_2_luo(1.0, rank=2, total=300.0, smallest=1.0, alpha=9 / 8), 2)
    5.09
    """
    gamma = luo(rank, total, smallest)
    return theorem_2(norm, gamma=gamma, alpha=alpha, wealth=wealth)


def luo_quantities(X: ArrayLike) -> tuple[int, float, float]:
    """(rank, total, smallest) of `luo` for the rows of X, each column divided by its norm.

    Gamma_T does not depend on units but `luo` does; columns of norm 1 avoid the worst. Eigenvalues
    grow while the rank stays, so that S_t is examined only where the rank grows.

    >>> rank, total, smallest = luo_quantities([[3e-60, 0.0], [4e-60, 0.0], [0.0, 7.0]])
    >>> print(rank, round(total, 12), round(smallest, 12))
    2 2.0 0.36
    """
    values = np.asarray(X, dtype=np.float64)
    largest = np.abs(values).max(axis=0, initial=0.0)
    seen = largest > 0
    scaled = values[:, seen] / largest[seen]
    norms = np.linalg.norm(scaled, axis=0)
    Z: Float = np.asarray(scaled / norms, dtype=np.float64)
    noise = Z.shape[1] * 2**-50
    basis = np.zeros((0, Z.shape[1]))
    smallest = math.inf
    for t, x in enumerate(Z):
        rest = x - basis.T @ (basis @ x)
        rest -= basis.T @ (basis @ rest)
        size = np.linalg.norm(rest)
        if size > noise * np.linalg.norm(x):
            basis = np.vstack([basis, rest / size])
            singular = np.linalg.svd(Z[: t + 1], compute_uv=False)
            least = float(singular[len(basis) - 1])
            smallest = min(smallest, least**2)
    return len(basis), float(np.sum(Z**2)), smallest


def zero(norm: float, T: int) -> float:
    """Section 4.1: always predicting 0 has regret at most |u|_S sqrt(T) against any u.

    >>> zero(2.0, 100)
    20.0
    """
    return norm * math.sqrt(T)


BY_LEARNER: dict[str, tuple[Callable[..., float], ...]] = {
    "coordinate": (theorem_1, theorem_1_sharp, theorem_1_bounded),
    "coordinate2": (theorem_2_per_coordinate,),
    "full": (theorem_2, theorem_2_sharp, theorem_2_sharpest, theorem_2_luo),
    "nag": (normalised_bounds.nag,),
    "nda": (normalised_bounds.nda,),
    "ng": (normalised_bounds.ng,),
    "snag": (normalised_bounds.snag,),
    "zero": (zero,),
}
"""The bounds of each learner, by its name. `theorem_1_bounded` is compared with `gradient_descent`,
the bound of gradient descent with a rate that is tuned in hindsight."""


def of_learner(name: str) -> tuple[Callable[..., float], ...]:
    """The functions of this package that bound the regret of a learner; none for most baselines.

    Parameters
    ----------
    name : str
        The name of a registered learner.

    Returns
    -------
    tuple of functions
        Each docstring says what the function needs to know about the data.

    Raises
    ------
    ValueError
        If no learner has this name.

    Examples
    --------
    >>> [bound.__name__ for bound in of_learner("coordinate")]
    ['theorem_1', 'theorem_1_sharp', 'theorem_1_bounded']
    >>> (bound,) = of_learner("zero")
    >>> bound(2.0, T=100)
    20.0
    """
    learners.get(name)  # an error with suggestions, if there is none
    return BY_LEARNER.get(name, ())
