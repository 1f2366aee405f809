"""Run one rival of the Blend on all streams: `python benchmarks/rivals.py NAME [stream ...]`.

    lightgbm        LightGBM as it comes, retrained on all past rows at every 30 % growth; the
                    running mean before 50 rows
    vw              Vowpal Wabbit with all pairs of features (-q ::)
    amf             River's aggregated Mondrian forests, on features scaled to [0, 1] as in its docs
    arf, srp, sgbt  CapyMOA's adaptive random forest, streaming random patches and streaming
                    gradient-boosted trees, as they come (arf and srp: 100 trees)
    soknl           CapyMOA's SOKNL, for regression
    blend           the Blend of the `unitless` that is installed; results are stored by version

Every prediction is made before its label, the first one included. Results go to results/rivals,
one file per rival, after each stream, small streams first; streams that are already there are left
out. Each rival runs in a process of its own. Install the extra `bench` for the first three,
`capymoa` and Java 17 for the next four. Probabilities of forests are clipped to [0.001, 0.999], in
their favour.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from streams import Stream, streams

RESULTS = Path(__file__).parent / "results" / "rivals"
FIRST, GROWTH = 50, 1.3  # of LightGBM: rows before its first training, growth until the next
CLIP = 1e-3
TIME = float(os.environ.get("UNITLESS_RIVAL_SECONDS", "120"))
"""CPU seconds per stream, after which a rival is stopped and has no score."""
TOTAL = float(os.environ.get("UNITLESS_RIVAL_TOTAL", "inf"))
"""CPU seconds after which a rival begins no other stream."""


def scores(stream: Stream, p: np.ndarray) -> dict[str, float]:
    """Return log loss and error rate, or squared error over variance.

    p has one column per class (two for binary tasks), or is one prediction per row.
    """
    if stream.task == "regression":
        return {"error": float(np.mean((p - stream.y) ** 2) / np.var(stream.y))}
    y = (stream.y > 0 if stream.task == "binary" else stream.y).astype(int)
    own = p[np.arange(len(y)), y]
    return {
        "log loss": float(-np.log(np.maximum(own, 1e-15)).mean()),
        "error": float(np.mean(p.argmax(axis=1) != y)),
    }


def with_complement(p: np.ndarray) -> np.ndarray:
    """Return the probabilities of both classes."""
    return np.column_stack([1 - p, p])


def from_logits(z: np.ndarray) -> np.ndarray:
    """Return probabilities by class from logits: of the second class, or of all classes."""
    if z.ndim == 1:
        return with_complement(0.5 + 0.5 * np.tanh(z / 2))
    e = np.exp(z - z.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


# Rivals: stream -> predictions


def blend(stream: Stream, **options: Any) -> np.ndarray:
    from unitless.learners import Blend
    from unitless.rows import as_rows

    loss = {"binary": "logistic", "multiclass": "softmax", "regression": "squared"}[stream.task]
    z = Blend(loss, classes=stream.classes, **options).learn(as_rows(stream.X, stream.y))
    return z if stream.task == "regression" else from_logits(z)


def running_means(stream: Stream) -> np.ndarray:
    """Return the mean target before each row, or the shares of the classes."""
    n = np.arange(len(stream.y))
    if stream.task == "regression":
        return np.append(0.0, np.cumsum(stream.y)[:-1] / n[1:])
    classes = max(stream.classes, 2)
    hot = np.eye(classes)[(stream.y > 0 if classes == 2 else stream.y).astype(int)]
    before = np.cumsum(hot, axis=0) - hot
    return (before + 0.5) / (n + 0.5 * classes)[:, None]


def lightgbm(stream: Stream) -> np.ndarray:
    import lightgbm as lgb

    X, y, classes = stream.X, stream.y, stream.classes
    objective = {"binary": "binary", "multiclass": "multiclass", "regression": "regression"}
    options = {"objective": objective[stream.task], "verbosity": -1, "num_threads": 1}
    if classes:
        options["num_class"] = classes
    if stream.task == "binary":
        y = (y > 0).astype(float)
    out = running_means(stream)
    n = FIRST
    while n < len(y):
        stop = min(int(np.ceil(n * GROWTH)), len(y))
        model = lgb.train(options, lgb.Dataset(X[:n], y[:n]))
        p = np.asarray(model.predict(X[n:stop]))
        out[n:stop] = with_complement(p) if stream.task == "binary" else p
        n = stop
    return out


def vw(stream: Stream) -> np.ndarray:
    from vowpalwabbit import Workspace

    losses = {"binary": "logistic", "multiclass": "logistic", "regression": "squared"}
    several = f"--oaa {stream.classes} --probabilities" if stream.classes else ""
    with tempfile.TemporaryDirectory() as folder:
        text, out = Path(folder, "rows"), Path(folder, "out")
        write_text(text, stream)
        loss = f"--loss_function {losses[stream.task]}"
        Workspace(f"-d {text} -p {out} {loss} {several} -q :: --quiet").finish()
        if stream.classes:
            lines = [line.split() for line in out.read_text().splitlines()]
            return np.array([[float(cell.split(":")[1]) for cell in line] for line in lines])
        p = np.loadtxt(out, usecols=0)
    return p if stream.task == "regression" else from_logits(p)


def write_text(path: Path, stream: Stream) -> None:
    """Write the rows in Vowpal Wabbit's format; its classes start at 1."""
    X = sp.csr_array(stream.X)
    shift = 1 if stream.classes else 0
    with path.open("w") as file:
        for row, label in enumerate(stream.y + shift):
            span = slice(X.indptr[row], X.indptr[row + 1])
            values = zip(X.indices[span], X.data[span], strict=True)
            file.write(f"{label:.9g} | " + " ".join(f"{j}:{v:.9g}" for j, v in values) + "\n")


