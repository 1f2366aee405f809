"""Learners in plain Python: every law, several classes, registered, saved and loaded."""

import pickle
import subprocess
import sys
from copy import deepcopy

import numpy as np
import pytest
import scipy.sparse as sp

import unitless
from unitless import learners
from unitless.core.learner import Diverged
from unitless.core.parameters import Parameter
from unitless.learners import PythonLearner, get, register
from unitless.learners.one_vs_rest import with_classes
from unitless.rows import as_rows
from unitless.state import Field, count, remembered
from unitless.testing import check_learner

RNG = np.random.default_rng(0)
X = np.clip(RNG.normal(size=(60, 5)), -1, 1) * (RNG.random((60, 5)) < 0.7)
Y = np.where(X[:, 0] > 0, 1.0, -1.0)


class Descent(PythonLearner):
    """Gradient descent: OGD in plain Python."""

    name = "descent"
    parameters = (Parameter("rate", 1.0, "the learning rate"),)
    saved = (*PythonLearner.saved, Field("w", "1/x", "weights", ("coordinates",)))

    def score(self, x):
        return np.sum(self.w * x)

    def step(self, x, g):
        self.w -= self.rate * g / np.sqrt(self.t + 1) * x


class Scaled(PythonLearner):
    """Gradient descent on features divided by their largest size so far."""

    name = "scaled"
    invariance = "unit"
    saved = (
        *PythonLearner.saved,
        Field("M", "|x|", "largest size", ("coordinates",)),
        Field("B", "sign", "weight of x / M", ("coordinates",)),
        count("learned", "rows learned"),
    )

    def ratios(self, x, M):
        return np.divide(x, M, out=np.zeros_like(x), where=M > 0)

    def score(self, x):
        return np.sum(self.B * self.ratios(x, np.maximum(self.M, np.abs(x))))

    def step(self, x, g):
        np.maximum(self.M, np.abs(x), out=self.M)
        self.learned += 1
        self.B -= g / np.sqrt(self.learned) * self.ratios(x, self.M)


class Ridge(PythonLearner):
    """Least squares from scratch, to have a matrix, a loss of its own and `update`."""

    name = "python_ridge"
    default_loss = "squared"
    takes_losses = ("squared",)
    needs_lipschitz = False
    saved = (
        *PythonLearner.saved,
        Field("S", "x_i x_j", "sum x x'", ("coordinates coordinates",)),
        Field("b", "x y", "sum y x", ("coordinates",)),
    )

    def score(self, x):
        n = len(x)
        return x @ np.linalg.solve(self.S.reshape(n, n) + np.eye(n), self.b)

    def update(self, x, y):
        self.S += self.weight * np.outer(x, x).ravel()
        self.b += self.weight * y * x


class Counter(PythonLearner):
    """Scores several classes itself, by how often each was seen."""

    name = "python_counter"
    has_classes = True
    linear = False
    takes_losses = ("softmax",)
    default_loss = "softmax"
    saved = (*PythonLearner.saved, Field("seen", "1", "weight by class", ("classes",)))

    def score(self, x):
        return np.log1p(self.seen)

    def update(self, x, y):
        self.seen[int(y)] += self.weight


@pytest.mark.parametrize("kind", [Descent, Scaled, Ridge])
def test_laws(kind):
    check_learner(kind)


