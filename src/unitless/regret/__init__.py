"""Regret: bounds, certificates, best comparators, adversaries.

============================ ==================================================================
`certificate`                upper bounds on the regret of a learner, at any time
`best_comparator`            the best fixed weights in hindsight, with a duality gap
`bounds`, `lower_bounds`     the theorems, one function per theorem; `bounds.of_learner` lists them
`normalised_bounds`          the bounds of NG, NAG, sNAG and NDA
`information_test`           whether the features carry information, valid at any time
`adversaries`                the games that prove the lower bounds, against any learner
============================ ==================================================================

It may import learners and the Blend, and nothing that knows models or files.
"""

from unitless.regret import adversaries, bounds, lower_bounds, normalised_bounds, penalties
from unitless.regret.blend_certificate import BlendCertificate
from unitless.regret.certificate import certificate
from unitless.regret.certificate_types import Certificate, RegretBounds
from unitless.regret.comparator import Comparator, best_comparator
from unitless.regret.information import Information, InformationTest, information_test

__all__ = [
    "BlendCertificate",
    "Certificate",
    "Comparator",
    "Information",
    "InformationTest",
    "RegretBounds",
    "adversaries",
    "best_comparator",
    "bounds",
    "certificate",
    "information_test",
    "lower_bounds",
    "normalised_bounds",
    "penalties",
]


def __dir__() -> list[str]:
    return sorted(__all__)
