"""The Blend: one learner that, untuned and in any unit, is close to the best of many.

Three steps a row (docs/blend.md has the reasons and what each part is worth)::

    panel   members of different kinds look at different views of the row and give a score each
    stacker online Newton or ridge learns how to combine their scores
    mixture weighs the stacker and its members by how well they forecast so far, so that the whole
            loses little more than the best of them: the overhead is known at any moment

For the logistic loss Algorithms 1 and 2 of the paper are members. They lend the blend Theorems 1
and 2, with that overhead added. Members that stop paying for themselves leave by a running rule.
"""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from unitless.blend import experts as recipes
from unitless.blend.ensemble import SQUARES, SUM, UNIT, Ensemble
from unitless.blend.ensemble import T as TRIALS
from unitless.blend.experts import Expert
from unitless.blend.hedge import HedgeMixture
from unitless.blend.logistic import LogisticMixture
from unitless.blend.mixture import Mixture
from unitless.blend.mixture_bound import Guarantee
from unitless.blend.softmax import SoftmaxMixture
from unitless.blend.squared import SquaredMixture
from unitless.blend.target_scaler import UNIT as COUNTED
from unitless.blend.target_scaler import TargetScaler
from unitless.learners.base import EMPTY, Weights
from unitless.learners.transitional import (
    OldLearner,
    arrays_of,
    cut,
    powers_of_two,
    rescaled_units,
)
from unitless.losses import (
    ABSOLUTE,
    HINGE,
    HUBER,
    LOGISTIC,
    QUANTILE,
    SOFTMAX,
    SQUARED,
    Loss,
)
from unitless.rows import Rows, as_rows
from unitless.units import factors_by_column as unit_factors

KINDS: dict[int, tuple[type[Mixture] | type[HedgeMixture], list[Expert], list[Expert]]] = {
    LOGISTIC: (LogisticMixture, recipes.LOGISTIC, recipes.LOGISTIC_LINEAR),
    SQUARED: (SquaredMixture, recipes.SQUARED, recipes.SQUARED_LINEAR),
    SOFTMAX: (SoftmaxMixture, recipes.SOFTMAX, recipes.SOFTMAX_LINEAR),
    HINGE: (HedgeMixture, recipes.HINGE, recipes.HINGE_LINEAR),
    ABSOLUTE: (HedgeMixture, recipes.REAL, recipes.REAL_LINEAR),
    QUANTILE: (HedgeMixture, recipes.REAL, recipes.REAL_LINEAR),
    HUBER: (HedgeMixture, recipes.REAL, recipes.REAL_LINEAR),
}


WAY = 16  # points between no score and the score, where contributions take slopes


