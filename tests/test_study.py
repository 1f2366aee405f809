"""The study: its numbers, its resumption, and that its page says what its file says."""

import json
import math
from pathlib import Path

import numpy as np
import polars as pl
import pytest

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "study.parquet"
FEW = {"zero": "", "nag": "", "ogd": "", "full": ""}


@pytest.fixture
def study(monkeypatch, tmp_path):
    """The module, with a few learners on the built-in sets, cut short."""
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import study

    monkeypatch.setattr(study, "REGISTRY", FEW)
    monkeypatch.setattr(study, "FULL", None)
    small = study.QUICK._replace(
        results=tmp_path / "study.parquet", page=tmp_path / "study.md", rows=40, seeds=2,
        rates=[0.1, 1.0], longest=64,
    )  # fmt: skip
    monkeypatch.setattr(study, "growing", lambda size: {"drawn signs": "logistic"})
    return study, small


def without_time(frame):
    return frame.drop("seconds").sort("set", "loss", "order", "seed", "units", "learner", "part")


def test_a_stopped_run_goes_on(study, monkeypatch):
    module, size = study
    whole = module.run(size)
    partial = size.results.with_suffix(".partial.jsonl")
    lines = partial.read_text().splitlines()
    partial.write_text("\n".join(lines[:7]) + "\n" + lines[7][: len(lines[7]) // 2])
    asked = []
    honest = module.losses
    monkeypatch.setattr(
        module, "losses", lambda key, *rest: asked.append(key) or honest(key, *rest)
    )
    again = module.run(size)
    of_losses = [text for text in lines[7:] if json.loads(text)["key"][0] == "loss"]
    assert len(asked) == len(of_losses) > 0
    assert without_time(again).equals(without_time(whole))


def test_a_learner_can_be_run_again(study):
    module, size = study
    whole = module.run(size)
    module.keep(whole.with_columns(value=pl.when(pl.col("learner").cast(pl.String) == "nag")
                                   .then(99.0).otherwise(pl.col("value"))), size)  # fmt: skip
    again = module.again(size, ["nag"])
    assert without_time(again).equals(without_time(whole))


def test_variants_are_run_again_with_their_learner(study, monkeypatch):
    """The Blend takes part without its trees, SON twice more with the rate of its paper."""
    module, size = study
    monkeypatch.setattr(module, "REGISTRY", {"blend": "", "son": ""})
    key = module.Key("loss", "breast_cancer", "logistic", "shuffled", 0, "raw")
    monkeypatch.setattr(module, "keys", lambda size: [key])
    whole = module.run(size)
    names = {"blend, smooth", "son", "son, rate sqrt(d)", "son, rate sqrt(d), best C"}
    assert set(whole["learner"].cast(pl.String)) == names
    (smooth,) = module.chosen(["blend"], "logistic")
    assert smooth.views == "smooth"
    values = dict(whole.select(pl.col("learner").cast(pl.String), "value").rows())
    rows, _ = module.stream(key, module.problem("breast_cancer", "logistic", size))
    loss = smooth.loss.value(rows.targets, smooth.learn(rows))[1:].mean()  # from row 2 on
    assert values["blend, smooth"] == pytest.approx(loss)
    assert values["son, rate sqrt(d), best C"] <= values["son, rate sqrt(d)"]
    module.keep(whole, size)
    again = module.again(size, ["blend", "son"])
    assert without_time(again).equals(without_time(whole))


def test_streams_are_those_of_the_sets(study):
    module, size = study
    made = module.problem("breast_cancer", "logistic", size)
    key = module.Key("loss", "breast_cancer", "logistic", "shuffled", 1, "standardised")
    rows, best = module.stream(key, made)
    assert np.abs(rows.values.mean(axis=0)).max() < 1e-9
    assert np.allclose(rows.values.std(axis=0), 1)
    order = np.random.default_rng(1).permutation(40)
    assert np.array_equal(rows.targets, made.y[order])
    raw, first = module.stream(key._replace(units="raw", order="natural"), made)
    assert np.array_equal(raw.values, made.X)
    scores = [r.values @ u.weights.features + u.weights.intercept
              for r, u in ((rows, best), (raw, first))]  # fmt: skip
    np.testing.assert_allclose(scores[0], scores[1][order], rtol=1e-6, atol=1e-6)


def test_sparse_sets_are_not_centred(study):
    from scipy.sparse import csr_array

    module, _ = study
    X = csr_array([[0.0, 2.0], [4.0, 0.0], [0.0, 0.0], [0.0, 6.0]])
    key = module.Key("loss", "", "logistic", "natural", 0, "standardised")
    rows, _ = module.stream(key, module.Problem(X, np.array([1.0, -1, 1, 1]), None))
    deviations = X.toarray().std(axis=0)
    np.testing.assert_allclose(
        rows.values, [2 / deviations[1], 4 / deviations[0], 6 / deviations[1]]
    )


@pytest.mark.parametrize(
    ("loss", "y", "expected"),
    [
        ("logistic", [1, 1, 1, -1], -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))),
        ("softmax", [0, 1, 1, 2], 1.5 * math.log(2)),
        ("absolute", [0, 0, 10], 10 / 3),
        ("squared", [0, 2], 1),
    ],
)
def test_the_best_constant(study, loss, y, expected):
    module, _ = study
    assert module.constant(loss, np.array(y, dtype=float)) == pytest.approx(expected)


