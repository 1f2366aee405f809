"""Compile the kernels in advance, on several cores.

Numba compiles one kernel after another and keeps the result for the next process. Kernels that
share few functions can be compiled by different processes, so that an image or a fresh machine is
ready in half the time. The longest jobs come first: the Blend of two classes without the experts
whose kernels take long to compile, and each of those.
"""

import gc
import os
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np

from unitless.blend.blend import PATIENCE, Blend
from unitless.learners.coordinate import Coordinate
from unitless.learners.full import Full
from unitless.learners.newton import Newton
from unitless.rows import as_rows

APART = {"full": Full, "newton": Newton, "coordinate": Coordinate}
TWO_CLASSES = ["logistic", *APART]
MORE = ["softmax", "squared"]
ONE_ROW = ["one row"]


def compile_ahead(everything: bool = False) -> None:
    """Compile what `OnlineClassifier` needs for two classes.

    With `everything`, what both estimators need for their usual losses.
    """
    cores = min(4, max(2, os.cpu_count() or 2))
    # Compiling creates millions of objects that stay: garbage collection costs 7 %.
    pool = ProcessPoolExecutor(cores, mp_context=get_context("spawn"), initializer=gc.disable)
    with pool:
        for jobs in [TWO_CLASSES, MORE, ONE_ROW] if everything else [TWO_CLASSES]:
            list(pool.map(compile_one, jobs))


def compile_one(job: str) -> None:
    """Learn and predict a few rows with one of the learners of `APART`, or a Blend of that loss."""
    X = np.random.default_rng(0).normal(size=(8, 2))
    y = np.sign(X[:, 0])
    if job == "softmax":
        y = np.arange(8.0) % 3
    if job in APART:
        learner: Any = APART[job]()
    else:
        learner = Blend(job.replace("one row", "logistic"), classes=3 if job == "softmax" else 0)
    if job == "logistic":
        learners = learner.ensemble.learners
        learners[:] = [None if type(each) in APART.values() else each for each in learners]
    learner.learn(as_rows(X, y))
    for _ in range(PATIENCE + 1 if job == "one row" else 0):
        learner.learn(as_rows(X[:1], y[:1]))
    learner.loss.link(learner.predict(as_rows(X)))
