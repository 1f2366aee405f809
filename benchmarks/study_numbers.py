"""Compute the numbers of docs/explanation/study.md from the results file."""

import json
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.stats import friedmanchisquare, rankdata, studentized_range

PAPER = {"coordinate": "Algorithm 1", "full": "Algorithm 2"}
LEVEL = 0.05
SMOOTH = "blend, smooth"
"""`Blend(views="smooth")`. The default has trees, which benchmarks/curves.py measures."""
SON = "son, rate sqrt(d)"
"""SON with the learning rate of its paper."""
BEST_C = SON + ", best C"
SON_C = [2.0**k for k in range(-2, 9, 2)]
"""The values of C among which the best is chosen in hindsight."""
LONGEST_BROAD = 20_000
"""Maximum number of rows of a data set with more than 60 columns."""
LONG = 2**14
"""The curves by length are averages over the data sets with at least this many rows."""


class Ranks(NamedTuple):
    """Average ranks over data sets, best first, with the results of the significance tests."""

    names: list[str]
    ranks: list[float]
    sets: list[str]
    difference: float
    """Nemenyi's critical difference: smaller differences may be due to chance."""
    chance: float
    """The p-value of Friedman's test of the hypothesis that all learners are equally good."""

    def of(self, name: str) -> float:
        return self.ranks[self.names.index(name)]

    def place(self, name: str) -> int:
        return self.names.index(name) + 1

    def cliques(self) -> list[tuple[int, int]]:
        """Return the longest ranges (first, last) of learners within the critical difference."""
        found: list[tuple[int, int]] = []
        for i, rank in enumerate(self.ranks):
            last = max(j for j, other in enumerate(self.ranks) if other - rank <= self.difference)
            if last > i and (not found or last > found[-1][1]):
                found.append((i, last))
        return found


