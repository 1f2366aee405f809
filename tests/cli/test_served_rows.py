"""Rows through a pipe: each is answered before the next one is written, bad lines too."""

import json
import os
import subprocess
import sys
import threading
from contextlib import ExitStack

import numpy as np
import polars as pl
import pytest

from unitless import OnlineRegressor, load, save

FEATURES = ["metres", "grams", "colour"]
HANGS = 60.0
"""Seconds after which the program is ended, so that a test that would hang fails."""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """A model of a CSV file, and its rows."""
    folder = tmp_path_factory.mktemp("served")
    rng = np.random.default_rng(0)
    table = pl.DataFrame(
        {
            "metres": rng.normal(size=90),
            "grams": rng.normal(1000, 10, 90),
            "colour": rng.choice(["red", "blue"], 90),
            "flag": rng.random(90) > 0.5,
        }
    )
    target = table["metres"] * 2 + (table["colour"] == "red")
    rows = table.with_columns(score=target)
    path = folder / "data.csv"
    rows.write_csv(path)
    words = ("-t", "score", "-l", "vaw", "--quiet", "--ignore", "flag", "--save", folder / "m")
    subprocess.run([sys.executable, "-m", "unitless", "fit", path, *words], check=True)
    return folder / "m", rows


class Served:
    """`unitless predict` with both ends of its pipes."""

    def __init__(self, *words):
        command = [sys.executable, "-m", "unitless", "predict", *map(str, words)]
        pipe = subprocess.PIPE
        self.run = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        self.clock = threading.Timer(HANGS, self.run.kill)
        self.clock.start()

    def send(self, line):
        self.run.stdin.write(line + "\n")
        self.run.stdin.flush()

    def ask(self, line):
        self.send(line)
        return self.run.stdout.readline().strip()

    def end(self):
        out, err = self.run.communicate()
        self.clock.cancel()
        return self.run.returncode, out, err


def test_a_malformed_line_is_answered_and_the_next_row_is_served(model):
    path, table = model
    rows = table.select(FEATURES).to_dicts()
    loaded = load(path)
    served = Served(path, "-", "--format", "jsonl", "--json")
    for number, row in enumerate(rows[:2], start=1):
        answer = json.loads(served.ask(json.dumps(row)))
        assert answer == {"row": number, "prediction": loaded.predict(row)}
    answer = json.loads(served.ask("{nothing"))
    assert (answer["row"], answer["line"]) == (3, 3)
    assert answer["error"].startswith("standard input, line 3: no JSON object")
    odd = json.dumps({**rows[2], "metres": "far"})  # a cell is missing, and no type changes
    assert json.loads(served.ask(odd))["prediction"] == loaded.predict({**rows[2], "metres": None})
    assert json.loads(served.ask(json.dumps(rows[3])))["prediction"] == loaded.predict(rows[3])
    code, out, err = served.end()
    assert (code, out) == (0, "")
    assert "column 'metres': 1 cell is not a number and counts as missing" in err


def test_errors_of_csv_go_to_the_error_stream(model):
    path, _ = model
    served = Served(path, "-")
    served.send("metres,grams,colour")
    assert served.ask("1,1000,red") == "row,prediction"
    assert served.run.stdout.readline().startswith("1,")
    served.send("1,2,red,4")
    error = served.run.stderr.readline().strip()
    assert error.startswith("unitless: standard input, line 3: 3 fields were expected, there are 4")
    assert served.ask("1,1000,blue").startswith("3,")
    assert served.end()[0] == 0


@pytest.fixture
def given(monkeypatch, tmp_path):
    """Lets standard input be a text."""
    with ExitStack() as opened:

        def give(text):
            (tmp_path / "input").write_text(text)
            monkeypatch.setattr(sys, "stdin", opened.enter_context(open(tmp_path / "input")))

        yield give


@pytest.mark.parametrize("words", [(), ("--json",)], ids=["csv", "json"])
def test_strict_ends_the_run(unitless, model, given, words):
    path, table = model
    lines = [json.dumps(row) for row in table.select(FEATURES)[:4].to_dicts()]
    given("\n".join([*lines[:2], "{nothing", *lines[2:]]) + "\n")
    done = unitless("predict", path, "-", "--format", "jsonl", *words)
    assert done.code == 0
    assert ("line 3" in done.err) != bool(words)
    given("\n".join([*lines[:2], "{nothing", *lines[2:]]) + "\n")
    done = unitless("predict", path, "-", "--format", "jsonl", "--strict", *words)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "standard input, line 3: no JSON object" in done.err
    given(lines[0].replace('"metres": ', '"metres": "far", "m": ') + "\n")
    done = unitless("predict", path, "-", "--format", "jsonl", "--strict", *words)
    assert done.code == 2
    assert "column 'metres': a number was expected: 'far'" in done.err


