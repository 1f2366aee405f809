"""Compile ahead what would be compiled at the first start, on several cores.

Numba compiles one kernel after another and keeps what it made for the next process. Kernels that
share few functions can be compiled by different processes; so an image or a fresh machine is made
ready in half the time. The jobs, longest first: the blend of two classes without the members that
have long kernels of their own, and each of those.
"""

import gc
import os
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np

from unitless.blend.blend import Blend
from unitless.learners.base import Learner
from unitless.learners.coordinate import Coordinate
from unitless.learners.full import Full
from unitless.learners.newton import Newton
from unitless.rows import as_rows

X = np.random.default_rng(0).normal(size=(8, 2))
APART = (Full, Newton, Coordinate)


def compile_ahead(everything: bool = False) -> None:
    """Compile what `OnlineClassifier` needs for two classes; with `everything` what both
    estimators need for their usual losses.
    """
    waves: list[list[Callable[[], None]]] = [[two_classes, full, newton, coordinate]]
    if everything:
        waves.append([several_classes, numbers])
    cores = min(4, max(2, os.cpu_count() or 2))
    # Compiling makes millions of objects that live: looking for garbage costs 7 %.
    pool = ProcessPoolExecutor(cores, mp_context=get_context("spawn"), initializer=gc.disable)
    with pool:
        for wave in waves:
            for part in [pool.submit(job) for job in wave]:
                part.result()


def two_classes() -> None:
    """The blend without the members compiled apart."""
    blend = Blend()
    for k, member in enumerate(blend.ensemble.members):
        if member.kind in APART:
            blend.ensemble.learners[k] = None
    _run(blend, np.sign(X[:, 0]))


def full() -> None:
    """Algorithm 2."""
    _run(Full(), np.sign(X[:, 0]))


def newton() -> None:
    """The online Newton step."""
    _run(Newton(), np.sign(X[:, 0]))


def coordinate() -> None:
    """Algorithm 1."""
    _run(Coordinate(), np.sign(X[:, 0]))


def several_classes() -> None:
    """The blend of several classes."""
    _run(Blend("softmax", classes=3), np.arange(8.0) % 3)


def numbers() -> None:
    """The blend of numbers."""
    _run(Blend("squared"), X[:, 0])


def _run(learner: Learner, y: np.ndarray) -> None:
    learner.learn(as_rows(X, y))
    learner.loss.link(learner.predict(as_rows(X)))
