"""Logged decisions, the simulator and `unitless decide` on the command line."""

import csv
import json

import numpy as np
import pytest

from unitless import load

CITIES = ("Oslo", "Rome", "Lima")
ACTIONS = ("red", "green", "blue")


@pytest.fixture
def log(tmp_path):
    """A log in which red pays for the young and green in Rome."""
    rng = np.random.default_rng(0)
    path = tmp_path / "log.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "city", "shown", "clicked", "p"])
        for _ in range(600):
            age, city = int(rng.integers(18, 70)), rng.choice(CITIES)
            p = np.array([0.5, 0.3, 0.2])
            a = rng.choice(3, p=p)
            rate = (0.1 + 0.7 * (age < 30), 0.1 + 0.7 * (city == "Rome"), 0.2)[a]
            writer.writerow([age, city, ACTIONS[a], int(rng.random() < rate), p[a]])
    return path


LOG = ("--action", "shown", "--reward", "clicked")


@pytest.fixture
def run(unitless):
    """Runs a command that ends well, and returns what it prints; or one that fails with a code."""

    def done(*words, code=0):
        found = unitless(*words)
        assert found.code == code, found.err
        return found.err if code else found.out

    return done


def rows_of(path):
    with path.open() as file:
        return [*csv.DictReader(file)]


def test_policies_are_valued(log, tmp_path, run):
    results = tmp_path / "r.json"
    printed = run("evaluate", log, *LOG, "--probability", "p", "--results", results)
    found = json.loads(results.read_text())
    by_name = {own["policy"]: own for own in found["policies"]}
    assert [*by_name] == ["learned policy", *(f"always {a}" for a in _shown(log))]
    learned, constant = by_name["learned policy"], by_name["always red"]
    assert learned["dr"] > constant["dr"]
    for own in by_name.values():
        assert own["low"] <= own["ips"] <= own["high"]
    rows = rows_of(log)
    products = [float(r["clicked"]) / float(r["p"]) for r in rows if r["shown"] == "red"]
    assert constant["ips"] == pytest.approx(sum(products) / len(rows))
    assert "600 logged decisions" in printed
    assert "95% interval" in printed


def _shown(log):
    return dict.fromkeys(row["shown"] for row in rows_of(log))


def test_without_probabilities_it_says_what_cannot_be_known(log, run):
    printed = run("evaluate", log, *LOG)
    assert "cannot be known" in printed
    assert "interval" not in printed


@pytest.mark.parametrize("column", ["action", "probability"])
def test_a_policy_of_the_user(log, tmp_path, run, column):
    rows = rows_of(log)
    policy = tmp_path / "policy.csv"
    chosen = ["green" if row["city"] == "Rome" else "red" for row in rows]
    cells = chosen
    if column == "probability":
        cells = [float(a == row["shown"]) for a, row in zip(chosen, rows, strict=True)]
    policy.write_text("\n".join([column, *map(str, cells)]) + "\n")
    printed = run("evaluate", log, *LOG, "--probability", "p", "--policy", policy, "--json")
    given = json.loads(printed)["policies"][-1]
    own = zip(chosen, rows, strict=True)
    products = [float(r["clicked"]) / float(r["p"]) for a, r in own if a == r["shown"]]
    assert given["policy"] == "given policy"
    assert given["ips"] == pytest.approx(sum(products) / len(rows))
    assert (given["dr"] is None) == (column == "probability")


def test_a_saved_policy_decides_and_stays_as_it_is(log, tmp_path, run):
    model = tmp_path / "offers"
    run("evaluate", log, *LOG, "--probability", "p", "--save", model, "--quiet")
    before = model.read_bytes()
    first = run("decide", model, log)
    run("decide", model, log, "-o", tmp_path / "decisions.csv")
    assert (tmp_path / "decisions.csv").read_text() == first
    assert model.read_bytes() == before
    lines = [*csv.DictReader(first.splitlines())]
    assert len(lines) == 600
    bandit = load(model)
    decision = bandit.choose({"age": 20.0, "city": "Lima"}, ACTIONS)
    assert decision.action in ACTIONS
    printed = run("decide", model, log, "--json")
    line = json.loads(printed.splitlines()[0])
    assert {*line["estimates"]} == {*ACTIONS}
    assert line["action"] == lines[0]["action"]


