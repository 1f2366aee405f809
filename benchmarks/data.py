"""Load the data sets of the benchmarks, from ../shared/data and from scikit-learn.

Set the environment variable UNITLESS_SHARED to use another folder than ../shared. Nothing is
downloaded. Data sets that are not available are left out; `absent` lists them.
"""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

SHARED = Path(os.environ.get("UNITLESS_SHARED", Path(__file__).parents[2] / "shared"))

KNOWN = {
    "binary": "a9a adult bank_full breast_cancer credit_default elec2 german_credit higgs_small "
    "htru2 ionosphere kddcup99_10pct magic04 online_shoppers shuttle_binary sms_spam spambase w8a",
    "regression": "bike_hour california_housing cpu_act diabetes_reg diamonds power_plant "
    "protein_casp",
    "multiclass": "digits image_segments letter reuters_r8 satimage",
}
"""The names of all data sets of each task, available or not."""


class Data(NamedTuple):
    """A data set in the order in which it is learned."""

    name: str
    X: Any
    y: np.ndarray


def sets(task: str, only: str = "") -> Iterator[Data]:
    """Yield the data sets of a task in shuffled order, or only one in its natural order."""
    for name, load in sources().items():
        X, y, its_task = load() if only in ("", name) else (None, None, "")
        if its_task == task:
            n = len(y)
            order = np.arange(n) if only else np.random.default_rng(0).permutation(n)
            yield Data(name, X[order], y[order])


def sources() -> dict[str, Callable[[], tuple[Any, np.ndarray, str]]]:
    """Return a function that loads it, for each data set that is available."""
    found = {
        path.stem: lambda path=path: stored(path) for path in sorted(SHARED.glob("data/*.npz"))
    }
    return dict(sorted((BUILT_IN | found).items()))


def absent() -> list[str]:
    """Return the names of the data sets that are not available."""
    here = sources()
    return [name for names in KNOWN.values() for name in names.split() if name not in here]


def stored(path: Path) -> tuple[Any, np.ndarray, str]:
    """Load (X, y, task) from a file."""
    with np.load(path, allow_pickle=True) as z:
        parts = (z["data"], z["indices"], z["indptr"]) if "data" in z else None
        X = z["X"] if parts is None else sp.csr_array(parts, tuple(z["shape"]))
        return X, z["y"].astype(float), str(z["task"])


def built_in(task: str, load: Any, **options: Any) -> tuple[Any, np.ndarray, str]:
    """Load (X, y, task) from scikit-learn."""
    X, y = load(return_X_y=True, **options)
    return X, (2.0 * y - 1 if task == "binary" else y.astype(float)), task


BUILT_IN: dict[str, Callable[[], tuple[Any, np.ndarray, str]]] = {
    "breast_cancer": lambda: built_in("binary", load_breast_cancer),
    "diabetes_reg": lambda: built_in("regression", load_diabetes, scaled=False),
    "digits": lambda: built_in("multiclass", load_digits),
}
