"""Model files of any kind as a `StreamModel`, which the commands work with."""

from typing import Any

from unitless import persistence
from unitless.learners.base import Learner
from unitless.model import StreamModel


def stream_model(path: str) -> StreamModel:
    """The model of a file; an estimator or a learner brings what it has."""
    found = persistence.load(path)
    task: Any
    if isinstance(found, StreamModel):
        return found
    if isinstance(found, Learner):
        task = {"signs": "binary", "classes": "multiclass"}.get(found.loss.targets, "regression")
        labels: Any = {"binary": [-1.0, 1.0], "multiclass": [*map(float, range(found.classes))]}
        names = [str(name) for name in found.names.columns] or None
        return StreamModel(task, found, labels.get(task, []), names=names)
    several = found.learner_.loss.name == "softmax"
    classes = [*found.classes_.tolist()] if hasattr(found, "classes_") else []
    task = "regression" if not classes else "multiclass" if several else "binary"
    columns = getattr(found, "columns_", None)
    names = None if columns is not None else found.feature_names_
    return StreamModel(task, found.learner_, classes, columns=columns, names=names)
