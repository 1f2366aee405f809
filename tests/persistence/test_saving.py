"""Model files: what is saved comes back to the bit; what is damaged is refused, by one error."""

import json
import os
import stat
from pathlib import Path

import numpy as np
import pandas
import pytest
import zstandard

from laws.streams import NAMES, PAIRS, first_loss, make, outlook, same_bits
from laws.test_resume import growing
from unitless import OnlineClassifier, OnlineRegressor, persistence
from unitless.blend.blend import Blend
from unitless.learners import REGISTRY, Coordinate, Full
from unitless.persistence import container
from unitless.persistence.saving import as_bytes
from unitless.rows import as_rows

CASES = [(name, first_loss(name)) for name in NAMES]
CASES += [pair for pair in PAIRS if pair[0] in ("blend", "full", "newton") and pair not in CASES]


@pytest.mark.parametrize(("name", "loss"), CASES)
def test_saved_at_a_row_and_gone_on(tmp_path, name, loss):
    straight, resumed = make(name, loss), make(name, loss)
    for k, block in enumerate(growing(name, loss, n=80)):
        if k in (0, 1, 5):
            persistence.save(resumed, tmp_path / "model")
            resumed = persistence.load(tmp_path / "model")
        same_bits(resumed.learn(block.rows()), straight.learn(block.rows()))
    same_bits(outlook(resumed, 20), outlook(straight, 20))


def test_every_learner_is_tried():
    assert {name for name, _ in CASES} == {*REGISTRY}


