"""Worker processes of this machine: the same bits on any number of them, and if some are killed."""

import os
import subprocess
import sys

import psutil
import pytest

from cli.material import command
from distributed.files import classes, numbers, parquet
from distributed.killing import deadly
from test_imports import loaded_by
from unitless.distributed import PartitionedData, TaskProgress, WorkerLost, fit_by_key
from unitless.learners import Coordinate

COMMAND = [sys.executable, "-c", "import sys; from unitless.cli import main; main()"]


@pytest.fixture
def source(tmp_path):
    return numbers(parquet(tmp_path))


def test_the_number_of_workers_changes_no_bit(source, tmp_path):
    for n in (1, 2):
        fit_by_key("coordinate", classes(source.path), "carrier", workers=n, save=tmp_path / str(n))
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_a_worker_killed_while_it_learns_keys_changes_no_bit(source, tmp_path):
    source = classes(source.path)
    learner = deadly(Coordinate, tmp_path / "deaths")
    made = fit_by_key(learner, source, "carrier", workers=2, save=tmp_path / "a")
    assert len(os.listdir(tmp_path / "deaths")) == 1
    assert made.rows == 600
    fit_by_key("coordinate", source, "carrier", workers=1, save=tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_retries_that_do_not_help_are_one_error_and_no_file(source, tmp_path):
    learner = deadly(Coordinate, tmp_path / "deaths", times=99)
    lost = r"^keys of .*flights\.parquet, partition \d+ of \d+.*the worker died 2 times"
    with pytest.raises(WorkerLost, match=lost):
        fit_by_key(
            learner,
            classes(source.path),
            "carrier",
            retries=1,
            save=tmp_path / "models",
            workers=2,
        )
    assert {*os.listdir(tmp_path)} == {"deaths", "flights.parquet"}


def test_a_bad_row_is_named(tmp_path):
    for day in range(3):
        rows = [f"{k},{k % 3},a" for k in range(20)]
        rows[7] = "7,oops,a" if day == 2 else rows[7]
        (tmp_path / f"{day}.csv").write_text("\n".join(["x,y,key", *rows]) + "\n")
    source = PartitionedData(tmp_path, target="y", task="regression")
    with pytest.raises(ValueError, match=r"2\.csv, line 9, column 'y'.*'oops' \(part 3 of 3\)"):
        fit_by_key("vaw", source, "key", workers=2)


def test_progress_counts_parts_partitions_and_rows(source):
    found = []
    fit_by_key("vaw", source, "carrier", workers=1, progress=found.append)
    reading = [each for each in found if each.stage == "reading"]
    learning = [each for each in found if each.stage == "learning"]
    assert reading == [TaskProgress("reading", k, 12, 50 * k) for k in range(13)]
    total = len(learning) - 1
    assert [each.done for each in learning] == [*range(total + 1)]
    assert learning[-1] == TaskProgress("learning", total, total, 600, "partitions")


def test_an_error_in_the_callback_ends_the_fit(source, tmp_path):
    def refuse(progress):
        if progress.done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_by_key("vaw", source, "carrier", save=tmp_path / "m", workers=2, progress=refuse)
    assert os.listdir(tmp_path) == ["flights.parquet"]


def test_a_command_leaves_its_model_and_no_process(tmp_path):
    path = parquet(tmp_path)
    mark = f"{os.getpid()} {tmp_path}"
    words = ["fit", str(path), "-t", "delay", "-l", "vaw", "--save", str(tmp_path / "model")]
    words += ["--ignore", "late", "--ignore", "how", "--ignore", "weight", "--task", "regression"]
    words += ["--by-key", "carrier"]
    ran = subprocess.run(
        [*COMMAND, *words],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "UNITLESS_TEST": mark},
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    _, alive = psutil.wait_procs(_marked(mark), timeout=30)
    assert alive == []
    fit_by_key("vaw", numbers(path), "carrier", workers=1, save=tmp_path / "here")
    assert (tmp_path / "model").read_bytes() == (tmp_path / "here").read_bytes()


def _marked(mark):
    """Return the processes that have the mark in their environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("UNITLESS_TEST") == mark:
                found.append(process)
        except (psutil.AccessDenied, psutil.NoSuchProcess, psutil.ZombieProcess):
            pass
    return found


def test_without_ray_the_error_says_what_to_install(tmp_path, monkeypatch, capsys):
    words = ["fit", parquet(tmp_path), "-t", "delay", "-l", "vaw", "--save", tmp_path / "m"]
    words += ["--by-key", "carrier", "--address", "auto"]
    monkeypatch.setitem(sys.modules, "ray", None)
    done = command(monkeypatch, capsys)(*words)
    assert (done.code, os.listdir(tmp_path)) == (2, ["flights.parquet"])
    assert done.err == (
        "unitless: a cluster needs Ray, which is not installed: pip install 'unitless[ray]'\n"
    )


def test_importing_the_package_does_not_import_ray():
    modules, _ = loaded_by(
        "import unitless, unitless.distributed; unitless.distributed.PartitionedData"
    )
    assert "unitless" in modules
    assert "ray" not in modules
