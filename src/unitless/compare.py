"""Many learners, one stream, one table: what each of them lost, and what a change of units does.

Every learner passes once over the rows, in their order, and predicts each before it learns it. What
a method must know beforehand (its declared `needs`) is taken from the stream in hindsight, which
flatters it, and the table says so:

========= ======================================================================================
bound     the largest |g x| that slopes |g| <= 1 allow; of methods for each feature, |g x_i|
horizon   the number of rows
radius    |u|_1 of the best weights in hindsight; the default where none are best
C         their largest |prediction|; likewise
========= ======================================================================================

A learner that diverges says in which row, ranks last, and the others go on.
"""

import inspect
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, hstack
from scipy.stats import rankdata

from unitless import learners as registry
from unitless import losses
from unitless.learners.baselines.played import Played
from unitless.learners.one_a_class import OneAClass
from unitless.learners.protocol import Learner
from unitless.learners.rowwise import Diverged
from unitless.losses import SOFTMAX, Loss
from unitless.regret import BlendCertificate, Comparator, best_comparator, certificate
from unitless.regret.design import matrix, predictions
from unitless.rows import Rows

__all__ = ["RATES", "Comparison", "Elsewhere", "Entry", "compare"]

Float = NDArray[np.float64]

RATES = tuple(float(f"1e{k}") * m for k in range(-10, 3) for m in (1, 3))
"""The rates among which the best in hindsight is looked for."""

FARTHEST = 12
"""Random units are powers of two, up to this one and down to its inverse."""

TUNED = ", best rate"
LARGEST = float(np.finfo(np.float64).max)


class Elsewhere(NamedTuple):
    """How an entry fared on the same rows in other units."""

    loss: float
    """Average loss; NaN if it diverged."""
    moved: float
    """The largest change of a prediction; NaN if it diverged in either units."""
    diverged: int | None
    """The row before which it diverged."""


class Entry(NamedTuple):
    """One line of the table."""

    learner: str
    loss: float
    """Average loss, by sample weight, of predictions made before the label; NaN if it diverged."""
    regret: float | None
    """Total loss above that of the best fixed weights in hindsight, where these are known."""
    bound: float | None
    """What a theorem promised in advance about that regret, where there is one."""
    rank: int
    """By loss; equals share the better rank."""
    seconds: float
    """Of the pass, without the time to compile."""
    given: dict[str, float]
    """Parameters that were taken from the stream in hindsight."""
    rates: dict[float, float]
    """Average loss by rate of those tried, NaN where it diverged; of tuned lines only."""
    diverged: int | None
    """The row before which it diverged."""
    elsewhere: Elsewhere | None


