"""Runs of several passes, stopped anywhere and resumed: the same model, results and predictions."""

import json
from itertools import pairwise

import pytest

from cli.material import table, written
from unitless import persistence
from unitless.evaluation import Evaluation
from unitless.persistence.saving import as_bytes

ROWS = 300


class Killed(BaseException):
    """The process is gone: nothing is saved any more."""


@pytest.fixture
def svm(tmp_path):
    frame = table(ROWS)
    path = tmp_path / "data.svm"
    lines = [
        f"{1 if row['label'] == 'yes' else -1} 1:{row['grams']} 3:{row['score']}"
        for row in frame.iter_rows(named=True)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def csv(tmp_path):
    return written(tmp_path / "data.csv", table(ROWS))


@pytest.fixture
def folder(tmp_path):
    """Three files, whose ends are not those of checkpoints."""
    whole = table(ROWS)
    (tmp_path / "parts").mkdir()
    for k, (start, stop) in enumerate(pairwise([0, 70, 90, ROWS])):
        written(tmp_path / "parts" / f"{k}.csv", whole[start:stop])
    return tmp_path / "parts"


def words_for(path, folder, passes):
    target = () if path.suffix == ".svm" else ("-t", "label", "--ignore", "score")
    learner = "coordinate"
    return (
        "evaluate", path, *target, "-l", learner, "--quiet", "--passes", passes, "--holdout", 7,
        "--checkpoint", 50, "--save", folder / "m", "--predictions", folder / "p.csv",
        "--report", folder / "page.html",
    )  # fmt: skip


def outcome(folder):
    """Return the model, the predictions and the results of a run."""
    results = json.loads((folder / "page.results.json").read_text())
    for name in ("seconds", "command", "date"):
        results.pop(name)
    return (
        as_bytes(persistence.load(folder / "m")),
        (folder / "p.csv").read_bytes(),
        results,
    )


def killed_after(monkeypatch, saves):
    """Let a run be killed just after that number of saves of its model."""
    save = Evaluation.save
    count = 0

    def save_and_die(self, path):
        nonlocal count
        if count >= saves:  # the process is gone, and saves nothing more
            raise Killed
        save(self, path)
        count += 1
        if count == saves:
            raise Killed

    monkeypatch.setattr(Evaluation, "save", save_and_die)


@pytest.mark.parametrize(("kind", "passes"), [("svm", 2), ("csv", 2), ("folder", 3)])
def test_killed_after_any_checkpoint(unitless, tmp_path, monkeypatch, request, kind, passes):
    data = request.getfixturevalue(kind)
    (tmp_path / "whole").mkdir()
    words = words_for(data, tmp_path / "whole", passes)
    assert unitless(*words).code == 0
    whole = outcome(tmp_path / "whole")
    checkpoints = ROWS // 50
    for saves in (1, checkpoints, checkpoints + 1, 2 * checkpoints, passes * checkpoints + 1):
        folder = tmp_path / f"killed {saves}"
        folder.mkdir()
        words = words_for(data, folder, passes)
        with monkeypatch.context() as patch:
            killed_after(patch, saves)
            with pytest.raises(Killed):
                unitless(*words)
        assert unitless(*words, "--resume", folder / "m").code == 0
        assert outcome(folder) == whole
        assert unitless(*words, "--resume", folder / "m").code == 0  # finished: nothing changes
        assert outcome(folder) == whole
