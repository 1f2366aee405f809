"""Is the model better than a baseline? Tests that hold at any time, fed by an evaluation.

Baselines of these tests know only the past: the best constant of the rows up to the last power of
two, and the label of the row before. For classes, the constant has the shares of Krichevsky and
Trofimov, (count + 1/2) / (rows + classes / 2), and the last class has the share with which it was
right so far; other classes share the rest.
"""

import numpy as np
from numpy.typing import NDArray

from unitless.evaluation.baselines import Constant
from unitless.evaluation.metrics import Facts, Float, RunningMetrics
from unitless.losses import Loss
from unitless.uncertainty.loss_differences import LossDifference

NAMES = "constant", "last", "constant_not_fresh"


class BaselineTests:
    """Tests against the constant and the last label, and without recent labels the constant."""

    def __init__(self, delay: int = 0) -> None:
        self.constant = LossDifference()
        self.last = LossDifference()
        self.constant_not_fresh = LossDifference()
        self.scores = np.zeros(0)  # of the constant: empty until one is known
        self.recent = np.full(1 + delay, np.nan)  # labels, the newest at the end
        self.pairs = np.zeros(2)  # rows with a label before them, and those with the same

    def add(self, targets: Float, losses: Float, late: Float, weights: Float, loss: Loss) -> None:
        """Count rows with the losses of both answers, in order."""
        baseline = self._of_constant(targets, loss)
        if baseline is not None:
            self.constant.add(losses - baseline, weights)
            self.constant_not_fresh.add(late - baseline, weights)
        else:
            self.constant.add(np.zeros(len(targets)), np.zeros(len(targets)))
            self.constant_not_fresh.add(np.zeros(len(targets)), np.zeros(len(targets)))
        labels = np.concatenate([self.recent, targets])
        before = labels[: len(targets)]
        self.recent = labels[len(targets) :].copy()
        known = ~np.isnan(before)
        baseline = self._of_last(targets, before, known, loss)
        self.last.add(np.where(known, losses - baseline, 0.0), weights * known)

    def _of_constant(self, targets: Float, loss: Loss) -> Float | None:
        if not len(self.scores):
            return None
        if loss.targets == "classes":  # a class that is new since then has no count
            codes = np.minimum(targets.astype(np.int64), len(self.scores) - 1)
            return -self.scores[codes]
        return loss.value(targets, np.full(len(targets), self.scores[0]))

    def _of_last(
        self, targets: Float, before: Float, known: NDArray[np.bool_], loss: Loss
    ) -> Float:
        if loss.targets not in ("signs", "classes"):
            return np.where(known, loss.value(targets, np.where(known, before, targets)), 0.0)
        same = targets == before
        counts = np.cumsum(np.vstack([self.pairs, np.column_stack([known, same])]), axis=0)
        self.pairs = counts[-1].copy()
        share = (counts[:-1, 1] + 0.5) / (counts[:-1, 0] + 1)
        others = max(len(self.scores) - 2, 1)  # the last score is that of an unknown class
        return -np.log(np.where(same, share, (1 - share) / others))

    def learn_constant(self, tally: RunningMetrics, constant: Constant | None) -> None:
        """Take the constant of the rows so far, to be used from now on."""
        if constant is None:
            return
        if tally.task == "regression":
            self.scores = np.atleast_1d(np.asarray(constant.score, dtype=float))
            return
        counts = np.append(tally.classes, 0.0) if tally.task == "multiclass" else tally.classes
        shares = (counts + 0.5) / (counts.sum() + len(counts) / 2)
        if tally.task == "multiclass":
            self.scores = np.log(shares)
        elif tally.loss.name == "logistic":
            self.scores = np.log(shares[1:] / shares[:1])
        else:
            self.scores = np.where(shares[1:] >= 0.5, 1.0, -1.0)

    def facts(self) -> Facts:
        """What is known by now, by name: mean difference, interval, and the row of the decision."""
        found = {name: getattr(self, name).verdict() for name in NAMES}
        return {name: each._asdict() for name, each in found.items() if each is not None}
