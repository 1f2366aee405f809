"""Encode data frames and dicts as matrices, with categories, dates, text and interactions."""

from unitless.core.names import DictEncoder
from unitless.encoders.frame_encoder import Encoded, FrameEncoder
from unitless.encoders.namespaces import ManyLevels

__all__ = ["DictEncoder", "Encoded", "FrameEncoder", "ManyLevels"]


def __dir__() -> list[str]:
    return sorted(__all__)
