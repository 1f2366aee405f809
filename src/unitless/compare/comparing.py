"""`compare`: several learners on the same rows."""

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata

from unitless import learners as registry
from unitless import losses
from unitless.compare.comparison import Comparison, Elsewhere, Entry
from unitless.compare.hindsight import LARGEST, Stream
from unitless.compare.runs import RATES, LearnerRun, average, plans, run, warm_up
from unitless.learners.base import Learner
from unitless.losses import Loss
from unitless.regret import BlendCertificate, Comparator, certificate
from unitless.rows import Rows

Float = NDArray[np.float64]

MAX_EXPONENT = 12
"""Random units are powers of two from 2^-12 to 2^12."""


def compare(
    rows: Rows,
    learners: Iterable[str | Learner] | None = None,
    *,
    loss: str | Loss = "logistic",
    intercept: bool = True,
    units: Literal["random"] | ArrayLike | None = None,
    tune: bool | Sequence[float] = False,
    seed: int = 0,
    regret: bool = True,
    best: Comparator | None = None,
    told: Callable[[str], object] = lambda name: None,
) -> Comparison:
    """Run several learners over the rows, one after the other.

    Parameters
    ----------
    rows : Rows
        Rows with targets, in the order in which they are learned.
    learners : names or learners, optional
        By default all that support the loss. A learner instance is copied and used as it is.
    loss : str or Loss
        With "softmax" the targets are 0, 1, 2, ...
    intercept : bool
    units : "random" or one factor per column, optional
        Repeat the comparison with columns multiplied by these; "random": powers of two from
        2^-12 to 2^12.
    tune : bool or rates
        Add a line for the best learning rate in hindsight, among `RATES` or those given, for each
        method that has one.
    seed : int
        Seed of the random units.
    regret : bool
        Whether to compute the best weights in hindsight, and regret and bounds from them. With tens
        of thousands of rows and hundreds of columns this takes minutes.
    best : Comparator, optional
        The result of `best_comparator` for these rows, if it is known.
    told : function of a name
        Called before each learner starts, and before the best weights are computed.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X[:, :3], 2 * y - 1)
    >>> made = compare(rows, ["full", "ogd", "nag"], units="random")
    >>> for entry in made.entries:
    ...     print(f"{entry.learner:5} {entry.loss:8.4f} {entry.elsewhere.loss:11.4f}")
    full    0.3189      0.3189
    nag     0.5802      0.5802
    ogd   145.3588 823843.7686
    """
    chosen = losses.get(loss)
    stream = Stream(rows, chosen, intercept, best, search=regret)
    named: list[str | Learner] = list(registry.REGISTRY if learners is None else learners)
    factors = None if units is None else _factors(units, rows.columns, seed)
    planned = plans(named, () if tune is False else RATES if tune is True else tuple(tune))
    told("the best weights in hindsight")
    hindsight = stream.best
    other = None if factors is None else stream.in_units(factors)
    pairs: list[tuple[LearnerRun, LearnerRun | None]] = []
    left_out: dict[str, str] = {}
    for plan in planned:
        told(plan.label)
        try:
            warm_up(plan, stream)
            pairs.append((run(plan, stream), None if other is None else run(plan, other)))
        except ValueError as error:
            left_out[plan.label] = str(error)
    entries = _entries(pairs, stream)
    return Comparison(chosen.name, len(rows), rows.columns, hindsight, factors, entries, left_out)


def _factors(units: Any, columns: int, seed: int) -> Float:
    if isinstance(units, str):
        if units != "random":
            raise ValueError(f"units = {units!r}: use 'random', or one factor per column")
        random = np.random.default_rng(seed)
        return np.ldexp(1.0, random.integers(-MAX_EXPONENT, MAX_EXPONENT + 1, columns))
    factors = np.asarray(units, dtype=np.float64)
    if factors.shape != (columns,) or not np.isfinite(factors).all() or not factors.all():
        raise ValueError(f"units: {columns} columns need {columns} finite factors, none of them 0")
    return factors


def _entries(pairs: list[tuple[LearnerRun, LearnerRun | None]], stream: Stream) -> list[Entry]:
    """Return the lines of the table, best first."""
    averages = [average(stream, run) for run, _ in pairs]
    ranks = rankdata([math.inf if math.isnan(x) else x for x in averages], method="min")
    entries = [
        Entry(
            run.label,
            average,
            *_regret(run, stream),
            int(rank),
            run.seconds,
            run.given,
            run.rates,
            run.diverged,
            None if other is None else _elsewhere(run, other, stream),
        )
        for (run, other), average, rank in zip(pairs, averages, ranks, strict=True)
    ]
    return sorted(entries, key=lambda entry: entry.rank)


def _regret(run: LearnerRun, stream: Stream) -> tuple[float | None, float | None]:
    """Return the regret and its bound."""
    best = stream.best
    if run.scores is None or best is None:
        return None, None
    return stream.total(run.scores) - best.infimum, _bound(run, run.scores, stream, best)


def _elsewhere(run: LearnerRun, other: LearnerRun, stream: Stream) -> Elsewhere:
    moved = math.nan
    if run.scores is not None and other.scores is not None:
        with np.errstate(over="ignore"):
            moved = min(float(np.abs(run.scores - other.scores).max()), LARGEST)
    return Elsewhere(average(stream, other), moved, other.diverged)


def _bound(run: LearnerRun, scores: Float, stream: Stream, best: Comparator) -> float | None:
    """Return the bound on the regret against the best weights in hindsight."""
    learner: Any = run.learner
    promise = None
    with np.errstate(over="ignore", invalid="ignore"), suppress(OverflowError):
        if learner.theorem is not None or learner.name == "blend":
            promise = _theorem(learner, best, stream.X.shape[0])
        elif hasattr(learner, "regret_bound"):
            promise = learner.regret_bound(stream.trajectory(scores, best))
            if promise is not None and not math.isinf(stream.loss.lipschitz):
                promise *= stream.loss.lipschitz
    if promise is None or not math.isfinite(promise):
        return None
    # The infimum of the loss may not be attained; the regret is against the infimum.
    return promise + best.loss - best.infimum


def _theorem(learner: Learner, best: Comparator, trials: int) -> float | None:
    """The sharpest form of the paper's theorem for the learner, or for a member of a Blend."""
    made = certificate(learner, best.weights)
    if isinstance(made, BlendCertificate):
        claims = [each.bounds[1].sharp for each in made.by_member if each.trials == trials]
    else:
        claims = [made.given.sharp] if made.given else []
    return min((claim for claim in claims if claim is not None), default=None)
