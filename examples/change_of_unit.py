"""Units that change in mid-stream.

Half-way through a stream a sensor is replaced, and what came in metres now comes in millimetres.
Three models learn the same stream: one is told, one is not, and one never saw the change.

    python examples/change_of_unit.py
"""

import numpy as np
from sklearn.datasets import load_breast_cancer

from unitless import OnlineClassifier


def accuracy(model: OnlineClassifier, y: np.ndarray) -> float:
    """Of the last block, each row predicted before its label was seen."""
    return float(np.mean((model.progressive_ >= 0) == y))


def main() -> None:
    """Learn half of the rows in the old unit, half in the new one."""
    X, y = load_breast_cancer(return_X_y=True)
    names = [f"x{j}" for j in range(10)]  # mean radius, texture, perimeter, ...
    half = len(y) // 2
    new = X[half:].copy()
    new[:, :10] *= 1000

    told = OnlineClassifier().fit(X[:half], y[:half])
    told.rescale(dict.fromkeys(names, 1000))
    told.partial_fit(new, y[half:])

    untold = OnlineClassifier().fit(X[:half], y[:half]).partial_fit(new, y[half:])
    unchanged = OnlineClassifier().fit(X[:half], y[:half]).partial_fit(X[half:], y[half:])

    print("accuracy on the second half, in which ten of thirty columns have another unit")
    print(f"  no change of unit      {accuracy(unchanged, y[half:]):.3f}")
    print(f"  changed, and told so   {accuracy(told, y[half:]):.3f}")
    print(f"  changed, and not told  {accuracy(untold, y[half:]):.3f}")
    apart = np.abs(told.progressive_ - unchanged.progressive_).max()
    print(f"largest difference of a score between the first two: {apart:.0e}")


if __name__ == "__main__":
    main()
