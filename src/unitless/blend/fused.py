"""One kernel for all coordinate-wise experts: a first start compiles one loop instead of seven.

An expert's kernel is the loop of `unitless.learners.loop` with the two functions of its file
compiled in. This one calls the functions of the expert's kind, which is the last of its
parameters; the number before it is how many fields its records have. The bits are the same.
"""

from typing import Any

import numpy as np

from unitless.kernels.decorators import kernel, subroutine
from unitless.learners import coordinate, diagonal, label_tracker, nag, naive_bayes, scinol
from unitless.learners.base import EMPTY, Learner
from unitless.learners.coordinatewise import Coordinatewise, loop
from unitless.learners.slopes import add_slopes

KINDS = ["coordinate", "scinol2", "inag", "nag", "diagonal", "bayes", "tracker"]
COORDINATE, SCINOL2, INAG, NAG, DIAGONAL, BAYES, TRACKER = range(len(KINDS))


@subroutine
def predict(parameters, totals, v, x, f, scratch):
    kind = parameters[parameters.size - 1]
    if kind == COORDINATE:
        return coordinate.predict(parameters, totals, v, x, f, scratch)
    if kind == SCINOL2:
        return scinol.score_2(parameters, totals, v, x, f, scratch)
    if kind in (INAG, NAG):
        return nag.predict(parameters, totals, v, x, f, scratch)
    if kind == DIAGONAL:
        return diagonal.predict(parameters, totals, v, x, f, scratch)
    if kind == BAYES:
        return naive_bayes.predict(parameters, totals, v, x, f, scratch)
    return label_tracker.predict(parameters, totals, v, x, f, scratch)


@subroutine
def update(parameters, totals, trial, x, f, scratch):
    kind = parameters[parameters.size - 1]
    if kind == COORDINATE:
        coordinate.update(parameters, totals, trial, x, f, scratch)
    elif kind == SCINOL2:
        scinol.step_2(parameters, totals, trial, x, f, scratch)
    elif kind == INAG:
        nag.implicit(parameters, totals, trial, x, f, scratch)
    elif kind == NAG:
        nag.update(parameters, totals, trial, x, f, scratch)
    elif kind == DIAGONAL:
        diagonal.update(parameters, totals, trial, x, f, scratch)
    elif kind == BAYES:
        naive_bayes.update(parameters, totals, trial, x, f, scratch)
    else:
        label_tracker.update(parameters, totals, trial, x, f, scratch)


@kernel
def run(task, parameters, block, targets, weights, scores, state):
    fields = np.int64(parameters[parameters.size - 2])
    rows = loop(predict, update, fields, task, parameters, block, targets, weights, scores, state)
    if state[2].size:
        add_slopes(task, targets, weights, scores, state[2])
    return rows


def _run(*arguments: Any) -> Any:
    """The kernel as a plain function, which can be copied and pickled with a learner."""
    *given, state = arguments
    return run(*given, state if len(state) == 3 else (*state, EMPTY))


def fuse(learner: Learner) -> Learner:
    """Let an expert use the common kernel, if it is coordinate-wise."""
    if isinstance(learner, Coordinatewise) and learner.name in KINDS:
        task, parameters = learner._settings
        kind = KINDS.index(learner.name)
        learner._settings = task, np.append(parameters, [len(learner.fields), kind])
        vars(learner)["kernel"] = _run  # instead of that of its class
    return learner
