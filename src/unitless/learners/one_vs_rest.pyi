from typing import Any

from unitless.core.learner import GradientLearner, Learner

def with_classes(kind: type[Learner], classes: int, **settings: Any) -> Learner:
    """Make a learner with one score per class: its own form, or one learner per class."""

class OneVsRest(Learner):
    """One learner per class, coupled by the gradients of the softmax loss."""

    @property
    def kind(self) -> type[GradientLearner]: ...
    @property
    def settings(self) -> dict[str, Any]: ...
    @property
    def learners(self) -> list[GradientLearner]: ...
    def __init__(
        self, kind: type[Learner], *, classes: int, intercept: bool = True, **settings: Any
    ) -> None: ...