@pytest.fixture
def numbers(study):
    """The numbers of a file that is made by hand: three learners on two sets."""
    module, size = study
    losses = {"a": [0.1, 0.3], "b": [0.2, 0.2], "c": [0.4, None]}
    records = []
    for learner, values in losses.items():
        for name, value in zip(("one", "two"), values, strict=True):
            for units, factor in (("raw", 1), ("random", 4 if learner == "b" else 1)):
                for order, seed in (("natural", 0), ("shuffled", 0), ("shuffled", 1)):
                    records.append({
                        "part": "loss", "set": name, "loss": "logistic", "order": order,
                        "seed": seed, "units": units, "learner": learner, "rows": 10, "columns": 2,
                        "constant": 0.5, "best": 0.05, "seconds": 1e-5 * (1 + seed),
                        "value": None if value is None else value * factor + 0.02 * seed,
                        "diverged": 3 if value is None else None,
                        "by_rate": [value / 2, None] if learner == "b" else None,
                    })  # fmt: skip
    for name, lengths in (("one", (64, 128)), ("two", (64,))):
        for T in lengths:
            records.append({
                "part": "length", "set": name, "loss": "logistic", "learner": "a", "rows": T,
                "constant": 0.5, "value": 32 / T if name == "one" else 2.0,
            })  # fmt: skip
    for T in (64, 128, 256, 512):
        records.append({
            "part": "growth", "set": "drawn signs", "loss": "logistic", "learner": "a", "rows": T,
            "value": 0.5 + 2 / math.sqrt(T), "best": 0.5, "bound": 3 / math.sqrt(T),
        })  # fmt: skip
    frame = module.framed(records)
    facts = {"date": "", "version": "", "rates": "[0.1, 1.0]", "absent": "[]", "rows": "10",
             "seeds": "2", "invariance": json.dumps(dict.fromkeys("abc", "unit"))}  # fmt: skip
    frame.write_parquet(size.results, metadata=facts)
    from study_numbers import Study

    return Study(size.results)


def test_scores_and_ranks(numbers):
    scores = numbers.scores("logistic", "raw")
    assert scores["a"]["one"] == pytest.approx((0.1 + 0.12) / 2 / 0.5)
    assert math.isinf(scores["c"]["two"])
    ranks = numbers.ranks("logistic", "raw")
    assert (ranks.names, ranks.ranks) == (["a", "b", "c"], [1.5, 1.5, 3.0])
    tuned = numbers.ranks("logistic", "raw", tuned=True)
    assert (tuned.names[0], tuned.of("b")) == ("b", 1.0)
    assert numbers.scores("logistic", "raw", tuned=True)["b"]["one"] == pytest.approx(0.1 / 0.5)
    assert numbers.diverged("logistic", "raw") == {"c": 1}
    assert numbers.with_rate("logistic") == ["b"]
    curve = numbers.by_rate("logistic", "raw", "b")
    assert curve[0] == pytest.approx(0.1 / 0.5)
    assert math.isinf(curve[1])


def test_the_critical_difference_is_that_of_the_tables(numbers):
    """Demsar (2006): q = 2.343 for three learners at the level 0.05."""
    assert numbers.ranks("logistic", "raw").difference == pytest.approx(2.343, abs=2e-3)


def test_cliques():
    from study_numbers import Ranks

    found = Ranks(list("abcd"), [1.0, 1.8, 2.5, 5.0], [], 1.0, 0.0)
    assert found.cliques() == [(0, 1), (1, 2)]