def test_a_member_that_left_stays_away(tmp_path):
    """Three hundred features end the membership of those for few; its claim is kept."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 300)), rng.choice([-1.0, 1.0], 40)
    straight = Blend()
    straight.learn(as_rows(X[:30], y[:30]))
    persistence.save(straight, tmp_path / "model")
    resumed = persistence.load(tmp_path / "model")
    assert resumed.guarantees() == straight.guarantees()
    assert None in resumed.experts
    assert [each is None for each in resumed.experts] == [each is None for each in straight.experts]
    same_bits(resumed.learn(as_rows(X[30:], y[30:])), straight.learn(as_rows(X[30:], y[30:])))


def test_names_of_dict_rows(tmp_path):
    learner = Coordinate()
    row = {"height": 1.8, 7: 2.0, (1, "a"): 3.0, None: 1.0, True: 4.0, 0.1: 5.0}
    learner.learn_one(row, 1)
    persistence.save(learner, tmp_path / "model")
    again = persistence.load(tmp_path / "model")
    in_order = [None, True, 0.1, 7, "height", (1, "a")]  # by type, then by name
    assert list(again.names.columns) == in_order
    assert [type(name) for name in again.names.columns] == [type(name) for name in in_order]
    assert again.learn_one({7: 1.0, "new": 2.0}, -1) == learner.learn_one({7: 1.0, "new": 2.0}, -1)


def test_names_that_cannot_be_saved_are_an_error(tmp_path):
    learner = Coordinate()
    learner.learn_one({frozenset(): 1.0}, 1)
    with pytest.raises(ValueError, match="frozenset"):
        persistence.save(learner, tmp_path / "model")
    assert not list(tmp_path.iterdir())


def frames(n=40):
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(
        {
            "size": rng.normal(size=n),
            "colour": rng.choice(["red", "blue"], n),
            "day": pandas.date_range("2026-01-01", periods=n),
        }
    )
    frame["label"] = np.where(frame["size"] > 0, "yes", "no")
    return frame


@pytest.mark.parametrize("learner", ["blend", Full(alpha=2.0)], ids=["by name", "of one's own"])
@pytest.mark.parametrize("kind", [OnlineClassifier, OnlineRegressor])
def test_estimators(tmp_path, kind, learner):
    frame = frames()
    loss = "logistic" if kind is OnlineClassifier else "absolute"
    if learner != "blend":
        learner = Full(loss, alpha=2.0)
    y = frame.pop("label") if kind is OnlineClassifier else frame.pop("label").eq("yes") * 2.5
    model = kind(learner, loss, interactions=["size:colour"]).partial_fit(frame[:20], y[:20])
    persistence.save(model, tmp_path / "model")
    again = persistence.load(tmp_path / "model").to_sklearn()
    assert type(again) is kind
    assert {**again.get_params(), "learner": 0} == {**model.get_params(), "learner": 0}
    assert again.feature_names_ == model.feature_names_
    again.partial_fit(frame[20:], y[20:])
    model.partial_fit(frame[20:], y[20:])
    same_bits(again.progressive_, model.progressive_)
    assert again.predict(frame).tolist() == model.predict(frame).tolist()


@pytest.mark.parametrize("labels", [[3, 1, 2], [True, False], ["a", "b", "c"], [0.0, 2.0]])
def test_labels_keep_their_type(tmp_path, labels):
    y = np.array(labels * 4)
    X = np.arange(len(y), dtype=float)[:, None]
    model = OnlineClassifier("nag" if len(labels) > 2 else "coordinate").fit(X, y)
    persistence.save(model, tmp_path / "model")
    again = persistence.load(tmp_path / "model").to_sklearn()
    assert again.classes_.dtype == model.classes_.dtype
    assert again.predict(X).tolist() == model.predict(X).tolist()


def test_every_fitted_attribute_is_kept_or_belongs_to_a_call():
    frame = frames()
    y = frame.pop("label")
    for model in (
        OnlineClassifier("coordinate").fit(frame, y),
        OnlineClassifier("nag").fit([[1.0]], [1]),
    ):
        fitted = {name for name in vars(model) if name.endswith("_")}
        assert fitted <= {
            "model_",
            "classes_",
            "feature_names_in_",
            "n_features_in_",
            "progressive_",
            "progressive_not_fresh_",
        }


def test_notes_and_other_arrays(tmp_path):
    counts = {"counts": np.arange(3)}
    persistence.save(Coordinate(), tmp_path / "m", notes={"a": 1}, extra=counts)
    said = persistence.header(tmp_path / "m")
    assert (said["notes"], said["format"]) == (
        {"a": 1},
        persistence.FORMAT,
    )
    assert persistence.saving.extra(tmp_path / "m")["counts"].tolist() == [0, 1, 2]
    assert isinstance(persistence.load(tmp_path / "m"), Coordinate)


# Faults of the disk


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "model"
    persistence.save(Coordinate(), path)
    before = path.read_bytes()

    def full_disk(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        persistence.save(Full(), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link_and_a_folder_is_no_file(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    persistence.save(Coordinate(), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert stat.S_ISREG((tmp_path / "target").stat().st_mode)
    with pytest.raises(OSError, match="irectory"):
        persistence.save(Coordinate(), tmp_path)


# Damage


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """The files of a few small models."""
    folder = tmp_path_factory.mktemp("models")
    rng = np.random.default_rng(0)
    rows = as_rows(rng.normal(size=(20, 3)), rng.choice([-1.0, 1.0], 20))
    for learner in (Coordinate(), Full()):
        learner.learn(rows)
        persistence.save(learner, folder / learner.name)
    frame = frames()
    y = frame.pop("label")
    persistence.save(OnlineClassifier("coordinate").fit(frame, y), folder / "classifier")
    return folder


def outcome(path):
    """What loading comes to: a model, or the one error."""
    try:
        return persistence.load(path)
    except persistence.ModelFileError:
        return None


@pytest.mark.parametrize("name", ["coordinate", "full", "classifier"])
def test_flipped_bytes(saved, tmp_path, name):
    """A changed byte is found, compressed or not, unless the contents are the same for all that."""
    data = (saved / name).read_bytes()
    contents = container.decompressed(data)
    rng = np.random.default_rng(1)
    refused = 0
    for original, again in ((data, bytes), (contents, compressed)):
        for place in rng.choice(len(original), 300, replace=False):
            wrong = bytearray(original)
            wrong[place] ^= int(rng.integers(1, 256))
            (tmp_path / "m").write_bytes(again(wrong))
            found = outcome(tmp_path / "m")
            assert found is None or as_bytes(found) == as_bytes(persistence.load(saved / name))
            refused += found is None
    assert refused > 580


def compressed(contents):
    return zstandard.ZstdCompressor().compress(bytes(contents))


def test_a_file_that_claims_to_be_huge(saved, tmp_path):
    """A bomb: few bytes that become very many, and a frame that says so and is not."""
    for contents in (bytes(10**8), (saved / "full").read_bytes()):
        (tmp_path / "m").write_bytes(compressed(contents))
        assert outcome(tmp_path / "m") is None
    (tmp_path / "m").write_bytes(
        b"\x28\xb5\x2f\xfd\xe0" + (2**60).to_bytes(8, "little") + b"\0" * 9
    )
    assert outcome(tmp_path / "m") is None


def test_missing_ends_and_noise(saved, tmp_path):
    data = (saved / "full").read_bytes()
    rng = np.random.default_rng(2)
    for length in (*range(20), *rng.integers(20, len(data), 60)):
        (tmp_path / "m").write_bytes(data[:length])
        assert outcome(tmp_path / "m") is None
        (tmp_path / "m").write_bytes(rng.bytes(int(length)))
        assert outcome(tmp_path / "m") is None
    (tmp_path / "m").write_bytes(data + b"more")
    assert outcome(tmp_path / "m") is None


def forged(saved, tmp_path, name="full", **changes):
    """A file whose digest is right and whose header or arrays are changed."""
    header, arrays = container.read(saved / name)
    for path, value in changes.pop("arrays", {}).items():
        arrays[path] = value
    for key, value in changes.items():
        place = header
        *folders, last = key.split("__")
        for folder in folders:
            place = place[folder]
        place[last] = value
    container.replace(tmp_path / "m", container.packed(header, arrays))
    return outcome(tmp_path / "m")


@pytest.mark.parametrize(
    "lie",
    [
        {"format": 2**60},
        {"format": "1"},
        {"kind": "os.system"},
        {"learner__name": "../../evil"},
        {
            "learner__name": "one_vs_rest",
            "learner__each": "full",
            "learner__parameters": {"classes": 2**60},
        },
        {"learner__name": "fd_son", "learner__parameters": {"m": 10**6}},
        {"learner__name": "blend", "learner__parameters": {"loss": "softmax", "classes": 10**9}},
        {"learner__parameters__loss": "__import__('os')"},
        {"learner__parameters__alpha": None},
        {"learner": []},
        {"names": ["a"] * 5},
        {"names": [str(k) for k in range(50)]},
        {"facts": {"columns": 3}},
        {"facts": {"weighs_gradients": 3}},
        {"facts": {"factor": None, "weighs_gradients": False}},
    ],
    ids=lambda lie: json.dumps(lie)[:50],
)
def test_lying_headers(saved, tmp_path, lie):
    assert forged(saved, tmp_path, **lie) is None


@pytest.mark.parametrize(
    ("array", "value"),
    [
        ("factor.places", np.array([0, 1, 2, 2**40])),
        ("factor.places", np.array([0, 1, 2, -2])),
        ("factor.places", np.array([0, 0, 0, 0])),
        ("factor.coordinates", np.array([0, 1, 2, 99])),
        ("factor.coordinates", np.array([0, 1, 2, -1])),
        ("factor.rank", np.array(1e9)),
        ("factor.rank", np.array(5.0)),
        ("factor.rank", np.array(-1.0)),
        ("factor.rank", np.array(2.5)),
        ("factor.rank", np.array(np.nan)),
        ("factor.rank", np.zeros(1)),
        ("columns", np.array(4.0)),
        ("units", np.ones(1)),
        ("t", np.array(-1.0)),
        ("t", np.array(2.0**60)),
        ("factor.U", np.zeros(20)),
        ("factor.U", np.eye(4)),
        ("factor.z", np.zeros(3)),
        ("factor.z", np.full(4, np.nan)),
        ("factor.z", np.zeros(4, dtype=np.int64)),
        ("surprise", np.zeros(1)),
    ],
)
def test_arrays_that_do_not_fit(saved, tmp_path, array, value):
    """Compiled code writes where positions point, so none may point beyond the end."""
    factor = persistence.load(saved / "full").factor
    assert (factor.n, factor.rank) == (4, 4)
    assert forged(saved, tmp_path) is not None
    assert forged(saved, tmp_path, arrays={f"learner.{array}": value}) is None


def test_other_safetensors_files_are_refused(tmp_path):
    from safetensors.numpy import save_file

    save_file({"a": np.zeros(2)}, tmp_path / "m")
    assert outcome(tmp_path / "m") is None
    with pytest.raises(FileNotFoundError):
        persistence.load(tmp_path / "nothing")


def test_the_header_is_as_documented(tmp_path):
    """Every key of a header has its line in docs/reference/model-format.md."""
    text = (Path(__file__).parents[2] / "docs" / "reference" / "model-format.md").read_text()
    learner = Blend()
    learner.learn(as_rows([[1.0]], [1.0]))
    persistence.save(learner, tmp_path / "model")
    keys = persistence.header(tmp_path / "model")
    assert [key for key in keys if f"| `{key}` |" not in text] == []


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"more": 1}, "unknown field `more`"),
        ({"kind": "thing"}, r"`\$.kind`"),
        ({"facts": 3}, r"`\$.facts`"),
        ({"model": {"task": "binary"}}, r"`\$.model`"),
    ],
)
def test_a_header_with_another_entry_is_refused_by_name(tmp_path, change, named):
    persistence.save(Coordinate(), tmp_path / "m")
    header, arrays = container.read(tmp_path / "m")
    container.replace(tmp_path / "m", container.packed(header | change, arrays))
    for read in (persistence.load, persistence.header):
        with pytest.raises(persistence.ModelFileError, match=named):
            read(tmp_path / "m")
