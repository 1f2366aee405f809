"""Write a learner of your own.

The learner is gradient descent on features that are divided by their largest absolute value so far.
It needs two functions, `predict` and `update`, and a class that declares its state. Dense blocks,
sparse blocks, dict rows, several classes and changes of units then work without more code, and
`check_learner` tests all of this.

    python examples/own_learner.py
"""

import math
from typing import Any, ClassVar

import numpy as np
from sklearn.datasets import load_breast_cancer

from unitless.kernels.decorators import inlined, kernel
from unitless.learners.base import Field
from unitless.learners.coordinatewise import Coordinatewise, T, loop
from unitless.rows import as_rows
from unitless.testing import check_learner


@inlined
def predict(parameters, totals, v, x, f, scratch):
    """Return the score of the row x; f[0] and f[1] are the fields of its features."""
    M, B = f[0], f[1]
    p = 0.0
    for k in range(x.size):
        M[k] = max(M[k], abs(x[k]))
        if M[k] > 0:
            p += B[k] * x[k] / M[k]
    return p, p


@inlined
def update(parameters, totals, trial, x, f, scratch):
    """Take a gradient step; totals[T] is the number of rows so far."""
    M, B = f[0], f[1]
    step = parameters[0] * trial.v * trial.g / math.sqrt(totals[T])
    for k in range(x.size):
        if M[k] > 0:
            B[k] -= step * x[k] / M[k]


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    """Run both functions over a block of rows; 2 is the number of fields."""
    return loop(predict, update, 2, task, parameters, block, targets, weights, scores, state)


class ScaledGradient(Coordinatewise):
    """Gradient descent on features divided by their largest absolute value so far."""

    name: ClassVar[str] = "scaled_gradient"
    invariance: ClassVar[Any] = "unit"
    fields: ClassVar[tuple[Field, ...]] = (
        Field("M", "|x|", "largest absolute value"),
        Field("B", "sign", "weight of x / M"),
    )
    kernel: ClassVar[Any] = staticmethod(run)

    def __init__(
        self, loss="logistic", *, rate: float = 1.0, intercept: bool = True, classes: int = 0
    ) -> None:
        super().__init__(loss, intercept=intercept, classes=classes)
        self.rate = float(rate)
        self._prepare()

    def _parameters(self) -> tuple[float, ...]:
        return (self.rate,)


def main() -> None:
    """Learn the breast cancer data in raw units and in other units."""
    X, y = load_breast_cancer(return_X_y=True)
    labels = 2.0 * y - 1
    learner = ScaledGradient()
    scores = learner.learn(as_rows(X, labels))
    accuracy = np.mean(np.sign(scores) == labels)
    print(f"accuracy of predictions made before each label was seen: {accuracy:.3f}")
    units = 2.0 ** np.random.default_rng(0).integers(-20, 21, X.shape[1])
    again = ScaledGradient().learn(as_rows(X * units, labels))
    print(f"the same scores in other units, bit for bit: {np.array_equal(scores, again)}")
    check_learner(ScaledGradient)
    print("check_learner found no error")


if __name__ == "__main__":
    main()
