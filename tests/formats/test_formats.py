"""Models saved by every release load for ever, and say what they said."""

import json
from pathlib import Path

import numpy as np
import pytest

from formats.make import BLENDS, NEW, frame, rows
from unitless import persistence
from unitless.evaluation import resumed
from unitless.rows import as_rows

FOLDERS = sorted(path for path in Path(__file__).parent.iterdir() if path.name.isdigit())
ONE_CLASS = [[3.0, 0.5], [2.0, -1.0]]
CASES = [path for folder in FOLDERS for path in sorted(folder.iterdir()) if not path.suffix]


@pytest.mark.parametrize("path", CASES, ids=lambda path: f"{path.parent.name}-{path.name}")
def test_it_loads_and_says_what_it_said(path):
    expected = json.loads((path.parent / "expected.json").read_text())[path.name]
    model = persistence.load(path)
    if path.name == "classifier":
        found = model.to_sklearn().decision_function(frame(3))
    elif path.name == "one_class":
        found = model.scores(ONE_CLASS)
    elif path.name == "stream":
        found = model.learner.predict(as_rows(NEW[:, :2]))
        assert resumed(path).rows == 50
    else:
        found = model.predict(as_rows(NEW))
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize(
    "path", [path for path in CASES if path.name in BLENDS], ids=lambda path: path.name
)
def test_a_blend_continues_as_it_did_and_to_the_bit(path, tmp_path):
    expected = json.loads((path.parent / "expected.json").read_text())[f"{path.name} continued"]
    more = rows(BLENDS[path.name])[40:]
    straight, resumed = persistence.load(path), persistence.load(path)
    scores = straight.learn(more)
    np.testing.assert_allclose(scores, expected, rtol=1e-12)
    parts = []
    for k in range(20):
        parts.append(resumed.learn(more[k : k + 1]))
        persistence.save(resumed, tmp_path / "model")
        resumed = persistence.load(tmp_path / "model")
    assert np.concatenate(parts).tobytes() == scores.tobytes()
    persistence.save(straight, tmp_path / "straight")
    assert (tmp_path / "straight").read_bytes() == (tmp_path / "model").read_bytes()


def test_a_blend_of_0_1_0_states_the_overheads_that_it_stated():
    """Its squared loss had other sums. Where these lowered an overhead, it now is larger."""
    claims = persistence.load(FOLDERS[0] / "blend-regression").guarantees()
    assert claims["VAW"].overhead == pytest.approx(609.5009551472504, rel=1e-12)
    assert claims["ridge, squashed"].overhead == pytest.approx(602.0319506373095, rel=1e-12)
    assert 590.3408374262009 <= claims["iNAG, squashed"].overhead < 602


def test_every_format_is_kept():
    assert [folder.name for folder in FOLDERS] == [str(k + 1) for k in range(persistence.FORMAT)]
    assert {path.name for path in CASES} >= {"coordinate", "stream", *BLENDS}


def test_the_only_class_of_an_estimator_was_coded_as_plus_one():
    model = persistence.load(FOLDERS[0] / "one_class")
    assert model.predict(ONE_CLASS).tolist() == ["yes", "yes"]
    assert model.predict_proba(ONE_CLASS).tolist() == [[1.0], [1.0]]
    assert model.to_sklearn().classes_.tolist() == ["yes"]
    river = model.to_river()
    assert river.predict_proba_one({"x0": 3.0, "x1": 0.5}) == {"yes": 1.0}
    for one in (model, river.to_model()):
        one.learn([dict(zip(("x0", "x1"), ONE_CLASS[0], strict=True))], ["no"])
        assert one.classes == ["no", "yes"]
        assert one.predict_proba({"x0": 3.0, "x1": 0.5})["yes"] > 0.5
