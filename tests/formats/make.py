"""Make the models of a release: python tests/formats/make.py, once a release, and never again.

Each model is kept with what it predicted, in `expected.json`; test_formats.py loads them for ever.
A new format number gets a folder of its own beside `1`. A model that is there is not made again:
what it says must not follow the code.
"""

import io
import json
from pathlib import Path

import numpy as np
import pandas

from unitless import OnlineClassifier, persistence
from unitless.evaluation import Evaluation
from unitless.learners import Blend, Coordinate, Full, Nag
from unitless.model import Model
from unitless.readers import open_blocks
from unitless.rows import as_rows

FOLDER = Path(__file__).parent / str(persistence.FORMAT)
NEW = np.array([[0.5, -2000.0, 0.0], [np.nan, 10.0, 1.0]])


def rows(loss):
    """60 rows in several units, with a gap; models are saved after 40."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) * [1.0, 1000.0, 1e-6]
    X[3, 1] = np.nan
    classes = rng.integers(0, 3, 40).astype(float)
    X = np.vstack([X, rng.normal(size=(20, 3)) * [1.0, 1000.0, 1e-6]])
    classes = np.append(classes, rng.integers(0, 3, 20))
    y = {"softmax": classes, "squared": 5 + X[:, 0] + 1e6 * X[:, 2]}
    return as_rows(X, y.get(loss, np.sign(X[:, 0])))


def frame(n=30):
    """Numbers, categories and dates."""
    rng = np.random.default_rng(1)
    days = pandas.date_range("2026-01-01", periods=n)
    return pandas.DataFrame(
        {"size": rng.normal(size=n), "colour": rng.choice(["red", "blue"], n), "day": days}
    )


def stream():
    """A model of a small CSV file."""
    text = "a,b,y\n" + "".join(f"{k % 5},{'uv'[k % 2]},{k % 7}\n" for k in range(50))
    (block,) = open_blocks(io.BytesIO(text.encode()), target="y")
    run = Evaluation(Model.from_first_block(block, target="y", learner="vaw"))
    for _ in run.over([block]):
        pass
    return run


BLENDS = {"blend-binary": "logistic", "blend-regression": "squared", "blend-multiclass": "softmax"}


def blend(name):
    """A Blend, after a first part of its rows."""
    loss = BLENDS[name]
    learner = Blend(loss, classes=3) if loss == "softmax" else Blend(loss)
    learner.learn(rows(loss)[:40])
    return learner


def learners():
    """name -> a learner that has learned."""
    made = {"coordinate": Coordinate(), "full": Full(), "nag": Nag("softmax", classes=3)}
    for name, learner in made.items():
        learner.learn(rows("softmax" if name == "nag" else "logistic")[:40])
    return made | {name: blend(name) for name in BLENDS}


def main():
    """Write the files that are not there."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / "expected.json"
    expected = json.loads(path.read_text()) if path.exists() else {}
    for name, learner in learners().items():
        if name not in expected:
            persistence.save(learner, FOLDER / name)
            expected[name] = learner.predict(as_rows(NEW)).tolist()
            if name in BLENDS:
                more = rows(BLENDS[name])[40:]
                expected[f"{name} continued"] = learner.learn(more).tolist()
    if "classifier" not in expected:
        labels = np.where(frame()["size"] > 0, "yes", "no")
        model = OnlineClassifier("coordinate", shuffle=False).fit(frame(), labels)
        persistence.save(model, FOLDER / "classifier")
        expected["classifier"] = model.decision_function(frame(3)).tolist()
    if "stream" not in expected:
        run = stream()
        run.save(FOLDER / "stream")
        expected["stream"] = run.model.learner.predict(as_rows(NEW[:, :2])).tolist()
    path.write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
