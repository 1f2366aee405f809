"""The certificate of a Blend, which follows from those of its members.

The loss of the Blend is at most that of any member plus an overhead that the mixture computes
(`unitless.blend.mixture`). With Algorithms 1 and 2 among the members, the regret(u) of the
Blend is at most

    the bound of the member's theorem + the overhead                            in advance
    the member's certificate A + h.u + (loss of the Blend - loss of the member) at any time
    the loss of the Blend + sum over groups of trials of the least of
        sum v loss*(y, lambda g) + lambda h.u, over lambda and two forecasters  at any time

The last line has the slopes g of the Blend itself and of its linear Newton expert
(`unitless.blend.grouped_slopes`). The smaller of the last two is certified. When a member leaves
the Blend, its bounds hold for the trials until then.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from unitless.blend.blend import Blend
from unitless.blend.grouped_slopes import POWERS, GroupedSlopes
from unitless.blend.mixture import Guarantee
from unitless.core.learner import Learner, Sums, Weights
from unitless.losses import HINGE, LOGISTIC, SOFTMAX
from unitless.regret.certificate_types import (
    TITLE,
    BoundsTable,
    Certificate,
    RegretBounds,
)
from unitless.regret.damped import LAMBDAS, ROUNDING, paid
from unitless.state import Float

CLIPPED = {LOGISTIC: "", SOFTMAX: "", HINGE: "clipped to [-1, 1]"}
"""What the losses in the guarantees are about; other losses clip to the range of the targets."""


class MemberCertificate(NamedTuple):
    """The certificate of one member with a theorem, as it holds for the Blend."""

    member: str
    theorem: str
    trials: int
    """It holds for trials 1 to this one."""
    bounds: list[RegretBounds]
    """Those of the member plus the overhead (theorem) or the actual difference (certificate)."""


class BlendCertificate(NamedTuple):
    """Upper bounds on the loss and the regret of a Blend; print it for a table."""

    loss_name: str
    trials: int
    loss: float
    members: dict[str, Guarantee]
    """By member: the loss of the Blend is at most the member's plus the overhead."""
    by_member: list[MemberCertificate]
    clipped: str
    """How the forecasts of the members are clipped before they are mixed; empty if they are not."""

    def _tables(self) -> list[BoundsTable]:
        title = ("member", "its loss", "blend ahead by", "never behind by", "trials")
        rows = []
        for name, kept in self.members.items():
            ahead = kept.member_loss - kept.loss
            trials = str(kept.last)
            rows.append((name, kept.member_loss, ahead, kept.overhead, trials))
        head = f"blend, {self.loss_name} loss: {self.trials} trials, total loss {self.loss:.5g}"
        tables = [BoundsTable(head, title, rows)]
        for made in self.by_member:
            head = f"{made.theorem}, from {made.member} (trials 1 to {made.trials})"
            tables.append(BoundsTable(head, TITLE, made.bounds))
        return tables

    def _repr_html_(self) -> str:
        return "".join(table.html() for table in self._tables())

    def __str__(self) -> str:
        lines = [str(table) for table in self._tables()]
        if self.clipped:
            lines.append(f"losses of members are those of their forecasts {self.clipped}")
        return "\n".join(lines)


def certify_blend(blend: Blend, u: Weights | ArrayLike | None, ball: float) -> BlendCertificate:
    """The certificate of a Blend.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> blend = Blend()
    >>> scores = blend.learn(as_rows(X, 2 * y - 1))
    >>> made = certify_blend(blend, None, 1.0)
    >>> kept = made.members["Algorithm 2"]
    >>> print(f"{kept.loss:.1f} <= {kept.member_loss:.1f} + {kept.overhead:.1f}")
    75.4 <= 197.1 + 10.4
    """
    guarantees = blend.guarantees()
    by_member = []
    for member, learner in zip(blend.members, blend.experts, strict=True):
        if member.role == "guarantee" and learner is not None:
            own = None if u is None else _by_feature(blend, learner, u)
            made = _member_certificate(guarantees[member.name], learner, own, ball)
            by_slopes = _by_slopes(blend, learner, made, own, ball)
            by_member.append(made._replace(bounds=by_slopes))
    longest = max(guarantees.values(), key=lambda kept: kept.last)
    clipped = CLIPPED.get(blend.loss.code, "clipped to the range of the targets seen before")
    return BlendCertificate(
        blend.loss.name, longest.last, longest.loss, guarantees, by_member, clipped
    )


