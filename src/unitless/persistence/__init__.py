"""Save and load model files: versioned, safe and replaced atomically (docs/model-format.md)."""

from unitless.persistence.archive import Many
from unitless.persistence.container import ModelFileError
from unitless.persistence.saving import FORMAT, header, load, save

__all__ = ["FORMAT", "Many", "ModelFileError", "header", "load", "save"]
