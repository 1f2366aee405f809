"""Log loss and CPU seconds of the default and of its rivals, for the table of README.md.

    python benchmarks/times.py            run all rivals, write results/times.json
    python benchmarks/times.py default    run only this one again

Each rival runs over the binary data sets in raw units, at most 20 000 rows of each in random order,
in one thread, and predicts each row before it sees the label (`sgd`: each 100 rows). Seconds are
CPU time after a first run on 300 rows, so that nothing is compiled or imported meanwhile.

    default     the learner of OnlineClassifier, in blocks
    vw          Vowpal Wabbit as it comes, from its text format in a file
    river       River's StandardScaler | LogisticRegression, for sets of at most 1000 columns
    sgd         scikit-learn's StandardScaler and SGDClassifier, both by partial_fit, with the
                constant rate 0.01 of River (as it comes, its loss is above 1 on most sets)
    lightgbm    LightGBM as it comes, retrained on all past rows at every 30 % growth

`rivals.py arf` runs the adaptive random forest of CapyMOA on the same rows.
"""

# ruff: noqa: I001  (`timing` sets the number of threads, which NumPy reads when it is imported)
import timing  # noqa: F401

import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import rivals
import scipy.sparse as sp
from data import sets
from streams import ROWS, Stream

RESULTS = Path(__file__).parent / "results" / "times.json"
BATCH = 100
Found = tuple[np.ndarray, float]


def timed(predict: Callable[[Stream], np.ndarray]) -> Callable[[Stream], Found]:
    """Return a function that gives the probabilities of both classes, and CPU seconds."""

    def run(stream: Stream) -> Found:
        start = time.process_time()
        p = predict(stream)
        return p, time.process_time() - start

    return run


def vw(stream: Stream) -> Found:
    from vowpalwabbit import Workspace

    with tempfile.TemporaryDirectory() as folder:
        text, out = Path(folder, "rows"), Path(folder, "out")
        rivals.write_text(text, stream)
        start = time.process_time()
        Workspace(f"-d {text} -p {out} --loss_function logistic --quiet").finish()
        seconds = time.process_time() - start
        return rivals.from_logits(np.loadtxt(out, usecols=0)), seconds


def river(stream: Stream) -> Found:
    from river import linear_model, preprocessing

    model = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    rows = [dict(enumerate(row)) for row in rivals.dense(stream).tolist()]
    labels = (stream.y > 0).tolist()
    start = time.process_time()
    found = []
    for x, label in zip(rows, labels, strict=True):
        found.append(model.predict_proba_one(x).get(True, 0.5))
        model.learn_one(x, label)
    return rivals.clipped(rivals.with_complement(np.array(found))), time.process_time() - start


def sgd(stream: Stream) -> np.ndarray:
    from sklearn.linear_model import SGDClassifier
    from sklearn.preprocessing import StandardScaler

    X = stream.X
    if sp.issparse(X):  # scikit-learn wants small integers
        parts = X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)
        X = sp.csr_matrix(parts, X.shape)
    scaler = StandardScaler(with_mean=not sp.issparse(X))
    model = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.01, random_state=0)
    scores = np.zeros(len(stream.y))
    for start in range(0, len(scores), BATCH):
        rows = slice(start, start + BATCH)
        if start:
            scores[rows] = model.decision_function(scaler.transform(X[rows]))
        scaled = scaler.partial_fit(X[rows]).transform(X[rows])
        model.partial_fit(scaled, stream.y[rows], classes=[-1, 1])
    return rivals.from_logits(scores)


RIVALS: dict[str, Callable[[Stream], Found]] = {
    "default": timed(rivals.blend),
    "vw": vw,
    "river": river,
    "sgd": timed(sgd),
    "lightgbm": timed(rivals.lightgbm),
}


def main(names: list[str]) -> None:
    kept = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in names or RIVALS:
        kept[name] = {}
        for data in sets("binary"):
            stream = Stream(data.name, "shuffled", "binary", data.X[:ROWS], data.y[:ROWS])
            try:
                RIVALS[name](stream._replace(X=stream.X[:300], y=stream.y[:300]))
                p, seconds = RIVALS[name](stream)
            except TimeoutError:
                continue
            loss = rivals.scores(stream, p)["log loss"]
            kept[name][data.name] = {"log loss": loss, "seconds": round(seconds, 3)}
            print(f"{name:10} {data.name:20} {loss:.4f} {seconds:8.2f} s", flush=True)
        RESULTS.write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
