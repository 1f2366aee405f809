"""River's ways: dicts, labels, weights, pipelines, progressive validation, debug_one."""

import io
import pickle
from copy import deepcopy
from datetime import datetime, timedelta

import pandas
import pytest
from river import compose, datasets, evaluate, feature_extraction, metrics, preprocessing, stream

from unitless import learners
from unitless.estimators.river import Classifier, Regressor

PHISHING = list(datasets.Phishing().take(300))
SEGMENTS = list(datasets.ImageSegments().take(300))
TRUMP = list(datasets.TrumpApproval().take(300))


def learned(model, rows):
    model = deepcopy(model)
    for x, y in rows:
        model.learn_one(x, y)
    return model


# Labels


def test_two_classes_of_any_kind():
    """Names mean nothing: the probabilities of one kind of label are those of another."""
    boolean = learned(Classifier(), PHISHING)
    for first, second in [("ham", "spam"), (0, 1), (2, 1), ((1, 2), frozenset()), (0.5, -3)]:
        other = learned(Classifier(), [(x, second if y else first) for x, y in PHISHING])
        for x, _ in PHISHING[::50]:
            p, q = boolean.predict_proba_one(x), other.predict_proba_one(x)
            assert q == {first: pytest.approx(p[False]), second: pytest.approx(p[True])}
            assert other.predict_one(x) == (second if boolean.predict_one(x) else first)


def test_one_label_so_far():
    model = Classifier("coordinate")
    assert model.predict_proba_one({"a": 1}) == {False: 0.5, True: 0.5}
    model.learn_one({"a": 1}, "ham")
    assert model.predict_proba_one({"a": 1}) == {"ham": 1.0}
    assert model.predict_one({"a": 1}) == "ham"
    model = Classifier("coordinate")
    model.learn_one({"a": 1}, True)
    p = model.predict_proba_one({"a": 1})
    assert p[True] > p[False] > 0


def test_a_third_class_leaves_the_model_untouched():
    model = learned(Classifier(), PHISHING)
    before = deepcopy(model)
    with pytest.raises(ValueError, match=r"'eggs' is a third class.*multiclass=True"):
        model.learn_one({"a": 1}, "eggs")
    with pytest.raises(ValueError, match="None is not a label"):
        Classifier().learn_one({"a": 1}, None)
    for x, _ in PHISHING[::50]:
        assert model.predict_proba_one(x) == before.predict_proba_one(x)


@pytest.mark.parametrize("learner", ["blend", "coordinate", "nag"])
def test_classes_as_they_appear(learner):
    model, seen = Classifier(learner, multiclass=True), []
    assert model.predict_proba_one(SEGMENTS[0][0]) == {}
    assert model.predict_one(SEGMENTS[0][0]) is None
    for x, y in SEGMENTS[:60]:
        model.learn_one(x, y)
        seen += [y] if y not in seen else []
        p = model.predict_proba_one(x)
        assert list(p) == seen
        assert sum(p.values()) == pytest.approx(1, rel=1e-12)


def test_a_new_class_starts_at_score_0():
    model = learned(Classifier("nag", multiclass=True), SEGMENTS[:100])
    x, _ = SEGMENTS[100]
    before = model._model.learner.predict_one(x)
    model.learn_one({}, "new", w=0)
    after = model._model.learner.predict_one(x)
    assert after[:-1].tolist() == before.tolist()
    assert after[-1] == 0


def test_two_classes_by_softmax():
    """From the first row on, whatever the number of classes is going to be."""
    model = learned(Classifier(multiclass=True), PHISHING)
    right = [model.predict_one(x) == y for x, y in PHISHING]
    assert sum(right) > 0.8 * len(right)
    assert model._model.learner.loss.name == "softmax"


@pytest.mark.parametrize("multiclass", [False, True])
@pytest.mark.parametrize("learner", ["blend", "coordinate"])
@pytest.mark.parametrize(
    ("x", "w", "message"),
    [
        ({"a": float("inf")}, 1.0, "feature 'a': inf"),
        ({"a": ()}, 1.0, r"feature 'a': \(\) is not a number"),
        ({"a": 1.0}, -1.0, "weight -1"),
    ],
)
def test_a_bad_row_leaves_the_model_untouched(learner, multiclass, x, w, message):
    """Also when its label is new."""
    model = learned(Classifier(learner, multiclass), PHISHING[:50])
    before = deepcopy(model)
    for label in (True, "new") if multiclass else (True,):
        with pytest.raises(ValueError, match=message):
            model.learn_one(x, label, w)
    for one in (model, before):
        one.learn_one(*PHISHING[50])
    assert model.predict_proba_one(PHISHING[51][0]) == before.predict_proba_one(PHISHING[51][0])


