"""Handle a change of units in the middle of a stream.

Halfway through the stream a sensor is replaced, and values in metres become values in
millimetres. Three models learn this stream: one is told about the change with `rescale`, one is
not, and one learns the stream without the change.

    python examples/change_of_unit.py
"""

import numpy as np
from sklearn.datasets import load_breast_cancer

from unitless import OnlineClassifier


def accuracy(model: OnlineClassifier, y: np.ndarray) -> float:
    """Return the accuracy on the last block, where each row was predicted before it was learned."""
    return float(np.mean((model.progressive_ >= 0) == y))


def main() -> None:
    """Learn the first half of the rows in the old units and the second half in the new ones."""
    X, y = load_breast_cancer(return_X_y=True)
    names = [f"x{j}" for j in range(10)]  # mean radius, texture, perimeter, ...
    half = len(y) // 2
    new = X[half:].copy()
    new[:, :10] *= 1000

    told = OnlineClassifier().partial_fit(X[:half], y[:half])
    told.rescale(dict.fromkeys(names, 1000))
    told.partial_fit(new, y[half:])

    untold = OnlineClassifier().partial_fit(X[:half], y[:half]).partial_fit(new, y[half:])
    unchanged = OnlineClassifier().partial_fit(X[:half], y[:half]).partial_fit(X[half:], y[half:])

    print("accuracy on the second half, in which ten of thirty columns have different units")
    print(f"  no change of units     {accuracy(unchanged, y[half:]):.3f}")
    print(f"  changed, with rescale  {accuracy(told, y[half:]):.3f}")
    print(f"  changed, not told      {accuracy(untold, y[half:]):.3f}")
    apart = np.abs(told.progressive_ - unchanged.progressive_).max()
    print(f"largest difference between the scores of the first two: {apart:.0e}")


if __name__ == "__main__":
    main()
