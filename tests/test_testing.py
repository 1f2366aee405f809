"""The laws of `check_learner` hold for learners of the package, and find what breaks them."""

import numpy as np
import pytest

from unitless.learners import PythonLearner, get
from unitless.state import Field
from unitless.testing import check_learner

NAMES = ["coordinate", "scinol2", "ogd", "full", "vaw", "newton", "boosted_trees", "neighbours"]


@pytest.mark.parametrize("name", NAMES)
def test_learners_of_the_package(name):
    check_learner(get(name))


class Base(PythonLearner):
    """Gradient descent in plain Python, which keeps every law."""

    name = "base"
    saved = (*PythonLearner.saved, Field("w", "1/x", "weights", ("coordinates",)))

    def score(self, x):
        return np.sum(self.w * x)

    def step(self, x, g):
        self.w -= g / np.sqrt(self.t + 1) * x


class Leaking(Base):
    """A score that counts its calls."""

    def score(self, x):
        self.w[0] += 0.125
        return super().score(x)


class Undeclared(Base):
    """Keeps a number that is not declared."""

    def _prepare(self):
        super()._prepare()
        self.steps = 0

    def step(self, x, g):
        self.steps += 1
        self.w -= g / self.steps * x


class Shared(Base):
    """All learners of the class share their weights."""

    memory = np.zeros(6)

    def score(self, x):
        return np.sum(self.memory[: len(x)] * x)

    def step(self, x, g):
        self.memory[: len(x)] -= g * x


class Unweighted(Base):
    """Takes no notice of sample weights."""

    def step(self, x, g):
        self.w -= np.sign(g) * 0.125 * x


class Unbounded(Base):
    """Claims to be scale-invariant, and is not even finite."""

    invariance = "unit"

    def score(self, x):
        return np.exp(np.minimum(self.w @ x, 700.0)) * 1e300 - 1e300


class Careless(Base):
    """Claims to be scale-invariant."""

    invariance = "unit"


BROKEN = {
    Careless: "A scale-invariant learner",
    Leaking: "`predict` changes nothing",
    Undeclared: "It goes on alike from its declared state",
    Shared: "",
    Unweighted: "Sample weights of 1 change nothing, and other weights change something",
    Unbounded: "",
}


def test_the_base_keeps_them():
    check_learner(Base)


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.filterwarnings("ignore:overflow")
def test_what_is_broken_is_found(kind):
    with pytest.raises(AssertionError, match=f"{kind.__name__} with the .* loss: {BROKEN[kind]}"):
        check_learner(kind)


def test_no_loss_at_all():
    class Picky(Base):
        takes_losses = ("nothing",)

    with pytest.raises(AssertionError, match="Picky accepts none of the losses"):
        check_learner(Picky)
