"""Train a model in one process and continue in another.

The first process learns half of the rows and saves the model. The second process loads the file and
learns the other half. Its predictions are bit-for-bit identical to those of a model that was never
interrupted.

    python examples/resume_elsewhere.py
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes

from unitless import OnlineRegressor, load, save

HALF = 221


def train(path: Path) -> None:
    """Run the first process."""
    X, y = load_diabetes(return_X_y=True, scaled=False)
    save(OnlineRegressor().partial_fit(X[:HALF], y[:HALF]), path)
    print(f"first process: learned {HALF} patients, saved {path.stat().st_size / 1024:.0f} KB")


def resume(path: Path) -> None:
    """Run the second process."""
    X, y = load_diabetes(return_X_y=True, scaled=False)
    model = load(path).to_sklearn().partial_fit(X[HALF:], y[HALF:])
    error = np.abs(model.progressive_ - y[HALF:]).mean()
    print(f"second process: learned {len(y) - HALF} more, each predicted first, off by {error:.1f}")
    straight = OnlineRegressor().partial_fit(X, y)
    same = np.array_equal(model.progressive_, straight.progressive_[HALF:])
    print(f"the same to the last bit as one process that learned all: {same}")


def main() -> None:
    """Start both processes, one after the other."""
    with tempfile.TemporaryDirectory() as folder:
        for step in ("train", "resume"):
            subprocess.run([sys.executable, __file__, step, Path(folder, "model")], check=True)


if __name__ == "__main__":
    steps = {"train": train, "resume": resume}
    if len(sys.argv) == 3:
        steps[sys.argv[1]](Path(sys.argv[2]))
    else:
        main()
