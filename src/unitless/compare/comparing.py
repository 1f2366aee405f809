"""`compare`: several learners on the same rows."""

import inspect
import math
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from unitless import learners as registry
from unitless import losses
from unitless.baselines.trajectory import Trajectory
from unitless.compare.comparison import Comparison, Elsewhere, Entry
from unitless.compare.rivals import RIVALS, rival_scores
from unitless.core.learner import Diverged, Learner
from unitless.learners.one_vs_rest import with_classes
from unitless.losses import SOFTMAX, Loss
from unitless.regret import BlendCertificate, Comparator, best_comparator, certificate
from unitless.regret.design import matrix, predictions, with_constant
from unitless.regret.duality import has_known_conjugate
from unitless.rows import Rows
from unitless.uncertainty import LossDifference, Verdict

Float = NDArray[np.float64]
LARGEST = float(np.finfo(np.float64).max)  # losses beyond it count as this much
TUNED = ", best rate"  # end of the names of lines with a tuned learning rate
RATES = tuple(float(f"1e{k}") * m for k in range(-10, 3) for m in (1, 3))
"""The learning rates that are tried to find the best in hindsight."""
MAX_RANDOM_EXPONENT = 12  # random units are powers of two from 2^-12 to 2^12


class Line(NamedTuple):
    """What a line of the table is about."""

    label: str
    choice: str | Learner
    rates: Sequence[float] = ()  # the learning rates to try; none: the default


class Run(NamedTuple):
    """The result of a pass so far."""

    entry: Entry
    learner: Learner | None  # unless it is a rival
    scores: Float | None  # None if it diverged


