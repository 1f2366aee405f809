"""Kill checkpointed runs with SIGKILL at random times and resume them: is the outcome the same?

A program: `python tests/faults/killing.py LEARNER ENDING KILLS SEED PASSES ...`. Runs are forks of
one process that has everything loaded, so a killed run costs no start. Unless PASSES is 0, a run
has PASSES passes, holds out rows, writes predictions and a report, and is killed up to three
times. The program prints JSON: how many kills hit a running process, found no checkpoint yet, left
a temporary file, and how many resumed runs had another outcome (model, predictions, results) than a
run that was not killed; one line for every five arguments.
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
    """The breast cancer data that scikit-learn brings, as a file; (path, options to read it).

    "folder" is a folder of three CSV files.
    """
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    header = ",".join([*(f"x{j}" for j in range(X.shape[1])), "y"])
    rows = [",".join(map(str, [*row, label])) for row, label in zip(X.tolist(), y, strict=True)]
    table = Path(folder, "data.csv")
    table.write_text("\n".join([header, *rows]) + "\n")
    if ending == "csv":
        return table, ["--target", "y"]
    path = Path(folder, f"data.{ending}")
    if ending == "folder":
        path.mkdir()
        for k, part in enumerate([rows[:123], rows[123:200], rows[200:]]):
            (path / f"{k}.csv").write_text("\n".join([header, *part]) + "\n")
        return path, ["--target", "y"]
    # In a process of its own: polars must have no threads when runs are forked.
    assert ended(started(["convert", table, path, "--target", "y", "--quiet"])) == 0
    return path, [] if ending in ("svm", "vw") else ["--target", "y"]


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
    """Kill it after that time, or when this file is there; whether it was still running."""
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
    assert done(["evaluate", path, "--quiet", *learning(learner)]) == 0


def learning(learner):
    """The words for a learner; VAW is made for squared loss."""
    return ["--learner", learner, *(["--task", "regression"] if learner == "vaw" else [])]


def outcome(folder):
    """Return what a run left: its model, its predictions, and its results without times."""
    files = {}
    for path in sorted(folder.glob("run*")):
        files[path.name] = path.read_bytes()
        if path.name.endswith("results.json"):
            found = json.loads(files[path.name])
            for name in ("seconds", "command", "date"):
                found.pop(name)
            files[path.name] = json.dumps(found).encode()
        if path.suffix == ".html":
            files[path.name] = b"written"
    return files


def killed_and_resumed(words, folder, times, late):
    """Kill a run at each of these times, then let it end; count what happened."""
    counts = dict.fromkeys(("kills", "no_checkpoint", "left"), 0)
    for old in folder.glob("*run*"):
        old.unlink()
    model = folder / "run"
    for seconds in times:
        on = ["--resume", model] if model.exists() else []
        child = started([*words, *on])
        wait_for = model if late and not model.exists() else None
        if not killed_after(child, seconds, wait_for):
            return counts
        counts["kills"] += 1
        counts["no_checkpoint"] += not model.exists()
        counts["left"] += bool([*folder.glob(".run.*.tmp")])
    on = ["--resume", model] if model.exists() else []
    code = ended(started([*words, *on]))
    assert code == 0, f"the resumed run ended with exit code {code}"
    return counts


def command(data, options, learner, folder, passes):
    """Return the words of a run whose files are called run* in the folder."""
    words = ["evaluate", data, "--quiet", "--checkpoint", "10", *learning(learner), *options]
    words += ["--save", folder / "run"]
    if passes:
        words += ["--passes", passes, "--holdout", 7, "--predictions", folder / "run.csv"]
        words += ["--report", folder / "run.html"]
    return words


def main(learner, ending, kills, seed, passes):
    """Kill that many runs."""
    rng = random.Random(seed)
    counts = dict.fromkeys(("kills", "no_checkpoint", "left", "wrong"), 0)
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base, "runs")
        folder.mkdir()
        warmed(learner, base)
        data, options = real_file(base, ending)
        words = command(data, options, learner, folder, passes)
        begin = time.monotonic()
        assert ended(started(words)) == 0
        took = time.monotonic() - begin
        whole = outcome(folder)
        while counts["kills"] < kills:
            late = rng.random() < 0.8  # the others may be killed before the first checkpoint
            number = rng.randint(1, 3) if passes else 1
            times = [rng.uniform(0, took) for _ in range(number)]
            for name, count in killed_and_resumed(words, folder, times, late).items():
                counts[name] += count
            counts["wrong"] += outcome(folder) != whole
    print(json.dumps(counts | {"seconds_a_run": round(took, 2)}))


if __name__ == "__main__":
    given = sys.argv[1:]  # a run has words of its own there
    for k in range(0, len(given), 5):
        main(*given[k : k + 2], *map(int, given[k + 2 : k + 5]))
