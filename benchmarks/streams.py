"""The streams on which the Blend is compared with trees and forests.

Data sets of ../shared/data with at most 20 000 rows each, in the order of `data.sets`; River's
generators, 20 000 rows with seed 1 and River's defaults otherwise; and River's own data sets, in
their order. Streams in natural order are those of River, elec2 and bike_hour.
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from data import sets

ROWS = 20_000
TASKS = ("binary", "multiclass", "regression")
GENERATORS = {
    "Agrawal": {"seed": 1},
    "RandomTree": {"seed_tree": 1, "seed_sample": 1},
    "RandomRBF": {"seed_model": 1, "seed_sample": 1},
    "Mixed": {"seed": 1},
    "ConceptDriftStream": {"seed": 1},
    "SEA": {"seed": 1},
    "Hyperplane": {"seed": 1},
    "LED": {"seed": 1},
    "Sine": {"seed": 1},
    "Friedman": {"seed": 1},
    "FriedmanDrift": {"seed": 1},
}
RIVER_SETS = ("Bananas", "Phishing", "ImageSegments", "ChickWeights", "TrumpApproval")


class Stream(NamedTuple):
    """Rows in the order in which they are learned."""

    name: str
    group: str
    """shuffled (a data set), generator, river, or natural (a data set in its order)"""
    task: str
    X: Any
    y: np.ndarray

    @property
    def classes(self) -> int:
        """The number of classes, 0 unless there are several."""
        return int(self.y.max()) + 1 if self.task == "multiclass" else 0


def streams() -> Iterator[Stream]:
    """Yield all streams that are available."""
    for task in TASKS:
        for name, X, y in sets(task):
            yield Stream(name, "shuffled", task, X[:ROWS], y[:ROWS])
    for name in ("elec2", "bike_hour"):
        for task in TASKS:
            for data in sets(task, name):
                yield Stream(f"{name} in order", "natural", task, data.X, data.y)
    yield from river_streams()


def river_streams() -> Iterator[Stream]:
    """Yield River's generators and data sets."""
    from river import datasets
    from river.datasets import synth

    for name, seeds in GENERATORS.items():
        yield as_stream(name, "generator", islice(getattr(synth, name)(**seeds), ROWS))
    for name in RIVER_SETS:
        yield as_stream(name, "river", getattr(datasets, name)())


def as_stream(name: str, group: str, rows: Any) -> Stream:
    """Make arrays of River's dicts: columns in their order, classes numbered by name."""
    features, targets = zip(*rows, strict=True)
    X = np.array([list(x.values()) for x in features], dtype=float)
    if isinstance(targets[0], float) or name == "ChickWeights":
        return Stream(name, group, "regression", X, np.array(targets, dtype=float))
    _, codes = np.unique(targets, return_inverse=True)
    if codes.max() == 1:
        return Stream(name, group, "binary", X, 2.0 * codes - 1)
    return Stream(name, group, "multiclass", X, codes.astype(float))
