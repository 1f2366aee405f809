"""Create learners by name and task, and find the task of targets and of learners."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import numpy as np

from unitless import learners
from unitless.labels import Label
from unitless.learners.base import Learner
from unitless.learners.one_vs_rest import with_classes

LOSSES = {"binary": "logistic", "multiclass": "softmax", "regression": "squared"}
"""The default loss of each task."""


def make_learner(choice: str | Learner, loss: str, classes: int = 0) -> Learner:
    """A fresh learner with that loss, or with the cross-entropy if there are classes.

    A learner that is given is copied with what it has learned, and keeps its own loss.

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
            f"needs {needed}: create it with that loss, or give the learner by name"
        )


def learner_for_task(choice: str | Learner, task: str, loss: str | None, classes: int) -> Learner:
    """A fresh learner for a task; a loss that does not fit it is an error."""
    if task == "multiclass":
        if loss not in (None, "logistic", "softmax"):
            raise ValueError(f"the {loss} loss is for two classes; several have the cross-entropy")
        return make_learner(choice, "softmax", max(classes, 2))
    made = make_learner(choice, loss or _default_loss(choice, task))
    wanted = "signs" if task == "binary" else "reals"
    if made.loss.targets != wanted:
        raise ValueError(
            f"the {made.loss.name} loss does not fit the task {task}; "
            + ("use logistic or hinge" if task == "binary" else "use squared, absolute, ...")
        )
    return made


def _default_loss(choice: str | Learner, task: str) -> str:
    """The task's loss; for learners that need a bounded derivative, the absolute loss."""
    if task == "regression" and isinstance(choice, str):
        try:
            learners.get(choice)("squared")
        except ValueError:
            return "absolute"
    return LOSSES[task]


def task_of_targets(found: Any, labels: Sequence[Label]) -> str:
    """Strings, booleans or two distinct values are classes; other numbers are regression."""
    if isinstance(found, np.ndarray):
        return "binary" if len(labels) == 2 else "regression"
    return "multiclass" if len(labels) > 2 else "binary"


def task_of_learner(learner: Learner) -> Any:
    """The task that a learner's loss is for."""
    tasks = {"signs": "binary", "classes": "multiclass"}
    return tasks.get(learner.loss.targets, "regression")


def labels_of_learner(learner: Learner) -> list[Label]:
    """The targets of a bare learner as labels: -1 and +1, or 0, 1, 2, ..."""
    if learner.loss.targets == "signs":
        return [-1.0, 1.0]
    return list(map(float, range(learner.classes))) if learner.loss.targets == "classes" else []
