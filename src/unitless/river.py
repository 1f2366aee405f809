"""River models and a drift detector (pip install "unitless[river]")."""

from unitless.estimators.river import LossDriftDetector, UnitlessClassifier, UnitlessRegressor

__all__ = ["LossDriftDetector", "UnitlessClassifier", "UnitlessRegressor"]


def __dir__() -> list[str]:
    return sorted(__all__)