def amf(stream: Stream) -> np.ndarray:
    from river import forest, preprocessing

    X = dense(stream)
    regression = stream.task == "regression"
    kind = forest.AMFRegressor if regression else forest.AMFClassifier
    model = preprocessing.MinMaxScaler() | kind(seed=1)
    classes = range(stream.classes) if stream.classes else (-1, 1)
    out = []
    until = time.process_time() + TIME
    for row, target in zip(X.tolist(), stream.y.tolist(), strict=True):
        x = dict(enumerate(row))
        if regression:
            out.append(model.predict_one(x) or 0.0)
            model.learn_one(x, target)
        else:
            p = model.predict_proba_one(x)
            out.append([p.get(c, 0.0) if p else 1 / len(classes) for c in classes])
            model.learn_one(x, int(target))
        if time.process_time() > until:
            raise TimeoutError
    return np.array(out) if regression else clipped(np.array(out))


def clipped(p: np.ndarray) -> np.ndarray:
    """Clip probabilities and make them sum to 1; rows without any are uniform."""
    total = p.sum(axis=1, keepdims=True)
    p = np.where(total > 0, p / np.where(total > 0, total, 1), 1 / p.shape[1])
    p = np.clip(p, CLIP, 1 - CLIP)
    return p / p.sum(axis=1, keepdims=True)


def dense(stream: Stream) -> np.ndarray:
    """Return the rows in full; only small data sets of text fit."""
    if stream.X.shape[1] > 1000:
        raise TimeoutError
    return stream.X.toarray() if sp.issparse(stream.X) else stream.X


def capymoa(kind: str) -> Callable[[Stream], np.ndarray]:
    """Return a function that runs a learner of CapyMOA; None for tasks that it does not have."""

    def run(stream: Stream) -> np.ndarray:
        from capymoa import classifier, regressor
        from capymoa.stream import NumpyStream

        regression = stream.task == "regression"
        kinds = {
            "arf": ("AdaptiveRandomForestClassifier", "AdaptiveRandomForestRegressor"),
            "srp": ("StreamingRandomPatches", ""),
            "sgbt": ("StreamingGradientBoostedTrees", "StreamingGradientBoostedRegression"),
            "soknl": ("", "SOKNL"),
        }
        name = kinds[kind][regression]
        if not name:
            raise TimeoutError
        y = stream.y if regression else np.unique(stream.y, return_inverse=True)[1]
        target_type = "numeric" if regression else "categorical"
        source = NumpyStream(dense(stream), y, target_type=target_type)
        model = getattr(regressor if regression else classifier, name)(source.get_schema())
        classes = max(stream.classes, 2)
        out = []
        until = time.process_time() + TIME
        while source.has_more_instances():
            instance = source.next_instance()
            if regression:
                out.append(model.predict(instance) or 0.0)
            else:
                p = model.predict_proba(instance)
                p = np.zeros(0) if p is None else np.asarray(p)[:classes]
                out.append(np.pad(p, (0, classes - len(p))))
            model.train(instance)
            if time.process_time() > until:
                raise TimeoutError
        return np.array(out) if regression else clipped(np.array(out))

    return run


RIVALS: dict[str, tuple[str, Callable[[Stream], np.ndarray]]] = {
    "lightgbm": ("lightgbm", lightgbm),
    "vw": ("vowpalwabbit", vw),
    "amf": ("river", amf),
    **{kind: ("capymoa", capymoa(kind)) for kind in ("arf", "srp", "sgbt", "soknl")},
    "blend": ("unitless", blend),
}
"""By name: the package, and the function that predicts."""


def size(stream: Stream) -> int:
    """Return about how much work a stream is for a forest."""
    return len(stream.y) * max(stream.classes, 2)


def unitless_version() -> str:
    import unitless

    return unitless.__version__


def main(name: str, only: list[str]) -> None:
    package, predict = RIVALS[name]
    its_version = unitless_version() if name == "blend" else version(package)
    path = RESULTS / (f"{name}-{its_version}.json" if name == "blend" else f"{name}.json")
    kept: dict[str, Any] = {"package": package, "version": its_version, "streams": {}}
    if path.exists():
        kept = json.loads(path.read_text())
    for stream in sorted(streams(), key=size):
        key = f"{stream.group}/{stream.name}"
        if key in kept["streams"] or (only and stream.name not in only):
            continue
        if time.process_time() > TOTAL:
            break
        started = time.process_time()
        try:
            found: dict[str, Any] = scores(stream, predict(stream))
        except TimeoutError:
            found = {}
        found |= {"rows": len(stream.y), "seconds": round(time.process_time() - started, 2)}
        kept["streams"][key] = found
        RESULTS.mkdir(exist_ok=True)
        path.write_text(json.dumps(kept, indent=1) + "\n")
        print(f"{name} {key:30} {found}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
