"""Regret: bounds, certificates, best comparators, adversaries.

============================ ==================================================================
`certificate`                upper bounds on the regret of a learner, at any time
`best_comparator`            the best fixed weights in hindsight, with a duality gap
`bounds`, `lower_bounds`     the theorems, one function per theorem
`adversaries`                the games that prove the lower bounds, against any learner
============================ ==================================================================
"""

from unitless.regret import adversaries, bounds, lower_bounds, penalties
from unitless.regret.blend_certificate import BlendCertificate
from unitless.regret.certificate import certificate
from unitless.regret.certificate_types import Certificate, RegretBounds
from unitless.regret.comparator import Comparator, best_comparator

__all__ = [
    "BlendCertificate",
    "Certificate",
    "Comparator",
    "RegretBounds",
    "adversaries",
    "best_comparator",
    "bounds",
    "certificate",
    "lower_bounds",
    "penalties",
]
