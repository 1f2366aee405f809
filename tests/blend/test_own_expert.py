"""An expert from outside the package: a learner, and one entry in a list."""

import numpy as np

from unitless import losses
from unitless.blend import experts
from unitless.blend.blend import Blend
from unitless.learners import PythonLearner
from unitless.rows import as_rows
from unitless.state import Field
from unitless.testing import check_learner


class Descent(PythonLearner):
    """Gradient descent in plain Python."""

    name = "descent_of_a_test"
    saved = (*PythonLearner.saved, Field("w", "1/x", "weights", ("coordinates",)))

    def score(self, x):
        return np.sum(self.w * x)

    def step(self, x, g):
        self.w -= g / np.sqrt(self.t + 1) * x


class OwnBlend(Blend):
    """A Blend for one loss, so that its laws take a second."""

    takes_losses = ("logistic",)


def test_an_expert_is_a_learner_and_an_entry_in_a_list(monkeypatch):
    views = experts.BY_VIEWS[losses.LOGISTIC]
    monkeypatch.setitem(views, "all", [*views["all"], experts.Expert("mine", "squashed", Descent)])
    blend = OwnBlend()
    X = np.random.default_rng(0).normal(size=(80, 3))
    rows = as_rows(X, np.sign(X[:, 0]))
    blend.learn(rows)
    assert "mine" in blend.mixture_weights()
    check_learner(OwnBlend)
