"""The experts of a Blend by kind of loss; docs/explanation/blend.md measures the value of each.

Each kind has two lists: the experts, which see the row only and make the answer without recent
labels, and the followers, which make the answer with the last label known from it.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from unitless import losses
from unitless.core.learner import Learner
from unitless.learners.boosted_trees import BoostedTrees
from unitless.learners.coordinate import Coordinate
from unitless.learners.diagonal import Diagonal
from unitless.learners.full import Full
from unitless.learners.histogram_trees import HistogramTrees
from unitless.learners.nag import Inag, Nag
from unitless.learners.naive_bayes import Bayes
from unitless.learners.neighbours import Neighbours
from unitless.learners.newton import Newton
from unitless.learners.one_vs_rest import with_classes
from unitless.learners.scinol import Scinol2
from unitless.learners.vaw import Vaw
from unitless.losses import Loss


class Expert(NamedTuple):
    """A learner of the Blend and the view of a row that it is given."""

    name: str
    view: str
    kind: type[Learner] | None = None
    """None for followers that are not learners."""
    parameters: Mapping[str, Any] = {}
    dense: bool = False
    """Whether it stays only while the stream is dense (see `compaction`)."""
    small: bool = False
    """Whether it stays only while there are at most 256 features."""
    role: str = "main"
    """main; tracker (stacked with a small prior); guarantee (mixed for its theorem, not stacked);
    late (stacked little by little, because each weight that the stacker learns adds to the loss)"""
    steep: bool = False
    """Whether the stacker also sees the sign of its logit, softened: see `logistic`."""
    follows: bool = False
    """Whether its weights follow recent targets: it leaves the answer without recent labels once
    the past pays."""

    def within(self, megabytes: float) -> "Expert":
        """The same expert; one that stores rows may take so much memory for them."""
        if self.kind is not HistogramTrees:
            return self
        return self._replace(parameters={**self.parameters, "max_memory": megabytes})

    def make(self, loss: Loss, *, intercept: bool, classes: int = 0) -> Learner:
        """A fresh learner of this kind, for the loss of the Blend unless it has its own."""
        assert self.kind is not None
        settings = {"intercept": intercept, **self.parameters}
        if classes:
            return with_classes(self.kind, classes, **settings)
        return self.kind(**{"loss": loss, **settings})


MAX_MEMORY = 256.0
"""The megabytes that a model may take for what grows with the number of rows."""

GUARANTEES = [
    Expert("Algorithm 1", "raw", Coordinate, role="guarantee"),
    Expert("Algorithm 2", "raw", Full, small=True, role="guarantee"),
]

TREES = {"trees": 64, "rate": 0.15, "leaves": 256, "gain": 2.0}
FEWER_TREES = {**TREES, "trees": 48, "rate": 0.2}
"""For two classes, where they cost a quarter less and predict 0.2 % worse."""
BOOSTED_TREES = Expert("boosted trees", "raw", BoostedTrees, TREES, dense=True, role="late")
HISTOGRAM_TREES = Expert("histogram trees", "raw", HistogramTrees, dense=True, role="late")
PAIRS = Expert("pairs of bins", "pairs", Diagonal, {"strength": 3.0}, dense=True, role="late")
NEIGHBOURS = Expert(
    "neighbours", "raw", Neighbours, dense=True, small=True, role="late", follows=True
)

# views="smooth": the experts of version 0.1.0
SMOOTH_LOGISTIC = [
    Expert("Newton, squashed", "squashed", Newton, {"strength": 3.0}, dense=True, small=True),
    Expert("Newton, centred", "centred", Newton, {"strength": 10.0}, dense=True, small=True),
    Expert("diagonal Newton, squashed", "squashed", Diagonal, {"strength": 0.3}, dense=True),
    Expert("ScInOL2", "raw", Scinol2),
    Expert("iNAG, normalised", "normalised", Inag, {"rate": 3.0}, follows=True),
    Expert("diagonal Newton, presence", "presence", Diagonal, {"strength": 1.0}),
    Expert("naive Bayes", "presence", Bayes, {"a": 0.1}),
    Expert(
        "drift tracker", "squashed", Inag, {"rate": 30.0}, dense=True, role="tracker", follows=True
    ),
    *GUARANTEES,
]
SMOOTH_SQUARED = [
    Expert("VAW", "raw", Vaw, small=True),
    Expert("ridge, centred", "centred", Newton, {"strength": 10.0}, dense=True, small=True),
    Expert("ridge, squashed", "squashed", Newton, {"strength": 1.0}, dense=True, small=True),
    Expert("iNAG, squashed", "squashed", Inag, {"rate": 3.0}, dense=True, follows=True),
    Expert("iNAG, normalised", "normalised", Inag, {"rate": 1.0}, follows=True),
    Expert("iNAG", "raw", Inag, {"rate": 1.0}, follows=True),
]
SMOOTH_SOFTMAX = [
    Expert("Newton, squashed", "squashed", Newton, {"strength": 3.0}, dense=True, small=True),
    Expert("NAG 1, centred", "centred", Nag, {"rate": 1.0}, dense=True, follows=True),
    Expert("NAG 3, centred", "centred", Nag, {"rate": 3.0}, dense=True, follows=True),
    Expert("NAG, squashed", "squashed", Nag, {"rate": 1.0}, dense=True, follows=True),
    Expert("ScInOL2, normalised", "normalised", Scinol2),
    Expert("ScInOL2, presence", "presence", Scinol2),
]

# views="linear"
LOGISTIC_LINEAR = [
    Expert("Newton, centred", "centred", Newton, {"strength": 10.0}, dense=True, small=True),
    Expert("diagonal Newton, centred", "centred", Diagonal, {"strength": 0.3}, dense=True),
    Expert("ScInOL2", "raw", Scinol2),
    Expert("diagonal Newton", "raw", Diagonal, {"strength": 1.0}),
    Expert(
        "drift tracker", "centred", Inag, {"rate": 30.0}, dense=True, role="tracker", follows=True
    ),
    *GUARANTEES,
]
SQUARED_LINEAR = [
    Expert("VAW", "raw", Vaw, small=True),
    Expert("ridge, centred", "centred", Newton, {"strength": 10.0}, dense=True, small=True),
    Expert("iNAG, centred", "centred", Inag, {"rate": 0.3}, dense=True, follows=True),
    Expert("iNAG", "raw", Inag, {"rate": 1.0}, follows=True),
]
SOFTMAX_LINEAR = [
    Expert("Newton, centred", "centred", Newton, {"strength": 1.0}, dense=True, small=True),
    Expert("NAG 1, centred", "centred", Nag, {"rate": 1.0}, dense=True, follows=True),
    Expert("NAG 3, centred", "centred", Nag, {"rate": 3.0}, dense=True, follows=True),
    Expert("ScInOL2", "raw", Scinol2),
]


# The default, views="all": curves and interactions, and what is still worth its place beside them
LOGISTIC = [
    SMOOTH_LOGISTIC[0],
    SMOOTH_LOGISTIC[1]._replace(steep=True),  # Newton, centred
    *(member for member in SMOOTH_LOGISTIC[2:] if member.name != "drift tracker"),
    BOOSTED_TREES._replace(parameters=FEWER_TREES),
    HISTOGRAM_TREES,
    PAIRS,
    NEIGHBOURS,
]
SQUARED = [
    *(member for member in SMOOTH_SQUARED if member.name not in ("iNAG, squashed", "iNAG")),
    BOOSTED_TREES,
    HISTOGRAM_TREES,
    PAIRS,
    NEIGHBOURS,
]
SOFTMAX = [
    *(member for member in SMOOTH_SOFTMAX if member.view != "centred"),
    SOFTMAX_LINEAR[0],  # Newton in place of NAG
    SOFTMAX_LINEAR[0]._replace(name="Newton 0.3, centred", parameters={"strength": 0.3}),
    BOOSTED_TREES,
    HISTOGRAM_TREES,
    NEIGHBOURS,
]


def _with_loss(loss: str, members: list[Expert]) -> list[Expert]:
    """The main and late members with this loss, as experts of a Blend for another loss."""
    return [
        member._replace(parameters={**member.parameters, "loss": loss})
        for member in members
        if member.role in ("main", "late")
    ]


ON_THE_LOSS = [
    Expert("iNAG on the loss, centred", "centred", Inag, {"rate": 0.3}, dense=True, follows=True),
    Expert("iNAG on the loss, normalised", "normalised", Inag, {"rate": 1.0}, follows=True),
]
NOT_FOR_HINGE = ("Newton, centred", "diagonal Newton, squashed", "ScInOL2")  # better without
HINGE = _with_loss("logistic", [member for member in LOGISTIC if member.name not in NOT_FOR_HINGE])
SMOOTH_HINGE = _with_loss("logistic", SMOOTH_LOGISTIC)
HINGE_LINEAR = _with_loss("logistic", LOGISTIC_LINEAR)
REAL = [*_with_loss("squared", SQUARED), *ON_THE_LOSS]
SMOOTH_REAL = [*_with_loss("squared", SMOOTH_SQUARED), *ON_THE_LOSS]
REAL_LINEAR = [
    *_with_loss("squared", SQUARED_LINEAR),
    ON_THE_LOSS[0],
    Expert("iNAG on the loss", "raw", Inag, {"rate": 1.0}, follows=True),
]

BY_VIEWS: dict[int, dict[str, list[Expert]]] = {
    losses.LOGISTIC: {"all": LOGISTIC, "smooth": SMOOTH_LOGISTIC, "linear": LOGISTIC_LINEAR},
    losses.SQUARED: {"all": SQUARED, "smooth": SMOOTH_SQUARED, "linear": SQUARED_LINEAR},
    losses.SOFTMAX: {"all": SOFTMAX, "smooth": SMOOTH_SOFTMAX, "linear": SOFTMAX_LINEAR},
    losses.HINGE: {"all": HINGE, "smooth": SMOOTH_HINGE, "linear": HINGE_LINEAR},
}
for _loss in (losses.ABSOLUTE, losses.QUANTILE, losses.HUBER):
    BY_VIEWS[_loss] = {"all": REAL, "smooth": SMOOTH_REAL, "linear": REAL_LINEAR}


# The answer with the last label known. Views of followers: "answer" (the answer without recent
# labels), "labels" (recent labels alone), "expert" (the expert of that name), "past" (the inputs of
# `recent_labels`), "row and past".
ANSWER = Expert("without recent labels", "answer")
LABELS = [
    Expert("label tracker 0.5", "labels", parameters={"rate": 0}, role="tracker"),
    Expert("label tracker 0.9", "labels", parameters={"rate": 1}, role="tracker"),
]
LAST_TARGET = Expert("last target", "labels", parameters={"rate": -1})
FOLLOWING = {"leaves": 256, "gain": 2.0, "kept": 0.9}
NEWTON_ON_PAST = Expert("Newton on the past", "past", Newton, {"strength": 1.0}, role="late")
TREES_ON_PAST = Expert(
    "trees on the past", "past", BoostedTrees, {"trees": 8, "rate": 0.6, **FOLLOWING}, role="late"
)


def _trees_with_past(trees: int) -> Expert:
    settings = {"trees": trees, "rate": 0.45, "favoured": 2, **FOLLOWING}
    return Expert("trees with the past", "row and past", BoostedTrees, settings, True, role="late")


def _as_main(members: list[Expert]) -> list[Expert]:
    return [member._replace(role="main") for member in members]


ON_PAST = {
    losses.LOGISTIC: [*LABELS, _trees_with_past(12), NEWTON_ON_PAST, TREES_ON_PAST],
    losses.SQUARED: _as_main([LAST_TARGET, _trees_with_past(16), NEWTON_ON_PAST, TREES_ON_PAST]),
    losses.SOFTMAX: [LABELS[0]._replace(role="late"), _trees_with_past(16), TREES_ON_PAST],
}
"""By kind of loss: what knows recent labels, beside the experts that follow targets."""


def followers(loss: int, views: str) -> list[Expert]:
    """The members of the answer with the last label known."""
    kind = losses.LOGISTIC if loss == losses.HINGE else loss
    members = ON_PAST.get(kind, ON_PAST[losses.SQUARED])
    if views != "all":
        members = [member for member in members if member.kind is not BoostedTrees]
    own = losses.SQUARED if kind not in ON_PAST else kind
    if own != loss:
        name = "logistic" if own == losses.LOGISTIC else "squared"
        members = [
            member._replace(parameters={**member.parameters, "loss": name})
            if member.kind is not None
            else member
            for member in members
        ]
    role = "main" if own == losses.SQUARED else "late"
    experts = [
        member._replace(view="expert", role=role, steep=False)
        for member in BY_VIEWS[loss][views]
        if member.follows
    ]
    return [ANSWER, *members, *experts]
