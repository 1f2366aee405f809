"""River's own checks, all of them."""

import random

import pytest
from river.checks import yield_checks

from unitless.estimators.river import Classifier, Regressor

MODELS = [
    Classifier(),
    Classifier(multiclass=True),
    Regressor(),
    Regressor(loss="absolute"),
    *(Classifier(name) for name in ("coordinate", "full", "nag", "newton", "bayes")),
    *(Classifier(name, multiclass=True) for name in ("coordinate", "nag", "newton")),
    *(Regressor(name, "quantile(0.3)") for name in ("coordinate", "full", "nag", "inag")),
    Regressor("inag", "huber(2)"),
    *(Regressor(name) for name in ("vaw", "ridge")),
]


def checks():
    for model in MODELS:
        values = ", ".join(map(str, model._get_params().values()))
        for number, check in enumerate(yield_checks(model)):
            name = f"{type(model).__name__}({values}) {check.__name__} {number}"
            yield pytest.param(model, check, id=name)


@pytest.mark.parametrize(("model", "check"), list(checks()))
def test_check(model, check):
    random.seed(9)  # one check shuffles features
    check(model.clone())
