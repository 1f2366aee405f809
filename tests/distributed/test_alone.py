"""A command starts and stops its own Ray; without Ray it says what to install."""

import os
import pickle
import subprocess
import sys
import time
from types import SimpleNamespace

import psutil
import pytest

from distributed.files import numbers, parquet
from distributed.here import stay_here
from test_imports import loaded_by
from unitless.cli import scaled
from unitless.distributed import fit_by_key, fit_sharded
from unitless.distributed.cluster import SWITCH
from unitless.distributed.tasks import Progress
from unitless.learners import Tracker

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


ELSEWHERE = """
import sys
from ray.cluster_utils import Cluster
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
print(cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""


@pytest.fixture
def cluster():
    """The address of a Ray that somebody else runs, on loopback; its environment."""
    pytest.importorskip("ray")
    env = {**os.environ, SWITCH: "0"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-c", ELSEWHERE], env=env, text=True, **pipes) as other:
        yield other.stdout.readline().strip(), env
        assert other.poll() is None
        assert psutil.Process(other.pid).children(recursive=True)


def test_a_cluster_is_joined_by_its_address_and_left_running(tmp_path, monkeypatch, cluster):
    address, env = cluster
    path, mark = parquet(tmp_path), f"{os.getpid()} {tmp_path}"
    words = ["fit", str(path), "-t", "delay", "-l", "vaw", "--address", address]
    words += ["--ignore", "late", "--ignore", "how", "--ignore", "weight"]
    for name, how in (("shards", "5"), ("by-key", "carrier")):
        more, seen = [f"--{name}", how, "--save", str(tmp_path / name)], set()
        how = {"env": {**env, "UNITLESS_TEST": mark}, "stdout": subprocess.DEVNULL}
        with subprocess.Popen([sys.executable, "-c", CODE, *words, *more], **how) as ran:
            while ran.poll() is None:
                seen |= {process.pid for process in marked(mark)}
                time.sleep(0.1)
        assert ran.returncode == 0
        assert seen == {ran.pid}  # no Ray was started
    stay_here(monkeypatch)
    fit_sharded("vaw", numbers(path), shards=5).save(tmp_path / "a")
    fit_by_key("vaw", numbers(path), "carrier", save=tmp_path / "b")
    assert (tmp_path / "shards").read_bytes() == (tmp_path / "a").read_bytes()
    assert (tmp_path / "by-key").read_bytes() == (tmp_path / "b").read_bytes()


def test_without_ray_the_error_says_what_to_install(tmp_path, monkeypatch):
    words = ["fit", str(parquet(tmp_path)), "-t", "delay", "-l", "vaw", "--save", "m"]
    for how in (["--shards", "2"], ["--by-key", "carrier"]):
        code = f"import sys; sys.modules['ray'] = None\n{CODE}"
        ran = subprocess.run(
            [sys.executable, "-c", code, *words, *how],
            capture_output=True, text=True, timeout=300, cwd=tmp_path,
        )  # fmt: skip
        assert (ran.returncode, os.listdir(tmp_path)) == (2, ["flights.parquet"])
        assert ran.stderr == (
            "unitless: this needs Ray, which is not installed: pip install 'unitless[ray]'\n"
        )
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'unitless\[ray\]'"):
        fit_sharded("vaw", numbers(parquet(tmp_path)), shards=2)


def test_importing_the_package_does_not_import_ray():
    modules, _ = loaded_by(
        "import unitless, unitless.distributed; unitless.distributed.fit_sharded"
    )
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


def test_rows_a_second_are_those_of_the_stage(monkeypatch):
    """Starting Ray, or a stage before, is no part of it."""
    clock, shown = iter([0.0, 60.0, 62.0, 70.0, 71.0]), []
    monkeypatch.setattr(scaled.time, "perf_counter", lambda: next(clock))
    console = SimpleNamespace(is_terminal=False, print=shown.append)
    bar = scaled.Bar(console)
    for stage in ("dealing", "learning"):
        bar.show(Progress(stage, 0, 4, 0))
        bar.show(Progress(stage, 4, 4, 600, "batches of keys"))
    assert shown == [
        "dealing: 4 of 4 batches of keys, 600 rows, 300 rows/s",
        "learning: 4 of 4 batches of keys, 600 rows, 600 rows/s",
    ]
