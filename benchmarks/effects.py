"""Do importances rank columns of use above useless ones? Twenty generated sets.

    python benchmarks/effects.py

Each set has ten columns in arbitrary units, of which two to four are of use: sums, products,
curves, classes and numbers, 500 to 4000 rows. Printed are the pairs of a useful and a useless
column, and in how many of them the useful one has the larger importance; the aim is 95 %.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless import OnlineClassifier, OnlineRegressor

SETS = 20
COLUMNS = 10
ROWS = (500, 1000, 2000, 4000)


class Generated(NamedTuple):
    """Rows, targets, and the columns that are of use and those that are not."""

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    useful: NDArray[np.int64]
    useless: NDArray[np.int64]
    has_classes: bool


def generated(seed: int) -> Generated:
    """Return a set."""
    rng = np.random.default_rng(seed)
    rows = ROWS[seed % len(ROWS)]
    count = 2 + seed % 3
    Z = rng.normal(size=(rows, COLUMNS))
    units = 10.0 ** rng.integers(-3, 4, COLUMNS)
    order = rng.permutation(COLUMNS)
    useful = order[:count]
    a, b, *others = Z[:, useful].T
    rest = sum(others, np.zeros(rows))
    noise = rng.normal(size=rows)
    kind = seed % 5
    y = (
        np.sign(a * b + rest + 0.3 * noise),
        a + b + rest + noise,
        np.sin(2 * a) + np.abs(b) + np.abs(rest) + 0.5 * noise,
        np.sign(a + b + rest + noise),
        a * b + rest + 0.5 * noise,
    )[kind]
    return Generated(Z * units, y, useful, order[count:], kind in (0, 3))


def main() -> None:
    """Run, and print a line per set and the total."""
    right = pairs = 0
    print("set   rows  columns of use  right pairs  all pairs")
    for seed in range(SETS):
        made = generated(seed)
        kind = OnlineClassifier if made.has_classes else OnlineRegressor
        found = kind().fit(made.X, made.y).feature_importances_
        above = found[made.useful][:, None] > found[made.useless]
        right += int(above.sum())
        pairs += above.size
        sizes = f"{len(made.y):>6}  {len(made.useful):>14}"
        print(f"{seed:>3} {sizes}  {above.sum():>11}  {above.size:>9}")
    print(f"{right} of {pairs} pairs are in the right order: {right / pairs:.1%}")


if __name__ == "__main__":
    main()