class Blend(OldLearner):
    """The default learner.

    Parameters
    ----------
    loss : name or Loss
    views : "auto" or "linear"
        "linear" keeps to members whose scores are linear in x (raw and centred values).

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> rows = as_rows(X, 2 * y - 1)
    >>> learner = Blend()
    >>> print(f"{learner.loss.value(rows.targets, learner.learn(rows)).mean():.4f}")
    0.1300
    """

    name: ClassVar[str] = "blend"
    linear: ClassVar[bool] = False
    invariance: ClassVar[Any] = "unit"
    needs_lipschitz: ClassVar[bool] = False
    target_invariance: ClassVar[str] = "affine"

    def __init__(
        self,
        loss: str | Loss = "logistic",
        *,
        views: Literal["auto", "linear"] = "auto",
        intercept: bool = True,
        classes: int = 0,
    ) -> None:
        super().__init__(loss, intercept=intercept, classes=classes)
        if views not in ("auto", "linear"):
            raise ValueError(f"views = {views!r}: choose 'auto' or 'linear'")
        if self.loss.code not in KINDS:
            raise ValueError(f"there is no blend for the {self.loss.name} loss")
        self.views = views
        mixer, members, linear = KINDS[self.loss.code]
        members = linear if views == "linear" else members
        several = {"classes": classes} if classes else {}
        self.ensemble = Ensemble(members, loss=self.loss, intercept=self.intercept, **several)
        self.mixture = mixer(members, self.loss)
        self.target_scaler = None
        if self.loss.targets == "reals":  # the delta of Huber's loss is in their unit, so it stays
            self.target_scaler = TargetScaler(1.0 if self.loss.code == HUBER else 0.0)
            self.takes_every_target = False

    @property
    def state(self) -> tuple[Any, ...]:
        """All that is remembered: the panel's, its learners' and the mixer's."""
        panel = self.ensemble
        return (
            panel.slots, panel.profile, panel.totals, panel.moments.state, panel.normalised.state,
            tuple(learner.state for learner in panel.learners if learner is not None),
            self.mixture.state, () if self.target_scaler is None else (self.target_scaler.state,),
        )  # fmt: skip

    def _check(self, targets: NDArray[Any], weights: NDArray[Any]) -> None:
        if self.target_scaler is not None:
            self.target_scaler.check(targets, weights)

    def _reserve(self, columns: int) -> None:
        self.ensemble._reserve(columns)

    def _learn(self, values, indices, starts, columns, targets, weights, scores):
        block = values, indices, starts, columns
        new = False
        if self.target_scaler is not None:
            counts = weights > 0 if len(weights) else slice(None)
            new, targets = not self.target_scaler.state[0], targets.copy()
            targets[counts] = self.target_scaler.learn(targets[counts])

        def tell(first: int, last: int, found: NDArray[Any] | None) -> None:
            self.mixture.drop(self.ensemble.alive)
            if found is None:
                self._look(block, first, last, weights, scores)
                return
            own = weights[first:last] if len(weights) else weights
            self.mixture.learn(found, targets[first:last], own, scores[first:last])

        self.ensemble.learn(block, targets, weights, tell)
        return self._shown(scores, weights, new)

    def _shown(self, scores, weights, new):
        """Scores in the targets' unit; with `new`, those made before any target was known are 0."""
        if self.target_scaler is not None:
            scores[:] = self.target_scaler.decode(scores)
            if new:
                first = np.flatnonzero(weights)[:1] if len(weights) else [0]
                scores[: first[0] + 1 if len(first) else None] = 0.0
        return scores

    def _predict(self, values, indices, starts, columns, weights, scores):
        self._look((values, indices, starts, columns), 0, len(scores), weights, scores)
        return self._shown(scores, weights, new=False)

    def _look(self, block, first, last, weights, scores):
        """Fill in the scores of these rows, each as if it were the next trial with its weight."""
        *own, given = cut(*block, weights, first, last)
        given = np.where(given > 0, given, 1.0)  # a row to be left out is scored as if it counted
        for panel, rows, found in self.ensemble.predict(tuple(own), given, last - first):
            if len(rows) == 0:
                continue
            mixer = self.mixture
            if panel is not self.ensemble:
                mixer = deepcopy(mixer)
                mixer.drop(panel.alive)
            out = self._room(len(rows))
            own_weights = given[rows] if len(given) else given
            scores[first + rows] = mixer.predict(found, out, own_weights)

    # Looking inside

    def mixture_weights(self) -> dict[str, float]:
        """The weight of each member, and of the stacker, in the mixture now."""
        return self.mixture.mixture_weights()

    def history(self) -> list[tuple[int, dict[str, float]]]:
        """The same after 1, 2, 4, 8, ... trials."""
        return self.mixture.history()

    def guarantees(self) -> dict[str, Guarantee]:
        """By member: the blend's loss is at most the member's plus an overhead, both in numbers.

        Of real targets the first is known to all: its trial costs nobody anything here.
        """
        claims = self.mixture.guarantees()
        if self.target_scaler is None:
            return claims
        size = 1 / float(self.target_scaler.state[COUNTED] or 1.0)
        again = size if self.loss.code == SQUARED else 1.0
        return {name: claim.times(size).times(again) for name, claim in claims.items()}

    def rescale(self, factors: ArrayLike | Mapping[Any, float]) -> Self:
        """From now on column i arrives multiplied by factors[i]; to the bit for powers of two."""
        panel = self.ensemble
        factors = unit_factors(factors, self.names.columns, len(panel.slots))
        columns = np.flatnonzero(panel.slots >= 0)
        slots = panel.slots[columns]
        mantissas, exponents = powers_of_two(factors[columns])
        units = panel.profile[slots, UNIT]
        seen = units > 0
        units[seen] = rescaled_units(units[seen], exponents[seen], columns[seen])
        panel.profile[slots, UNIT] = units
        other = mantissas != 1
        panel.rescale(slots[other], mantissas[other])
        return self

    def add_class(self) -> None:
        """One class more, whose score starts at 0."""
        if self.loss.code != SOFTMAX:
            super().add_class()
        self.classes += 1
        for learner in self.ensemble.learners:
            if learner is not None:
                learner.add_class()

    def contributions(self, rows: Rows) -> tuple[NDArray[Any], NDArray[Any]]:
        """(base, by column) of one row: sum_k slope_k z_{k,i} over the members k.

        z_{k,i} is what feature i adds to the score of member k, and slope_k what that score adds to
        the blend's, on average over the way from 0. The base is what remains: intercepts, trackers
        and the mixing itself.
        """
        score = self.predict(rows)[0]
        block = arrays_of(rows)
        panel, _, found = self.ensemble.predict(block, EMPTY, 1)[-1 if rows.columns else 0]
        mixer = deepcopy(self.mixture)
        mixer.drop(panel.alive)
        parts = panel.parts(block, found[0])
        by_slot = _through(mixer, found[0], parts)
        if self.target_scaler is not None:
            by_slot = by_slot / (self.target_scaler.state[2] or 1.0)
        out = np.zeros((len(self.ensemble.slots), *by_slot.shape[1:]))
        used = np.flatnonzero(self.ensemble.slots >= 0)
        out[used] = by_slot[self.ensemble.slots[used]]
        return score - out.sum(axis=0), out

    def weights(self) -> Weights:
        """What one running deviation of x_i, either way, changes in the score at the means, divided
        by that deviation. Once rows are lists, at x = 0.
        """
        panel = self.ensemble
        used = np.flatnonzero(panel.slots >= 0)
        slots, n = panel.slots[used], max(panel.totals[TRIALS], 1.0)
        records = panel.profile[slots]
        if panel.dense:
            moments = panel.moments.state
            there = np.maximum(n - moments.missing[slots], 1)
            mean, variance = moments.mean[slots], moments.m2[slots] / there
        else:  # what is below the rounding of the squares is a constant
            mean = records[:, SUM] / n
            variance = records[:, SQUARES] / n - mean**2
            variance[variance < 2.0**-40 * mean**2] = 0
        with np.errstate(divide="ignore", invalid="ignore"):
            mean, deviation = (np.nan_to_num(a / records[:, UNIT]) for a in (mean, variance**0.5))
        here, *there = (self.predict(self._probe(used, mean, s * deviation)) for s in (0, 1, -1))
        out = np.zeros((len(panel.slots), *here.shape[1:]))
        with np.errstate(divide="ignore", invalid="ignore"):
            change = (there[0] - there[1]).T / deviation / 2
        out[used] = np.nan_to_num(change.T, posinf=0, neginf=0)
        return Weights(here[0] - mean @ out[used] if panel.dense else here[0], out)

    def _probe(self, columns: Any, mean: Any, step: Any) -> Rows:
        """Rows that differ from the means, or from 0 once rows are lists, by one step each."""
        n, shape = len(columns), (max(len(columns), 1), len(self.ensemble.slots))
        if not self.ensemble.dense:
            return as_rows(csr_array((step, (np.arange(n), columns)), shape=shape))
        X = np.zeros(shape)
        X[:, columns] = mean
        X[np.arange(n), columns] += step
        return as_rows(X)


