"""Save and load model files: versioned, safe and replaced atomically (model-format.md)."""

from unitless.persistence.archive import Many
from unitless.persistence.container import FORMAT, ModelFileError
from unitless.persistence.saving import header, is_bandit, load, save

__all__ = ["FORMAT", "Many", "ModelFileError", "header", "is_bandit", "load", "save"]


def __dir__() -> list[str]:
    return sorted(__all__)
