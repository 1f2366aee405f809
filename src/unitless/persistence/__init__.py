"""Save and load model files: versioned, safe and replaced atomically (model-format.md).

`container` has the bytes of a file, `saving` what a model is in it, `archive` many models in one
file. It may import models and everything below them; nothing in a file is executed.
"""

from unitless.persistence.archive import Many
from unitless.persistence.container import FORMAT, ModelFileError
from unitless.persistence.saving import header, is_bandit, load, save

__all__ = ["FORMAT", "Many", "ModelFileError", "header", "is_bandit", "load", "save"]


def __dir__() -> list[str]:
    return sorted(__all__)
