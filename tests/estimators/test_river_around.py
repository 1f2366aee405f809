"""River's drift detectors, anomaly detectors and metrics work around the models."""

import pytest
from river import anomaly, compose, datasets, drift, ensemble, evaluate, metrics, multiclass, stats

import unitless.river
from unitless.river import UnitlessClassifier, UnitlessRegressor

PHISHING = list(datasets.Phishing())[:150]


@pytest.mark.parametrize("learner", ["blend", "coordinate", "vaw", "nag", "newton", "tracker"])
def test_a_regressor_predicts_0_before_the_first_target(learner):
    loss = "absolute" if learner == "coordinate" else "squared"
    model = UnitlessRegressor(learner, loss)
    assert model.predict_one({"a": 3.0}) == 0.0
    assert isinstance(model.predict_one({}), float)
    model.learn_one({"a": 3.0}, 5.0)
    model.learn_one({"a": 4.0}, 6.0)
    assert model.predict_one({"a": 3.0}) != 0.0


def test_the_first_row_counts():
    mae = evaluate.progressive_val_score(
        [({"a": 1.0}, 10.0), ({"a": 1.0}, 10.0)], UnitlessRegressor(), metrics.MAE()
    )
    assert mae.get() >= 5.0


def test_drift_detectors():
    model = drift.DriftRetrainingClassifier(
        UnitlessClassifier("nag"), drift.binary.DDM(warm_start=20)
    )
    flipped = [(x, not y) for x, y in PHISHING]
    score = evaluate.progressive_val_score(PHISHING + flipped, model, metrics.Accuracy())
    assert 0.5 < score.get() < 1


def test_adwin_watches_the_errors():
    detector, model = drift.ADWIN(), UnitlessClassifier("nag")
    found = False
    for x, y in PHISHING + [(x, not y) for x, y in PHISHING] * 2:
        detector.update(model.predict_one(x) != y)
        found |= detector.drift_detected
        model.learn_one(x, y)
    assert found


def test_anomaly_detectors():
    model = compose.Pipeline(UnitlessRegressor("coordinate", "absolute"))
    filtered = anomaly.GaussianScorer(grace_period=10)
    for x, y in datasets.TrumpApproval().take(100):
        assert 0 <= filtered.score_one(x, y) <= 1
        filtered.learn_one(x, y)
        model.learn_one(x, y)
    interval = anomaly.PredictiveAnomalyDetection(
        UnitlessRegressor("coordinate", "absolute"), horizon=1, n_std=3.0, warmup_period=10
    )
    for x, y in datasets.TrumpApproval().take(60):
        assert interval.score_one(x, y) >= 0
        interval.learn_one(x, y)


def test_ensembles_and_metrics():
    model = ensemble.BaggingClassifier(UnitlessClassifier("nag"), n_models=3, seed=1)
    metric = metrics.ROCAUC() + metrics.LogLoss() + metrics.Accuracy()
    evaluate.progressive_val_score(PHISHING, model, metric)
    assert metric[0].get() > 0.8
    several = multiclass.OneVsRestClassifier(UnitlessClassifier("nag"))
    segments = datasets.ImageSegments().take(150)
    assert evaluate.progressive_val_score(segments, several, metrics.Accuracy()).get() > 0.4
    mean = stats.Mean()
    for x, y in PHISHING:
        mean.update(model.predict_proba_one(x).get(y, 0.0))
    assert mean.get() > 0.5


def test_names():
    models = ["UnitlessBandit", "UnitlessClassifier", "UnitlessRegressor"]
    assert dir(unitless.river) == ["LossDriftDetector", *models]
    assert "UnitlessClassifier" in str(UnitlessClassifier())


@pytest.mark.parametrize("x", [[1.0, 2.0], (1.0,), 3.0], ids=["list", "tuple", "number"])
def test_a_row_is_a_dict(x):
    for model in (UnitlessClassifier("coordinate"), UnitlessRegressor("nag")):
        for call in (model.predict_one, lambda x, m=model: m.learn_one(x, 1)):
            with pytest.raises(TypeError, match=r"a row is a dict, \{feature: value\}, and not a"):
                call(x)
    with pytest.raises(TypeError, match="a row is a dict"):
        unitless.learners.Coordinate().predict_one(x)


def test_a_target_that_is_no_number():
    model = UnitlessRegressor("nag")
    with pytest.raises(ValueError, match="'high' is not a number but a class"):
        model.learn_one({"a": 1.0}, "high")
