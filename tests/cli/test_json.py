"""Logs in JSON: lists, nested members that are ignored, and arrays instead of lines."""

import json

import pytest

from unitless import persistence

LOG = [
    {"user": {"id": k % 3}, "tags": ["new", "late"][k % 2 :], "at": [k / 10, 1], "late": k % 2 == 1}
    for k in range(40)
]
OPTIONS = ("-t", "late", "-l", "coordinate")


@pytest.mark.parametrize("array", [False, True])
def test_lists_are_features(unitless, tmp_path, array):
    lines = "".join(json.dumps(row) + "\n" for row in LOG)
    path = tmp_path / "log.json"
    path.write_text(json.dumps(LOG, indent=1) if array else lines)
    done = unitless("evaluate", path, *OPTIONS, "--save", tmp_path / "m", "--no-color")
    assert done.code == 0, done.err
    assert "3 numeric, 1 of lists, one feature per member (tags)" in done.out
    names = ["user.id", "at.0", "at.1", "tags=new", "tags=late"]
    assert sorted(persistence.load(tmp_path / "m").encoder.names) == sorted(names)


def test_deep_members_are_ignored(unitless, tmp_path):
    path = tmp_path / "log.jsonl"
    deep = {"clicks": [{"x": 1}], "more": [[2]]}
    path.write_text("".join(json.dumps(row | {"deep": deep}) + "\n" for row in LOG))
    done = unitless("evaluate", path, *OPTIONS)
    assert done.code == 2
    assert "log.jsonl, line 1, column 'deep.clicks'" in done.err
    assert "--ignore" in done.err
    for ignored in (["deep"], ["deep.clicks", "deep.more"]):
        words = [word for name in ignored for word in ("--ignore", name)]
        done = unitless("evaluate", path, *OPTIONS, *words, "--save", tmp_path / "m")
        assert done.code == 0, done.err
        assert not [
            name for name in persistence.load(tmp_path / "m").encoder.names if "deep" in name
        ]
        assert unitless("predict", tmp_path / "m", path, "-o", tmp_path / "p.csv").code == 0
