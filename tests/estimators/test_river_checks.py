"""River's own checks: of the default all of them, of other learners each on one set of data.

Every learner with a rule of its own is among them, and every loss; the wrapper is the same.
"""

import random

import pytest
from river.checks import yield_checks

from unitless.estimators.river import Classifier, Regressor

MODELS = [
    Classifier(),
    Classifier(multiclass=True),
    Regressor(),
    Regressor(loss="absolute"),
    *(Classifier(name) for name in ("full", "newton", "bayes")),
    *(Classifier(name, multiclass=True) for name in ("coordinate", "nag")),
    Regressor("coordinate", "quantile(0.3)"),
    Regressor("inag", "huber(2)"),
    *(Regressor(name) for name in ("vaw", "ridge")),
]


def checks():
    for model in MODELS:
        values = ", ".join(map(str, model._get_params().values()))
        seen = set()
        for number, check in enumerate(yield_checks(model)):
            if model.learner == "blend" or check.__name__ not in seen:
                name = f"{type(model).__name__}({values}) {check.__name__} {number}"
                yield pytest.param(model, check, id=name)
            seen.add(check.__name__)


@pytest.mark.parametrize(("model", "check"), list(checks()))
def test_check(model, check):
    random.seed(9)  # one check shuffles features
    check(model.clone())
