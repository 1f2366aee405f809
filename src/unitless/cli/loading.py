"""Model files of any kind as a `StreamModel`, which the commands work with."""

from typing import Any

from unitless import persistence
from unitless.learners.base import Learner
from unitless.model import StreamModel


def load_model(path: str, data: str | None = None) -> StreamModel:
    """Load a model file; learners and estimators become models.

    Parameters
    ----------
    data
        The data file of the command: if it is the model file, the arguments were swapped.
    """
    try:
        found = persistence.load(path)
    except (persistence.ModelFileError, OSError):
        if data is not None and data != "-" and is_model_file(data):
            raise ValueError(
                f"{data} is a model file and {path} is not: the arguments are swapped, the model "
                "comes first"
            ) from None
        if _has_data_name(path):
            raise ValueError(f"{path} is a data file, and a model file was expected") from None
        raise
    if isinstance(found, StreamModel):
        return found
    if isinstance(found, Learner):
        return _from_learner(found)
    is_multiclass = found.learner_.loss.name == "softmax"
    classes = [*found.classes_.tolist()] if hasattr(found, "classes_") else []
    task: Any = "regression"
    if classes:
        task = "multiclass" if is_multiclass else "binary"
    columns = getattr(found, "columns_", None)
    names = None if columns is not None else found.feature_names_
    return StreamModel(task, found.learner_, classes, columns=columns, names=names)


def _from_learner(learner: Learner) -> StreamModel:
    tasks: dict[str, Any] = {"signs": "binary", "classes": "multiclass"}
    task = tasks.get(learner.loss.targets, "regression")
    labels: Any = {
        "binary": [-1.0, 1.0],
        "multiclass": [*map(float, range(learner.classes))],
    }
    names = [str(name) for name in learner.names.columns] or None
    return StreamModel(task, learner, labels.get(task, []), names=names)


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
