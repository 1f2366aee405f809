"""The file of predictions: resumed, too short, and on a disk that is full."""

import errno
import os
import resource
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from cli.material import table, written
from unitless import persistence
from unitless.evaluation import Evaluation

WORDS = ("-t", "label", "--learner", "coordinate", "--ignore", "score", "--quiet")


@pytest.fixture
def data(tmp_path):
    return written(tmp_path / "data.csv", table(20_000))


@contextmanager
def disk_of(size):
    """No file grows beyond that: the system cuts the write off in the middle."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def lines_of(path):
    """The rows of a file whose last line is whole."""
    text = path.read_text()
    assert text.endswith("\n")
    return text.splitlines()[1:]


def begun(unitless, tmp_path, data, rows=5000):
    """A model of the first rows, and all predictions as they should be."""
    whole = tmp_path / "whole.csv"
    unitless("evaluate", data, *WORDS, "--predictions", whole)
    all_rows = data.read_bytes()
    data.write_bytes(b"".join(all_rows.splitlines(keepends=True)[: rows + 1]))
    unitless("evaluate", data, *WORDS, "--save", tmp_path / "m", "--predictions", tmp_path / "p")
    data.write_bytes(all_rows)
    return whole.read_text().splitlines()


def test_a_resumed_run_may_write_to_a_file_of_its_own(unitless, tmp_path, data):
    header, *rows = begun(unitless, tmp_path, data)
    on = ("evaluate", data, "--resume", tmp_path / "m", "--save", tmp_path / "m", "--quiet")
    assert unitless(*on, "--predictions", tmp_path / "rest").code == 0
    assert (tmp_path / "rest").read_text().splitlines() == [header, *rows[5000:]]
    with data.open("a") as file:  # and be resumed itself
        file.write(data.read_text().splitlines()[-1] + "\n")
    assert unitless(*on, "--predictions", tmp_path / "rest").code == 0
    assert len(lines_of(tmp_path / "rest")) == 15_001


@pytest.mark.parametrize("kept", [0, 1, 40, 4000 * 40])
def test_predictions_that_are_too_few_are_not_written_on(unitless, tmp_path, data, kept):
    """A gap, or half a line with another behind it, would go unnoticed."""
    begun(unitless, tmp_path, data)
    cut = (tmp_path / "p").read_bytes()[:kept]
    (tmp_path / "p").write_bytes(cut)
    on = ("evaluate", data, "--resume", tmp_path / "m", "--predictions", tmp_path / "p")
    done = unitless(*on)
    assert done.code != 0
    assert "does not contain the predictions up to row 5,000" in done.err
    assert (tmp_path / "p").read_bytes() == cut


def test_a_disk_that_predictions_fill(unitless, tmp_path, data):
    """Their last line is whole, and the model is that of the last finished piece."""
    with disk_of(400_000):
        done = unitless(
            "evaluate", data, *WORDS, "--save", tmp_path / "m", "--predictions", tmp_path / "p"
        )
    assert done.code == 3
    assert f"{tmp_path / 'p'}: " in done.err
    rows, learned = len(lines_of(tmp_path / "p")), persistence.load(tmp_path / "m").file.position
    assert 0 < rows < 20_000
    assert learned.row == rows + 4096


def test_a_disk_without_room_for_any_model(unitless, tmp_path, data, monkeypatch):
    def full(self, where):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(where))

    monkeypatch.setattr(Evaluation, "save", full)
    done = unitless(
        "evaluate", data, *WORDS, "--save", tmp_path / "m", "--predictions", tmp_path / "p"
    )
    assert done.code == 3
    assert f"{tmp_path / 'm'}: {os.strerror(errno.ENOSPC)}" in done.err


def test_a_named_pipe_takes_predictions(unitless, tmp_path, data):
    """As the shell's >(command) does."""
    os.mkfifo(tmp_path / "pipe")
    unitless("evaluate", data, *WORDS, "--predictions", tmp_path / "p")
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit((tmp_path / "pipe").read_bytes)
        assert unitless("evaluate", data, *WORDS, "--predictions", tmp_path / "pipe").code == 0
        assert read.result(timeout=60) == (tmp_path / "p").read_bytes()


def test_labels_are_written_whole(unitless, tmp_path):
    """However long they are, and however alike they begin."""
    long = [f"{'the same words for the first sixty characters or so':<64}{k}" for k in "ab"]
    path = tmp_path / "long.csv"
    path.write_text("x,y\n" + "".join(f"{k},{long[k % 2]}\n" for k in range(40)))
    done = unitless(
        "evaluate", path, "-t", "y", "-l", "coordinate", "--quiet", "--predictions", tmp_path / "p"
    )
    assert done.code == 0
    header, *rows = (tmp_path / "p").read_text().splitlines()
    assert header == f"row,prediction,p({long[0]}),p({long[1]})"
    assert {row.split(",")[1] for row in rows} <= set(long)