def test_it_is_the_compiled_learner():
    """Scores, weights and sample weights of OGD, up to the order of sums."""
    v = RNG.choice([0.0, 0.5, 2.0], 60)
    for rows in (as_rows(X, Y), as_rows(X, Y, v), as_rows(sp.csr_array(X), Y, v)):
        one, two = Descent(rate=0.3), get("ogd")(rate=0.3)
        np.testing.assert_allclose(one.learn(rows), two.learn(rows), rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(one.weights().features, two.weights().features, rtol=1e-12)
        assert one.trials == two.trials


def test_classes_by_slopes():
    y = RNG.integers(0, 3, 60)
    one, two = with_classes(Descent, 3), with_classes(get("ogd"), 3)
    scores = one.learn(as_rows(X, y))
    np.testing.assert_allclose(scores, two.learn(as_rows(X, y)), rtol=1e-10, atol=1e-12)
    one.add_class()
    assert one.learn(as_rows(X, y + 1)).shape == (60, 4)
    copy = pickle.loads(pickle.dumps(one))
    np.testing.assert_array_equal(copy.predict(as_rows(X)), one.predict(as_rows(X)))
    with pytest.raises(ValueError, match="python_ridge supports only two classes"):
        with_classes(Ridge, 3)


def test_classes_of_its_own():
    learner = with_classes(Counter, 3)
    assert isinstance(learner, Counter)
    y = RNG.integers(0, 3, 60)
    scores = learner.learn(as_rows(X, y))
    np.testing.assert_array_equal(scores[0], np.zeros(3))
    np.testing.assert_array_equal(learner.seen, np.bincount(y))
    learner.add_class()
    assert learner.learn(as_rows(X[:1], [3.0]))[0, 3] == 0
    assert learner.seen.tolist() == [*np.bincount(y), 1]


def test_what_x_is():
    """The constant, then the columns: absent and missing values are 0."""
    seen = []

    class Looking(Descent):
        name = "looking"

        def score(self, x):
            seen.append(x.tolist())
            return super().score(x)

    learner = Looking()
    learner.learn_one({"a": 1.0, "b": 2.0}, 1)
    learner.learn_one({"b": None, "c": 3.0}, 1)
    Looking(intercept=False).learn_one({"a": 5.0}, 1)
    assert seen == [[1, 1, 2], [1, 0, 0, 3], [0, 5]]


def test_columns_that_are_new_to_a_prediction():
    """They are seen as they will be, and leave no trace."""
    learner = Ridge()
    learner.learn(as_rows(X[:, :2], Y))
    before = remembered(learner)
    wide = learner.predict(as_rows(X))
    assert learner.b.shape == (3,)
    after = remembered(learner)
    assert after[1] == before[1]
    for path, array in before[0].items():
        np.testing.assert_array_equal(array, after[0][path])
    assert learner.learn(as_rows(X[:1], Y[:1]))[0] == wide[0]
    assert learner.S.shape == (36,)


def test_a_matrix_grows_in_its_corner():
    at_once, later = Ridge(), Ridge()
    Z = X.copy()
    Z[:30, 3:] = 0
    scores = at_once.learn(as_rows(Z, Y))
    first = later.learn(as_rows(Z[:30, :3], Y[:30]))
    both = np.append(first, later.learn(as_rows(Z[30:], Y[30:])))
    np.testing.assert_allclose(both, scores, rtol=1e-10, atol=1e-12)
    np.testing.assert_array_equal(later.S, at_once.S)


class Fails(Descent):
    """Raises an error in row 3."""

    name = "fails"

    def step(self, x, g):
        super().step(x, g)
        if self.t == 3:
            raise RuntimeError("no more")


@pytest.mark.parametrize("way", ["block", "rows"])
def test_an_error_of_its_own_leaves_it_as_it_was(way):
    learner = Fails()
    if way == "rows":
        for t in range(3):
            learner.learn_one({"a": X[t, 0]}, Y[t])
    before = remembered(learner)
    ways = {
        "rows": lambda: learner.learn_one({"a": 1.0, "new": 2.0}, 1),
        "block": lambda: learner.learn(as_rows(X, Y)),
    }
    with pytest.raises(RuntimeError, match="no more"):
        ways.get(way, ways["block"])()
    arrays, facts = remembered(learner)
    assert facts == before[1]
    for path, array in before[0].items():
        np.testing.assert_array_equal(array, arrays[path])
    assert "new" not in learner.names.columns


def test_it_diverges_like_any_other():
    learner = Descent()
    learner.learn(as_rows(X, Y))
    before = learner.w.copy()
    with pytest.raises(Diverged, match=r"row \d+: descent diverged"):
        learner.learn(as_rows(np.full((9, 5), 1e200), np.resize([1.0, -1.0, -1.0], 9)))
    np.testing.assert_array_equal(learner.w, before)


class Forgetful(Descent):
    """Keeps a number that it does not declare."""

    name = "forgetful"

    def _prepare(self):
        super()._prepare()
        self.steps = 0

    def step(self, x, g):
        self.steps += 1
        self.w -= g / self.steps * x


class Peeking(Descent):
    """A score that leaves a trace."""

    name = "peeking"

    def score(self, x):
        self.w[0] += 0.125
        return super().score(x)


@pytest.mark.parametrize(
    ("kind", "law"),
    [(Forgetful, "goes on alike from its declared state"), (Peeking, "`predict` changes nothing")],
)
def test_what_the_laws_find(kind, law):
    with pytest.raises(AssertionError, match=law):
        check_learner(kind)


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"update": lambda self, x, y: None}, r"Wrong needs a method `score\(x\)`"),
        ({"score": lambda self, x: 0.0}, r"Wrong needs a method `update\(x, y\)` or"),
        (
            {
                "score": lambda self, x: 0.0,
                "update": lambda self, x, y: None,
                "saved": (
                    *PythonLearner.saved,
                    Field("S", "1", "a matrix", ("coordinates", "coordinates")),
                ),
            },
            "Wrong.S: only the first axis may grow",
        ),
    ],
)
def test_classes_that_cannot_work(body, words):
    with pytest.raises(TypeError, match=words):
        type("Wrong", (PythonLearner,), body)


def test_a_score_of_the_wrong_shape():
    class Wide(Counter):
        name = "wide"

        def score(self, x):
            return np.zeros(7)

    with pytest.raises(ValueError, match=r"Wide.score returned .* \(7,\); it has 3 classes"):
        with_classes(Wide, 3).predict(as_rows(X))


# Registered


@pytest.fixture
def registry(monkeypatch):
    """Nothing that a test registers stays."""
    monkeypatch.setattr(learners, "_registered", {})


