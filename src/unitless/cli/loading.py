"""Model files for the commands, which work with a `Model` of any file."""

from unitless import persistence
from unitless.model import Model


def load_model(path: str, data: str | None = None) -> Model:
    """Load a model file; learners and estimators become models.

    Parameters
    ----------
    data
        The data file of the command: if it is the model file, the arguments were swapped.
    """
    try:
        return Model.of(persistence.load(path))
    except (persistence.ModelFileError, OSError):
        if data is not None and data != "-" and is_model_file(data):
            raise ValueError(
                f"{data} is a model file and {path} is not: the arguments are swapped, the model "
                "comes first"
            ) from None
        if _has_data_name(path):
            raise ValueError(f"{path} is a data file, and a model file was expected") from None
        raise


def is_model_file(path: str) -> bool:
    """Return whether a file is a model file that can be loaded."""
    try:
        persistence.header(path)
    except (persistence.ModelFileError, OSError):
        return False
    return True


def _has_data_name(path: str) -> bool:
    """Return whether a file exists whose name is that of a data file."""
    import os

    from unitless.readers import format_of

    try:
        format_of(path)
    except ValueError:
        return False
    return os.path.isfile(path)