def test_answers_are_in_the_order_of_the_lines(unitless, model, given):
    """Also if many lines come at once, the first or the last is bad, or two in a row."""
    path, table = model
    rows = table.select(FEATURES)[:5].to_dicts()
    lines = ["{", json.dumps(rows[0]), json.dumps(rows[1]), "[]", "{", json.dumps(rows[2]), "x"]
    given("\n".join(lines) + "\n")
    done = unitless("predict", path, "-", "--format", "jsonl", "--json")
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert [answer["row"] for answer in answers] == [1, 2, 3, 4, 5, 6, 7]
    assert ["error" in answer for answer in answers] == [1, 0, 0, 1, 1, 0, 1]
    assert [answer["line"] for answer in answers if "error" in answer] == [1, 4, 5, 7]
    found = [answer["prediction"] for answer in answers if "error" not in answer]
    assert found == [load(path).predict(row) for row in rows[:3]]
    given("{\nx\n")
    done = unitless("predict", path, "-", "--format", "jsonl", "--json")
    assert (done.code, len(done.out.splitlines())) == (2, 2)
    assert "there are no rows" in done.err


def test_a_row_that_the_model_refuses_is_one_error(unitless, tmp_path, given):
    """The reader takes it, and the encoder does not."""
    table = pl.DataFrame({"tags": [["a"], ["b"]] * 20, "x": [1.0, 2.0] * 20})
    save(OnlineRegressor("vaw").fit(table, table["x"]), tmp_path / "m")
    given('{"tags": "a", "x": 1}\n{"tags": "c", "x": 2}\n')
    done = unitless("predict", tmp_path / "m", "-", "--format", "jsonl", "--json")
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert [answer["row"] for answer in answers] == [1, 2]
    assert answers[0]["error"].startswith(
        "standard input, line 1: column 'tags': 'a' is a category"
    )


@pytest.mark.parametrize("limit", [1, 2])
def test_skip_bad_limits_them(unitless, model, given, limit):
    path, table = model
    line = json.dumps(table.select(FEATURES)[:1].to_dicts()[0])
    given(f"{line}\n{{\n{line}\n{{\n{line}\n")
    done = unitless("predict", path, "-", "--format", "jsonl", "--skip-bad", limit)
    assert done.code == (0 if limit == 2 else 2)


def test_a_file_still_ends_at_a_bad_line(unitless, model, tmp_path):
    path, table = model
    line = json.dumps(table.select(FEATURES)[:1].to_dicts()[0])
    (tmp_path / "rows.jsonl").write_text(f"{line}\n{{\n{line}\n")
    done = unitless("predict", path, tmp_path / "rows.jsonl", "--json")
    assert done.code == 2
    assert "rows.jsonl, line 2: no JSON object" in done.err


def test_booleans_of_a_data_frame_are_numbers(unitless, tmp_path, given):
    table = pl.DataFrame({"open": [True, False, False] * 20, "x": [1.0, 2.0, 4.0] * 20})
    model = OnlineRegressor("vaw").fit(table, table["x"] + table["open"])
    save(model, tmp_path / "m")
    given('{"open": "?", "x": 1}\n{"open": true, "x": 1}\n{"open": 0, "x": 1}\n')
    done = unitless("predict", tmp_path / "m", "-", "--format", "jsonl", "--json")
    found = [json.loads(line)["prediction"] for line in done.out.splitlines()]
    rows = [{"open": None, "x": 1.0}, {"open": True, "x": 1.0}, {"open": False, "x": 1.0}]
    assert found == [model.to_model().predict(row) for row in rows]


def test_json_of_classes(unitless, tmp_path):
    table = pl.DataFrame({"x": [1.0, 2.0, 3.0] * 10, "y": [0.0, 1.0, 0.0] * 10})
    table.write_csv(tmp_path / "rows.csv")
    words = ("-t", "y", "-l", "nag", "--quiet", "--save", tmp_path / "m")
    assert unitless("fit", tmp_path / "rows.csv", *words).code == 0
    plain = pl.read_csv(unitless("predict", tmp_path / "m", tmp_path / "rows.csv").out.encode())
    done = unitless("predict", tmp_path / "m", tmp_path / "rows.csv", "--json")
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert [answer["prediction"] for answer in answers] == plain["prediction"].to_list()
    for label in "01":
        found = [answer["probabilities"][label] for answer in answers]
        assert found == plain[f"p({label})"].to_list()


def test_a_named_pipe_is_served_too(model, tmp_path):
    path, _ = model
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    text = "metres,grams,colour\n1,1000,red\n1,2,3,4\n2,1000,red\n"
    writer = threading.Thread(target=pipe.write_text, args=(text,))
    writer.start()
    served = Served(path, pipe, "--format", "csv")
    code, out, err = served.end()
    writer.join()
    assert (code, [line.partition(",")[0] for line in out.splitlines()]) == (0, ["row", "1", "3"])
    assert "line 3: 3 fields were expected" in err
