"""The model: a learner, the labels and the encoder of its data, and what belongs to its file.

`intake` makes one prepared record of whatever a user has, `Model` predicts and learns it under its
lock, `file_decisions` decides what a file shows, and `decision_sentences` words that. It may import
learners, encoders, readers and certificates, and nothing that uses a model: estimators, evaluation,
the command line.
"""

import os
from typing import Any

from unitless.model.file_settings import FileSettings
from unitless.model.intake import Prepared
from unitless.model.learner_choice import LOSSES
from unitless.model.model import Model

__all__ = ["LOSSES", "FileSettings", "Model", "Prepared", "load", "save"]


def __dir__() -> list[str]:
    return sorted(__all__)


def load(path: str | os.PathLike[str]) -> Any:
    """Load a model file, whether a learner, an estimator or the command line saved it.

    An `OnlineBandit` is loaded as one; everything else as a `Model`.

    >>> import tempfile
    >>> from unitless.learners import Coordinate
    >>> learner = Coordinate()
    >>> score = learner.learn_one({"height": 1.8}, 1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(learner, f"{folder}/model")
    ...     model = load(f"{folder}/model")
    >>> model.task, model.feature_names(), model.predict({"height": 1.8})
    ('binary', ['height'], 1.0)
    """
    from unitless import persistence

    found = persistence.load(path)
    return found if persistence.is_bandit(found) else Model.of(found)


def save(model: object, path: str | os.PathLike[str]) -> None:
    """Save a model, an estimator, a River model or a learner; `load` gives a `Model` back."""
    from unitless import persistence

    persistence.save(model, path)
