"""The regret certificate of a learner, as results files have it."""

from typing import Any

import numpy as np

from unitless.core.learner import Learner, Weights
from unitless.evaluation.baselines import Constant
from unitless.evaluation.metrics import FARTHEST_SCORE, Facts
from unitless.model.explanations import finite
from unitless.regret import BlendCertificate, certificate


def certified(learner: Learner, constant: Constant | None = None) -> Facts | None:
    """The learner's regret certificate; None if it keeps no sums.

    `members` (of a blend): the loss of each, and a bound on the excess loss of the blend. `claims`:
    bounds on the regret against u = 0 and against the best constant, certified and by theorem.
    """
    score = None if constant is None else constant.score
    u = None
    if isinstance(score, float) and abs(score) < FARTHEST_SCORE:
        u = Weights(score, np.zeros(learner.columns))
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # a bound that is not finite is left out
            made = certificate(learner, u)
    except (ValueError, ArithmeticError):
        return None
    if not isinstance(made, BlendCertificate):
        return {"rows": made.trials, "members": {}, "claims": _claims(made)}
    return {
        "loss": finite(made.loss),
        "rows": made.trials,
        "members": {
            name: {
                "loss": kept.member_loss,
                "overhead": kept.overhead,
                "rows": kept.last,
            }
            for name, kept in made.members.items()
        },
        "claims": [
            claim | {"by": each.member} for each in made.by_member for claim in _claims(each)
        ],
        "clipped": made.clipped,
    }


def telling(certificate: Facts | None, loss: float) -> Facts | None:
    """What a certificate says that is worth reading: bounds above the loss itself say nothing.

    Nor does any bound on a loss of 0, as of a run without labels.

    >>> members = {"full": {"loss": 2.9, "overhead": 66.8}, "nag": {"loss": 5.0, "overhead": 1.0}}
    >>> list(telling({"members": members, "claims": []}, 3.0)["members"])
    ['nag']
    """
    if certificate is None or not loss > 0:
        return None
    members = {k: v for k, v in certificate["members"].items() if v["overhead"] <= loss}
    bounds = [claim for claim in certificate["claims"] if claim["certified"] is not None]
    claims = [claim for claim in bounds if claim["certified"] <= loss]
    return certificate | {"members": members, "claims": claims} if members or claims else None


def _claims(made: Any) -> list[Facts]:
    return [
        {
            "theorem": made.theorem,
            "rows": made.trials,
            "against": bound.comparator.replace("u given", "the best constant"),
            "certified": finite(bound.certificate),
            "sharp": finite(bound.sharp),
            "promised": finite(bound.theorem),
        }
        for bound in made.bounds
    ]
