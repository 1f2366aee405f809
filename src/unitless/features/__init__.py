"""Names, categories, dates, text, missing values -> columns."""

from unitless.features.columns import Columns, Encoded
from unitless.features.names import Names
from unitless.features.placing import ManyLevels

__all__ = ["Columns", "Encoded", "ManyLevels", "Names"]
