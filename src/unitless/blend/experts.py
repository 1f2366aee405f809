"""Who is on the panel, by kind of loss. What each is worth: docs/blend.md."""

from unitless.blend.ensemble import Member
from unitless.learners.coordinate import Coordinate
from unitless.learners.diagonal import Diagonal
from unitless.learners.full import Full
from unitless.learners.inag import Inag
from unitless.learners.label_tracker import Tracker
from unitless.learners.nag import Nag
from unitless.learners.naive_bayes import Bayes
from unitless.learners.newton import Newton
from unitless.learners.scinol2 import Scinol2
from unitless.learners.vaw import Vaw

LABELS = [
    Member("label tracker 0.5", "none", Tracker, {"gamma": 0.5}, role="tracker"),
    Member("label tracker 0.9", "none", Tracker, {"gamma": 0.9}, role="tracker"),
]
PROOFS = [
    Member("Algorithm 1", "raw", Coordinate, role="proof"),
    Member("Algorithm 2", "raw", Full, small=True, role="proof"),
]

LOGISTIC = [
    Member("Newton, squashed", "squashed", Newton, {"strength": 3.0}, dense=True, small=True),
    Member("Newton, centred", "centred", Newton, {"strength": 10.0}, dense=True, small=True),
    Member("diagonal Newton, squashed", "squashed", Diagonal, {"strength": 0.3}, dense=True),
    Member("ScInOL2", "raw", Scinol2),
    Member("iNAG, normalised", "normalised", Inag, {"rate": 3.0}),
    Member("diagonal Newton, presence", "presence", Diagonal, {"strength": 1.0}),
    Member("naive Bayes", "presence", Bayes, {"a": 0.1}),
    Member("drift tracker", "squashed", Inag, {"rate": 30.0}, dense=True, role="tracker"),
    *LABELS,
    *PROOFS,
]
LOGISTIC_LINEAR = [
    Member("Newton, centred", "centred", Newton, {"strength": 10.0}, dense=True, small=True),
    Member("diagonal Newton, centred", "centred", Diagonal, {"strength": 0.3}, dense=True),
    Member("ScInOL2", "raw", Scinol2),
    Member("diagonal Newton", "raw", Diagonal, {"strength": 1.0}),
    Member("drift tracker", "centred", Inag, {"rate": 30.0}, dense=True, role="tracker"),
    *LABELS,
    *PROOFS,
]
SQUARED = [
    Member("VAW", "raw", Vaw, small=True),
    Member("ridge, centred", "centred", Newton, {"strength": 10.0}, dense=True, small=True),
    Member("ridge, squashed", "squashed", Newton, {"strength": 1.0}, dense=True, small=True),
    Member("iNAG, squashed", "squashed", Inag, {"rate": 3.0}, dense=True),
    Member("iNAG, normalised", "normalised", Inag, {"rate": 1.0}),
    Member("iNAG", "raw", Inag, {"rate": 1.0}),
]
SQUARED_LINEAR = [
    Member("VAW", "raw", Vaw, small=True),
    Member("ridge, centred", "centred", Newton, {"strength": 10.0}, dense=True, small=True),
    Member("iNAG, centred", "centred", Inag, {"rate": 0.3}, dense=True),
    Member("iNAG", "raw", Inag, {"rate": 1.0}),
]
SOFTMAX = [
    Member("Newton, squashed", "squashed", Newton, {"strength": 3.0}, dense=True, small=True),
    Member("NAG 1, centred", "centred", Nag, {"rate": 1.0}, dense=True),
    Member("NAG 3, centred", "centred", Nag, {"rate": 3.0}, dense=True),
    Member("NAG, squashed", "squashed", Nag, {"rate": 1.0}, dense=True),
    Member("ScInOL2, normalised", "normalised", Scinol2),
    Member("ScInOL2, presence", "presence", Scinol2),
]
SOFTMAX_LINEAR = [
    Member("Newton, centred", "centred", Newton, {"strength": 1.0}, dense=True, small=True),
    Member("NAG 1, centred", "centred", Nag, {"rate": 1.0}, dense=True),
    Member("NAG 3, centred", "centred", Nag, {"rate": 3.0}, dense=True),
    Member("ScInOL2", "raw", Scinol2),
]


def _serving(loss: str, members: list[Member]) -> list[Member]:
    """Members that learn by a loss of their own and serve another."""
    return [
        member._replace(parameters={**member.parameters, "loss": loss})
        for member in members
        if member.role == "main"
    ]


HINGE = _serving("logistic", LOGISTIC)
HINGE_LINEAR = _serving("logistic", LOGISTIC_LINEAR)
REAL = [
    *_serving("squared", SQUARED),
    Member("iNAG on the loss, centred", "centred", Inag, {"rate": 0.3}, dense=True),
    Member("iNAG on the loss, normalised", "normalised", Inag, {"rate": 1.0}),
]
REAL_LINEAR = [
    *_serving("squared", SQUARED_LINEAR),
    Member("iNAG on the loss, centred", "centred", Inag, {"rate": 0.3}, dense=True),
    Member("iNAG on the loss", "raw", Inag, {"rate": 1.0}),
]
