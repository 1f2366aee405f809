"""Text of a file sends no commands: to a terminal by escape sequences, to a spreadsheet by =."""

import csv
import io
import json
import sys

import pytest

from unitless.escaping import escaped, json_line, standard_output

EVIL = "\x1b]0;owned\x07\x9b2J\u202e"
NAMES = (f"a{EVIL}", f"b{EVIL}\nc")


@pytest.fixture
def evil(tmp_path):
    """A file whose names, categories and classes hold escape sequences."""
    path = tmp_path / "evil.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow([*NAMES, f"when{EVIL}", "y"])
        for k in range(40):
            when = f"{k % 28 + 1}.13.2024"
            rows.writerow([k, f"level{k % 3}{EVIL}", when, f"yes{EVIL}" if k % 2 else f"no{EVIL}"])
    return path


def is_safe(text):
    return not any(each in text for each in "\x1b\x07\x9b\u202e")


def test_every_command_escapes(unitless, evil, tmp_path):
    model = tmp_path / "m"
    words = (evil, "-t", "y", "-l", "coordinate")
    shown = [
        unitless("evaluate", *words, "--save", model, "--verbose"),
        unitless("evaluate", *words, "--json"),
        unitless("evaluate", *words, "--audit", 3),
        unitless("compare", evil, "-t", "y", "--learners", "coordinate"),
        unitless("inspect", model),
        unitless("inspect", model, "--json"),
        unitless("explain", model, evil, "--row", 2),
        unitless("explain", model, evil, "--row", 2, "--json"),
        unitless("rescale", model, f"{NAMES[0]}=2", "--save", tmp_path / "n"),
        unitless("evaluate", evil, "-t", f"nothing{EVIL}"),
        unitless("evaluate", evil, "-t", "y", "--ignore", f"nothing{EVIL}"),
    ]
    for done in shown:
        assert is_safe(done.out + done.err), done
    assert "\\x1b]0;owned\\x07\\x9b2J\\u202e" in shown[0].out
    assert json.loads(shown[1].out)["labels"] == [f"no{EVIL}", f"yes{EVIL}"]
    assert [done.code for done in shown] == [0] * 9 + [2] * 2


class Terminal(io.TextIOWrapper):
    """A standard output that says it is a terminal."""

    def isatty(self):
        """A person reads it."""
        return True


@pytest.mark.parametrize(("kind", "safe"), [(Terminal, True), (io.TextIOWrapper, False)])
def test_predictions_are_exact_in_a_pipe_only(unitless, evil, tmp_path, monkeypatch, kind, safe):
    unitless("fit", evil, "-t", "y", "-l", "coordinate", "--save", tmp_path / "m")
    for words in (("predict", tmp_path / "m", evil), ("convert", evil, "-", "--to", "jsonl")):
        stream = kind(io.BytesIO(), encoding="utf-8")
        monkeypatch.setattr(sys, "stdout", stream)
        unitless(*words)
        monkeypatch.undo()
        stream.flush()
        text = stream.buffer.getvalue().decode()
        assert is_safe(text) == safe
        assert text.count("\n") >= 40


def test_the_rest_of_a_text_stays():
    assert escaped("naïve 数 R² → x") == "naïve 数 R² → x"
    assert escaped("\x1b\n", keep="\n") == "\\x1b\n"
    assert escaped("\udc80") == "\\udc80"
    for text in (EVIL, "\x7f", "\U000e0001", "\u2028"):
        assert is_safe(json_line(text))
        assert json_line(text).isprintable()
        assert json.loads(json_line(text)) == text


def test_a_pipe_gets_the_bytes_themselves():
    assert standard_output() is getattr(sys.stdout, "buffer", sys.stdout)


def test_formulas_in_csv(unitless, tmp_path):
    path = tmp_path / "a.csv"
    lines = ["=x,y"] + [f"{k},{'=1+1' if k % 2 else '@cmd'}" for k in range(40)]
    path.write_text("\n".join(lines) + "\n")
    model, made = tmp_path / "m", tmp_path / "p.csv"
    unitless("fit", path, "-t", "y", "-l", "coordinate", "--save", model)
    for words, labels in (((), {"=1+1", "@cmd"}), (("--safe-csv",), {"'=1+1", "'@cmd"})):
        unitless("predict", model, path, "-o", made, *words)
        found = list(csv.DictReader(made.read_text().splitlines()))
        assert {row["prediction"] for row in found} <= labels
        assert {"p(=1+1)", "p(@cmd)"} <= {*found[0]}
    unitless("convert", path, tmp_path / "b.csv", "--safe-csv")
    found = list(csv.DictReader((tmp_path / "b.csv").read_text().splitlines()))
    assert {row["y"] for row in found} == {"'=1+1", "'@cmd"}
    assert [row["'=x"] for row in found] == [str(k) for k in range(40)]


def test_negative_numbers_are_no_formulas(unitless, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "".join(f"{-k},{-k / 2}\n" for k in range(40)))
    unitless("convert", path, tmp_path / "b.csv", "--safe-csv")
    assert "'" not in (tmp_path / "b.csv").read_text()