# Dicts


def test_words_are_categories():
    one, two = Classifier(), Classifier()
    for k, colour in enumerate(["red", "blue", "red", "green", "blue"] * 5):
        one.learn_one({"size": k, "colour": colour}, colour == "red")
        two.learn_one({"size": k, f"colour={colour}": 1}, colour == "red")
        question = {"size": 3.0, "colour": "red"}
        answer = two.predict_proba_one({"size": 3.0, "colour=red": 1})
        assert one.predict_proba_one(question) == answer
    assert one.predict_one({"colour": "never seen"}) in (False, True)


def test_rows_are_not_touched():
    x = {"a": 1.0, "colour": "red", "gone": None}
    model = learned(Classifier(), [(x, True), (x, False)])
    model.predict_one(x)
    model.debug_one(x)
    assert x == {"a": 1.0, "colour": "red", "gone": None}


def test_weights():
    straight, weighted = Classifier(), Classifier()
    for k, (x, y) in enumerate(PHISHING[:100]):
        weighted.learn_one(x, y, w=k % 2)
        if k % 2:
            straight.learn_one(x, y)
    for x, _ in PHISHING[::50]:
        assert weighted.predict_proba_one(x) == straight.predict_proba_one(x)
    heavy = Classifier()
    for x, y in PHISHING[:100]:
        heavy.learn_one(x, y, w=2.0)
    assert heavy.predict_proba_one(x) != straight.predict_proba_one(x)


def test_a_learner_of_one_s_own():
    mine = learners.get("coordinate")("absolute", alpha=2.0)
    careful = learned(Regressor(mine), TRUMP)
    default = learned(Regressor("coordinate", "absolute"), TRUMP)
    assert careful.predict_one(TRUMP[0][0]) != default.predict_one(TRUMP[0][0])
    assert mine.sums().trials == 0


def test_no_probabilities_of_a_hinge():
    model = learned(Classifier(learners.get("full")("hinge")), PHISHING)
    with pytest.raises(NotImplementedError, match="hinge loss gives no probabilities"):
        model.predict_proba_one(PHISHING[0][0])
    right = [model.predict_one(x) == y for x, y in PHISHING]
    assert sum(right) > 0.8 * len(right)


@pytest.mark.parametrize("model", [Classifier(), Classifier(multiclass=True), Regressor()])
def test_resumed(model):
    rows = TRUMP if isinstance(model, Regressor) else SEGMENTS if model.multiclass else PHISHING
    straight = learned(model, rows[:100])
    resumed = pickle.loads(pickle.dumps(straight))
    for one in (straight, resumed):
        for x, y in rows[100:200]:
            one.learn_one(x, y)
    for x, _ in rows[::50]:
        assert straight.predict_one(x) == resumed.predict_one(x)


# Pipelines


def test_progressive_validation():
    score = evaluate.progressive_val_score(PHISHING, Classifier(), metrics.Accuracy())
    assert score.get() > 0.8
    score = evaluate.progressive_val_score(PHISHING, Classifier(), metrics.ROCAUC())
    assert score.get() > 0.85
    score = evaluate.progressive_val_score(
        SEGMENTS, Classifier(multiclass=True), metrics.Accuracy()
    )
    assert score.get() > 0.7
    score = evaluate.progressive_val_score(TRUMP, Regressor(), metrics.MAE())
    assert score.get() < 1


def test_delayed_labels():
    """The score counts the predictions issued; the model learns each row when its label arrives."""
    rows = [(dict(x, moment=k), y) for k, (x, y) in enumerate(TRUMP)]
    model = compose.Discard("moment") | Regressor()
    late = evaluate.progressive_val_score(
        iter(rows), model, metrics.MAE(), moment="moment", delay=lambda x, y: 5
    )
    twin, by_hand, issued = Regressor(), metrics.MAE(), []
    for k in range(len(TRUMP) + 5):
        if k >= 5:
            x, y = TRUMP[k - 5]
            by_hand.update(y, issued[k - 5])
            twin.learn_one(x, y)
        if k < len(TRUMP):
            issued.append(twin.predict_one(TRUMP[k][0]))
    assert late.get() == by_hand.get()
    prompt = evaluate.progressive_val_score(TRUMP, Regressor(), metrics.MAE())
    assert late.get() > prompt.get()


def test_delays_in_days():
    start = datetime(2017, 1, 20)
    rows = [(dict(x, day=start + timedelta(days=k)), y) for k, (x, y) in enumerate(TRUMP)]
    model = compose.Discard("day") | Regressor()
    score = evaluate.progressive_val_score(
        iter(rows), model, metrics.MAE(), moment="day", delay=timedelta(days=1)
    )
    assert score.get() < 2