class Study:
    """The results file and the statistics that the page shows."""

    def __init__(self, path: Path) -> None:
        facts = pl.read_parquet_metadata(path)
        self.date, self.version, self.rows = facts["date"], facts["version"], int(facts["rows"])
        self.seeds = int(facts["seeds"])
        self.rates = np.array(json.loads(facts["rates"]))
        self.absent: list[str] = json.loads(facts["absent"])
        self.invariance: dict[str, str] = json.loads(facts["invariance"])
        words = ("part", "set", "loss", "order", "units", "learner")
        frame = pl.read_parquet(path).with_columns(pl.col(words).cast(pl.String))
        records = frame.filter(part="loss").with_columns(
            best_rate=pl.col("by_rate").list.min().cast(pl.Float64),
            value=pl.col("value").fill_null(np.inf),
        )
        key = ["set", "loss", "order", "seed", "units", "learner"]
        best_C = records.filter(learner=BEST_C).with_columns(learner=pl.lit(SON))
        records = records.join(
            best_C.select(*key, best_C="value"), on=key, how="left", maintain_order="left"
        )
        self.records = records.filter(pl.col("learner") != BEST_C).with_columns(
            best_rate=pl.coalesce("best_rate", "best_C")
        )
        self.growth = frame.filter(part="growth")
        self.lengths = frame.filter(part="length")
        self.all = frame

    @cached_property
    def sets(self) -> pl.DataFrame:
        """One row per data set and loss: size, best constant and best weights."""
        first = self.records.filter(order="natural", units="raw")
        return first.group_by("set", "loss", maintain_order=True).agg(
            pl.col("rows", "columns", "constant", "best").first()
        )

    def scores(self, loss: str, units: str, *, order: str = "shuffled", tuned: bool = False):
        """Return the loss over that of the best constant, {learner: {set: mean over orders}}.

        With `tuned`, methods with a learning rate have the best of all rates and of their default
        on each stream. The value is infinite where a learner diverged.
        """
        kept = self.records.filter(loss=loss, units=units, order=order)
        value = pl.col("value")
        if tuned:
            value = pl.min_horizontal(value, pl.col("best_rate").fill_null(np.inf))
        mean = kept.group_by("learner", "set").agg((value / pl.col("constant")).mean())
        found: dict[str, dict[str, float]] = {}
        for learner, name, score in mean.sort("learner", "set").rows():
            found.setdefault(learner, {})[name] = score
        return found

    def ranks(self, loss: str, units: str, *, tuned: bool = False) -> Ranks:
        """Return the average ranks over the data sets on which all learners ran."""
        scores = self.scores(loss, units, tuned=tuned)
        sets = self.common(loss)
        table = np.array([[by_set[s] for s in sets] for by_set in scores.values()])
        ranks = np.array([rankdata(column) for column in table.T])
        order = np.argsort(ranks.mean(axis=0), kind="stable")
        k, n = len(table), len(sets)
        q = studentized_range.ppf(1 - LEVEL, k, np.inf) / np.sqrt(2)
        chance = friedmanchisquare(*ranks.T).pvalue if n > 1 else np.nan
        return Ranks(
            [list(scores)[j] for j in order], ranks.mean(axis=0)[order].tolist(), sets,
            float(q * np.sqrt(k * (k + 1) / (6 * n))), float(chance),
        )  # fmt: skip

    def common(self, loss: str, *, tuned: bool = False) -> list[str]:
        """Return the sets on which all learners ran (with `tuned`: all rates of all learners)."""
        kept = self.records.filter(loss=loss, order="shuffled", seed=0, units="raw")
        if tuned:
            kept = kept.filter(pl.col("by_rate").is_not_null())
        counts = kept.group_by("set").len()
        return sorted(counts.filter(pl.col("len") == kept["learner"].n_unique())["set"].to_list())

    def typical(
        self, loss: str, units: str, *, order: str = "shuffled", tuned: bool = False,
        sets: list[str] | None = None,
    ):  # fmt: skip
        """Return {learner: geometric mean over the common sets}; infinite if it diverged."""
        scores = self.scores(loss, units, order=order, tuned=tuned)
        sets = self.common(loss) if sets is None else sets
        return {name: geometric([by_set[s] for s in sets]) for name, by_set in scores.items()}

    def diverged(self, loss: str, units: str) -> dict[str, int]:
        """Return on how many data sets a learner diverged in some shuffled order."""
        kept = self.records.filter(loss=loss, units=units, order="shuffled")
        bad = kept.filter(pl.col("diverged").is_not_null()).unique(["learner", "set"])
        return dict(bad.group_by("learner").len().rows())

    def with_rate(self, loss: str) -> list[str]:
        """Return the learners that have a learning rate."""
        kept = self.records.filter(pl.col("by_rate").is_not_null(), loss=loss)
        return sorted(kept["learner"].unique().to_list())

    def with_oracle(self, loss: str) -> list[str]:
        """Return the learners with a learning rate, and SON with its C, as tuned in hindsight."""
        kept = self.records.filter(pl.col("best_rate").is_not_null(), loss=loss)
        return sorted(kept["learner"].unique().to_list())

    def not_run(self) -> list[str]:
        """Return the learners of the registry that are in no stream, not even as a variant."""
        ran = {name.partition(",")[0] for name in self.all["learner"].unique()}
        return sorted(set(self.invariance) - ran)

    def declared(self, learner: str) -> str:
        """Return the invariance that a learner or a variant of it declares."""
        return self.invariance[learner.partition(",")[0]]

    def by_rate(self, loss: str, units: str, learner: str) -> np.ndarray:
        """Return the geometric mean over common sets at each rate; infinite if it diverged."""
        kept = self.records.filter(loss=loss, units=units, order="shuffled", learner=learner)
        lists = kept.filter(pl.col("set").is_in(self.common(loss, tuned=True)))
        table = np.array([[np.inf if x is None else x for x in row] for row in lists["by_rate"]])
        relative = table / lists["constant"].to_numpy()[:, None]
        return np.array([geometric(column) for column in relative.T])

    def moved(self, loss: str) -> dict[str, float]:
        """Return {learner: largest ratio between its losses in random and raw units}."""
        key = ["set", "order", "seed", "learner"]
        raw = self.records.filter(loss=loss, units="raw").select(*key, "value")
        other = self.records.filter(loss=loss, units="random").select(*key, there="value")
        both = raw.join(other, on=key)
        found = {}
        for (learner,), part in both.group_by("learner"):
            one, two = part["value"].to_numpy(), part["there"].to_numpy()
            same = (one == two) | ~(np.isfinite(one) | np.isfinite(two))
            with np.errstate(invalid="ignore", divide="ignore"):
                factor = np.where(same, 1.0, np.maximum(one / two, two / one))
            found[learner] = float(factor.max())
        return found

    def microseconds(self, loss: str) -> dict[str, float]:
        """Return {learner: time per row of the fastest order, median over data sets}."""
        kept = self.records.filter(loss=loss, units="raw").filter(pl.col("diverged").is_null())
        fastest = kept.group_by("learner", "set").agg(
            (pl.col("seconds") / pl.col("rows")).min() * 1e6
        )
        median = fastest.group_by("learner").agg(pl.col("seconds").median())
        return dict(median.sort("seconds", "learner").rows())

    def by_length(self, sets: list[str]) -> dict[str, dict[int, float]]:
        """Return {learner: {T: loss of the first T rows over that of the best constant}}."""
        kept = self.lengths.filter(pl.col("set").is_in(sets))
        found: dict[str, dict[int, float]] = {}
        for (learner, T), part in kept.group_by("learner", "rows", maintain_order=True):
            if part["set"].n_unique() == len(sets):
                score = geometric((part["value"] / part["constant"]).to_numpy())
                found.setdefault(learner, {})[T] = score
        return found

    def long_sets(self) -> list[str]:
        """Return the data sets with LONG rows, or as many as the longest."""
        longest = self.lengths.group_by("set").agg(pl.col("rows").max())
        enough = min(LONG, longest["rows"].max())  # type: ignore[type-var]
        return sorted(longest.filter(pl.col("rows") >= enough)["set"].to_list())

    def regrets(self, name: str, learner: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (T, regret, bound) of a learner on a growing stream; NaN where unknown."""
        kept = self.growth.filter(set=name, learner=learner).sort("rows")
        T = kept["rows"].to_numpy().astype(float)
        total = [kept[column].cast(pl.Float64).fill_null(np.nan).to_numpy() * T
                 for column in ("value", "best", "bound")]  # fmt: skip
        return T, total[0] - total[1], total[2]

    def shares(self) -> dict[str, tuple[int, float]]:
        """Return {learner: (runs with a regret bound, largest ratio of regret to bound)}."""
        share = (pl.col("value") - pl.col("best")) / pl.col("bound")
        found = self.all.with_columns(share=share).filter(pl.col("share").is_not_null())
        each = found.group_by("learner").agg(pl.len(), pl.col("share").max()).sort("share")
        return {name: (runs, most) for name, runs, most in each.rows()}

    def slope(self, name: str, learner: str) -> float:
        """Return the slope of log regret against log T in the second half of the lengths."""
        T, regret, _ = self.regrets(name, learner)
        late = slice(len(T) // 2, None)
        if len(T[late]) < 2 or not (regret[late] > 0).all():
            return np.nan
        return float(np.polyfit(np.log(T[late]), np.log(regret[late]), 1)[0])


def geometric(values: list[float] | np.ndarray) -> float:
    """Return the geometric mean; 0 counts as the smallest positive float."""
    array = np.asarray(values, dtype=float)
    return float(np.exp(np.mean(np.log(np.maximum(array, np.finfo(float).tiny)))))
