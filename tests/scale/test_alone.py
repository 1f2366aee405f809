"""A command starts and stops its own Ray; without Ray it says what to install."""

import os
import pickle
import subprocess
import sys

import psutil
import pytest

from scale.files import numbers, parquet
from scale.here import stay_here
from test_imports import loaded_by
from unitless.learners import Tracker
from unitless.scale import fit_sharded

CODE = """
import sys
sys.argv = ["unitless", *sys.argv[1:]]
from unitless.cli import main
main()
"""


def command(*words, **how):
    return subprocess.run(
        [sys.executable, "-W", "error::ResourceWarning", "-c", CODE, *words],
        capture_output=True, text=True, timeout=300, **how,
    )  # fmt: skip


def marked(mark):
    """Processes that have the mark in their environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("UNITLESS_TEST") == mark:
                found.append(process)
        except (psutil.AccessDenied, psutil.NoSuchProcess, psutil.ZombieProcess):
            pass
    return found


def test_a_command_leaves_its_model_and_nothing_running(tmp_path, monkeypatch):
    pytest.importorskip("ray")
    path, model = parquet(tmp_path), tmp_path / "model"
    mark = f"{os.getpid()} {tmp_path}"
    words = ["-t", "delay", "-l", "vaw", "--shards", "5", "--save", str(model)]
    words += ["--ignore", "late", "--ignore", "how", "--ignore", "weight"]
    ran = command("fit", str(path), *words, env={**os.environ, "UNITLESS_TEST": mark})
    assert (ran.returncode, ran.stderr) == (0, "")
    _, alive = psutil.wait_procs(marked(mark), timeout=30)
    assert alive == []
    stay_here(monkeypatch)
    fit_sharded("vaw", numbers(path), shards=5).save(tmp_path / "here")
    assert model.read_bytes() == (tmp_path / "here").read_bytes()


def test_without_ray_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'unitless\[ray\]'"):
        fit_sharded("vaw", numbers(parquet(tmp_path)), shards=2)


def test_importing_the_package_does_not_import_ray():
    modules, _ = loaded_by("import unitless, unitless.scale; unitless.scale.fit_sharded")
    assert "unitless" in modules
    assert "ray" not in modules


def test_a_learner_sent_to_a_fresh_process_knows_its_rule(tmp_path):
    """Workers get learners, they make none: what making one loads must be loaded all the same."""
    path = tmp_path / "learner"
    path.write_bytes(pickle.dumps(Tracker()))
    code = f"import pickle, sys; pickle.load(open({str(path)!r}, 'rb'))"
    loaded = "print('unitless.learners.house' in sys.modules)"
    command = [sys.executable, "-c", f"{code}; {loaded}"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert ran.stdout.strip() == "True"
