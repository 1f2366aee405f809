"""Encode data frames and dicts as matrices, with categories, dates, text and interactions."""

from unitless.encoders.column_assignment import ManyLevels
from unitless.encoders.dict_encoder import DictEncoder
from unitless.encoders.encoded import Encoded
from unitless.encoders.frame_encoder import FrameEncoder

__all__ = ["DictEncoder", "Encoded", "FrameEncoder", "ManyLevels"]
