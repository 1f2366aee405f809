"""On Ray itself: the same bits whatever the workers and whatever dies, nothing left, loopback."""

import os
import signal
import sys

import numpy as np
import psutil
import pytest

from distributed.files import classes, numbers, parquet, predictions, table
from distributed.here import stay_here
from unitless.blend.blend import Blend
from unitless.cli.app import app
from unitless.distributed import Source, WorkerLost, fit_by_key, fit_sharded, running
from unitless.learners.vaw import Vaw
from unitless.persistence import Many, load
from unitless.persistence.saving import as_bytes

ray = pytest.importorskip("ray")


@pytest.fixture(scope="module")
def cluster():
    """One embedded Ray for all of these tests; afterwards nothing of it is left."""
    with running(workers=2) as started:
        processes = psutil.Process().children(recursive=True)
        yield started
        processes += psutil.Process().children(recursive=True)
    _, alive = psutil.wait_procs(processes, timeout=30)
    assert not [process for process in alive if process.is_running()]


@pytest.fixture
def source(tmp_path):
    return numbers(parquet(tmp_path))


def deadly(base, folder, where, times=1):
    """A learner that kills its process with SIGKILL, in tasks of that name, so many times."""
    folder = str(folder)

    def maybe_die():
        import ray

        deaths = os.listdir(folder)
        if ray.get_runtime_context().get_task_name() == where and len(deaths) < times:
            open(os.path.join(folder, f"{os.getpid()}"), "w").close()
            os.kill(os.getpid(), signal.SIGKILL)

    def restored(self, state):
        self.__dict__.update(state)
        maybe_die()

    return type(base.__name__, (base,), {"__setstate__": restored, "__module__": __name__})


def of_base(model, base):
    """The model with a learner of the plain kind, so that both can be saved."""
    model.learner.__class__ = base
    return as_bytes(model)


def test_sockets_are_on_loopback_only(cluster):
    found = []
    for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
        for connection in process.net_connections("inet"):
            if connection.status == psutil.CONN_LISTEN:
                found.append(connection.laddr.ip.removeprefix("::ffff:"))
    assert len(found) >= 3
    assert {*found} <= {"127.0.0.1", "::1"}


@pytest.mark.parametrize("where", ["learn_shard", "join"])
def test_a_worker_killed_in_the_map_or_in_the_join_changes_no_bit(
    cluster, source, tmp_path, monkeypatch, where
):
    folder = tmp_path / "deaths"
    folder.mkdir()
    made = fit_sharded(deadly(Vaw, folder, where)(), source, shards=5)
    assert len(os.listdir(folder)) == 1
    assert made.rows == made.model.learner.state.totals[0] == 600
    stay_here(monkeypatch)
    assert of_base(made.model, Vaw) == as_bytes(fit_sharded("vaw", source, shards=5).model)


def test_a_worker_killed_among_the_members_changes_no_bit(cluster, tmp_path, monkeypatch):
    folder, source = tmp_path / "deaths", classes(parquet(tmp_path))
    folder.mkdir()
    made = fit_sharded(deadly(Blend, folder, "play")(), source, shards=2)
    assert len(os.listdir(folder)) == 1
    assert made.rows == 600
    stay_here(monkeypatch)
    assert of_base(made.model, Blend) == as_bytes(fit_sharded("blend", source, shards=2).model)


def test_a_worker_killed_among_the_keys_changes_no_bit(cluster, source, tmp_path, monkeypatch):
    folder = tmp_path / "deaths"
    folder.mkdir()
    learner = deadly(Vaw, folder, "learn_keys")()
    made = fit_by_key(learner, source, "carrier", save=tmp_path / "a")
    assert len(os.listdir(folder)) == 1
    assert made.rows == 600
    stay_here(monkeypatch)
    fit_by_key("vaw", source, "carrier", save=tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_retries_that_do_not_help_are_one_error_and_no_model(cluster, source, tmp_path):
    folder = tmp_path / "deaths"
    folder.mkdir()
    learner = deadly(Vaw, folder, "learn_shard", times=99)()
    part = r"part \d of 12: .*flights\.parquet, rows \d+ to \d+"
    with pytest.raises(WorkerLost, match=f"^{part}.*the worker died 1 times, so nothing was made"):
        fit_sharded(learner, source, shards=2, retries=0)


def test_keys_whose_worker_dies_leave_no_file(cluster, source, tmp_path):
    folder = tmp_path / "deaths"
    folder.mkdir()
    learner = deadly(Vaw, folder, "learn_keys", times=99)()
    with pytest.raises(WorkerLost, match=r"keys of .*, batch 1 of \d+: the worker died 1 times"):
        fit_by_key(learner, source, "carrier", retries=0, save=tmp_path / "models")
    assert {*os.listdir(tmp_path)} == {"deaths", "flights.parquet"}


def test_a_bad_row_is_named(cluster, tmp_path):
    for day in range(3):
        rows = [f"{k},{k % 3}" for k in range(20)]
        rows[7] = "7,oops" if day == 2 else rows[7]
        (tmp_path / f"{day}.csv").write_text("\n".join(["x,y", *rows]) + "\n")
    source = Source(tmp_path, target="y", task="regression")
    with pytest.raises(ValueError, match=r"2\.csv, line 9, column 'y'.*'oops' \(part 3 of 3\)"):
        fit_sharded("vaw", source, shards=3)


def test_the_command(cluster, tmp_path, capsys, monkeypatch):
    path, model = str(parquet(tmp_path)), str(tmp_path / "model")
    monkeypatch.setattr(sys, "argv", ["unitless"])
    common = ["fit", path, "-t", "delay", "--ignore", "late", "--ignore", "how", "--save", model]
    run = app(["fit", *common[1:], "-l", "vaw", "--shards", "4"], standalone_mode=False)
    assert run is None
    shown = capsys.readouterr().out
    assert "learning: 12 of 12 parts, 600 rows, " in shown
    assert "rows/s" in shown
    assert np.isfinite(predictions(load(model), table(20).drop("weight"))).all()
    app([*common, "-l", "vaw", "--by-key", "carrier", "--json"], standalone_mode=False)
    assert f'"models": {len(Many(model))}' in capsys.readouterr().out
    for wrong in (["--by-key", "x", "--shards", "2"], ["--shards", "2", "--passes", "2"]):
        with pytest.raises(ValueError, match=r"does not go with|give one of them"):
            app([*common, *wrong], standalone_mode=False)
    with pytest.raises(ValueError, match="--address goes with"):
        app([*common, "--address", "auto"], standalone_mode=False)
