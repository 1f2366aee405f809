from collections.abc import Callable, Mapping
from inspect import Signature
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unitless.core.array import Array
from unitless.core.names import DictEncoder
from unitless.core.parameters import Parameter
from unitless.core.stateful import Stateful
from unitless.losses import Loss
from unitless.rows import Block, Float, Rows
from unitless.state import Field

UNITS: Field
TRIALS: Field
COLUMNS: Field

class Weights(NamedTuple):
    """The score's coefficients at x = 0 with the current scales: score = intercept + features.x."""

    intercept: Any
    features: Float

class Sums(NamedTuple):
    """The sums of a regret certificate (theory.md), by coordinate: regret(u) <= A + sum h_i u_i."""

    trials: int
    dimension: int
    A: float
    z: Float
    s: Float
    damped: Any = None
    lost: Any = None

class Diverged(ArithmeticError):
    """A scale-dependent learner refused a row after which its state would not be finite."""

    learner: str
    row: int

    def __init__(self, learner: str, row: int) -> None: ...

class Learner(Stateful):
    """Base of all learners."""

    name: ClassVar[str]
    invariance: ClassVar[str]
    linear: ClassVar[bool]
    symmetric: ClassVar[bool]
    scales_instance: ClassVar[bool]
    parameters: ClassVar[tuple[Parameter, ...]]
    has_classes: ClassVar[bool]
    default_loss: ClassVar[str]
    needs_lipschitz: ClassVar[bool]
    takes_losses: ClassVar[tuple[str, ...]]
    theorem: ClassVar[str | None]
    needs: ClassVar[tuple[str, ...]]
    has_two_answers: bool
    __signature__: ClassVar[Signature]
    loss: Loss
    columns: int
    t: float
    weighs_gradients: bool
    names: DictEncoder
    @property
    def intercept(self) -> bool: ...
    @property
    def classes(self) -> int: ...
    @property
    def outputs(self) -> int: ...
    @property
    def units(self) -> Array: ...
    @property
    def trials(self) -> int:
        """Rows learned."""

    @property
    def scale_invariant(self) -> bool:
        """Whether the scores do not depend on the units of the features."""

    @property
    def takes_every_target(self) -> bool:
        """Whether it takes every target that its loss takes."""

    def __init__(self, loss: str | Loss = "logistic", **parameters: Any) -> None: ...
    def predict(self, rows: Rows, fresh: bool = False) -> Float:
        """Score the rows, each as if it were the next trial; the learner does not change."""

    def learn(self, rows: Rows, not_fresh: Float | None = None) -> Float:
        """Score each row before its target is used, then learn it; returns the scores."""

    def learn_both(self, rows: Rows) -> tuple[Float, Float]:
        """Learn rows; returns the scores of `learn`, and those without recent labels."""

    def check(self, rows: Rows) -> tuple[Float, bool]:
        """Refuse rows that cannot be learned; else their weights, and whether they fit float64."""

    def predict_one(self, x: Mapping[Any, Any], weight: float = 1.0, fresh: bool = False) -> Any:
        """Score one dict row. Absent is 0, None and NaN are missing, new names are fine."""

    def learn_one(self, x: Mapping[Any, Any], y: Any, weight: float = 1.0) -> Any:
        """Score one dict row, then learn from its target; returns the score."""

    def rescale(self, factors: ArrayLike | Mapping[Any, float]) -> Self:
        """From now on column i arrives multiplied by factors[i]: continue as if it always had."""

    def weights(self) -> Weights:
        """The coefficients at x = 0 (see `Weights`)."""

    def deviations(self) -> Float | None:
        """The root mean square of each column, if known; the Blend has standard deviations."""

    def contributions(self, rows: Rows) -> tuple[Any, Float]:
        """Explain the score of one row: (base, by column), which add up to it."""

    def weigh_gradients(self) -> None:
        """From now on sample weights, of at most 1, multiply the derivative of the loss."""

    def add_class(self) -> None:
        """Add one class, whose score starts at 0; for the softmax loss."""

    def sums(self) -> Sums | None:
        """The sums of a regret certificate; None for learners that do not keep them."""

    def _set_loss(self, loss: str | Loss, intercept: bool = True, classes: int = 0) -> None: ...
    def _prepare(self) -> None: ...
    def _reserve(self, columns: int) -> None: ...
    def _run(
        self,
        block: Block,
        targets: Float | None,
        weights: Float | None,
        scores: Float,
        in_range: bool,
    ) -> None: ...
    def _check_targets(self, targets: Float, weights: Float | None) -> None: ...
    def _check(self, targets: Float, weights: Float | None) -> None: ...
    def _in_range(
        self, sizes: tuple[float, float], refuse_infinity: Callable[[], None]
    ) -> bool: ...
    def _room(self, rows: int) -> Float: ...
    def _has_columns(self) -> bool: ...
    def _seen(self) -> NDArray[np.bool_]: ...
    def _rescale(self, columns: NDArray[Any], factors: Float) -> None: ...
    def _coefficients(self) -> Float: ...
    def _root_mean_squares(self) -> Float | None: ...
    def _in_own_unit(self, sizes: Float) -> Float: ...

class GradientLearner(Learner):
    """Base of learners with one score that learn from the slope of the loss."""