def test_a_category_stays_one_where_a_file_shows_numbers_only(log, tmp_path, run):
    run("evaluate", log, *LOG, "--category", "age", "--save", tmp_path / "offers", "--quiet")
    (tmp_path / "new.csv").write_text("age,other\n20,1\n30,2\n")
    printed = run("decide", tmp_path / "offers", tmp_path / "new.csv")
    assert len(printed.splitlines()) == 3


def test_json_lines_give_the_same(log, tmp_path, run):
    expected = run("evaluate", log, *LOG, "--probability", "p")
    rows = [
        {"age": int(r["age"]), "city": r["city"], "shown": r["shown"], "clicked": int(r["clicked"])}
        | {"p": float(r["p"])}
        for r in rows_of(log)
    ]
    other = tmp_path / "log.jsonl"
    other.write_text("\n".join(map(json.dumps, rows)))
    assert run("evaluate", other, *LOG, "--probability", "p") == expected


def test_classification_is_played_as_decisions(tmp_path, run):
    rng = np.random.default_rng(0)
    path = tmp_path / "data.csv"
    lines = ["x,kind"]
    for x in rng.normal(size=300):
        lines.append(f"{x:.4f},{'high' if x > 0.5 else 'low' if x < -0.5 else 'middle'}")
    path.write_text("\n".join(lines) + "\n")
    page = tmp_path / "page.html"
    printed = run("evaluate", path, "-t", "kind", "--bandit", "--report", page)
    found = json.loads((tmp_path / "page.results.json").read_text())
    assert found["constant"] < found["mean"] <= found["informed"] + 0.05
    assert sum(own["shown"] for own in found["actions"]) == 300
    assert "with all labels" in printed
    for title in ("Reward over time", "Exploration", "Actions"):
        assert title in page.read_text()


def test_the_report_of_a_log(log, tmp_path, run):
    page = tmp_path / "page.html"
    run("evaluate", log, *LOG, "--probability", "p", "--report", page, "--quiet")
    assert "Value of policies" in page.read_text()


REFUSED = {
    "no reward": (("--action", "shown"), "need --reward COLUMN"),
    "no such column": (("--action", "show", "--reward", "clicked"), "shown"),
    "probability 0": ((*LOG, "--probability", "zero"), "line 2, column 'zero': probability 0"),
    "reward of text": (("--action", "shown", "--reward", "city"), "line 2, column 'city'"),
    "learner": ((*LOG, "--learner", "nag"), "--action cannot be combined with --learner"),
    "target": ((*LOG, "-t", "city"), "--target cannot be combined with --action"),
    "range": ((*LOG, "--reward-range", "1,0"), "--reward-range 1,0: give two numbers"),
    "no target": (("--bandit",), "--bandit needs --target"),
    "both": (("--bandit", "-t", "city", "--reward", "clicked"), "--bandit cannot be combined"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name, log, run):
    words, message = REFUSED[name]
    lines = log.read_text().splitlines()
    zeros = [lines[0] + ",zero", *(f"{line},0" for line in lines[1:])]
    log.write_text("\n".join(zeros) + "\n")
    assert message in run("evaluate", log, *words, code=2)


def test_a_policy_with_too_few_rows_is_refused(log, tmp_path, run):
    (tmp_path / "policy.csv").write_text("action\nred\nred\n")
    words = (*LOG, "--probability", "p", "--policy", tmp_path / "policy.csv")
    assert "fewer rows than the log" in run("evaluate", log, *words, code=2)


def test_models_and_bandits_are_told_apart(log, tmp_path, run):
    run("fit", log, "-t", "clicked", "--save", tmp_path / "model", "--quiet")
    assert "use `unitless predict`" in run("decide", tmp_path / "model", log, code=2)
    run("evaluate", log, *LOG, "--save", tmp_path / "bandit", "--quiet")
    for words in (("predict", tmp_path / "bandit", log), ("rescale", tmp_path / "bandit", "age=2")):
        assert "is a bandit" in run(*words, code=2)
