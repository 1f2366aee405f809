"""Ridge regression in one pass, O(d^2) per row: online Newton for the squared loss.

The loss is its own quadratic approximation, so `newton` with curvature c = 1 is exact recursive
least squares. The prior lambda mean(x_i^2) takes the place of a ridge, which would have a unit.
"""

from typing import ClassVar

from unitless.learners.newton import Newton
from unitless.losses import Loss


class Ridge(Newton):
    """Online ridge regression; state and formulas are those of `newton`.

    Parameters
    ----------
    strength : float
        lambda, the prior precision in units of 1 / mean(x_i^2).

    >>> from sklearn.datasets import load_diabetes
    >>> from unitless.rows import as_rows
    >>> X, y = load_diabetes(return_X_y=True, scaled=False)
    >>> scores = Ridge().learn(as_rows(X, y))
    >>> print(f"{((scores - y) ** 2)[1:].mean() / y.var():.3f}")
    0.560
    """

    name: ClassVar[str] = "ridge"

    def __init__(
        self,
        loss: str | Loss = "squared",
        *,
        strength: float = 1.0,
        intercept: bool = True,
    ) -> None:
        if loss != "squared" and getattr(loss, "name", loss) != "squared":
            raise ValueError(f"ridge regression is for the squared loss, not {loss!r}")
        super().__init__("squared", strength=strength, intercept=intercept)
