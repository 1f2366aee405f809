"""While one thread learns another predicts: it sees the model between two calls, to the bit."""

import copy
import pickle
import threading
import time

import numpy as np
import pandas
import pytest

from unitless import OnlineClassifier
from unitless.learners import Coordinate
from unitless.model import Model
from unitless.river import UnitlessClassifier, UnitlessRegressor
from unitless.rows import as_rows

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


LOCKS = []
CALLS = []


class Guarded(Coordinate):
    """Notes each call, and whether it holds the lock of the model."""

    def _note(self, name):
        for lock in LOCKS:
            CALLS.append((name, lock._is_owned()))

    def learn(self, *given, **options):
        self._note("learn")
        return super().learn(*given, **options)

    def predict(self, *given, **options):
        self._note("predict")
        return super().predict(*given, **options)

    def learn_one(self, *given, **options):
        self._note("learn_one")
        return super().learn_one(*given, **options)

    def predict_one(self, *given, **options):
        self._note("predict_one")
        return super().predict_one(*given, **options)


FRAME = pandas.DataFrame({"height": [1.0, 2.0, 3.0], "width": [0.5, -0.5, 1.5]})
LABELS = pandas.Series([False, True, False])
ROW = {"height": 1.5, "width": 0.25}
SKLEARN = {
    "partial_fit": lambda made: made.partial_fit(FRAME, LABELS),
    "predict": lambda made: made.predict(FRAME),
    "predict_proba": lambda made: made.predict_proba(FRAME),
    "decision_function": lambda made: made.decision_function(FRAME),
}
RIVER = {
    "learn_one": lambda made: made.learn_one(ROW, True),
    "learn_many": lambda made: made.learn_many(FRAME, LABELS),
    "predict_one": lambda made: made.predict_one(ROW),
    "predict_many": lambda made: made.predict_many(FRAME),
    "predict_proba_one": lambda made: made.predict_proba_one(ROW),
    "predict_proba_many": lambda made: made.predict_proba_many(FRAME),
}
ITSELF = {
    "learn": lambda made: made.learn([ROW], [1.0]),
    "learn_one": lambda made: made.learn_one(ROW, 1.0),
    "learn_rows": lambda made: made.learn_rows(as_rows([[1.0, 2.0]], [1.0]))[0],
    "predict": lambda made: made.predict(ROW),
    "predict_proba": lambda made: made.predict_proba([ROW]),
    "predict_rows": lambda made: made.predict_rows(as_rows([[1.0, 2.0]])),
    "score_one": lambda made: made.score_one(ROW),
}
DOORS = [
    *((OnlineClassifier(Guarded()).fit(FRAME, LABELS), call) for call in SKLEARN.values()),
    *((UnitlessClassifier(Guarded()), call) for call in RIVER.values()),
    *((Model.of(Guarded()), call) for call in ITSELF.values()),
]


@pytest.mark.parametrize("door", range(len(DOORS)), ids=[*SKLEARN, *RIVER, *ITSELF])
def test_every_door_holds_the_lock_of_the_model(door):
    made, call = DOORS[door]
    model = Model.of(made)
    LOCKS[:] = [model.lock]
    CALLS.clear()
    try:
        call(made)
    finally:
        LOCKS.clear()
    assert CALLS
    assert all(is_held for _, is_held in CALLS), CALLS


def test_two_threads_that_predict_with_river_get_their_own_answers():
    """They share the learner's buffer for the row at hand."""

    class Yielding:
        """A number that lets another thread run while it is read."""

        def __init__(self, number):
            self.number = number

        def __float__(self):
            time.sleep(0)
            return self.number

    model = UnitlessRegressor("coordinate", "absolute")
    rows = [{f"x{j}": float(j * k % 7 - 3) for j in range(10)} for k in range(1, 5)]
    for row in rows * 5:
        model.learn_one(row, row["x1"])
    expected = [model.predict_one(row) for row in rows]
    assert len({*expected}) == len(rows)
    slow = [{name: Yielding(value) for name, value in row.items()} for row in rows]
    wrong = []

    def predict(k):
        for _ in range(200):
            found = model.predict_one(slow[k])
            if found != expected[k]:
                wrong.append((k, found))

    threads = [threading.Thread(target=predict, args=(k,)) for k in range(len(rows))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_two_threads_with_the_first_rows_share_one_model():
    made = []

    class Slow(UnitlessRegressor):
        def _new_model(self):
            made.append(super()._new_model())
            return made[-1]

    model = Slow("coordinate", "absolute")
    barrier = threading.Barrier(4)

    def start():
        barrier.wait()
        model.predict_one(ROW)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
