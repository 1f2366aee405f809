from typing import Any, ClassVar

from unitless.core.learner import Learner
from unitless.state import Float

class PythonLearner(Learner):
    takes_slopes: ClassVar[bool]
    weight: float
    def __init__(self, loss: Any = ..., *, intercept: bool = ..., **parameters: Any) -> None: ...
    def score(self, x: Float) -> Any: ...
