"""What learners, estimators and certificates look like in a terminal and in a notebook."""

from html.parser import HTMLParser

import numpy as np
import pytest

from unitless import OnlineClassifier, OnlineRegressor
from unitless.learners import REGISTRY, get

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 2))
Y = X[:, 0] > 0


class Cells(HTMLParser):
    """The text of the cells of a table, by row; tags must match."""

    def __init__(self, html):
        super().__init__()
        self.rows, self.open = [], []
        self.feed(html)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1] in ("td", "th"):
            self.rows[-1].append(data)


@pytest.mark.parametrize("name", REGISTRY)
def test_learners_show_parameters_and_rows(name):
    learner = None
    for loss in ("logistic", "squared"):
        try:
            learner = get(name)(loss)
            break
        except ValueError:
            continue
    assert repr(learner).endswith(": 0 rows learned>")
    assert repr(learner).startswith(f"<{type(learner).__name__}(loss='{learner.loss.name}'")


@pytest.mark.parametrize("name", ["blend", "coordinate", "full", "newton", "arow"])
def test_rows_learned_are_counted(name):
    assert "30 rows learned" in repr(OnlineClassifier(name).fit(X, Y).learner_)


def test_estimators_in_a_notebook():
    html = OnlineClassifier("coordinate", passes=2).fit(X, Y)._repr_html_()
    assert "OnlineClassifier" in html
    assert "passes" in html


@pytest.mark.parametrize("name", ["coordinate", "blend"])
def test_certificates_in_a_notebook(name):
    made = OnlineClassifier(name).fit(X, Y).certificate()
    rows = Cells(made._repr_html_()).rows
    assert ["regret against", "true", "certified", "sharp", "theorem"] in rows
    text = str(made)
    shown = [row for row in rows if row[0] == "u = 0"]
    assert shown
    for row in shown:
        assert any(row[2] in line for line in text.splitlines() if line.startswith("u = 0"))


@pytest.mark.parametrize("y", [["low", "high"] * 15, np.array(["a", "b"] * 15, dtype=object)])
def test_text_targets_of_a_regressor(y):
    with pytest.raises(ValueError, match=r"Unknown label type: row 0: '.*' is not a number"):
        OnlineRegressor("coordinate", "absolute").fit(X, y)
