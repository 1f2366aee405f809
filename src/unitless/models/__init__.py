"""Model files: versioned, safe, and whole at every moment (docs/model-format.md)."""

from unitless.models.files import ModelFileError
from unitless.models.many import Many
from unitless.models.saving import FORMAT, header, load, save

__all__ = ["FORMAT", "Many", "ModelFileError", "header", "load", "save"]
