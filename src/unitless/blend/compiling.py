"""Compile the kernels in advance, so that an image or a fresh machine starts at once."""

import numpy as np

from unitless.blend.blend import PATIENCE, Blend
from unitless.rows import as_rows


def compile_ahead(everything: bool = False) -> None:
    """Compile what `OnlineClassifier` needs for two classes, by learning a few rows.

    With `everything`, what both estimators need for their usual losses.
    """
    X = np.random.default_rng(0).normal(size=(8, 2))
    for loss in ["logistic", "softmax", "squared"] if everything else ["logistic"]:
        y = np.arange(8.0) % 3 if loss == "softmax" else np.sign(X[:, 0])
        learner = Blend(loss, classes=3 if loss == "softmax" else 0)
        learner.learn(as_rows(X, y))
        for _ in range(PATIENCE + 1 if everything else 0):
            learner.learn(as_rows(X[:1], y[:1]))
        learner.loss.link(learner.predict(as_rows(X)))
