"""The Blend that is linear in x, as a learner with a name of its own."""

from typing import ClassVar

from unitless.blend.blend import Blend
from unitless.losses import Loss


class LinearBlend(Blend):
    """`Blend(views="linear")`: the Blend of members whose scores are linear in the features.

    Parameters
    ----------
    loss : str or Loss
        The loss to be small, such as "logistic" or "squared".
    intercept : bool
        Whether experts add a constant feature.
    classes : int
        The number of classes, for the softmax loss only.

    Examples
    --------
    >>> LinearBlend().views
    'linear'
    """

    name: ClassVar[str] = "linear_blend"

    def __init__(
        self, loss: str | Loss = "logistic", *, intercept: bool = True, classes: int = 0
    ) -> None:
        super().__init__(loss, views="linear", intercept=intercept, classes=classes)
