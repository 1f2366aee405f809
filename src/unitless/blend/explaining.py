"""How much of the Blend's score each feature explains, through the mixture."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

POINTS = 16
"""Points between no score and the score, where slopes are taken."""
STEP = 1e-5
"""Relative step of a difference."""


def slopes_times_parts(mixture: Any, z: NDArray[Any], parts: NDArray[Any]) -> NDArray[Any]:
    """sum_k slope_k parts_k, with slopes averaged on the way from no score to the scores z.

    (At z itself the stacker's inputs may be clipped, and then they have no slope.) Slopes are
    differences of the mixture's own scores, at the points of a Gauss-Legendre rule. z is (experts,)
    or (experts, classes), parts (experts, features) or (experts, features, classes).
    """
    flat = z.reshape(-1)
    classes = z.shape[1:]
    steps = np.diag(STEP * np.maximum(1, np.abs(flat)))
    points, shares = np.polynomial.legendre.leggauss(POINTS)
    probes = np.concatenate([a * flat + s * steps for a in (1 + points) / 2 for s in (1, -1)])
    scores = mixture.predict(probes.reshape(-1, *z.shape), np.empty((len(probes), *classes)))
    up, down = np.moveaxis(scores.reshape(POINTS, 2, len(flat), *classes), 1, 0)
    change = np.einsum("a,ak...->k...", shares / 2, up - down)
    slopes = (change.T / (2 * steps.diagonal())).T
    if not classes:
        return slopes @ parts
    slopes = slopes.reshape(*z.shape, *classes)  # of score d in the score of expert k for class c
    return np.einsum("kcd,ksc->sd", slopes, parts)
