"""A Ray cluster gives the bits of this machine, even if workers are killed, and is left running."""

import os
import subprocess
import sys

import psutil
import pytest

from distributed.files import classes, numbers, parquet
from distributed.killing import deadly
from distributed.test_executor import COMMAND
from unitless.distributed import WorkerLost, fit_by_key
from unitless.learners import Coordinate

pytestmark = pytest.mark.ray
LOOPBACK = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_USAGE_STATS_ENABLED": "0"}
"""Ray then uses 127.0.0.1 on every node; it looks at this when it is imported."""

CLUSTER = """
import sys
from ray.cluster_utils import Cluster
cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
print(cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""


@pytest.fixture(scope="module")
def address():
    """A cluster that somebody else runs, on this machine's loopback address."""
    os.environ.update(LOOPBACK)
    pytest.importorskip("ray")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-c", CLUSTER], text=True, **pipes) as other:
        yield other.stdout.readline().strip()
        assert other.poll() is None
        assert psutil.Process(other.pid).children(recursive=True)


@pytest.fixture
def source(tmp_path):
    return numbers(parquet(tmp_path))


def test_a_cluster_gives_the_bits_of_this_machine(address, source, tmp_path):
    words = ["fit", str(source.path), "-t", "delay", "-l", "vaw", "--address", address]
    words += ["--ignore", "late", "--ignore", "how", "--ignore", "weight", "--task", "regression"]
    words += ["--by-key", "carrier", "--save", str(tmp_path / "there")]
    assert subprocess.run([*COMMAND, *words], timeout=300).returncode == 0
    fit_by_key("vaw", source, "carrier", save=tmp_path / "here", workers=1)
    assert (tmp_path / "there").read_bytes() == (tmp_path / "here").read_bytes()


def test_a_worker_killed_while_it_learns_keys_changes_no_bit(address, source, tmp_path):
    source = classes(source.path)
    learner = deadly(Coordinate, tmp_path / "deaths")
    fit_by_key(learner, source, "carrier", save=tmp_path / "a", address=address)
    assert len(os.listdir(tmp_path / "deaths")) == 1
    fit_by_key("coordinate", source, "carrier", save=tmp_path / "b", workers=1)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_retries_that_do_not_help_are_one_error_and_no_model(address, source, tmp_path):
    learner = deadly(Coordinate, tmp_path / "deaths", times=99)
    source = classes(source.path)
    with pytest.raises(WorkerLost, match=r"partition \d+ of \d+.*the worker died 1 times"):
        fit_by_key(learner, source, "carrier", retries=0, save=tmp_path / "m", address=address)
    assert {*os.listdir(tmp_path)} == {"deaths", "flights.parquet"}


def test_classes_by_key(address, source, tmp_path):
    source = classes(source.path)
    for name, where in (("a", {"address": address}), ("b", {"workers": 1})):
        fit_by_key("coordinate", source, "carrier", save=tmp_path / name, **where)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
