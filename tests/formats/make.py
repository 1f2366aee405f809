"""Make the models of a release: python tests/formats/make.py, once a release, and never again.

Each model is kept with what it predicted, in `expected.json`; test_formats.py loads them for ever.
A new format number gets a folder of its own beside `1`.
"""

import io
import json
from pathlib import Path

import numpy as np
import pandas

from unitless import OnlineClassifier, models
from unitless.evaluation import Evaluation
from unitless.learners import Coordinate, Full, Nag
from unitless.readers import open_blocks
from unitless.rows import as_rows
from unitless.streams import started

FOLDER = Path(__file__).parent / str(models.FORMAT)
NEW = np.array([[0.5, -2000.0, 0.0], [np.nan, 10.0, 1.0]])


def rows(targets):
    """Some rows in several units, with a gap."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) * [1.0, 1000.0, 1e-6]
    X[3, 1] = np.nan
    y = rng.integers(0, 3, 40).astype(float) if targets == "classes" else np.sign(X[:, 0])
    return as_rows(X, y)


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
    run = Evaluation(started(block, target="y", learner="vaw"))
    for _ in run.over([block]):
        pass
    return run


def main():
    """Write the files."""
    FOLDER.mkdir(exist_ok=True)
    expected = {}
    for learner, targets in (
        (Coordinate(), ""),
        (Full(), ""),
        (Nag("softmax", classes=3), "classes"),
    ):
        learner.learn(rows(targets))
        models.save(learner, FOLDER / learner.name)
        expected[learner.name] = learner.predict(as_rows(NEW)).tolist()
    model = OnlineClassifier("coordinate").fit(frame(), np.where(frame()["size"] > 0, "yes", "no"))
    models.save(model, FOLDER / "classifier")
    expected["classifier"] = model.decision_function(frame(3)).tolist()
    run = stream()
    run.save(FOLDER / "stream")
    expected["stream"] = run.model.learner.predict(as_rows(NEW[:, :2])).tolist()
    (FOLDER / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
