"""A full disk, a closed folder, a read-only file: a clear error, and the old file stays whole."""

import os
import resource
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from unitless import persistence
from unitless.learners import Coordinate
from unitless.persistence import container
from unitless.rows import as_rows


@pytest.fixture
def folder():
    """A folder that others may enter, unlike pytest's."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)
        Path(name).chmod(0o755)


@pytest.fixture
def saved(folder):
    """An old model, and a newer one that is to replace it."""
    learner = Coordinate()
    persistence.save(learner, folder / "model")
    learner.learn(as_rows(np.random.default_rng(0).normal(size=(1, 5000)), [1.0]))
    return folder / "model", learner


@contextmanager
def nobody():
    """As a user without rights, also where tests run as root."""
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def stays(path, learner, error):
    """Assert that saving fails by this error, which names the file, and leaves all as it was."""
    before = path.read_bytes()
    with pytest.raises(error) as caught:
        persistence.save(learner, path)
    assert str(caught.value).endswith(f": {str(path)!r}")
    assert path.read_bytes() == before
    assert [*path.parent.iterdir()] == [path]
    persistence.load(path)


def test_a_full_disk(saved):
    """The system cuts the write off in the middle, as a full disk does."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, limits[1]))
    try:
        stays(*saved, OSError)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_an_unwritable_folder(saved):
    path, learner = saved
    path.chmod(0o666)
    path.parent.chmod(0o555)
    with nobody():
        stays(path, learner, PermissionError)


def test_a_read_only_file_in_a_folder_that_could_be_written(saved):
    """A rename would not mind; whoever made the file read-only does."""
    path, learner = saved
    path.chmod(0o444)
    path.parent.chmod(0o777)
    with nobody():
        stays(path, learner, PermissionError)


def test_a_folder_that_is_not_there(saved):
    path, learner = saved
    with pytest.raises(FileNotFoundError, match="nowhere"):
        persistence.save(learner, path.parent / "nowhere" / "model")


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), KeyboardInterrupt()])
def test_a_rename_that_fails(saved, monkeypatch, error):
    def fails(*_):
        raise error

    monkeypatch.setattr(os, "replace", fails)
    path, learner = saved
    if isinstance(error, OSError):
        stays(path, learner, OSError)
    before = path.read_bytes()
    with pytest.raises(type(error)):
        persistence.save(learner, path)
    assert path.read_bytes() == before
    assert [*path.parent.iterdir()] == [path]


@pytest.mark.parametrize("moment", ["replace", "fsync"])
def test_killed_at_the_rename(saved, moment):
    """What is left is the old file, whole, and a temporary one that no later save minds."""
    path, _ = saved
    before = path.read_bytes()
    code = (
        "import os, signal, sys\n"
        "from unitless.persistence import container\n"
        f"os.{moment} = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "container.replace(sys.argv[1], b'new')"
    )
    done = subprocess.run([sys.executable, "-c", code, path], timeout=100)
    assert done.returncode == -signal.SIGKILL
    assert path.read_bytes() == before
    assert len([*path.parent.iterdir()]) == 2
    container.replace(path, b"newer")
    assert path.read_bytes() == b"newer"
