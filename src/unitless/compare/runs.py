"""Run one pass of a learner, or one pass per learning rate to find the best."""

import inspect
import math
import time
from contextlib import suppress
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless import learners as registry
from unitless.compare.comparison import TUNED
from unitless.compare.hindsight import Stream, needed
from unitless.learners.base import Diverged, Learner
from unitless.learners.one_vs_rest import OneVsRest

Float = NDArray[np.float64]

RATES = tuple(float(f"1e{k}") * m for k in range(-10, 3) for m in (1, 3))
"""The learning rates that are tried to find the best in hindsight."""


class Plan(NamedTuple):
    """A line of the table that is to be computed."""

    label: str
    choice: str | Learner
    rates: tuple[float, ...] = ()
    """Learning rates to try; none: the default."""


class LearnerRun(NamedTuple):
    label: str
    learner: Learner
    given: dict[str, float]
    seconds: float
    scores: Float | None
    diverged: int | None
    rates: dict[float, float]


def plans(choices: list[str | Learner], rates: tuple[float, ...]) -> list[Plan]:
    """Return the lines; an unknown name is an error before anything runs."""
    plans = []
    for choice in choices:
        label = choice if isinstance(choice, str) else choice.name
        plans.append(Plan(label, choice))
        if isinstance(choice, str) and _rate(registry.get(choice)) and rates:
            plans.append(Plan(label + TUNED, choice, rates))
    return plans


def warm_up(plan: Plan, stream: Stream) -> None:
    """Compile the kernels, so that this is not part of the time."""
    with suppress(Diverged):
        _made(plan.choice, stream, {}).learn(stream.rows[:1])


def _rate(kind: type[Learner]) -> str:
    """Return the parameter that is the learning rate or its inverse; empty if there is none."""
    return "rate" if "rate" in inspect.signature(kind).parameters else _inverse_rate(kind)


def _inverse_rate(kind: Any) -> str:
    return getattr(kind, "inverse_rate", "")


def _made(choice: str | Learner, stream: Stream, parameters: dict[str, float]) -> Learner:
    """Return a new learner for the loss of the stream."""
    if isinstance(choice, Learner):
        if choice.loss != stream.loss:
            raise ValueError(f"it has the {choice.loss.name} loss, not {stream.loss.name}")
        return deepcopy(choice)
    kind: Any = registry.get(choice)
    common: dict[str, Any] = {"intercept": stream.intercept, **parameters}
    if not stream.classes:
        return kind(stream.loss.name, **common)
    if "classes" in inspect.signature(kind).parameters:
        return kind(stream.loss.name, classes=stream.classes, **common)
    return OneVsRest(kind, classes=stream.classes, **common)


def run(plan: Plan, stream: Stream) -> LearnerRun:
    """Run one pass, or one pass per learning rate, of which the best counts."""
    if isinstance(plan.choice, Learner):
        return _pass(plan, stream, {})
    kind = registry.get(plan.choice)
    known = needed(kind, stream)
    if not plan.rates:
        return _pass(plan, stream, known)
    name, inverse = _rate(kind), bool(_inverse_rate(kind))
    tried = {
        rate: _pass(plan, stream, known | {name: 1 / rate if inverse else rate})
        for rate in plan.rates
    }
    losses_by_rate = {rate: average(stream, run) for rate, run in tried.items()}
    chosen = min(tried, key=lambda rate: (math.isnan(losses_by_rate[rate]), losses_by_rate[rate]))
    return tried[chosen]._replace(rates=losses_by_rate)


def _pass(plan: Plan, stream: Stream, given: dict[str, float]) -> LearnerRun:
    learner = _made(plan.choice, stream, given)
    started = time.perf_counter()
    try:
        scores, diverged = learner.learn(stream.rows), None
    except Diverged as error:
        scores, diverged = None, error.row
    return LearnerRun(
        plan.label, learner, given, time.perf_counter() - started, scores, diverged, {}
    )


def average(stream: Stream, run: LearnerRun) -> float:
    """Return the average loss of a run; NaN if it diverged."""
    return math.nan if run.scores is None else stream.average(run.scores)
