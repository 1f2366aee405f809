"""clone, set_params, pickling, joblib, Pipeline, GridSearchCV."""

import io
import pickle
import subprocess
import sys
from importlib.resources import files

import joblib
import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.decomposition import PCA
from sklearn.ensemble import VotingClassifier
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline

from estimators.material import (
    BINARY,
    REAL,
    SEVERAL,
    A,
    B,
    OnlineClassifier,
    OnlineRegressor,
    W,
    X,
    Y,
    each_kind,
    each_model,
    people,
    same_model,
    standard,
)
from unitless.learners import get

COLUMNS, LABELS = people()


def test_what_is_loaded():
    """Arrays need neither River nor polars; types ship with the package."""
    code = (
        "import sys; from unitless import OnlineClassifier as C; C('zero').fit([[1.0]], [0]); "
        "print(*{'river', 'polars'} & {*sys.modules})"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "\n"
    assert (files("unitless") / "py.typed").is_file()


@each_kind
def test_parameters(kind):
    mine = get("full")(alpha=2.0)
    given = {
        "learner": mine, "loss": "huber(2)", "interactions": ["a:b"], "passes": 2, "shuffle": True,
        "random_state": 3, "identifier_as_feature": True, "reservoir": 7, "delay": 5,
        "intervals": (0.9,),
    }  # fmt: skip
    model = kind(**given)
    weights = {"class_weight": None} if kind().__sklearn_tags__().classifier_tags else {}
    assert model.get_params() == given | weights
    assert kind(**model.get_params()).learner is mine
    assert kind().set_params(learner="full", passes=3).get_params()["passes"] == 3


@each_kind
def test_the_default_is_the_blend(kind):
    assert kind().learner == "blend"
    assert kind().fit(X, Y).learner_.name == "blend"
    assert (kind().passes, kind().shuffle) == (1, False)


@each_model
def test_clone_is_unfitted(model, data):
    fitted = clone(model).fit(*data)
    fresh = clone(fitted)
    assert not hasattr(fresh, "learner_")
    assert fresh.get_params() == fitted.get_params()


def test_a_clone_has_a_learner_of_its_own():
    model = OnlineClassifier(get("full")())
    one, two = clone(model).fit(X, Y), clone(model).fit(X[:10], Y[:10])
    assert one.learner_.sums().trials == 569
    assert two.learner_.sums().trials == 10


RESUMED = (
    [(OnlineClassifier(name), standard(X), Y) for name in BINARY]
    + [(OnlineClassifier(name), standard(W), np.arange(len(W)) % 3) for name in SEVERAL]
    + [(OnlineRegressor(name, loss), standard(A), B) for name, loss in REAL.items()]
)


@pytest.mark.parametrize(("model", "rows", "y"), RESUMED, ids=str)
def test_pickle_in_mid_stream(model, rows, y):
    straight = clone(model).partial_fit(rows[:100], y[:100])
    resumed = pickle.loads(pickle.dumps(straight))
    for one in (straight, resumed):
        one.partial_fit(rows[100:], y[100:])
    np.testing.assert_array_equal(resumed.progressive_, straight.progressive_)
    same_model(resumed, straight, rows)


def test_pickle_keeps_the_columns_of_a_frame():
    frame = pandas.DataFrame(COLUMNS)
    model = OnlineClassifier(interactions=["height:colour"]).fit(frame[:100], LABELS[:100])
    resumed = pickle.loads(pickle.dumps(model))
    for one in (model, resumed):
        one.partial_fit(frame[100:], LABELS[100:])
    np.testing.assert_array_equal(resumed.progressive_, model.progressive_)
    assert resumed.feature_names_ == model.feature_names_


@each_model
def test_joblib_with_arrays_one_cannot_write_to(model, data, tmp_path):
    """As in the workers of a grid search: such a model predicts, and goes on learning."""
    rows, y = data
    straight = clone(model).partial_fit(rows[:100], y[:100])
    joblib.dump(straight, tmp_path / "model")
    mapped = joblib.load(tmp_path / "model", mmap_mode="r")
    same_model(mapped, straight, rows)
    for one in (straight, mapped):
        one.partial_fit(rows[100:], y[100:])
    same_model(mapped, straight, rows)
    stream = io.BytesIO()
    joblib.dump(straight, stream)
    stream.seek(0)
    same_model(joblib.load(stream), straight, rows)


def test_models_in_threads():
    """Two models at once do not meet."""
    parts = [(X[:300], Y[:300]), (X[200:], Y[200:])]
    alone = [OnlineClassifier("full").fit(*part) for part in parts]
    together = joblib.Parallel(n_jobs=2, prefer="threads")(
        joblib.delayed(OnlineClassifier("full").fit)(*part) for part in parts
    )
    for one, two in zip(alone, together, strict=True):
        same_model(one, two, X)


def test_pipeline():
    model = make_pipeline(PCA(5), OnlineClassifier()).fit(X, Y)
    assert model.score(X, Y) > 0.9
    assert model.predict_proba(X).shape == (len(X), 2)
    assert model.set_params(onlineclassifier__learner="full").fit(X, Y).score(X, Y) > 0.8


def test_pipeline_of_frames():
    model = make_pipeline(OnlineClassifier())
    frame = pandas.DataFrame(COLUMNS)
    model.fit(frame, LABELS)
    assert model.feature_names_in_.tolist() == list(frame)
    assert model.predict(frame).shape == LABELS.shape


def test_grid_search():
    search = GridSearchCV(
        OnlineClassifier(), {"learner": ["zero", "full"], "passes": [1, 2]}, cv=3, scoring="roc_auc"
    ).fit(X, Y)
    assert search.best_params_["learner"] == "full"
    assert search.best_estimator_.learner_.name == "full"
    numbers = GridSearchCV(OnlineRegressor(), {"loss": ["squared", "absolute"]}, cv=3).fit(A, B)
    assert numbers.best_score_ > 0


def test_grid_search_over_learners_of_one_s_own():
    learners = [get("coordinate")(alpha=alpha) for alpha in (1.2, 100.0)]
    search = GridSearchCV(OnlineClassifier(), {"learner": learners}, cv=3).fit(X, Y)
    assert search.best_params_["learner"] in learners
    assert all(learner.sums().trials == 0 for learner in learners)


def test_scorers_find_what_they_need():
    """A hinge model is scored by its decision function, since it has no probabilities."""
    hinge = cross_val_score(OnlineClassifier("full", "hinge"), X, Y, scoring="roc_auc", cv=3)
    assert hinge.min() > 0.8
    p = cross_val_predict(OnlineClassifier("full"), X, Y, method="predict_proba", cv=3)
    assert p.shape == (len(X), 2)


def test_inside_others():
    vote = VotingClassifier(
        [("full", OnlineClassifier("full")), ("nag", OnlineClassifier("nag"))], voting="soft"
    )
    assert vote.fit(X, Y).score(X, Y) > 0.85
    assert (
        CalibratedClassifierCV(OnlineClassifier("full", "hinge"), cv=2).fit(X, Y).score(X, Y) > 0.85
    )
    both = MultiOutputRegressor(OnlineRegressor("vaw")).fit(A, np.column_stack([B, -B]))
    assert both.predict(A).shape == (len(A), 2)


def test_the_regressor_s_score_is_r2():
    model = OnlineRegressor().fit(A, B)
    residual = np.sum((B - model.predict(A)) ** 2) / np.sum((B - B.mean()) ** 2)
    assert model.score(A, B) == pytest.approx(1 - residual)
