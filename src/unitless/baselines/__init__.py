"""Baselines: the algorithms that the paper compares with, one file per algorithm."""

from typing import Any


def example_loss(learner: Any, raw_units: bool = False) -> str:
    """The average loss on scikit-learn's breast cancer data, each column divided by its maximum.

    >>> from unitless.learners import get
    >>> example_loss(get("nag")(), raw_units=True)
    '0.3727'
    """
    from sklearn.datasets import load_breast_cancer

    from unitless.rows import as_rows

    X, y = load_breast_cancer(return_X_y=True)
    targets = 2.0 * y - 1
    scores = learner.learn(as_rows(X if raw_units else X / X.max(axis=0), targets))
    return f"{learner.loss.value(targets, scores).mean():.4f}"