def test_curves_by_length(numbers):
    assert numbers.long_sets() == ["one"]
    assert numbers.by_length(["one"]) == {"a": {64: pytest.approx(1.0), 128: pytest.approx(0.5)}}
    assert numbers.by_length(["one", "two"]) == {"a": {64: pytest.approx(2.0)}}


def test_the_best_C_counts_as_tuning(study, numbers):
    module, size = study
    shown = {"loss": "logistic", "order": "shuffled", "units": "raw", "seed": 0}
    common = {"part": "loss", "set": "one", "constant": 0.5, "rows": 10, "columns": 2, **shown}
    records = [
        common | {"learner": "son, rate sqrt(d)", "value": 0.4},
        common | {"learner": "son, rate sqrt(d), best C", "value": 0.3},
    ]
    module.framed(records).write_parquet(
        size.results, metadata=pl.read_parquet_metadata(size.results)
    )
    found = type(numbers)(size.results)
    assert found.scores("logistic", "raw") == {"son, rate sqrt(d)": {"one": pytest.approx(0.8)}}
    tuned = found.scores("logistic", "raw", tuned=True)
    assert tuned == {"son, rate sqrt(d)": {"one": pytest.approx(0.6)}}
    assert found.with_oracle("logistic") == ["son, rate sqrt(d)"]
    assert found.with_rate("logistic") == []


def test_learners_that_did_not_run_are_named(numbers):
    assert numbers.not_run() == []
    numbers.invariance["d"] = "unit"
    assert numbers.not_run() == ["d"]


def test_moved_and_time(numbers):
    moved = numbers.moved("logistic")
    assert (moved["a"], moved["c"]) == (1.0, 1.0)
    assert moved["b"] == pytest.approx(0.8 / 0.2)
    assert numbers.microseconds("logistic")["a"] == pytest.approx(1.0)


def test_slopes(numbers):
    assert numbers.shares() == {"a": (4, pytest.approx(2 / 3))}
    T, regret, bound = numbers.regrets("drawn signs", "a")
    np.testing.assert_allclose(regret, 2 * np.sqrt(T))
    np.testing.assert_allclose(bound, 3 * np.sqrt(T), rtol=1e-6)
    assert numbers.slope("drawn signs", "a") == pytest.approx(0.5)


# The results that are kept


@pytest.mark.skipif(not RESULTS.exists(), reason="the study has not been run")
class TestKept:
    def test_the_page_is_made_of_the_file(self, monkeypatch):
        monkeypatch.syspath_prepend(ROOT / "benchmarks")
        from study_numbers import Study
        from study_page import text

        assert (ROOT / "docs" / "explanation" / "study.md").read_text() == text(Study(RESULTS))

    def test_no_bound_is_exceeded(self, monkeypatch):
        monkeypatch.syspath_prepend(ROOT / "benchmarks")
        from study_numbers import Study

        shares = Study(RESULTS).shares()
        named = {"coordinate", "coordinate2", "full", "zero", "blend, smooth", "kt", "minimax"}
        assert named <= set(shares)
        assert all(share <= 1 for _, share in shares.values())

    def test_all_rows_and_all_losses(self, monkeypatch):
        monkeypatch.syspath_prepend(ROOT / "benchmarks")
        from study_numbers import Study

        kept = Study(RESULTS)
        rows = dict(kept.sets.select("set", "rows").rows())
        assert (rows["elec2"], rows["breast_cancer"]) == (45_312, 569)
        assert set(kept.sets["loss"]) == {"logistic", "absolute", "squared", "softmax"}
        page = (ROOT / "docs" / "explanation" / "study.md").read_text()
        for loss in kept.sets["loss"].unique():
            assert f"(study/ranks-{loss}.svg)" in page
            assert (ROOT / "docs" / "explanation" / "study" / f"ranks-{loss}.svg").exists()

    def test_it_is_small(self):
        assert RESULTS.stat().st_size < 1_000_000

    def test_who_declares_to_be_free_of_units_is(self, monkeypatch):
        monkeypatch.syspath_prepend(ROOT / "benchmarks")
        from study_numbers import Study

        kept = Study(RESULTS)
        for loss in kept.sets["loss"].unique():
            moved = kept.moved(loss)
            free = [name for name in moved if kept.declared(name) not in ("none", "rotation")]
            assert {name for name in free if moved[name] != 1} == set()
        assert kept.records.filter(pl.col("units") == "raw")["set"].n_unique() > 3