def test_compose():
    numbers = compose.SelectType(float, int) | preprocessing.StandardScaler()
    words = compose.Select("country") | preprocessing.OneHotEncoder()
    model = (numbers + words) | Classifier("coordinate")
    rows = [(dict(x, country="FR" if k % 3 else "CZ"), y) for k, (x, y) in enumerate(PHISHING)]
    assert evaluate.progressive_val_score(rows, model, metrics.Accuracy()).get() > 0.6
    text = feature_extraction.BagOfWords() | Classifier()
    mails = [("cheap pills now", True), ("lunch at noon", False), ("cheap lunch", False)] * 20
    assert evaluate.progressive_val_score(mails, text, metrics.Accuracy()).get() > 0.8


def test_weights_go_through_a_pipeline():
    one = compose.Discard("nothing") | Classifier()
    two = learned(Classifier(), [])
    for k, (x, y) in enumerate(PHISHING[:50]):
        one.learn_one(x, y, w=1.0 + k % 3)
        two.learn_one(x, y, w=1.0 + k % 3)
    assert one.predict_proba_one(x) == two.predict_proba_one(x)


def test_frames_through_a_pipeline():
    frame = pandas.DataFrame([x for x, _ in PHISHING])
    labels = pandas.Series([y for _, y in PHISHING])
    model = preprocessing.StandardScaler() | Classifier("full")
    model.learn_many(frame, labels)
    assert (model.predict_many(frame) == labels).mean() > 0.8


def test_csv():
    """Rows of River's own reader: some keys are words."""
    rows = stream.iter_csv(
        io.StringIO("height,colour,y\n1.8,red,True\n1.6,blue,False\n1.7,red,True\n"),
        target="y", converters={"height": float, "y": lambda y: y == "True"},
    )  # fmt: skip
    model = learned(Classifier(), rows)
    assert model.predict_one({"height": 1.75, "colour": "red"})


# debug_one


def test_debug_one_adds_up():
    model = learned(Regressor(), TRUMP)
    x, _ = TRUMP[7]
    report = model.debug_one(x, decimals=9)
    head, *lines = report.splitlines()
    assert head.split() == ["Name", "Value", "Contribution"]
    one_word = [line.replace(",", "").replace("(recent targets)", "(recent)") for line in lines]
    cells = [line.split() for line in one_word]
    assert {name for name, *_ in cells} == {"(base)", "(recent)", *x}
    parts = [float(part) for *_, part in cells]
    assert parts == sorted(parts, reverse=True)
    assert sum(parts) == pytest.approx(model.predict_one(x), abs=1e-7)
    for name, *value, _ in cells:
        assert value == ([str(x[name])] if name in x else [])


def test_debug_one_of_a_classifier():
    model = learned(Classifier("coordinate", multiclass=True), SEGMENTS)
    x, _ = SEGMENTS[7]
    head, *lines = model.debug_one(
        x | {"never-seen": 3, "colour": "red", "gone": None}
    ).splitlines()
    assert head.split()[:4] == ["Name", "Value", "Contribution", "path"]
    assert len(lines) == len(x) + 4
    assert any(line.split()[:2] == ["colour", "red"] for line in lines)


def test_debug_one_in_a_pipeline():
    model = compose.Discard("gallup") | Regressor("vaw")
    for x, y in TRUMP:
        model.learn_one(x, y)
    report = model.debug_one(TRUMP[0][0])
    assert "2. UnitlessRegressor" in report
    assert "(base)" in report
    assert f"Prediction: {model.predict_one(TRUMP[0][0]):.5f}" in report


def test_debug_one_before_anything_is_learned():
    assert "0.00000" in Classifier().debug_one({"a": 1})
    assert "0.00000" in Classifier(multiclass=True).debug_one({"a": 1})
    assert "0.00000" in Regressor().debug_one({})


def test_unknown_features_are_as_good_as_none():
    """There are more of them than columns; no learner may look for them behind its memory."""
    model = Classifier("adagrad", multiclass=True)
    assert model.predict_proba_one({f"f{k}": 1.0 for k in range(18)}) == {}
    for label in ("a", "b"):
        model.learn_one({f"{label}{k}": 1.0 for k in range(3)}, label)
    unknown = {f"c{k}": 1.0 for k in range(1000)}
    known = model.predict_proba_one({"a0": 1.0})
    assert model.predict_proba_one({"a0": 1.0} | unknown) == known
    assert len(known) == 2
