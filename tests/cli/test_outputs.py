"""Outputs: never over an input, checked before the first row is read, replaced as a whole."""

import json
import os
import sys

import pytest

from unitless.cli.outputs import is_same_file

FAST = ("--learner", "coordinate", "--quiet")
OPTIONS = ("--save", "--predictions", "--report", "--results")


@pytest.fixture
def evaluate(unitless, data):
    """Run `evaluate` on the table."""

    def run(*words):
        return unitless("evaluate", data, "-t", "label", *FAST, *words)

    return run


def spellings(folder, path):
    """Return other names of a file: another spelling, a symbolic link, a hard link."""
    (folder / "sub").mkdir()
    (folder / "link").symlink_to(path)
    os.link(path, folder / "hard")
    return [path, folder / "sub" / ".." / path.name, folder / "link", folder / "hard"]


@pytest.mark.parametrize("option", OPTIONS)
def test_an_output_that_is_the_input_is_refused(evaluate, tmp_path, data, option):
    before = data.read_bytes()
    for name in spellings(tmp_path, data):
        done = evaluate(option, name)
        assert done.code == 2
        assert f"{option} {name}: this is the input file" in done.err
        assert data.read_bytes() == before


def test_predictions_of_predict_are_never_the_data_or_the_model(unitless, evaluate, tmp_path, data):
    model = tmp_path / "model"
    evaluate("--save", model)
    for victim in (data, model):
        before = victim.read_bytes()
        done = unitless("predict", model, data, "-o", victim)
        assert (done.code, victim.read_bytes()) == (2, before)
        assert "this is the input file" in done.err


def test_convert_does_not_write_over_its_input(unitless, tmp_path, data):
    before = data.read_bytes()
    for name in spellings(tmp_path, data):
        done = unitless("convert", data, name, "--to", "jsonl")
        assert (done.code, data.read_bytes()) == (2, before)
        assert "this is the input file" in done.err


def test_a_report_is_not_written_over_its_results(unitless, evaluate, tmp_path):
    results = tmp_path / "r.json"
    evaluate("--results", results)
    before = results.read_bytes()
    assert unitless("report", results, results).code == 2
    (tmp_path / "link.html").symlink_to(results)
    assert unitless("report", results, tmp_path / "link.html").code == 2
    assert results.read_bytes() == before