def test_registered(registry):
    with pytest.raises(ValueError, match="unknown learner 'descent'"):
        get("descent")
    assert register(Descent) is Descent
    assert get("descent") is Descent
    assert register(Descent) is Descent  # once more does no harm
    assert "descent" in learners.names()
    assert "descent" not in learners.REGISTRY


@pytest.mark.parametrize("name", ["ogd", "one_vs_rest", "multi_output"])
def test_names_that_are_taken(registry, name):
    class Other(Descent):
        pass

    Other.name = name
    with pytest.raises(ValueError, match=f"there is another learner '{name}'"):
        register(Other)


def test_a_name_is_needed(registry):
    class Nameless(Descent):
        pass

    for kind in (Nameless, type("Nameless", (Descent,), {"name": "two words"})):
        with pytest.raises(ValueError, match="Nameless needs a `name` of its own"):
            register(kind)
    for thing in (3, dict, Descent()):
        with pytest.raises(TypeError, match="not a class of learners"):
            register(thing)


def test_two_classes_of_one_name(registry):
    register(Descent)
    other = type("Other", (Scaled,), {"name": "descent"})
    with pytest.raises(ValueError, match="another learner 'descent'"):
        register(other)


def test_saved_and_loaded(registry, tmp_path):
    register(Scaled)
    learner = Scaled("hinge", intercept=False)
    for row, y in zip(X[:30].tolist(), Y, strict=False):
        learner.learn_one({f"x{j}": value for j, value in enumerate(row)}, y)
    unitless.save(learner, tmp_path / "model")
    again = unitless.load(tmp_path / "model").learner
    assert type(again) is Scaled
    assert (again.loss.name, again.intercept, again.learned) == ("hinge", False, 30)
    rest = as_rows(X[30:], Y[30:])
    np.testing.assert_array_equal(again.learn(rest), learner.learn(rest))
    assert again.names.columns == learner.names.columns


def test_one_per_class_is_saved_and_loaded(registry, tmp_path):
    register(Descent)
    learner = with_classes(Descent, 3)
    learner.learn(as_rows(X, RNG.integers(0, 3, 60)))
    unitless.save(learner, tmp_path / "model")
    again = unitless.load(tmp_path / "model").learner
    np.testing.assert_array_equal(again.predict(as_rows(X)), learner.predict(as_rows(X)))


def test_a_model_with_it(registry, tmp_path):
    register(Scaled)
    model = unitless.OnlineClassifier(learner="scaled").fit(X, np.where(Y > 0, "yes", "no"))
    unitless.save(model, tmp_path / "model")
    again = unitless.load(tmp_path / "model")
    assert again.learner.name == "scaled"
    np.testing.assert_array_equal(
        again.learner.predict(as_rows(X)), model.learner_.predict(as_rows(X))
    )
    several = unitless.OnlineClassifier(learner="scaled").fit(X, RNG.integers(0, 3, 60))
    assert several.predict_proba(X).shape == (60, 3)


def test_who_is_not_registered_cannot_be_saved(registry, tmp_path):
    for learner in (Descent(), with_classes(Descent, 3)):
        with pytest.raises(ValueError, match=r"Descent is not a registered .*register\(kind\)"):
            unitless.save(learner, tmp_path / "model")
    register(Descent)
    unitless.save(Descent(), tmp_path / "model")
    learners._registered.clear()
    with pytest.raises(ValueError, match="unknown learner 'descent'"):
        unitless.load(tmp_path / "model")


OFFERED = """
import numpy as np
from unitless.learners import PythonLearner
from unitless.state import Field

class Offered(PythonLearner):
    name = "offered"
    saved = (*PythonLearner.saved, Field("w", "1/x", "weights", ("coordinates",)))

    def score(self, x):
        return np.sum(self.w * x)

    def step(self, x, g):
        self.w -= g * x
"""


def test_entry_points(tmp_path):
    """A package that is installed offers its learners: to Python and to the command line."""
    (tmp_path / "offering.py").write_text(OFFERED)
    info = tmp_path / "offering-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: offering\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[unitless.learners]\noffered = offering:Offered\n")
    code = f"""
import sys
sys.path.insert(0, {str(tmp_path)!r})
import unitless
from unitless import learners
assert "offered" in learners.names()
assert "offering" not in sys.modules
model = unitless.OnlineClassifier(learner="offered").fit([[1.0], [2.0], [3.0]], [0, 1, 1])
unitless.save(model, {str(tmp_path / "model")!r})
assert unitless.load({str(tmp_path / "model")!r}).learner.name == "offered"
assert learners.get("offered").__module__ == "offering"
sys.argv = ["unitless", "learners"]
from unitless.cli import main
main()
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert "offered (depends on units)" in run.stdout


def test_copies_keep_what_is_not_declared_apart():
    """A deep copy shares nothing with its original."""
    learner = Scaled()
    learner.learn(as_rows(X, Y))
    other = deepcopy(learner)
    other.learn(as_rows(X, -Y))
    assert learner.learned == 60
    assert other.learned == 120
    assert not np.shares_memory(learner.B, other.B)
