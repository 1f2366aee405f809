"""Forged states of learners: refused by `Damaged`, or a learner that touches only what is its own.

A program of its own, `python tests/faults/forging.py NAME LOSS ...`, because a state that loading
should have refused may crash the process or keep it busy for ever. For each learner, it sets each
array of the state to each extreme value, at several places, then lets the learner that was loaded
predict and learn rows. It prints JSON: states tried, how many were refused, and errors that are
none of those a learner may raise. On a crash, the last line of its error stream names the state.
"""

import copy
import faulthandler
import json
import random
import sys
import warnings
from collections import Counter
from itertools import product

import numpy as np

from unitless import learners, losses
from unitless.core.learner import Diverged
from unitless.learners.one_vs_rest import with_classes
from unitless.rows import as_rows
from unitless.state import Damaged, remembered, restore

HANG = 60
"""Seconds after which a state counts as one that keeps the process busy for ever."""
LOSSES = ("logistic", "hinge", "absolute", "squared", "softmax")
CLASSES = 3
COLUMNS = 6
ROWS = 300
NUMBERS = (np.nan, np.inf, -np.inf, 1e308, -1e308, 5e-324, 0.5, 2.0**31, 2.0**53, 2.0**63)
SETTINGS = {"histogram_trees": {"first": 125}}
"""Parameters with which a few hundred rows reach all that a learner does."""
PARTS = ("experts.", "learners.", "followers.")
"""Learners inside others, whose indices and counts are tried with the learner alone."""
OF_EVERY_LOSS = ("features.", "shown.", "pairs.")
"""Parts of a Blend that know no loss: their indices are tried with the logistic loss."""
ALL = 1000
"""Where only every so many forgeries are tried, indices and counts are no exception."""
WHOLES = (-(2**63), -(2**31), -2, 2**31 - 1, 2**31, 2**40, 2**53)


def make(name, loss):
    """A learner with that loss; ValueError if it does not take it."""
    kind = learners.get(name)
    given = SETTINGS.get(name, {})
    return with_classes(kind, CLASSES, **given) if loss == "softmax" else kind(loss, **given)


def pairs():
    """All learners with the losses that they take."""
    found = []
    for name, loss in product(learners.REGISTRY, LOSSES):
        try:
            make(name, loss)
        except ValueError:
            continue
        found.append((name, loss))
    return found


