"""River models: `UnitlessClassifier` and `UnitlessRegressor` (pip install "unitless[river]")."""

from unitless.estimators.river import UnitlessClassifier, UnitlessRegressor

__all__ = ["UnitlessClassifier", "UnitlessRegressor"]


def __dir__() -> list[str]:
    return sorted(__all__)
