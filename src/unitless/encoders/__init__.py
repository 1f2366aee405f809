"""Rows of named values to numbered features: data frames and dicts, with categories and dates."""

from unitless.encoders.column_assignment import ManyLevels
from unitless.encoders.dict_encoder import DictEncoder
from unitless.encoders.encoded import Encoded
from unitless.encoders.frame_encoder import FrameEncoder

__all__ = ["DictEncoder", "Encoded", "FrameEncoder", "ManyLevels"]
