"""Compile ahead what would be compiled at the first start, on several cores.

Numba compiles one kernel after another and keeps what it made for the next process. Kernels that
do not share functions can be compiled by different processes; so an image or a fresh machine is
made ready in half the time::

    classifier  Algorithms 1 and 2 | the other members and the mixture of two classes
    then        several classes | numbers
"""

from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

from unitless.learners.blend import Blend
from unitless.learners.coordinate import Coordinate
from unitless.learners.full import Full
from unitless.learners.protocol import Learner
from unitless.rows import as_rows

X = np.random.default_rng(0).normal(size=(8, 2))


def compile_ahead(everything: bool = False) -> None:
    """Compile what `OnlineClassifier` needs for two classes; with `everything` what both
    estimators need for their usual losses.
    """
    waves: list[list[Callable[[], None]]] = [[algorithms, two_classes]]
    if everything:
        waves.append([several_classes, numbers])
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        for wave in waves:
            for part in [pool.submit(job) for job in wave]:
                part.result()


def algorithms() -> None:
    """The paper's algorithms."""
    for learner in (Full(), Coordinate()):
        _run(learner, np.sign(X[:, 0]))


def two_classes() -> None:
    """The blend without them."""
    blend = Blend()
    for k, member in enumerate(blend.panel.members):
        if member.role == "proof":
            blend.panel.learners[k] = None
    _run(blend, np.sign(X[:, 0]))


def several_classes() -> None:
    """The blend of several classes."""
    _run(Blend("softmax", classes=3), np.arange(8.0) % 3)


def numbers() -> None:
    """The blend of numbers."""
    _run(Blend("squared"), X[:, 0])


def _run(learner: Learner, y: np.ndarray) -> None:
    learner.learn(as_rows(X, y))
    learner.predict(as_rows(X))
