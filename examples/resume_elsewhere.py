"""A model trained by one process and resumed by another.

The first process learns the first rows and saves the model. A second one, which knows nothing else,
loads it and goes on. Its predictions are, to the last bit, those of a model never interrupted.

    python examples/resume_elsewhere.py
"""

import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes

from unitless import OnlineRegressor

HALF = 221


def save(model: OnlineRegressor, path: Path) -> None:
    """Keep a model in a file."""
    path.write_bytes(pickle.dumps(model))


def load(path: Path) -> OnlineRegressor:
    """The model of a file; pickle runs what it finds there, so open only files of your own."""
    model: OnlineRegressor = pickle.loads(path.read_bytes())
    return model


def train(path: Path) -> None:
    """What the first process does."""
    X, y = load_diabetes(return_X_y=True, scaled=False)
    save(OnlineRegressor().fit(X[:HALF], y[:HALF]), path)
    print(f"first process: learned {HALF} patients, saved {path.stat().st_size / 1024:.0f} KB")


def resume(path: Path) -> None:
    """What the second process does."""
    X, y = load_diabetes(return_X_y=True, scaled=False)
    model = load(path).partial_fit(X[HALF:], y[HALF:])
    error = np.abs(model.progressive_ - y[HALF:]).mean()
    print(f"second process: learned {len(y) - HALF} more, each predicted first, off by {error:.1f}")
    straight = OnlineRegressor().fit(X, y)
    same = np.array_equal(model.progressive_, straight.progressive_[HALF:])
    print(f"the same to the last bit as one process that learned all: {same}")


def main() -> None:
    """Start both, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        for step in ("train", "resume"):
            subprocess.run([sys.executable, __file__, step, Path(folder, "model")], check=True)


if __name__ == "__main__":
    steps = {"train": train, "resume": resume}
    if len(sys.argv) == 3:
        steps[sys.argv[1]](Path(sys.argv[2]))
    else:
        main()
