"""scikit-learn's own checks, all of them."""

import pytest
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from unitless import OnlineClassifier, OnlineRegressor

MODELS = [
    OnlineClassifier(),
    OnlineRegressor(),
    OnlineClassifier(learner="coordinate"),
    OnlineRegressor(learner="coordinate", loss="absolute"),
]
WHY = "a weight of 2 is not a row twice for any online learner"


def expected_failures(model):
    return {f"check_sample_weight_equivalence_on_{kind}_data": WHY for kind in ("dense", "sparse")}


# One check hands a label of infinity to a cast within scikit-learn.
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast:RuntimeWarning:sklearn")
@parametrize_with_checks(MODELS, expected_failed_checks=expected_failures)
def test_check(estimator, check):
    check(estimator)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_tags(model):
    tags = get_tags(model)
    assert tags.input_tags.allow_nan
    assert tags.input_tags.sparse
    assert tags.target_tags.required