def test_the_page_of_a_report_has_a_name(unitless, evaluate, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("one", "two"):
        evaluate("--results", f"{name}.results.json")
    assert unitless("report", "one.results.json").out == "wrote one.html\n"
    done = unitless("report", "one.results.json", "two.results.json")
    assert done.out == "wrote comparison.html\n"
    assert "Comparison of runs" in (tmp_path / "comparison.html").read_text()
    assert "before it" in unitless("report", "page.html").err


def test_parts_are_not_written_over(unitless, tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.csv").write_text("x,y\n1,2\n2,3\n")
    done = unitless(
        "fit", tmp_path, "-t", "y", "-l", "vaw", "--by-key", "x", "--save", tmp_path / "a.csv"
    )
    assert done.code == 2
    assert (tmp_path / "a.csv").read_text() == "x,y\n1,2\n2,3\n"


def test_a_redirected_input_is_an_input(tmp_path, data, monkeypatch):
    with data.open("rb") as file:
        monkeypatch.setattr(sys, "stdin", file)
        assert is_same_file(str(data), "-")
        assert not is_same_file(str(tmp_path / "other"), "-")


def test_two_outputs_are_two_files(evaluate, tmp_path):
    done = evaluate("--save", tmp_path / "x", "--predictions", tmp_path / "x")
    assert done.code == 2
    assert "--save writes to the same file" in done.err
    assert not (tmp_path / "x").exists()


def test_a_model_may_replace_the_one_it_was_resumed_from(unitless, evaluate, tmp_path, data):
    model = tmp_path / "m"
    evaluate("--save", model)
    assert unitless("evaluate", data, "--resume", model, "--save", model, "--quiet").code == 0
    before = model.read_bytes()
    done = unitless("evaluate", data, "--resume", model, "--predictions", model, "--quiet")
    assert (done.code, model.read_bytes()) == (2, before)


def test_results_of_a_report_have_a_name_of_their_own(evaluate, tmp_path):
    (tmp_path / "page.json").write_text("mine")
    assert evaluate("--report", tmp_path / "page.html").code == 0
    assert (tmp_path / "page.json").read_text() == "mine"
    assert json.loads((tmp_path / "page.results.json").read_text())["rows"] == 700
    assert evaluate("--report", tmp_path / "page.html").code == 0  # over its own results


def test_results_of_a_report_replace_no_other_file(evaluate, tmp_path):
    other = tmp_path / "page.results.json"
    other.write_text('{"my": "file"}')
    done = evaluate("--report", tmp_path / "page.html")
    assert done.code == 2
    assert "page.results.json, which is not a results file; choose another" in done.err
    assert other.read_text() == '{"my": "file"}'
    assert not (tmp_path / "page.html").exists()
    assert evaluate("--report", tmp_path / "page.html", "--results", tmp_path / "r").code == 0


@pytest.mark.parametrize("option", OPTIONS)
def test_folders_are_checked_before_the_first_row(unitless, tmp_path, option):
    """The data have no rows, which is not even noticed."""
    (tmp_path / "nothing.csv").touch()
    missing = tmp_path / "no" / "folder" / "x"
    done = unitless("evaluate", tmp_path / "nothing.csv", option, missing)
    assert done.code == 3
    assert f"{tmp_path}/no/folder/x" in done.err
    assert "the folder does not exist" in done.err
    done = unitless("evaluate", tmp_path / "nothing.csv", option, tmp_path)
    assert done.code == 3
    assert "Is a directory" in done.err


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_permissions_are_checked_before_the_first_row(unitless, tmp_path):
    (tmp_path / "closed").mkdir(mode=0o500)
    done = unitless("evaluate", tmp_path / "nothing.csv", "--save", tmp_path / "closed" / "m")
    assert done.code == 3
    assert "Permission denied" in done.err


def test_a_folder_without_permission(unitless, tmp_path, monkeypatch):
    """As above for root, who may write everywhere."""
    (tmp_path / "nothing.csv").write_text("")
    monkeypatch.setattr(os, "access", lambda path, mode: str(path) != str(tmp_path))
    for option in OPTIONS:
        done = unitless("evaluate", tmp_path / "nothing.csv", option, tmp_path / "x")
        assert done.code == 3
        assert "Permission denied" in done.err


def test_the_file_of_a_test_is_an_input(evaluate, tmp_path, data):
    other = tmp_path / "other.csv"
    other.write_bytes(data.read_bytes())
    for option in OPTIONS:
        done = evaluate("--test", other, option, other)
        assert (done.code, other.read_bytes()) == (2, data.read_bytes())
        assert "this is the input file" in done.err


def test_a_failed_run_leaves_the_old_predictions(unitless, tmp_path):
    bad = tmp_path / "bad.svm"
    bad.write_text("1 1:0.5 2:0.25\n-1 1:0.25 2:0.5\n" * 60_000 + "not a row\n")
    old = tmp_path / "old.csv"
    old.write_text("old")
    words = ("evaluate", bad, *FAST, "--predictions")
    assert unitless(*words, old).code == 2
    assert old.read_text() == "old"
    assert unitless(*words, tmp_path / "new.csv").code == 2  # nothing is replaced: keep what is new
    assert (tmp_path / "new.csv").read_text().startswith("row,prediction")


def test_a_failed_run_leaves_the_old_conversion_and_report(unitless, tmp_path):
    bad = tmp_path / "bad.csv"
    bad.write_text("x,y\n" + "1,2\n2,3\n" * 200 + "1,2,3,4\n")
    old = tmp_path / "old.jsonl"
    old.write_text("old")
    assert unitless("convert", bad, old).code == 2
    assert old.read_text() == "old"
    page = tmp_path / "page.html"
    page.write_text("old")
    assert unitless("evaluate", bad, "-t", "y", *FAST, "--report", page).code == 2
    assert page.read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["bad.csv", "old.jsonl", "page.html"]
