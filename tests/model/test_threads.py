"""While one thread learns another predicts: it sees the model between two calls, to the bit."""

import copy
import pickle
import threading

import numpy as np
import pandas
import pytest

from unitless import OnlineClassifier
from unitless.learners import Coordinate
from unitless.model import Model

BLOCKS, LEARNERS = 60, ["coordinate", "full", "nag", "ogd", "ons"]


def blocks():
    """Blocks of rows and labels."""
    rng = np.random.default_rng(0)
    for _ in range(BLOCKS):
        yield rng.normal(size=(50, 40)) / 10, rng.choice([-1.0, 1.0], 50)


def seen_while(learn, predict):
    """What one thread's calls of `predict` return while another learns."""
    done, seen, errors = threading.Event(), [], []

    def read():
        try:
            while not done.is_set():
                seen.append(predict())
        except BaseException as error:
            errors.append(error)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    try:
        learn()
    finally:
        done.set()
        for reader in readers:
            reader.join()
    assert errors == []
    assert seen
    return {np.asarray(scores).tobytes() for scores in seen}


def moments(steps, predict):
    """What `predict` returns before, between and after the steps of learning."""
    found = {np.asarray(predict()).tobytes()}
    for step in steps:
        step()
        found.add(np.asarray(predict()).tobytes())
    return found


@pytest.mark.parametrize("name", LEARNERS)
def test_blocks(name):
    probes = np.random.default_rng(1).normal(size=(200, 40)) / 10
    first, *others = blocks()
    alone, shared = (OnlineClassifier(name).fit(*first) for _ in range(2))
    expected = moments(
        (lambda block=block: alone.partial_fit(*block) for block in others),
        lambda: alone.predict_proba(probes),
    )
    seen = seen_while(
        lambda: [shared.partial_fit(*block) for block in others],
        lambda: shared.predict_proba(probes),
    )
    assert seen <= expected
    assert (shared.predict_proba(probes) == alone.predict_proba(probes)).all()


def test_an_estimator_that_meets_new_categories():
    rng = np.random.default_rng(0)
    frames = [
        pandas.DataFrame(
            {"size": rng.normal(size=30), "kind": [f"k{b}-{i % 7}" for i in range(30)]}
        )
        for b in range(15)
    ]
    labels = [np.where(frame["size"] > 0, "yes", "no") for frame in frames]
    alone, shared = (OnlineClassifier("nag").fit(frames[0], labels[0]) for _ in range(2))
    steps = list(zip(frames, labels, strict=True))[1:]
    expected = moments(
        (lambda X=X, y=y: alone.partial_fit(X, y) for X, y in steps),
        lambda: alone.predict_proba(frames[3]),
    )
    seen = seen_while(
        lambda: [shared.partial_fit(X, y) for X, y in steps],
        lambda: shared.predict_proba(frames[3]),
    )
    assert seen <= expected


def test_a_refused_block_is_never_seen():
    """The model is whole in every moment, also while an error is on its way."""
    rng = np.random.default_rng(0)
    X = pandas.DataFrame({"size": rng.normal(size=30)})
    model = OnlineClassifier("nag").fit(X, rng.choice(["a", "b"], 30))

    def refused():
        for _ in range(100):
            with pytest.raises(ValueError, match="third"):
                model.partial_fit(X, ["a", "third"] * 15)

    expected = {model.predict_proba(X).tobytes()}
    assert seen_while(refused, lambda: model.predict_proba(X)) == expected


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_a_copy_has_a_lock_of_its_own(copied):
    model = Model.of(Coordinate())
    with model.lock:
        other = copied(model)
        thread = threading.Thread(target=other.lock.acquire, daemon=True)
        thread.start()
        thread.join(30)
        assert not thread.is_alive()
