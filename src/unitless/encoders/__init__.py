"""Encode data frames and dicts as matrices, with categories, dates, text and interactions."""

from unitless.encoders.column_assignment import ManyLevels
from unitless.encoders.dict_encoder import DictEncoder
from unitless.encoders.frame_encoder import Encoded, FrameEncoder

__all__ = ["DictEncoder", "Encoded", "FrameEncoder", "ManyLevels"]


def __dir__() -> list[str]:
    return sorted(__all__)