def _through(mixer: Mixture | HedgeMixture, z: NDArray[Any], parts: NDArray[Any]) -> NDArray[Any]:
    """sum_k slope_k parts_k, the slopes being means over the way from no score to the scores z.

    (At z itself the stacker's inputs may be clipped, and then they have no slope.) Slopes are
    differences of the mixer's own scores. z is (members,) or (members, classes), parts (members,
    slots) or (members, slots, classes).
    """
    flat, classes = z.reshape(-1), z.shape[1:]
    steps = np.diag(1e-5 * np.maximum(1, np.abs(flat)))
    points, shares = np.polynomial.legendre.leggauss(WAY)
    probes = np.concatenate([a * flat + way * steps for a in (1 + points) / 2 for way in (1, -1)])
    shape = WAY, 2, len(flat), *classes
    out = mixer.predict(probes.reshape(-1, *z.shape), np.empty((len(probes), *classes)))
    change = np.einsum("a,ak...->k...", shares / 2, -np.diff(out.reshape(shape), axis=1)[:, 0])
    slopes = (change.T / (2 * steps.diagonal())).T
    if not classes:
        return slopes @ parts
    slopes = slopes.reshape(*z.shape, *classes)  # of score c' in the score of member k for class c
    return np.einsum("kcd,ksc->sd", slopes, parts)
