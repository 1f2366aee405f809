"""Model files: versioned, safe, and whole at every moment (docs/model-format.md)."""

from unitless.persistence.files import ModelFileError
from unitless.persistence.many import Many
from unitless.persistence.saving import FORMAT, header, load, save

__all__ = ["FORMAT", "Many", "ModelFileError", "header", "load", "save"]
