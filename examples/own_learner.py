"""Write a learner of your own, in plain Python.

The learner is gradient descent on features that are divided by their largest absolute value so far.
It needs two methods, `score` and `step`, and declares its state. Dense blocks, sparse blocks, dict
rows, several classes, changes of units and model files then work without more code, and
`check_learner` tests all of this.

    python examples/own_learner.py
"""

import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer

import unitless
from unitless.core.parameters import Parameter
from unitless.learners import PythonLearner, register
from unitless.rows import as_rows
from unitless.state import Field, Float
from unitless.testing import check_learner


@register
class ScaledGradient(PythonLearner):
    """Gradient descent on features divided by their largest absolute value so far."""

    name = "scaled_gradient"
    invariance = "unit"
    parameters = (Parameter("rate", 1.0, "the learning rate"),)
    saved = (
        *PythonLearner.saved,
        Field("M", "|x|", "largest absolute value", ("coordinates",)),
        Field("B", "sign", "weight of x / M", ("coordinates",)),
    )
    rate: float
    M: Float
    B: Float

    def score(self, x: Float) -> float:
        """Return the score of a row: x[0] is the constant, x[1:] are the columns."""
        return float(np.sum(self.B * ratios(x, np.maximum(self.M, np.abs(x)))))

    def step(self, x: Float, g: float) -> None:
        """Take a gradient step; g is the slope of the loss at the score of this row."""
        self.M = np.maximum(self.M, np.abs(x))
        self.B -= self.rate * g / np.sqrt(self.t + 1) * ratios(x, self.M)


def ratios(x: Float, M: Float) -> Float:
    """x / M, and 0 for features that were always 0."""
    return np.divide(x, M, out=np.zeros_like(x), where=M > 0)


def main() -> None:
    """Learn the breast cancer data in raw units and in other units; save and load the learner."""
    X, y = load_breast_cancer(return_X_y=True)
    labels = 2.0 * y - 1
    learner = ScaledGradient()
    scores = learner.learn(as_rows(X, labels))
    accuracy = np.mean(np.sign(scores) == labels)
    print(f"accuracy of predictions made before each label was seen: {accuracy:.3f}")
    units = 2.0 ** np.random.default_rng(0).integers(-20, 21, X.shape[1])
    again = ScaledGradient().learn(as_rows(X * units, labels))
    print(f"the same scores in other units, bit for bit: {np.array_equal(scores, again)}")
    with tempfile.TemporaryDirectory() as folder:
        model = unitless.OnlineClassifier(learner="scaled_gradient").fit(X, y)
        unitless.save(model, Path(folder) / "model")
        loaded = unitless.load(Path(folder) / "model").learner
    print(f"after saving and loading: {loaded}")
    check_learner(ScaledGradient)
    print("check_learner found no error")


if __name__ == "__main__":
    main()
