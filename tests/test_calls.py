"""How many calls lie between a public method and its compiled kernel.

Counted are Python frames of this package, from the public method down to the one that calls the
kernel that learns, both included: three for a single learner, five for the default. The deepest
way of a call counts; checks that come back before the kernel is called do not.
"""

import sys

import numpy as np
import pytest

from unitless.learners import get
from unitless.rows import as_rows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
DICT = {"a": 1.0, "b": 2.0, "c": 3.0}
KERNELS = {"run", "run_1", "run_2", "mix", "hedge", "run_implicit", "kernel"}


def frames_to_kernel(call, kernel):
    """The frames of the package on the stack when the compiled function is called."""
    deepest = 0
    code = kernel.py_func.__code__

    class Spy:
        def __call__(self, *arguments):
            nonlocal deepest
            frame, count = sys._getframe(1), 0
            while frame is not None:
                if "/unitless/" in frame.f_code.co_filename.replace("\\", "/"):
                    count += "/tests/" not in frame.f_code.co_filename
                frame = frame.f_back
            deepest = max(deepest, count)
            return kernel(*arguments)

    spy = Spy()
    call(spy)
    assert deepest, f"{code.co_name} was not called"
    return deepest


@pytest.mark.parametrize("name", ["coordinate", "scinol2", "nag", "diagonal", "bayes"])
def test_a_single_learner(name, monkeypatch):
    learner = get(name)()
    rows = as_rows(X, np.sign(X[:, 0]))
    learner.learn(rows)
    learner.learn_one(DICT, 1.0)
    kernel = type(learner).kernel
    for call in (
        lambda: learner.learn(rows),
        lambda: learner.predict(rows),
        lambda: learner.learn_one(DICT, 1.0),
        lambda: learner.predict_one(DICT),
    ):

        def spied(spy, call=call):
            monkeypatch.setattr(type(learner), "kernel", spy)
            try:
                call()
            finally:
                monkeypatch.setattr(type(learner), "kernel", kernel)

        assert frames_to_kernel(spied, kernel) <= 3


@pytest.mark.parametrize(("name", "module"), [("full", "full"), ("newton", "newton")])
def test_learners_with_a_matrix(name, module, monkeypatch):
    from importlib import import_module

    home = import_module(f"unitless.learners.{module}")
    learner, rows = get(name)(), as_rows(X, np.sign(X[:, 0]))
    learner.learn(rows)
    kernel = home.run

    def spied(spy):
        monkeypatch.setattr(home, "run", spy)
        learner.learn(rows)

    assert frames_to_kernel(spied, kernel) <= 3


def test_the_default(monkeypatch):
    from unitless import OnlineClassifier
    from unitless.blend import fused
    from unitless.blend.logistic import LogisticMixture

    model = OnlineClassifier(shuffle=False).fit(X, X[:, 0] > 0)
    learner, rows = model.learner_, as_rows(X, np.sign(X[:, 0]))
    for owner, name in ((fused, "run"), (LogisticMixture, "kernel")):
        kernel = getattr(owner, name)

        def spied(spy, owner=owner, name=name):
            with monkeypatch.context() as patch:
                patch.setattr(owner, name, spy)
                learner.learn(rows)

        assert frames_to_kernel(spied, kernel) <= 5
