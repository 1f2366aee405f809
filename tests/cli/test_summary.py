"""The summary of a run: short, the verdict first, and guarantees only where they say something."""

import numpy as np
import polars as pl
import pytest

from cli.material import written
from unitless.cli.summary import _excess, certificate_lines

LINES, COLUMNS = 24, 80


def summary_of(shown):
    """The lines after the table."""
    lines = shown.splitlines()
    start = next(k for k, line in enumerate(lines) if line.startswith("Predictions of "))
    return lines[start - 1 :]


def plain_file(path, target):
    """A file of thirty columns, without missing cells, in random order."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 30)) * 10.0 ** rng.integers(-3, 4, 30)
    score = (X / X.std(axis=0)) @ rng.normal(size=30)
    y = {
        "amount": score,
        "is_it_good": np.where(score > 0, "a good one", "a bad one"),
        "fraud": np.where(score > 9, "fraud", "an honest customer"),
        "kind": np.array(["red", "green", "blue"])[np.digitize(score, [-2, 2])],
    }[target]
    frame = pl.DataFrame(X, schema=[f"a name of a measurement {k}" for k in range(30)])
    return written(path, frame.with_columns(pl.Series(target, y)))


@pytest.mark.parametrize("target", ["amount", "is_it_good", "fraud", "kind"])
@pytest.mark.parametrize("learner", ["coordinate", "blend"])
def test_it_fits_a_small_terminal(unitless, tmp_path, target, learner):
    path = plain_file(tmp_path / "a.csv", target)
    words = ("evaluate", path, "-t", target, "-l", learner)
    lines = summary_of(unitless(*words).out)
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= COLUMNS
    assert sum("a name of a measurement" in line for line in lines) >= 3
    first = lines.index("", 1)
    assert lines[first + 1].startswith("rows ")
    assert sum("guarantee" in line for line in lines) <= 1
    more = summary_of(unitless(*words, "--verbose").out)
    assert len(more) > len(lines)
    known = {*more}
    for line in lines[first + 2 :]:  # a long name may have been cut
        cut = line.removesuffix("…")
        assert "  " not in line or line in known or any(each.startswith(cut) for each in more)


def test_weights_asked_for_are_shown(unitless, tmp_path):
    path = plain_file(tmp_path / "a.csv", "amount")
    lines = summary_of(unitless("evaluate", path, "-t", "amount", "-l", "vaw", "--top", 20).out)
    assert sum("a name of a measurement" in line for line in lines) == 20


def test_the_verdict_is_that_of_the_report(unitless, data, tmp_path):
    words = ("evaluate", data, "-t", "label", "-l", "coordinate")
    page = tmp_path / "page.html"
    shown = summary_of(unitless(*words, "--report", page).out)
    first = " ".join(shown[1 : shown.index("", 1)]).partition(" This is ")[0]
    assert f"<b>{first}</b>" in page.read_text()


def test_the_last_line_is_what_was_written(unitless, data, tmp_path):
    model = tmp_path / "m"
    out = unitless("evaluate", data, "-t", "label", "-l", "coordinate", "--save", model).out
    assert out.splitlines()[-1] == f"wrote {model}"


def test_without_labels_nothing_is_guaranteed(unitless, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n" + "1,\n2,\n" * 30)
    for more in ((), ("--verbose",)):
        done = unitless("evaluate", path, "-t", "y", "--task", "regression", *more)
        assert "guarantee" not in done.out
        assert "total loss" not in done.out


def test_a_negative_excess_is_less():
    assert _excess(-57.57, "its member full") == "at least 57.57 less than its member full"
    assert _excess(0.0, "its member full") == "at most 0 more than its member full"
    member = {"loss": 100.0, "overhead": -57.57, "rows": 7}
    found = {"loss": 40.0, "rows": 7, "members": {"full": member}, "claims": []}
    texts = [line.text for line in certificate_lines(found)]
    assert "  at least 57.57 less than the 100 of its member full" in texts
    assert certificate_lines(found | {"rows": 0}) == []


def test_of_several_theorems_the_best_certificate_is_shown():
    claim = {"against": "u = 0", "promised": 9.0, "rows": 7}
    claims = [
        claim | {"theorem": "Theorem 1", "certified": -2.0, "sharp": 8.0},
        claim | {"theorem": "Theorem 2", "certified": -5.0, "sharp": 4.0},
        claim | {"against": "the best constant", "theorem": None, "certified": 3.0, "sharp": None}
        | {"promised": None},
    ]  # fmt: skip
    lines = certificate_lines({"members": {}, "claims": claims, "rows": 7})
    assert [line.text for line in lines[2:]] == [
        "  at most 3 more than the best constant",
        "  at least 5 less than a model whose weights are all 0 (bound of Theorem 2: 4 more)",
    ]


def test_a_rare_class_has_precision_and_recall(unitless, tmp_path):
    shown = {}
    for target in ("fraud", "is_it_good"):
        path = plain_file(tmp_path / f"{target}.csv", target)
        shown[target] = unitless("evaluate", path, "-t", target, "-l", "coordinate").out
    assert "precision and recall, fraud     " in shown["fraud"]
    assert "average precision, fraud        " in shown["fraud"]
    assert "precision" not in shown["is_it_good"]
