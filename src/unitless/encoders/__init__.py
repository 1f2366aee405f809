"""Names, categories, dates, text, missing values -> columns."""

from unitless.encoders.columns import Columns, Encoded
from unitless.encoders.names import Names
from unitless.encoders.placing import ManyLevels

__all__ = ["Columns", "Encoded", "ManyLevels", "Names"]
