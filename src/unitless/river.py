"""River models: `UnitlessClassifier`, `UnitlessRegressor` and `UnitlessBandit`.

River is an optional extra: pip install "unitless[river]".
"""

from unitless.decisions.river import UnitlessBandit
from unitless.estimators.river import UnitlessClassifier, UnitlessRegressor

__all__ = ["UnitlessBandit", "UnitlessClassifier", "UnitlessRegressor"]


def __dir__() -> list[str]:
    return sorted(__all__)
