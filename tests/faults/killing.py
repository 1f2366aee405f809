"""kill -9 at a random moment of a checkpointed run, resumed: is the model the same, to the bit?

A program of its own, `python tests/faults/killing.py LEARNER ENDING KILLS SEED`, since runs are
forks of one process that has everything loaded: a killed run costs its own time and no start. It
prints JSON: how many kills met a running process, found no checkpoint yet, left a temporary file
behind, and how many resumed runs ended in another file than the run nobody killed.
"""

import importlib
import json
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path


def real_file(folder, ending):
    """The breast cancer data that scikit-learn brings, as a file; (path, options to read it)."""
    import numpy as np
    from sklearn.datasets import dump_svmlight_file, load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    path = Path(folder, f"data.{ending}")
    if ending == "svm":
        dump_svmlight_file(X, 2 * y - 1, str(path))
        return path, []
    names = [f"x{j}" for j in range(X.shape[1])]
    table = np.column_stack([X, y]).tolist()
    rows = [dict(zip([*names, "y"], row, strict=True)) for row in table]
    if ending == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
        path.write_text("\n".join(lines) + "\n")
    return path, ["--target", "y"]


def done(words):
    """The exit code of a command that runs in this process."""
    from unitless.cli import main

    sys.argv = ["unitless", *map(str, words)]
    try:
        main()
    except SystemExit as end:
        return end.code or 0
    return 0


def started(words):
    """A forked process that runs the command; its number."""
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        code = done(words)
    finally:
        os._exit(code)


def ended(child):
    """Wait for the end; the exit code, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def killed_after(child, seconds, first):
    """Kill it so many seconds later, or after this file was there; whether it was still running."""
    until = time.monotonic() + seconds if first is None else None
    while until is None or time.monotonic() < until:
        if until is None and first.exists():
            until = time.monotonic() + seconds
        time.sleep(0.002 if until is None else max(0, min(until - time.monotonic(), 0.02)))
        if os.waitpid(child, os.WNOHANG)[0]:
            return False
    os.kill(child, signal.SIGKILL)
    return ended(child) == -signal.SIGKILL


def warmed(learner, folder):
    """Everything a run needs, loaded before the forks: they start at once.

    By a run over svmlight text: polars, which has threads of its own, is imported and not used.
    """
    importlib.import_module("polars")
    path = Path(folder, "first.svm")
    path.write_text("1 1:1\n-1 2:1\n")
    assert done(["evaluate", path, "--quiet", "--learner", learner]) == 0


def trial(words, model, resume, seconds, late):
    """Killed once, then resumed to the end; (killed, had no checkpoint, left a temporary file)."""
    for old in model.parent.glob(f"*{model.name}*"):
        old.unlink()
    child = started([*words, "--save", model])
    killed = killed_after(child, seconds, model if late else None)
    nothing, left = not model.exists(), bool([*model.parent.glob(f".{model.name}.*.tmp")])
    if not killed:
        return False, nothing, left
    on = [] if nothing else ["--resume", model]
    code = ended(started([*(words if nothing else resume), "--save", model, *on]))
    assert code == 0, f"the resumed run ended with exit code {code}"
    return killed, nothing, left


def main(learner, ending, kills, seed):
    """Kill that many runs."""
    rng, counts = random.Random(seed), dict.fromkeys(("kills", "no_checkpoint", "left", "wrong"), 0)
    with tempfile.TemporaryDirectory() as folder:
        warmed(learner, folder)
        data, options = real_file(folder, ending)
        resume = ["evaluate", data, "--quiet", "--checkpoint", "10"]
        words = [*resume, "--learner", learner, *options]
        whole, model = Path(folder, "whole"), Path(folder, "model")
        for _ in range(2):  # the first may have to compile
            begin = time.monotonic()
            assert ended(started([*words, "--save", whole])) == 0
            took = time.monotonic() - begin
        while counts["kills"] < kills:
            late = rng.random() < 0.8  # the others may be killed before the first checkpoint
            moment = rng.uniform(0, took)
            killed, nothing, left = trial(words, model, resume, moment, late)
            counts["kills"] += killed
            counts["no_checkpoint"] += killed and nothing
            counts["left"] += left
            counts["wrong"] += model.read_bytes() != whole.read_bytes()
    print(json.dumps(counts | {"seconds_a_run": round(took, 2)}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