def _member_certificate(
    kept: Guarantee, learner: Learner, u: Weights | None, ball: float
) -> MemberCertificate:
    from unitless.regret.certificate import certificate

    made = certificate(learner, u, ball=ball)
    assert isinstance(made, Certificate)
    sums = learner.sums()
    assert sums is not None
    member_loss = paid(sums)
    if member_loss is None:
        member_loss = kept.member_loss
    rounding = ROUNDING * kept.last * kept.loss
    difference = kept.loss - member_loss + rounding
    lines = []
    for line in made.bounds:
        certified = line.certificate + difference
        if line.sharp is not None and line.theorem is not None:
            sharp = line.sharp + kept.overhead
            line = line._replace(sharp=sharp, theorem=line.theorem + kept.overhead)
        lines.append(line._replace(certificate=certified))
    return MemberCertificate(kept.member, str(learner.theorem), kept.last, lines)


def _by_slopes(
    blend: Blend, learner: Learner, made: MemberCertificate, u: Weights | None, ball: float
) -> list[RegretBounds]:
    """The bounds of a member, with the certificate by slopes where that is smaller."""
    sums = learner.sums()
    slopes = blend.grouped_slopes
    if sums is None or slopes is None or slopes.trials != made.trials:
        return made.bounds
    sure = SlopeBound(slopes, sums, blend.guarantees()[made.member].loss)
    by_slopes = [sure.against(np.zeros(len(sums.s)))]
    if u is not None:
        by_slopes.append(sure.against(np.append(u.intercept, u.features)))
    by_slopes += sure.balls(ball)
    lines = list(made.bounds)
    for k, bound in enumerate(by_slopes):  # beyond them is the ellipsoid
        least = min(lines[k].certificate, bound)
        lines[k] = lines[k]._replace(certificate=least)
    return lines


class SlopeBound:
    """Upper bounds on the regret of a Blend from the slopes of its forecasters."""

    def __init__(self, slopes: GroupedSlopes, sums: Sums, loss: float) -> None:
        self.s = sums.s
        self.h = slopes.h_by_group(len(sums.s))
        terms = ROUNDING * (sums.trials + sums.dimension + POWERS + 8)
        # |v q^k| <= v q, and |v q ln q| < v; sum |v g x_i| <= sqrt(T) s_i
        self.error = float(terms * np.sqrt(sums.trials))
        self.paid = float(loss * (1 + terms))
        by_group = slopes.sums_by_group()
        self.levels = _conjugates(by_group)
        entropy = by_group[..., :1]
        first = by_group[..., 1:2]
        self.levels[..., 1:] += terms * (first - entropy)

    def against(self, w: Float) -> float:
        """The bound against the weights w."""
        products = self.h @ w
        size = float(np.sum(self.s * np.abs(w)))
        error = self.error * size
        if not np.isfinite([*products.ravel(), error]).all():
            return self.paid
        by_factor = LAMBDAS * products[..., None]
        least = np.min(self.levels + by_factor, axis=(1, 2))
        gained = float(least.sum()) + error
        return self.paid + min(gained, 0.0)

    def balls(self, B: float) -> list[float]:
        """The bounds for the worst u in the simplex and in the box: one lambda for all groups."""
        seen = self.s > 0
        h = np.abs(self.h.sum(axis=0))
        z = h[:, seen] / self.s[seen]
        z += self.error
        levels = self.paid + self.levels.sum(axis=0)
        bounds = []
        for largest in (z.max(axis=1, initial=0.0), z.sum(axis=1)):
            by_factor = np.outer(largest, LAMBDAS)
            least = np.min(levels + B * by_factor)
            bounds.append(min(float(least), self.paid))
        return bounds


def _conjugates(sums: Float) -> Float:
    """Upper bounds on sum v loss*(y, lambda g) for every lambda.

    loss* = x ln x + (1 - x) ln(1 - x) at x = lambda q. The second term is the series
    -x + sum_{k >= 2} x^k / (k (k - 1)), of which the terms beyond K are at most x^(K + 1) / K
    together.
    """
    entropy = sums[..., :1]
    first = sums[..., 1:2]
    bound = entropy * LAMBDAS
    bound += first * xlogy(LAMBDAS, LAMBDAS)
    bound -= first * LAMBDAS
    for k in range(2, POWERS):
        factor = 1 / (k * (k - 1))
        power = sums[..., k : k + 1]
        bound += factor * power * LAMBDAS**k
    factor = 1 / (POWERS - 1)
    last = sums[..., POWERS:]
    bound += factor * last * LAMBDAS**POWERS
    return np.asarray(bound)


def _by_feature(blend: Blend, learner: Learner, u: Weights | ArrayLike) -> Weights:
    """Weights by column as weights by feature id, in the units of the state."""
    given = u if isinstance(u, Weights) else Weights(0.0, np.asarray(u, dtype=np.float64))
    ids = np.array(blend.features.ids)
    columns = np.flatnonzero(ids >= 0)
    weights = given.features[columns]
    if len(blend.units):
        units = np.array(blend.units)[1:][columns]
        weights = weights / np.where(units > 0, units, 1.0)
    sums = learner.sums()
    assert sums is not None  # a member with a theorem keeps sums
    features = np.zeros(len(sums.s) - 1)
    features[ids[columns]] = weights
    return Weights(given.intercept, features)
