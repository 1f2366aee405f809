"""Regret you can see: bounds, certificates, best comparators, adversaries.

============================ ==================================================================
`certificate`                what is certain about a running learner's regret
`best_comparator`            the best fixed weights in hindsight, with a duality gap
`bounds`, `lower_bounds`     the theorems, one function each
`adversaries`                the games that prove the lower bounds, against any learner
============================ ==================================================================
"""

from unitless.regret import adversaries, bounds, lower_bounds, penalties
from unitless.regret.blended import BlendCertificate
from unitless.regret.certificate import certificate
from unitless.regret.claims import Certificate, Claim
from unitless.regret.comparator import Comparator, best_comparator

__all__ = [
    "BlendCertificate",
    "Certificate", "Claim", "Comparator", "adversaries", "best_comparator", "bounds",
    "certificate", "lower_bounds", "penalties",
]  # fmt: skip