class Stream:
    """Rows with targets, a loss, and the best fixed weights in hindsight, if they are known."""

    def __init__(
        self, rows: Rows, loss: Loss, intercept: bool, best: Comparator | None = None
    ) -> None:
        if rows.targets is None:
            raise ValueError("a comparison needs targets: as_rows(X, targets)")
        if not len(rows):
            raise ValueError("a comparison needs rows, and there is none")
        self.rows = rows
        self.loss = loss
        self.intercept = intercept
        self.best = best
        self.targets = rows.targets
        self.classes = int(rows.targets.max()) + 1 if loss.code == SOFTMAX else 0
        losses.check_targets(loss, rows.targets, self.classes)
        self.weights = np.ones(len(rows)) if rows.weights is None else rows.weights
        self.scale = 1.0 if math.isinf(loss.lipschitz) else loss.lipschitz  # of its slopes
        self.delay = 0  # of labels, in rows
        self.patience = math.inf  # the seconds after which a rival stops

    def in_units(self, factors: Float) -> "Stream":
        """Return the stream with each column multiplied by its factor."""
        rows = self.rows
        by_value = factors if rows.indices is None else factors[rows.indices]
        with np.errstate(over="ignore"):
            moved = replace(rows, values=rows.values * by_value)
        moved.refuse_infinity()
        best = self.best
        if best is not None:
            u = best.weights
            best = best._replace(weights=u._replace(features=u.features / factors))
        made = Stream(moved, self.loss, self.intercept, best)
        made.delay = self.delay
        return made

    @cached_property
    def X(self) -> Any:
        """The values with their constant, sparse; rows without weight left out."""
        return csr_array(with_constant(matrix(self.rows), self.intercept))[self.weights > 0]

    def average(self, scores: Float) -> float:
        """Return the average loss from the second row on; it saturates at the largest float.

        Before the first label no forecaster knows more than another. A single row counts.
        """
        weights = self.weights[: len(scores)].copy()  # a rival may have stopped early
        if np.count_nonzero(weights) > 1:
            weights[np.argmax(weights > 0)] = 0
        share = weights / weights.sum() if weights.any() else weights
        with np.errstate(over="ignore"):
            losses = self.loss.value(self.targets[: len(scores)], scores)
            return min(float(np.sum(share * losses)), LARGEST)

    def verdict(self, scores: Float, others: Float) -> Verdict | None:
        """Return the test of whether these scores are worse than others, from the second row on."""
        rows = min(len(scores), len(others))
        weights = self.weights[:rows].copy()
        weights[np.argmax(weights > 0)] = 0
        with np.errstate(over="ignore", invalid="ignore"):
            losses = self.loss.value(self.targets[:rows], scores[:rows])
            test = LossDifference()
            test.add(losses - self.loss.value(self.targets[:rows], others[:rows]), weights)
        return test.verdict()

    def total(self, scores: Float) -> float:
        """Return the sum of the losses of all rows, as regrets count them."""
        with np.errstate(over="ignore"):
            losses = self.loss.value(self.targets, scores)
            return min(float(np.sum(self.weights * losses)), LARGEST)

    def trajectory(self, scores: Float, u: Comparator) -> Trajectory:
        """Return the run, for a regret bound."""
        g = self.weights * self.loss.derivative(self.targets, scores) / self.scale
        comparator = np.append(u.weights.intercept, u.weights.features)
        return Trajectory(self.X, g[self.weights > 0], comparator)


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
    patience: float = math.inf,
    told: Callable[[str], object] = lambda name: None,
    delay: int = 0,
) -> Comparison:
    """Run several learners over the rows, one after the other.

    Parameters
    ----------
    rows : Rows
        Rows with targets, in the order in which they are learned.
    learners : names or learners, optional
        By default all that support the loss. A learner instance is copied and used as it is.
        "sklearn", "vw" and "river" are the rivals in `unitless.compare.rivals`.
    loss : str or Loss
        With "softmax" the targets are 0, 1, 2, ...
    units : "random" or one factor per column, optional
        Repeat with columns multiplied by these; "random": powers of two from 2^-12 to 2^12.
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
    patience : float
        A rival stops after this many times a second plus the time of the slowest learner before it.
    delay : int
        How many rows later than the next row labels arrive, for learners that use recent labels;
        by default every label is known before the next row.
    told : function of a name
        Called before each learner starts, and before the best weights are computed.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X[:, :3], 2 * y - 1)
    >>> made = compare(rows, ["full", "ogd", "nag"], units="random")
    >>> for entry in made.entries:
    ...     print(f"{entry.learner:5} {entry.loss:8.4f} {entry.elsewhere.loss:11.4f}")
    full    0.3182      0.3182
    nag     0.5800      0.5800
    ogd   145.6135 825294.1965
    """
    stream = Stream(rows, losses.get(loss), intercept, best)
    stream.delay = delay
    lines = _lines(registry.REGISTRY if learners is None else learners, tune)
    factors = None if units is None else _factors(units, rows.columns, seed)
    told("the best weights in hindsight")
    if best is None and regret and has_known_conjugate(stream.loss):
        with suppress(RuntimeError):  # no solver finds them
            stream.best = best_comparator(stream.loss, rows, intercept=intercept)
    other = None if factors is None else stream.in_units(factors)
    entries: list[Entry] = []
    left_out: dict[str, str] = {}
    first = None
    for line in lines:
        told(line.label)
        stream.patience = patience * (1 + max((e.seconds for e in entries), default=0))
        try:
            entry, _, scores = _run(line, stream, other)
        except ValueError as error:
            left_out[line.label] = str(error)
            continue
        first = scores if first is None else first
        if first is not None and scores is not None:
            entry = entry._replace(verdict=stream.verdict(scores, first))
        if entry.rows < len(rows) and first is not None:
            entry = entry._replace(loss_of_first=stream.average(first[: entry.rows]))
        entries.append(entry)
    entries.sort(key=_size)
    sizes = [_size(entry) for entry in entries]
    entries = [entry._replace(rank=sizes.index(_size(entry)) + 1) for entry in entries]
    named = (entries, left_out, lines[0].label if lines else "")
    return Comparison(stream.loss.name, len(rows), rows.columns, stream.best, factors, *named)


def _lines(learners: Iterable[str | Learner], tune: bool | Sequence[float]) -> list[Line]:
    """The lines of the table: one per learner, and one for its best rate if rates are tuned."""
    rates = RATES if tune is True else tune or ()
    lines = []
    for choice in learners:
        if isinstance(choice, Learner):
            lines.append(Line(choice.name, choice))
            continue
        has_rate = choice not in RIVALS and _rate(registry.get(choice))
        lines.append(Line(choice, choice))
        if rates and has_rate:
            lines.append(Line(choice + TUNED, choice, rates))
    return lines


def _size(entry: Entry) -> float:
    """The loss; learners that diverged come last."""
    return math.inf if math.isnan(entry.loss) else entry.loss


def _factors(units: object, columns: int, seed: int) -> Float:
    if isinstance(units, str):
        if units != "random":
            raise ValueError(f"units = {units!r}: use 'random', or one factor per column")
        random = np.random.default_rng(seed)
        return np.ldexp(
            1.0, random.integers(-MAX_RANDOM_EXPONENT, MAX_RANDOM_EXPONENT + 1, columns)
        )
    factors = np.asarray(units, dtype=np.float64)
    is_valid = np.isfinite(factors) & (factors != 0)
    if factors.shape != (columns,) or not is_valid.all():
        raise ValueError(f"units: {columns} columns need {columns} finite factors, none of them 0")
    return factors


def _rate(kind: Any) -> str:
    """Return the parameter that is the learning rate or its inverse; empty if there is none."""
    has_rate = "rate" in inspect.signature(kind).parameters
    return "rate" if has_rate else getattr(kind, "inverse_rate", "")


