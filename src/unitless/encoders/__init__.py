"""Encode data frames and dicts as matrices, with categories, dates, text and interactions.

`FrameEncoder` maps columns to features and `DictEncoder` names to columns; both grow as new ones
appear. What a column is, pure functions decide: `column_kinds` by its cells (numbers, dates,
categories), `column_findings` by the first rows of a table (text, identifiers, codes). They may
import `unitless.rows`, labels and `core.names`, and neither readers, which use them, nor learners.
"""

from unitless.core.names import DictEncoder
from unitless.encoders.frame_encoder import Encoded, EncoderState, FrameEncoder
from unitless.encoders.namespaces import ManyLevels

__all__ = ["DictEncoder", "Encoded", "EncoderState", "FrameEncoder", "ManyLevels"]


def __dir__() -> list[str]:
    return sorted(__all__)