class Comparison(NamedTuple):
    """The table, best first; print it, or take its `cells`."""

    loss: str
    rows: int
    columns: int
    best: Comparator | None
    """The best fixed weights in hindsight; None where they are not known."""
    factors: Float | None
    """By which the columns were multiplied for the second run."""
    entries: list[Entry]
    left_out: dict[str, str]
    """Learners that could not take part, and why."""

    def entry(self, learner: str) -> Entry:
        """The line of that name."""
        return next(entry for entry in self.entries if entry.learner == learner)

    def cells(self) -> list[list[str]]:
        """The table as text, the first row its headings."""
        return [_headings(self), *(_line(self, entry) for entry in self.entries)]

    def notes(self) -> list[str]:
        """What is to be said below the table."""
        return list(_notes(self))

    def __str__(self) -> str:
        cells = self.cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = [
            "  ".join(
                cell.ljust(width) if place in (1, len(row) - 1) else cell.rjust(width)
                for place, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in cells
        ]
        return "\n".join([*lines, *self.notes()])


def compare(
    rows: Rows,
    learners: Iterable[str | Learner] | None = None,
    *,
    loss: str | Loss = "logistic",
    intercept: bool = True,
    units: Literal["random"] | ArrayLike | None = None,
    tune: bool | Sequence[float] = False,
    seed: int = 0,
    best: Comparator | None = None,
    told: Callable[[str], object] = lambda name: None,
) -> Comparison:
    """Let learners pass over the rows, one after another.

    Parameters
    ----------
    rows : Rows
        With targets, in the order in which they are to be learned.
    learners : names or learners, optional
        By default all that take the loss. A learner of one's own is copied and used as it is.
    loss : str or Loss
        With "softmax" the targets are 0, 1, 2, ...
    intercept : bool
    units : "random" or one factor a column, optional
        Repeat everything on columns multiplied by these: powers of two from 2^-12 to 2^12.
    tune : bool or rates
        Add a line "best rate" for each method with a rate: the best in hindsight, of `RATES` or of
        those given.
    seed : int
        Of random units.
    best : Comparator, optional
        What `best_comparator` found for these rows, if that is known already.
    told : function of a name
        Called before each learner starts.

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
    stream = _Stream(rows, chosen, intercept, best)
    named: list[str | Learner] = list(registry.REGISTRY if learners is None else learners)
    factors = None if units is None else _factors(units, rows.columns, seed)
    other = None if factors is None else stream.in_units(factors)
    rates = () if tune is False else RATES if tune is True else tuple(tune)
    pairs: list[tuple[_Run, _Run | None]] = []
    left_out: dict[str, str] = {}
    for plan in _plans(named, rates):
        told(plan.label)
        try:
            _warm_up(plan, stream)
            pairs.append((_run(plan, stream), None if other is None else _run(plan, other)))
        except ValueError as error:
            left_out[plan.label] = str(error)
    entries = _entries(pairs, stream)
    return Comparison(chosen.name, len(rows), rows.columns, stream.best, factors, entries, left_out)


# The stream, and what it tells in hindsight


class _Stream:
    """Rows, a loss, and what is known of them in hindsight, found when it is first asked for."""

    def __init__(
        self, rows: Rows, loss: Loss, intercept: bool, best: Comparator | None = None
    ) -> None:
        if rows.targets is None:
            raise ValueError("a comparison needs targets: as_rows(X, targets)")
        if not len(rows):
            raise ValueError("a comparison needs rows, and there is none")
        self.rows, self.loss, self.intercept = rows, loss, intercept
        self.targets = rows.targets
        self.classes = int(rows.targets.max()) + 1 if loss.code == SOFTMAX else 0
        losses.check_targets(loss, rows.targets, self.classes)
        self.weights = np.ones(len(rows)) if rows.weights is None else rows.weights
        self._best = best

    @cached_property
    def best(self) -> Comparator | None:
        """The best fixed weights; not known for several classes, and where no solver finds them."""
        if self._best is not None or self.loss.code == SOFTMAX:
            return self._best
        try:
            return best_comparator(self.loss, self.rows, intercept=self.intercept)
        except RuntimeError:
            return None

    def in_units(self, factors: Float) -> "_Stream":
        """The same with each column multiplied by its factor; the best weights move along."""
        rows, best = self.rows, self.best
        by_value = factors if rows.indices is None else factors[rows.indices]
        moved = replace(rows, values=rows.values * by_value)
        if best is not None:
            u = best.weights
            best = best._replace(weights=u._replace(features=u.features / factors))
        return _Stream(moved, self.loss, self.intercept, best)

    @cached_property
    def X(self) -> Any:
        """The values with their constant, sparse; rows without weight left out."""
        constant = np.full((len(self.rows), 1), float(self.intercept))
        full = hstack([csr_array(constant), csr_array(matrix(self.rows))], format="csr")
        return full[self.weights > 0]

    def average(self, scores: Float) -> float:
        """The average loss; like a loss, it saturates at the largest float."""
        share = self.weights / self.weights.sum() if self.weights.any() else self.weights
        with np.errstate(over="ignore"):
            return min(float(np.sum(share * self.loss.value(self.targets, scores))), LARGEST)

    def total(self, scores: Float) -> float:
        """The sum of losses, likewise."""
        with np.errstate(over="ignore"):
            paid = np.sum(self.weights * self.loss.value(self.targets, scores))
        return min(float(paid), LARGEST)

    def played(self, scores: Float, u: Comparator) -> Played:
        """The run, as a regret bound wants it."""
        scale = 1.0 if math.isinf(self.loss.lipschitz) else self.loss.lipschitz
        g = self.weights * self.loss.derivative(self.targets, scores) / scale
        return Played(
            self.X, g[self.weights > 0], np.append(u.weights.intercept, u.weights.features)
        )


def _needed(kind: type[Learner], stream: _Stream) -> dict[str, float]:
    """The parameters that a method must know beforehand."""
    return {
        name: value
        for name in getattr(kind, "needs", ())
        if (value := _hindsight(name, kind, stream)) is not None
    }


def _hindsight(need: str, kind: Any, stream: _Stream) -> float | None:
    """One of them; None where hindsight does not tell, and the default remains."""
    if need == "horizon":
        return max(int((stream.weights > 0).sum()), 1)
    if need == "bound":
        slopes = Played(stream.X, stream.weights[stream.weights > 0], np.empty(0))
        with np.errstate(over="ignore"):
            largest = float(slopes.largest(kind.bound_is_euclidean).max(initial=0))
        return min(largest, LARGEST) or 1.0
    best = stream.best
    if best is None or not best.attained:
        return None
    u = best.weights
    if need == "radius":
        return float(np.abs(u.features).sum() + abs(u.intercept)) or 1.0
    return float(np.abs(predictions(stream.rows, u)).max()) or 1.0  # C


# Runs


class _Plan(NamedTuple):
    """A line of the table before it is run."""

    label: str
    choice: str | Learner
    rates: tuple[float, ...] = ()
    """To choose from in hindsight; none: as it comes."""


class _Run(NamedTuple):
    label: str
    learner: Learner
    given: dict[str, float]
    seconds: float
    scores: Float | None
    diverged: int | None
    rates: dict[float, float]


def _plans(choices: list[str | Learner], rates: tuple[float, ...]) -> list[_Plan]:
    """The lines; an unknown name is an error before anything runs."""
    plans = []
    for choice in choices:
        label = choice if isinstance(choice, str) else choice.name
        plans.append(_Plan(label, choice))
        if isinstance(choice, str) and _rate(registry.get(choice)) and rates:
            plans.append(_Plan(label + TUNED, choice, rates))
    return plans


def _warm_up(plan: _Plan, stream: _Stream) -> None:
    """Compile what must be compiled, so that it does not count as time."""
    with suppress(Diverged):
        _made(plan.choice, stream, {}).learn(stream.rows[:1])


def _rate(kind: type[Learner]) -> str:
    """The parameter that is the method's rate, or one over it; empty if it has none."""
    return "rate" if "rate" in inspect.signature(kind).parameters else _inverse_rate(kind)


def _inverse_rate(kind: Any) -> str:
    return getattr(kind, "inverse_rate", "")


def _made(choice: str | Learner, stream: _Stream, parameters: dict[str, float]) -> Learner:
    """A fresh learner for the stream's loss."""
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
    return OneAClass(kind, classes=stream.classes, **common)


def _run(plan: _Plan, stream: _Stream) -> _Run:
    """One pass, or one a rate, of which the best counts."""
    if isinstance(plan.choice, Learner):
        return _pass(plan, stream, {})
    kind = registry.get(plan.choice)
    needed = _needed(kind, stream)
    if not plan.rates:
        return _pass(plan, stream, needed)
    name, inverse = _rate(kind), bool(_inverse_rate(kind))
    tried = {
        rate: _pass(plan, stream, needed | {name: 1 / rate if inverse else rate})
        for rate in plan.rates
    }
    losses_by_rate = {rate: _average(stream, run) for rate, run in tried.items()}
    chosen = min(tried, key=lambda rate: (math.isnan(losses_by_rate[rate]), losses_by_rate[rate]))
    return tried[chosen]._replace(rates=losses_by_rate)


def _pass(plan: _Plan, stream: _Stream, given: dict[str, float]) -> _Run:
    learner = _made(plan.choice, stream, given)
    started = time.perf_counter()
    try:
        scores, diverged = learner.learn(stream.rows), None
    except Diverged as error:
        scores, diverged = None, error.row
    return _Run(plan.label, learner, given, time.perf_counter() - started, scores, diverged, {})


def _factors(units: Any, columns: int, seed: int) -> Float:
    if isinstance(units, str):
        if units != "random":
            raise ValueError(f"units = {units!r}: give 'random', or one factor a column")
        random = np.random.default_rng(seed)
        return np.ldexp(1.0, random.integers(-FARTHEST, FARTHEST + 1, columns))
    factors = np.asarray(units, dtype=np.float64)
    if factors.shape != (columns,) or not np.isfinite(factors).all() or not factors.all():
        raise ValueError(f"units: {columns} columns need {columns} finite factors, none of them 0")
    return factors


# Results


def _entries(pairs: list[tuple[_Run, _Run | None]], stream: _Stream) -> list[Entry]:
    """The lines of the table, best first."""
    averages = [_average(stream, run) for run, _ in pairs]
    ranks = rankdata([math.inf if math.isnan(x) else x for x in averages], method="min")
    entries = [
        Entry(
            run.label, average, *_regret(run, stream), int(rank), run.seconds, run.given,
            run.rates, run.diverged, None if other is None else _elsewhere(run, other, stream),
        )
        for (run, other), average, rank in zip(pairs, averages, ranks, strict=True)
    ]  # fmt: skip
    return sorted(entries, key=lambda entry: entry.rank)


def _regret(run: _Run, stream: _Stream) -> tuple[float | None, float | None]:
    """The regret, and its bound."""
    best = stream.best
    if run.scores is None or best is None:
        return None, None
    return stream.total(run.scores) - best.infimum, _bound(run, run.scores, stream, best)


def _average(stream: _Stream, run: _Run) -> float:
    return math.nan if run.scores is None else stream.average(run.scores)


def _elsewhere(run: _Run, other: _Run, stream: _Stream) -> Elsewhere:
    moved = math.nan
    if run.scores is not None and other.scores is not None:
        with np.errstate(over="ignore"):
            moved = min(float(np.abs(run.scores - other.scores).max()), LARGEST)
    return Elsewhere(_average(stream, other), moved, other.diverged)


def _bound(run: _Run, scores: Float, stream: _Stream, best: Comparator) -> float | None:
    """What was promised about the regret against the best weights in hindsight."""
    learner: Any = run.learner
    promise = None
    with np.errstate(over="ignore", invalid="ignore"), suppress(OverflowError):
        if learner.theorem is not None or learner.name == "blend":
            promise = _theorem(learner, best, stream.X.shape[0])
        elif hasattr(learner, "promised"):
            promise = learner.promised(stream.played(scores, best))
            if promise is not None and not math.isinf(stream.loss.lipschitz):
                promise *= stream.loss.lipschitz
    if promise is None or not math.isfinite(promise):
        return None
    # where no weights are best, theirs are nearly so, and the regret is against the infimum
    return promise + best.loss - best.infimum


def _theorem(learner: Learner, best: Comparator, trials: int) -> float | None:
    """The sharpest form of a theorem of the paper, the learner's own or lent to it."""
    made = certificate(learner, best.weights)
    if isinstance(made, BlendCertificate):
        claims = [lent.claims[1].sharp for lent in made.lent if lent.trials == trials]
    else:
        claims = [made.given.sharp] if made.given else []
    return min((claim for claim in claims if claim is not None), default=None)


# The table as text


def _headings(made: Comparison) -> list[str]:
    known = ["regret", "bound"] if made.best else []
    units = ["other units", "moved"] if made.factors is not None else []
    return ["rank", "learner", "loss", *known, *units, "µs a row", "given"]


def _line(made: Comparison, entry: Entry) -> list[str]:
    known = [_number(entry.regret), _number(entry.bound)] if made.best else []
    units = [] if made.factors is None else _units(entry)
    given = ", ".join(f"{name} = {value:.4g}" for name, value in entry.given.items())
    time = "" if entry.diverged is not None else f"{entry.seconds / made.rows * 1e6:.2f}"
    return [
        str(entry.rank), entry.learner, _loss(entry.loss, entry.diverged), *known, *units, time,
        given,
    ]  # fmt: skip


def _units(entry: Entry) -> list[str]:
    there = entry.elsewhere
    assert there is not None
    moved = "exactly 0" if there.moved == 0 else f"{there.moved:.2g}"
    return [_loss(there.loss, there.diverged), "" if math.isnan(there.moved) else moved]


def _loss(loss: float, diverged: int | None) -> str:
    return f"{loss:.5g}" if diverged is None else f"diverged in row {diverged}"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.5g}"


def _notes(made: Comparison) -> Iterator[str]:
    yield f"{made.rows} rows, {made.columns} columns, {made.loss} loss, each row predicted first"
    if made.best is not None:
        yield f"regret: total loss above that of the best fixed weights, {made.best}"
    else:
        yield "no regret is shown: the best fixed weights in hindsight are not known"
    if made.factors is not None:
        low, high = np.abs(made.factors).min(initial=1), np.abs(made.factors).max(initial=1)
        yield f"other units: columns times {low:g} to {high:g}; moved: largest change of a score"
    if any(entry.given for entry in made.entries):
        yield "given: parameters that were taken from the rows in hindsight"
    for name, why in made.left_out.items():
        yield f"left out: {name} ({why})"