def new_learner(choice: str | Learner, stream: Stream, **parameters: float) -> Learner:
    """Return a new learner for the loss of the stream."""
    if isinstance(choice, Learner):
        if choice.loss != stream.loss:
            raise ValueError(f"it has the {choice.loss.name} loss, not {stream.loss.name}")
        return deepcopy(choice)
    kind: Any = registry.get(choice)
    if stream.delay and kind.has_two_answers:
        parameters["delay"] = stream.delay
    if stream.classes:
        return with_classes(kind, stream.classes, intercept=stream.intercept, **parameters)
    return kind(stream.loss.name, intercept=stream.intercept, **parameters)


def _run(line: Line, stream: Stream, other: Stream | None) -> Run:
    """Run a learner in both units, and find its regret."""
    entry, learner, scores = _best_pass(line, stream)
    if scores is not None and stream.best is not None and len(scores) == len(stream.rows):
        regret = stream.total(scores) - stream.best.infimum
        bound = None if learner is None else _bound(learner, scores, stream, stream.best)
        entry = entry._replace(regret=regret, bound=bound)
    if other is not None:
        other.patience = stream.patience
        there = _best_pass(line, other)
        moved = math.nan
        if scores is not None and there.scores is not None:
            both = min(len(scores), len(there.scores))
            with np.errstate(over="ignore"):
                moved = float(np.abs(scores[:both] - there.scores[:both]).max())
        elsewhere = Elsewhere(there.entry.loss, min(moved, LARGEST), there.entry.diverged)
        entry = entry._replace(elsewhere=elsewhere)
    return Run(entry, learner, scores)


def _best_pass(line: Line, stream: Stream) -> Run:
    """Run one pass, or one pass per learning rate, of which the best counts."""
    given = {}
    if isinstance(line.choice, str) and line.choice not in RIVALS:
        kind: object = registry.get(line.choice)
        for need in getattr(kind, "needs", ()):
            value = parameter_in_hindsight(need, kind, stream)
            if value is not None:
                given[need] = value
    if not line.rates:
        return _pass(line, stream, given)
    name = _rate(kind)
    tried = {}
    for rate in line.rates:
        setting = {name: rate if name == "rate" else 1 / rate}
        tried[rate] = _pass(line, stream, given | setting)
    by_rate = {rate: run.entry.loss for rate, run in tried.items()}
    best = min(tried.values(), key=lambda run: _size(run.entry))
    return best._replace(entry=best.entry._replace(rates=by_rate))


def parameter_in_hindsight(name: str, kind: Any, stream: Stream) -> float | None:
    """Return a parameter that a method must know beforehand; None if it is not known either."""
    if name == "horizon":
        return max(int((stream.weights > 0).sum()), 1)
    if name == "bound":
        weights = stream.weights[stream.weights > 0]
        slopes = Trajectory(stream.X, weights, np.empty(0))
        with np.errstate(over="ignore"):
            largest = float(slopes.gradient_sizes(kind.bound_is_euclidean).max(initial=0))
        return min(largest, LARGEST) or 1.0
    best = stream.best
    if best is None or not best.attained:
        return None
    u = best.weights
    if name == "radius":
        return float(np.abs(u.features).sum() + abs(u.intercept)) or 1.0
    return float(np.abs(predictions(stream.rows, u)).max()) or 1.0  # C


def _pass(line: Line, stream: Stream, given: dict[str, float]) -> Run:
    learner = None if line.choice in RIVALS else new_learner(line.choice, stream, **given)
    start = time.perf_counter()
    scores = None
    diverged = None
    loss = math.nan
    try:
        if learner is None:
            task = (stream.rows, stream.loss, stream.classes)
            scores = rival_scores(line.label, *task, stream.patience)
        else:
            scores = learner.learn(stream.rows)
    except Diverged as error:
        diverged = error.row
    seconds = time.perf_counter() - start
    rows = len(stream.rows)
    if scores is not None:
        loss = stream.average(scores)
        rows = len(scores)
    return Run(Entry(line.label, loss, rows, seconds, given, diverged), learner, scores)


def _bound(learner: Any, scores: Float, stream: Stream, best: Comparator) -> float | None:
    """Return the bound on the regret against the best weights in hindsight."""
    promise = None
    with np.errstate(over="ignore", invalid="ignore"), suppress(OverflowError):
        if learner.theorem is not None or learner.name in ("blend", "linear_blend"):
            promise = _theorem(learner, best, stream.X.shape[0])
        elif hasattr(learner, "regret_bound"):
            promise = learner.regret_bound(stream.trajectory(scores, best))
            promise = None if promise is None else promise * stream.scale
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
