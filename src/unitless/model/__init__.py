"""The model: a learner with the encoding of its data."""

from unitless.model.file_blocks import Prepared
from unitless.model.learner_choice import LOSSES
from unitless.model.model import Model
from unitless.model.model_files import load, save

__all__ = ["LOSSES", "Model", "Prepared", "load", "save"]


def __dir__() -> list[str]:
    return sorted(__all__)
