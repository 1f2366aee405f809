"""A cache of compiled kernels from another version, or of a learner that is gone, does no harm."""

import os
import pickletools
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from unitless.kernels.decorators import cache_folder

DEFAULT = """
import numpy as np
from unitless import OnlineClassifier
X = np.random.default_rng(0).normal(size=(30, 2))
OnlineClassifier().fit(X, X[:, 0] > 0).predict(X)
"""

RENAMED_LATER = """
from typing import NamedTuple
from unitless.kernels.decorators import kernel

class Rule(NamedTuple):
    rate: float

@kernel
def run(rule):
    return rule.rate

run(Rule(1.0))
"""

LEARNER_OUTSIDE = """
from unitless.kernels.decorators import kernel
from unitless.learners.coordinatewise import loop
from unitless.learners.nag import Nag, predict, update

@kernel
def run(task, parameters, block, targets, weights, scores, state):
    return loop(predict, update, 3, task, parameters, block, targets, weights, scores, state)

class Mine(Nag):
    kernel = staticmethod(run)

Mine().learn_one({"a": 1.0}, 1)
"""


def python(code, folder=None, **environment):
    """Run code in a process of its own; from a file in the folder, if given."""
    arguments = ["-c", textwrap.dedent(code)]
    if folder is not None:
        Path(folder, "gone.py").write_text(code)
        arguments = ["-c", "import gone"]
        environment["PYTHONPATH"] = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def indexes(folder):
    """The indexes of all kernels in a cache."""
    return sorted(Path(folder).rglob("*.nbi"))


def test_the_default_starts_beside_caches_of_others(tmp_path):
    """The index of a kernel whose class is gone cannot be read: no process must meet one."""
    python(RENAMED_LATER, tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    poisoned = indexes(tmp_path / "cache")[-1]
    own = Path(cache_folder())
    other = own.with_name("unitless-0.0.9-numba-0.0.9")
    for index in indexes(own):
        copy = other / index.relative_to(own)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(poisoned, copy)
    python(LEARNER_OUTSIDE, tmp_path)
    Path(tmp_path, "gone.py").unlink()
    try:
        python(DEFAULT)
    finally:
        shutil.rmtree(other, ignore_errors=True)


def test_no_class_of_this_package_is_in_an_index():
    exec(DEFAULT, {})
    found = indexes(cache_folder())
    assert found
    for index in found:
        data = index.read_bytes()
        names = [str(argument) for _, argument, _ in operations(data)]
        assert not [name for name in names if name.startswith("unitless")], index


def operations(data):
    """The operations of the pickles in an index: its version, then the signatures."""
    while data:
        size = 0
        for operation, argument, place in pickletools.genops(data):
            yield operation, argument, place
            size = place + 1
        data = data[size:]


@pytest.mark.parametrize("given", [True, False])
def test_a_folder_per_version(tmp_path, given):
    """Below NUMBA_CACHE_DIR, if it is set, or in the user's cache."""
    code = f"""
    import numba
    from unitless import __version__
    from unitless.kernels.decorators import cache_folder
    name = f"unitless-{{__version__}}-numba-{{numba.__version__}}"
    assert cache_folder() == {str(tmp_path)!r} + "/" + name, cache_folder()
    """
    chosen = {"NUMBA_CACHE_DIR": str(tmp_path)} if given else {"XDG_CACHE_HOME": str(tmp_path)}
    python(code, **{"NUMBA_CACHE_DIR": "", **chosen})


def test_a_home_that_cannot_be_written(tmp_path):
    """Then Numba chooses where to keep its files."""
    blocked = tmp_path / "file"
    blocked.write_text("")
    code = "from unitless.kernels.decorators import cache_folder\nassert cache_folder() == ''"
    python(code, NUMBA_CACHE_DIR="", XDG_CACHE_HOME=str(blocked))
