"""River models, a bandit and a drift detector (pip install "unitless[river]")."""

from unitless.decisions.river import UnitlessBandit
from unitless.estimators.river import LossDriftDetector, UnitlessClassifier, UnitlessRegressor

__all__ = ["LossDriftDetector", "UnitlessBandit", "UnitlessClassifier", "UnitlessRegressor"]


def __dir__() -> list[str]:
    return sorted(__all__)
