"""Many models in one file: whole at every moment, read one by one, nothing believed."""

import os
import sqlite3
from contextlib import closing

import numpy as np
import pytest

from unitless import persistence
from unitless.learners import Coordinate
from unitless.persistence import Many, ModelFileError
from unitless.persistence.archive import many_writer
from unitless.persistence.saving import as_bytes


def learner(k):
    """One that has learned something of its own."""
    made = Coordinate()
    made.learn_one({"x": 1.0 + k}, 1)
    return made


def written(path, names):
    with many_writer(path) as add:
        for k, name in enumerate(names):
            add(name, as_bytes(learner(k)))
    return path


def test_every_model_comes_back_to_the_bit(tmp_path):
    names = ["b", "a", "", "ä", "b/c", "x" * 300, "10", "9"]
    many = Many(written(tmp_path / "m", names))
    assert list(many) == sorted(names, key=lambda name: name.encode())
    assert len(many) == len(names)
    for k, name in enumerate(names):
        assert as_bytes(many[name]) == as_bytes(learner(k))
    assert "c" not in many
    with pytest.raises(KeyError):
        many["zz"]


def test_no_models_is_a_file_too(tmp_path):
    assert len(Many(written(tmp_path / "m", []))) == 0


def test_any_reader_of_sqlite_shows_what_is_in_it(tmp_path):
    with closing(sqlite3.connect(written(tmp_path / "m", ["a", "b"]))) as database:
        found = database.execute("SELECT name, model FROM models").fetchall()
    assert found == [(b"a", as_bytes(learner(0))), (b"b", as_bytes(learner(1)))]


def test_an_archive_can_be_read_while_a_new_one_is_written(tmp_path):
    path = written(tmp_path / "m", ["a"])
    many = Many(path)
    with many_writer(path) as add:
        add("b", as_bytes(learner(1)))
        assert list(Many(path)) == ["a"]
        assert as_bytes(many["a"]) == as_bytes(learner(0))
    assert list(Many(path)) == ["b"]


def test_the_archive_of_a_newer_version_is_refused(tmp_path):
    path = written(tmp_path / "m", ["a"])
    with closing(sqlite3.connect(path)) as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(ModelFileError, match=r"it has format 99, .* update unitless"):
        Many(path)


def broken(path):
    """Fails in the midst of writing."""
    with many_writer(path) as add:
        add("b", b"")
        raise RuntimeError


def test_an_error_leaves_the_old_file(tmp_path):
    path = written(tmp_path / "m", ["a"])
    with pytest.raises(RuntimeError):
        broken(path)
    with pytest.raises(ValueError, match="a model 'a' already"):
        written(path, ["a", "a"])
    assert list(Many(path)) == ["a"]
    assert os.listdir(tmp_path) == ["m"]


def test_a_file_of_many_is_not_one_and_says_so(tmp_path):
    with pytest.raises(ModelFileError, match=r"open it with unitless\.persistence\.Many"):
        persistence.load(written(tmp_path / "m", ["a"]))
    persistence.save(learner(0), tmp_path / "one")
    with pytest.raises(ModelFileError, match="not a file of many models"):
        Many(tmp_path / "one")


def test_damage_is_found(tmp_path):
    """Flipped bytes and cut files: an error of ours, or the models as they were."""
    whole = written(tmp_path / "m", [str(k) for k in range(4)]).read_bytes()
    good = {name: as_bytes(model) for name, model in Many(tmp_path / "m").items()}
    rng, path, refused = np.random.default_rng(0), tmp_path / "bad", 0
    places = [*rng.integers(0, 700, 40), *rng.integers(0, len(whole), 60)]
    damaged = [
        whole[:k] + bytes([whole[k] ^ 1 << int(rng.integers(8))]) + whole[k + 1 :] for k in places
    ]
    damaged += [whole[: int(k)] for k in rng.integers(0, len(whole), 20)]
    for data in damaged:
        path.write_bytes(data)
        try:
            found = {name: as_bytes(model) for name, model in Many(path).items()}
        except ModelFileError:
            refused += 1
        else:
            assert found == good
    assert refused > len(damaged) / 5  # SQLite leaves a part of its pages empty
