"""Logged decisions, the simulator and `unitless decide` on the command line."""

import csv
import gzip
import json

import numpy as np
import pytest

from unitless import OnlineBandit, load

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


# Logs with possible actions


def offers(rows=600):
    """A log in which the young like the cheapest offer and others the dearest."""
    rng = np.random.default_rng(0)
    made = []
    for _ in range(rows):
        age = int(rng.integers(18, 70))
        names = [f"o{k}" for k in rng.choice(30, 1 + rng.integers(1, 4), replace=False)]
        prices = rng.uniform(1, 9, len(names)).round(1).tolist()
        best = names[np.argmin(prices) if age < 40 else np.argmax(prices)]
        shown = names[rng.integers(len(names))]
        clicked = int(rng.random() < (0.9 if shown == best else 0.1))
        offered = {name: {"price": price} for name, price in zip(names, prices, strict=True)}
        made.append({"age": age, "offers": offered, "shown": shown, "p": 1 / len(names)})
        made[-1]["clicked"] = clicked
    return made


def best_of(row):
    by_price = sorted(row["offers"], key=lambda name: row["offers"][name]["price"])
    return by_price[0 if row["age"] < 40 else -1]


def as_list(row, key):
    """The same with a list of actions."""
    offered = [{key: name} | features for name, features in row["offers"].items()]
    return row | {"offers": offered}


def lines(path, rows):
    """Write JSON lines."""
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    return path


OFFERED = (*LOG, "--probability", "p", "--actions", "offers")


@pytest.fixture
def offered_log(tmp_path):
    return lines(tmp_path / "offers.jsonl", offers())


def test_policies_of_possible_actions_are_valued(offered_log, tmp_path, run):
    rows = offers()
    policy = tmp_path / "policy.csv"
    policy.write_text("\n".join(["action", *map(best_of, rows)]) + "\n")
    words = (*OFFERED, "--policy", policy, "--json")
    found = json.loads(run("evaluate", offered_log, *words))
    by_name = {own["policy"]: own for own in found["policies"]}
    assert [*by_name] == ["learned policy", "first in the list", "given policy"]
    learned, first, given = by_name.values()
    for own in by_name.values():
        assert own["low"] <= own["ips"] <= own["high"]
    assert learned["low"] > first["dr"]
    assert given["dr"] == pytest.approx(0.9, abs=0.05)
    for own, choice in ((first, lambda row: next(iter(row["offers"]))), (given, best_of)):
        products = [row["clicked"] / row["p"] * (choice(row) == row["shown"]) for row in rows]
        assert own["ips"] == pytest.approx(sum(products) / len(rows))
    assert sum(own["shown"] for own in found["actions"]) == len(rows)


def test_the_doubly_robust_value_is_that_of_decisions_one_by_one(tmp_path, run):
    """Up to row 17 the pieces have one row: the bandit in Python gives the same."""
    rows = offers(17)
    path = lines(tmp_path / "short.jsonl", rows)
    bandit = OnlineBandit()
    sums = np.zeros(2)
    for row in rows:
        context, offered = {"age": row["age"]}, row["offers"]
        estimates = dict.fromkeys(offered, 0.0)
        best = row["shown"]
        if bandit.rewards:
            (found,) = bandit.estimates(context, offered)
            estimates = dict(zip(offered, found, strict=True))
            best = max(estimates, key=estimates.get)
        for k, chosen in enumerate((best, next(iter(offered)))):
            weight = (chosen == row["shown"]) / row["p"]
            sums[k] += estimates[chosen] + weight * (row["clicked"] - estimates[row["shown"]])
        bandit.learn(context, row["shown"], row["clicked"], row["p"], actions=offered)
    found = json.loads(run("evaluate", path, *OFFERED, "--json"))["policies"]
    assert [own["dr"] for own in found] == pytest.approx((sums / 17).tolist())


@pytest.mark.parametrize("key", ["id", "name"])
def test_a_list_of_actions_gives_the_same(offered_log, tmp_path, run, key):
    expected = run("evaluate", offered_log, *OFFERED)
    other = tmp_path / "list.json.gz"
    rows = [as_list(row, key) for row in offers()]
    other.write_bytes(gzip.compress(json.dumps(rows).encode()))
    assert run("evaluate", other, *OFFERED) == expected
    assert "always" not in expected


def test_names_that_are_numbers(tmp_path, run):
    rows = [
        {
            "offers": [{"id": 1, "x": 1.0}, {"id": 2, "x": None}],
            "shown": 1 + k % 2,
            "clicked": k % 2,
        }
        for k in range(20)
    ]
    path = lines(tmp_path / "numbers.jsonl", rows)
    (tmp_path / "policy.csv").write_text("action\n" + "2\n" * 20)
    words = (*LOG, "--actions", "offers", "--policy", tmp_path / "policy.csv", "--json")
    found = json.loads(run("evaluate", path, *words))
    assert [own["action"] for own in found["actions"]] == ["1", "2"]
    assert "given policy" in {own["policy"] for own in found["policies"]}