def stream(loss, rows, seed, columns=COLUMNS):
    """Rows with zeros and missing values, of moderate size so that all learners take them."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(rows, columns))
    X[rng.random(X.shape) < 0.2] = 0.0
    X[:, 1] = np.round(X[:, 1])
    X[rng.random(X.shape) < 0.02] = np.nan
    kind = losses.get(loss).targets
    if kind == "classes":
        y = rng.integers(0, CLASSES, rows).astype(float)
    elif kind == "signs":
        y = rng.choice([-1.0, 1.0], rows)
    else:
        y = rng.normal(size=rows)
    return X, y


def trained(name, loss):
    """A learner that has learned, with units of its own and, if it is a Blend, trees and pairs."""
    learner = make(name, loss)
    X, y = stream(loss, ROWS if "blend" in name or "trees" in name else 40, 0)
    learner.learn(as_rows(X, y))
    if learner.scale_invariant:
        learner.learn(as_rows(np.nan_to_num(X[:2]) * 2.0**300, y[:2]))
    return learner


# Forging


def extremes(array, sizes):
    """The values that an array of the state is set to."""
    around = sorted({size + step for size in sizes for step in (-1, 0, 1)})
    if array.dtype.kind == "f":
        return [*NUMBERS, -1.0, 0.0, 1.0, *map(float, around)]
    limits = np.iinfo(array.dtype)
    given = (*WHOLES, -1, 0, 1, *around)
    return sorted({value for value in given if limits.min <= value <= limits.max})


def forgeries(arrays):
    """(label, path, array) of each forged array: an entry, all entries, or another length."""
    sizes = {array.size for array in arrays.values()}
    few = {1, COLUMNS, 1 + COLUMNS, max(sizes)}
    for path, array in arrays.items():
        own = {array.size, *(few if array.dtype.kind != "f" or array.size == 1 else ())}
        for value in extremes(array, own):
            for place in places(array):
                forged = array.copy()
                forged[place] = value
                yield f"{path}[{place}] = {value}", path, forged
        if array.ndim:
            for length in sorted({0, 1, len(array) - 1, len(array) + 1, 8 + len(array)} - {-1}):
                yield f"{path} of length {length}", path, resized(array, length)


def places(array):
    """Where an entry is forged: at both ends, in the middle, and everywhere."""
    if array.ndim == 0:
        return [()]
    ends = {0, len(array) // 2, len(array) - 1} if len(array) else set()
    return [*sorted(ends), slice(None)] if len(array) > 1 else [*sorted(ends)]


def resized(array, length):
    """The array with entries left out or repeated."""
    return np.resize(array, (length, *array.shape[1:]))


def random_forgery(arrays, rng):
    """(label, arrays) with one to three arrays forged, at random."""
    arrays = dict(arrays)
    labels = []
    for _ in range(rng.choice((1, 1, 2, 3))):
        path = rng.choice(sorted(arrays))
        array = arrays[path].copy()
        what = rng.random()
        if array.ndim and what < 0.15:
            length = rng.choice((0, 1, max(len(array) - 1, 0), len(array) + 1, rng.randrange(100)))
            array = resized(array, length)
            labels.append(f"{path} of length {length}")
        elif array.size:
            somewhere = rng.randrange(len(array)) if array.ndim else ()
            place = rng.choice(places(array)) if what < 0.6 else somewhere
            other = arrays[rng.choice(sorted(arrays))].size
            value = rng.choice(extremes(array, {array.size, other, rng.randrange(20)}))
            array[place] = value
            labels.append(f"{path}[{place}] = {value}")
        arrays[path] = array
    return ", ".join(labels), arrays


def forged_facts(facts):
    """(label, facts) with each fact, and each component, set to something else."""
    parts = {path.rpartition(".")[0] for path in facts}
    for path in sorted({*facts, *parts} - {""}):
        for value in (None, -1, 0, 2**31 - 1, 2**60, True, "x", [], {}):
            yield f"{path} = {value!r}", {**facts, path: value}


def is_index_or_count(path, array, loss):
    """Whether compiled code may look somewhere, or often, because of it.

    Those that are tried elsewhere are left out here.
    """
    elsewhere = PARTS if loss == "logistic" else (*PARTS, *OF_EVERY_LOSS)
    return (array.dtype.kind != "f" or array.ndim == 0) and not path.startswith(elsewhere)


# What must come of it


def loaded(name, loss, arrays, facts):
    """The learner with this state, or None if it is refused."""
    learner = make(name, loss)
    try:
        restore(learner, arrays, facts)
    except (Damaged, ValueError, ArithmeticError, AttributeError, LookupError, TypeError):
        return None  # all of these become one `ModelFileError`
    except MemoryError:
        return None
    return learner


def use(learner, rows=ROWS):
    """Predict and learn in every way; numbers may be anything, memory may not."""
    from scipy.sparse import csr_array

    loss = learner.loss.name
    X, y = stream(loss, rows, 1)
    wide, more = stream(loss, 5, 2, columns=12)
    calls = (
        lambda: learner.predict(as_rows(X[:20])),
        lambda: learner.learn(as_rows(X[:20], y[:20])),
        lambda: learner.learn(as_rows(csr_array(np.nan_to_num(X[:5])), y[:5])),
        lambda: learner.learn_one({f"x{k}": x for k, x in enumerate(X[0].tolist())}, y[0]),
        lambda: learner.predict(as_rows(wide)),
        lambda: learner.learn(as_rows(wide, more)),
        lambda: learner.learn(as_rows(X, y)),
        lambda: learner.weights(),
        lambda: learner.sums(),
        lambda: learner.rescale(np.full(learner.columns, 2.0)),
        lambda: learner.predict(as_rows(X[:1] * 2.0**300)),
        lambda: learner.learn(as_rows(X[:5], y[:5], np.full(5, 2.0))),
        lambda: copy.deepcopy(learner),
    )
    for call in calls:
        try:
            call()
        except (Diverged, ValueError, ArithmeticError):  # numbers that make no sense
            pass
        except np.linalg.LinAlgError:
            pass


class Trial:
    """Tries states, and counts what comes of them."""

    def __init__(self, name, loss, rows=ROWS):
        self.name = name
        self.loss = loss
        self.rows = rows
        self.arrays, self.facts = remembered(trained(name, loss))
        self.counts = Counter()
        self.failures = []

    def run(self, label, arrays=None, facts=None):
        """Load this state and use what was loaded."""
        label = f"{self.name} {self.loss}: {label}"
        print(label, file=sys.stderr, flush=True)
        faulthandler.dump_traceback_later(HANG, exit=True)
        try:
            learner = loaded(self.name, self.loss, arrays or self.arrays, facts or self.facts)
            if learner is not None:
                use(learner, self.rows)
        except Exception as error:
            self.failures.append(f"{label}: {error!r:.300}")
        else:
            self.counts["refused" if learner is None else "loaded"] += 1
        faulthandler.cancel_dump_traceback_later()

    def exhaust(self, every=1):
        """Try all forgeries of indices and counts, and every so many of the others."""
        self.run("as it was")
        assert self.counts["loaded"] == 1, f"{self.name} {self.loss} is refused as it was"
        for k, (label, path, array) in enumerate(forgeries(self.arrays)):
            if k % every == 0 or (every < ALL and is_index_or_count(path, array, self.loss)):
                self.run(label, arrays={**self.arrays, path: array})
        for k, (label, facts) in enumerate(forged_facts(self.facts)):
            if k % every == 0:
                self.run(label, facts=facts)

    def sample(self, count, seed):
        """Try that many forgeries at random."""
        rng = random.Random(f"{self.name} {self.loss} {seed}")
        for _ in range(count):
            label, arrays = random_forgery(self.arrays, rng)
            self.run(label, arrays=arrays)

    def figures(self):
        """What was found."""
        return {
            "learner": self.name,
            "loss": self.loss,
            "failures": self.failures[:10],
            **self.counts,
        }


def main(words):
    """For each NAME LOSS EVERY: try every so many of its forgeries."""
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    for name, loss, every in zip(words[::3], words[1::3], words[2::3], strict=True):
        trial = Trial(name, loss)
        trial.exhaust(int(every))
        print(json.dumps(trial.figures()), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
