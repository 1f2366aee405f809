"""The kernel of the house's own coordinate-wise learners: see `rules`."""

from unitless.learners import diagonal, inag, label_tracker, nag, naive_bayes, scinol2
from unitless.learners.coordinatewise import rule_for
from unitless.learners.rules import BAYES, DIAGONAL, INAG, NAG, SCINOL2, House


def _predict(rule, total, v, x, f, term):
    if rule.kind == SCINOL2:
        return scinol2.predict(rule, total, v, x, f, term)
    if rule.kind == NAG or rule.kind == INAG:
        return nag.predict(rule, total, v, x, f, term)
    if rule.kind == DIAGONAL:
        return diagonal.predict(rule, total, v, x, f, term)
    if rule.kind == BAYES:
        return naive_bayes.predict(rule, total, v, x, f, term)
    return label_tracker.predict(rule, total, v, x, f, term)


def _update(rule, total, v, y, p, g, x, f, term):
    if rule.kind == SCINOL2:
        scinol2.update(rule, total, v, y, p, g, x, f, term)
    elif rule.kind == NAG:
        nag.update(rule, total, v, y, p, g, x, f, term)
    elif rule.kind == INAG:
        inag.update(rule, total, v, y, p, g, x, f, term)
    elif rule.kind == DIAGONAL:
        diagonal.update(rule, total, v, y, p, g, x, f, term)
    elif rule.kind == BAYES:
        naive_bayes.update(rule, total, v, y, p, g, x, f, term)
    else:
        label_tracker.update(rule, total, v, y, p, g, x, f, term)


rule_for(House, _predict, _update)
