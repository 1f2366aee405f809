"""From a learner's name to a learner for the task at hand."""

from copy import deepcopy

from unitless import learners
from unitless.learners.base import Learner
from unitless.learners.one_vs_rest import with_classes


def make_learner(choice: str | Learner, loss: str, classes: int = 0) -> Learner:
    """A fresh learner with that loss, or with the cross-entropy if there are classes.

    A learner of one's own is copied, with what it has learned; its loss is its own.

    >>> make_learner("full", "hinge").loss.name
    'hinge'
    >>> make_learner("blend", "logistic", classes=3).loss.name
    'softmax'
    """
    if isinstance(choice, Learner):
        _check_scores(choice, classes)
        return deepcopy(choice)
    kind = learners.get(choice)
    return with_classes(kind, classes) if classes else kind(loss)


def _check_scores(learner: Learner, classes: int) -> None:
    several = learner.classes if learner.loss.name == "softmax" else 0
    if several != classes:
        needed = f'the loss "softmax" and classes={classes}' if classes else "a loss of one score"
        raise ValueError(
            f"{learner.name} has the {learner.loss.name} loss (classes={several}), and this task "
            f"needs {needed}: make it so, or give the learner by name"
        )
