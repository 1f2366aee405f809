"""Create learners by name and task."""

from copy import deepcopy

from unitless import learners
from unitless.core.learner import Learner
from unitless.learners.one_vs_rest import with_classes

LOSSES = {"binary": "logistic", "multiclass": "softmax", "regression": "squared"}
"""The default loss of each task."""

SIGNS = "signs", "logistic or hinge"
REALS = "reals", "squared, absolute, quantile(tau) or huber(delta)"
TARGETS = {"binary": SIGNS, "multilabel": SIGNS, "regression": REALS, "multioutput": REALS}
"""What the targets of a task are for its loss, and losses for them."""


def make_learner(
    choice: str | Learner, loss: str, classes: int = 0, *, delay: int | None = None
) -> Learner:
    """A fresh learner with that loss, or with the cross-entropy if there are classes.

    A learner that is given is copied with what it has learned, and keeps its own loss. `delay` is
    how late labels are, for a learner that uses recent ones.

    >>> make_learner("full", "hinge").loss.name
    'hinge'
    >>> make_learner("blend", "logistic", classes=3).loss.name
    'softmax'
    """
    if not isinstance(choice, Learner):
        kind = learners.get(choice)
        late = {"delay": delay} if delay and kind.has_two_answers else {}
        return with_classes(kind, classes, **late) if classes else kind(loss, **late)
    several = choice.classes if choice.loss.name == "softmax" else 0
    if several != classes:
        needed = f'the loss "softmax" and classes={classes}' if classes else "a loss of one score"
        raise ValueError(
            f"{choice.name} has the {choice.loss.name} loss (classes={several}), and this task "
            f"needs {needed}: create it with that loss, or give the learner by name"
        )
    return deepcopy(choice)


def learner_for_task(
    choice: str | Learner,
    task: str,
    loss: str | None,
    classes: int,
    delay: int | None = None,
) -> Learner:
    """A fresh learner for a task; a loss that does not fit it is an error."""
    if task == "multiclass":
        if loss not in (None, "logistic", "softmax"):
            raise ValueError(f"the {loss} loss is for two classes; several have the cross-entropy")
        return make_learner(choice, "softmax", max(classes, 2), delay=delay)
    try:
        made = make_learner(choice, loss or LOSSES[task], delay=delay)
    except ValueError:
        if loss or task == "binary":
            raise
        made = make_learner(choice, "absolute")  # for learners that need a bounded derivative
    check_loss(made, task)
    return made


def check_loss(learner: Learner, task: str) -> None:
    """A learner whose loss does not fit a task of one score per row or target is an error.

    >>> check_loss(make_learner("nag", "quantile(0.9)"), "binary")
    Traceback (most recent call last):
    ValueError: the quantile(0.9) loss does not fit the task binary; use logistic or hinge
    """
    wanted, others = TARGETS[task]
    if learner.loss.targets != wanted:
        raise ValueError(f"the {learner.loss.name} loss does not fit the task {task}; use {others}")
