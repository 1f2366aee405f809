"""The certificate of a blend: what its members lend it.

The blend's loss is at most that of any member plus an overhead that the mixture knows
(`unitless.blend.mixture_bound`). With Algorithms 1 and 2 among the members, regret(u) of the
blend is at most theirs plus

    the overhead                     in advance, beside the theorem's bound
    loss - loss of the member        by now, beside the member's own certificate A + h.u

Algorithm 2 leaves when d outgrows it; what it lent then holds for the trials up to there, as
written.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unitless.blend.blend import Blend
from unitless.blend.ensemble import UNIT
from unitless.blend.mixture_bound import Guarantee
from unitless.learners.base import Learner, Weights
from unitless.regret.claims import Certificate, Claim

__all__ = ["BlendCertificate", "Lent", "certify_blend"]


class Lent(NamedTuple):
    """What one member with a theorem lends the blend."""

    member: str
    theorem: str
    trials: int
    """It holds for trials 1 to this one."""
    claims: list[Claim]
    """As of the member, with the overhead (theorem) or the actual lead (certificate) added."""


class BlendCertificate(NamedTuple):
    """What is certain about a blend's loss; print it for a table."""

    loss_name: str
    trials: int
    loss: float
    members: dict[str, Guarantee]
    """By member: the blend's loss is at most the member's plus the overhead."""
    lent: list[Lent]

    def __str__(self) -> str:
        lines = [
            f"blend, {self.loss_name} loss: {self.trials} trials, total loss {self.loss:.5g}",
            f"{'member':<28}{'its loss':>12}{'blend ahead by':>16}{'never behind by':>17}"
            f"{'trials':>9}",
        ]
        for name, kept in self.members.items():
            ahead = kept.member_loss - kept.loss
            lines.append(
                f"{name:<28}{kept.member_loss:>12.5g}{ahead:>16.5g}{kept.overhead:>17.4g}"
                f"{kept.last:>9}"
            )
        for lent in self.lent:
            lines.append(f"{lent.theorem}, lent by {lent.member} (trials 1 to {lent.trials})")
            lines.append(f"{'regret against':<28}{'certified':>12}{'sharp':>16}{'theorem':>17}")
            for claim in lent.claims:
                numbers = (claim.certificate, claim.sharp, claim.theorem)
                cells = ["-" if x is None else f"{x:.5g}" for x in numbers]
                lines.append(f"{claim.comparator:<28}{cells[0]:>12}{cells[1]:>16}{cells[2]:>17}")
        return "\n".join(lines)


def certify_blend(blend: Blend, u: Weights | ArrayLike | None, ball: float) -> BlendCertificate:
    """The certificate of a blend.

    >>> from sklearn.datasets import load_breast_cancer
    >>> from unitless.rows import as_rows
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> blend = Blend()
    >>> scores = blend.learn(as_rows(X, 2 * y - 1))
    >>> made = certify_blend(blend, None, 1.0)
    >>> kept = made.members["Algorithm 2"]
    >>> print(f"{kept.loss:.1f} <= {kept.member_loss:.1f} + {kept.overhead:.1f}")
    74.0 <= 197.1 + 10.3
    """
    kept = blend.guarantees()
    lent = []
    for member, learner in zip(blend.ensemble.members, blend.ensemble.learners, strict=True):
        if member.role == "guarantee" and learner is not None:
            own = None if u is None else _in_slots(blend, learner, u)
            lent.append(_lend(kept[member.name], learner, own, ball))
    any_kept = next(iter(kept.values()))
    trials = max(claim.last for claim in kept.values())
    total = next((c.loss for c in kept.values() if c.last == trials), any_kept.loss)
    return BlendCertificate(blend.loss.name, trials, total, kept, lent)


def _lend(kept: Guarantee, learner: Learner, u: Weights | None, ball: float) -> Lent:
    from unitless.regret.certificate import certificate

    made = certificate(learner, u, ball=ball)
    assert isinstance(made, Certificate)
    lead = kept.loss - kept.member_loss
    claims = [
        claim._replace(
            certificate=claim.certificate + lead,
            sharp=None if claim.sharp is None else claim.sharp + kept.overhead,
            theorem=None if claim.theorem is None else claim.theorem + kept.overhead,
        )
        for claim in made.claims
    ]
    return Lent(kept.member, str(learner.theorem), kept.last, claims)


def _in_slots(blend: Blend, learner: Learner, u: Weights | ArrayLike) -> Weights:
    """Weights by column as weights by the panel's slots, in its units."""
    given = u if isinstance(u, Weights) else Weights(0.0, np.asarray(u, dtype=np.float64))
    panel = blend.ensemble
    columns = np.flatnonzero(panel.slots >= 0)
    sums = learner.sums()
    assert sums is not None  # proofs keep sums
    features = np.zeros(len(sums.s) - 1)
    units = panel.profile[panel.slots[columns], UNIT]
    features[panel.slots[columns]] = given.features[columns] / np.where(units > 0, units, 1.0)
    return Weights(given.intercept, features)
