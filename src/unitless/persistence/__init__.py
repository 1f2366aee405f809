"""Save and load model files: versioned, safe and replaced atomically (model-format.md)."""

from unitless.persistence.archive import Many
from unitless.persistence.container import FORMAT, ModelFileError
from unitless.persistence.saving import header, load, save

__all__ = ["FORMAT", "Many", "ModelFileError", "header", "load", "save"]


def __dir__() -> list[str]:
    return sorted(__all__)
