"""Several classes: one score a row and class, and the numbers of the classes are only names.

What blocks, purity, resuming, units and storage promise is tested with the softmax loss where it is
tested with all others; here is what only classes have.
"""

import inspect
import pickle

import numpy as np
import pytest

from cases import in_one_test
from laws.streams import (
    SILENT,
    accepts,
    anyone,
    classifier,
    close,
    each_form,
    each_learner_where,
    linear,
    make,
    same_bits,
    tame,
)
from unitless.learners import get
from unitless.rows import as_rows


def has_classes(name):
    """Whether it takes the softmax loss."""
    return accepts(name, "softmax")


each_classifier = each_learner_where(has_classes)


@each_classifier
@each_form
@in_one_test("classes", [1, 2, 3, 7])
def test_a_score_a_class(name, form, classes):
    stream = tame(name, "softmax")
    rows = stream._replace(y=stream.y % classes).rows(form)
    learner = classifier(name, classes)
    assert learner.predict(rows).shape == learner.learn(rows).shape == (60, classes)
    assert learner.learn(rows[:0]).shape == (0, classes)
    weights = learner.weights()
    assert (np.shape(weights.intercept), weights.features.shape) == ((classes,), (5, classes))


@each_classifier
@each_form
@in_one_test("weighted", [False, True])
def test_the_numbers_of_classes_are_names(name, form, weighted):
    stream = tame(name, "softmax", d=10, weighted=weighted)
    scores = classifier(name).learn(stream.rows(form))
    for order in ([1, 2, 0], [2, 1, 0]):
        renamed = stream._replace(y=np.array(order)[stream.y.astype(int)].astype(float))
        close(classifier(name).learn(renamed.rows(form))[:, order], scores, 1e-9)


@each_classifier
def test_each_class_is_learned(name):
    """After rows of one class only, it leads; else the law above could hold of zeros."""
    X = np.ones((10, 2))
    for c in range(3):
        learner = classifier(name)
        learner.learn(as_rows(X, np.full(10, float(c))))
        scores = learner.predict(as_rows(X[:1]))[0]
        assert name in SILENT or scores[c] > np.delete(scores, c).max()


@each_classifier
def test_a_class_that_never_comes_is_no_error(name):
    stream = tame(name, "softmax")
    learner = classifier(name)
    scores = learner.learn(stream._replace(y=stream.y % 2).rows())
    assert np.isfinite(scores).all()
    p = learner.loss.link(learner.predict(stream.rows()))
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    assert name in SILENT or p[:, 2].mean() < 1 / 3


@each_classifier
def test_far_scores_do_not_overflow(name):
    """Rows of a class that is known for sure, and then of another."""
    y = np.repeat([0.0, 1.0], 500)
    learner = classifier(name)
    scores = learner.learn(as_rows(np.ones((1000, 1)), y))
    assert np.isfinite(scores).all()
    assert np.isfinite(learner.loss.value(y, scores)).all()


@each_classifier
def test_the_answer_is_the_caller_s(name):
    learner, rows = classifier(name), tame(name, "softmax").rows()
    first = learner.learn(rows)
    kept = first.copy()
    learner.learn(rows)
    same_bits(first, kept)


@each_learner_where(anyone)
def test_classes_go_with_the_softmax_loss_only(name):
    if "classes" not in inspect.signature(get(name)).parameters:
        with pytest.raises((ValueError, TypeError)):
            get(name)("softmax", classes=3)
        return
    for arguments in ({"loss": "softmax"}, {"loss": "softmax", "classes": 0}):
        with pytest.raises(ValueError, match="number of classes"):
            get(name)(**arguments)
    if accepts(name, "logistic"):
        with pytest.raises(ValueError, match="classes = 3 with the logistic loss"):
            get(name)("logistic", classes=3)


# A class that comes later


def grown(name, stream, form="dense"):
    """A learner of two classes that learned 30 rows and was then given a third."""
    learner = classifier(name, 2)
    learner.learn(stream[:30]._replace(y=stream.y[:30] % 2).rows(form))
    before = learner.predict(stream.rows(form))
    learner.add_class()
    return learner, before


@each_classifier
@each_form
def test_a_new_class_leaves_the_others_their_scores(name, form):
    """It starts as it would have at the very beginning, or at 0, and is learned from then on."""
    stream = tame(name, "softmax", d=10)
    learner, before = grown(name, stream, form)
    after = learner.predict(stream.rows(form))
    assert after.shape == (60, 3)
    if linear(name):
        same_bits(after[:, :2], before)
        assert not after[:, 2].any()
    scores = learner.learn(stream[30:].rows(form))
    assert scores.shape == (30, 3)
    assert np.isfinite(scores).all()
    assert name in SILENT or scores[-1, 2] != 0


@each_classifier
@each_form
def test_a_block_is_its_rows_after_a_new_class(name, form):
    stream = tame(name, "softmax", d=10)
    (one, _), (two, _) = grown(name, stream, form), grown(name, stream, form)
    two = pickle.loads(pickle.dumps(two))
    rows = stream[30:].rows(form)
    scores = one.learn(rows)
    same_bits(np.concatenate([two.learn(rows[t : t + 1]) for t in range(30)]), scores)
    same_bits(two.predict(rows), one.predict(rows))


@each_learner_where(anyone)
def test_who_has_no_classes_cannot_add_one(name):
    learner = make(name)
    with pytest.raises(ValueError, match="no classes to add to"):
        learner.add_class()