def test_a_policy_of_possible_actions_is_saved(offered_log, tmp_path, run):
    model, page = tmp_path / "offers", tmp_path / "page.html"
    run("evaluate", offered_log, *OFFERED, "--save", model, "--report", page, "--quiet")
    assert "first in the list" in page.read_text()
    bandit = load(model)
    for age, best in ((20, "cheap"), (60, "dear")):
        decision = bandit.choose({"age": age}, {"cheap": {"price": 1.5}, "dear": {"price": 8.5}})
        assert max(decision.estimates, key=decision.estimates.get) == best
    assert "use Python" in run("decide", model, offered_log, code=2)


GOOD = {"age": 31, "offers": {"a": {"price": 1.0}, "b": {"price": 2.0}}, "shown": "a"}
GOOD |= {"p": 0.5, "clicked": 1}
WRONG_LINES = {
    "not possible": (GOOD | {"shown": "c"}, "column 'shown': 'c' is not among"),
    "no actions": (GOOD | {"offers": {}}, "column 'offers': there are no possible actions"),
    "a number": (GOOD | {"offers": 3}, "column 'offers': an object or a list"),
    "features": (GOOD | {"offers": {"a": 3}}, "column 'offers': the features of action 'a'"),
    "names only": (GOOD | {"offers": ["a"]}, "column 'offers': action 1 of the list is no"),
    "no name": (GOOD | {"offers": [{"price": 3}]}, "column 'offers': action 1 of the list has"),
    "null": (GOOD | {"offers": [{"id": None}]}, "column 'offers': the \"id\" of action 1"),
    "twice": (
        GOOD | {"offers": [{"id": "a"}, {"id": "a"}]},
        "column 'offers': action 'a' is given",
    ),
    "clash": (GOOD | {"offers": {"a": {"age": 3}}}, "column 'offers': 'age' is a feature of"),
    "list": (GOOD | {"offers": {"a": {"x": [3]}}}, "column 'offers': a feature is"),
    "nested": (GOOD | {"who": {"x": 3}}, "column 'who': a feature is"),
    "infinite": (GOOD | {"age": 10**400}, "column 'age': an infinite number"),
    "reward": (GOOD | {"clicked": None}, "column 'clicked': it is missing"),
    "large reward": (GOOD | {"clicked": 10**400}, "column 'clicked': "),
    "action": (GOOD | {"shown": None}, "column 'shown': the action is missing"),
    "probability": (GOOD | {"p": 0}, "column 'p': probability 0 is not"),
    "no column": ({"offer": {}}, "there is no column 'offers'; did you mean 'offer'"),
    "no object": ([GOOD], "a JSON object was expected"),
}
WRONG_TEXTS = {
    '{"offers": ': "this is no JSON object",
    '{"a\\ud800": 1}': "this is no JSON object",
    '{"offers": {"a": {}, "a": {}}}': "column 'offers': action 'a' is given twice",
    '{"offers": {"a": {"x": 1, "x": 2}}}': "'offers': action 'a': feature 'x' is given twice",
    '{"age": 1, "age": 2}': "column 'age': key 'age' is given twice",
}
WRONG = {
    **{name: (json.dumps(row), message) for name, (row, message) in WRONG_LINES.items()},
    **{text: (text, message) for text, message in WRONG_TEXTS.items()},
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_line_is_an_error_with_its_place(name, tmp_path, run):
    text, message = WRONG[name]
    path = tmp_path / "wrong.jsonl"
    path.write_text(f"{json.dumps(GOOD)}\n\n{text}\n")
    error = " ".join(run("evaluate", path, *OFFERED, code=2).split())
    assert "wrong.jsonl, line 3" in error
    assert message in error


REFUSED_OFFERED = {
    "no such column": ((*LOG, "--actions", "offer"), "did you mean 'offers'"),
    "no such reward": ((*OFFERED, "--reward", "click"), "did you mean 'clicked'"),
    "no action": (("--actions", "offers"), "need --action COLUMN"),
    "tables": ((*OFFERED, "--text", "age"), "--actions cannot be combined with --text"),
    "not JSON": ((*OFFERED, "--format", "csv"), "--actions needs JSON lines, not csv"),
    "bandit": (("--bandit", "-t", "age", "--actions", "offers"), "--bandit cannot be combined"),
}


@pytest.mark.parametrize("name", REFUSED_OFFERED)
def test_what_is_refused_with_possible_actions(name, offered_log, run):
    words, message = REFUSED_OFFERED[name]
    assert message in run("evaluate", offered_log, *words, code=2)


def test_a_policy_that_chooses_what_is_not_possible(offered_log, tmp_path, run):
    (tmp_path / "policy.csv").write_text("action\n" + "other\n" * 600)
    words = (*OFFERED, "--policy", tmp_path / "policy.csv")
    assert "'other' is not possible in" in run("evaluate", offered_log, *words, code=2)


def test_ignored_keys_are_no_features(offered_log, tmp_path, run):
    expected = run("evaluate", offered_log, *OFFERED)
    rows = [row | {"who": {"name": "x"}} for row in offers()]
    for row in rows:
        row["offers"] = {name: own | {"tags": ["t"]} for name, own in row["offers"].items()}
    other = lines(tmp_path / "more.jsonl", rows)
    assert run("evaluate", other, *OFFERED, "--ignore", "who", "--ignore", "tags") == expected
