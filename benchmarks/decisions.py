"""Measure the bandit beside Vowpal Wabbit: `python benchmarks/decisions.py PART ...`.

    unitless    loss of `OnlineBandit`, and of our learner with all labels
    rules       other ways of exploring, on all sets: how the default was chosen
    vw          Vowpal Wabbit's simulator (--cbify), 50 settings, on features as they are and
                standardised in hindsight (and then rewards between 0 and 1)
    units       choices in other units of features and rewards
    speed       a decision and its reward with 10 actions and 20 features, beside `learn_one`
    coverage    how often a confidence sequence is wrong at any time, in 1000 simulated logs
    table       print what results/decisions.json holds

The sets are those of `decision_sets.py`, shuffled with the seeds 0 to 4. The loss of a
classification set is the share of wrong classes. On sets of real rewards it is the regret to the
best action of each row, in units of that of the best constant action. Results are written after
each set; what is there already is not run again.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from decision_sets import CAP, GUESSES, PRICES, SEVERAL, TWO, Decisions, classification, real

PATH = Path(__file__).parent / "results" / "decisions.json"
SEEDS = [int(seed) for seed in os.environ.get("UNITLESS_SEEDS", "0,1,2,3,4").split(",")]
EXPLORING = (
    "--epsilon 0",
    "--epsilon 0.02",
    "--epsilon 0.1",
    "--squarecb",
    "--squarecb --gamma_scale 100",
    "--squarecb --gamma_scale 1000",
    "--regcb --mellowness 0.01",
    "--regcbopt --mellowness 0.01",
    "--cover 4",
    "--bag 4",
)
WITH_PAIRS = (
    "--epsilon 0.02",
    "--squarecb --gamma_scale 100",
    "--epsilon 0",
    "--cover 4",
    "--regcbopt --mellowness 0.01",
)
PAIRS = "--interactions ::"
SETTINGS = [f"{how} -l {rate:g}" for how, rate in product(EXPLORING, (0.05, 0.5, 2, 10))]
SETTINGS += [f"{how} -l {rate:g} {PAIRS}" for how, rate in product(WITH_PAIRS, (0.5, 2))]
DEFAULT = "--squarecb"
MOST_FOR_PAIRS = 40
"""Features; with more, settings with all pairs of features are left out."""
RULES = {"greedy": (0.0, np.inf), "3, 4 t": (3.0, 4.0), "3, 2 t": (3.0, 2.0), "3, t": (3.0, 1.0)}
RULES |= {"10, 2 t": (10.0, 2.0)}
RULES |= {"10, 4 t": (10.0, 4.0), "10, t": (10.0, 1.0), "1, t": (1.0, 1.0), "3, t / 4": (3.0, 0.25)}
"""By name: `OPTIMISM` and `RATE` of `unitless.decisions.exploration`."""
NAMES = [*SEVERAL, *TWO, *PRICES, *GUESSES]


def sets(seeds: list[int] = SEEDS) -> Iterator[tuple[str, int, Decisions]]:
    """Yield key, seed and data."""
    for seed, name in product(seeds, NAMES):
        made = real if name in (*PRICES, *GUESSES) else classification
        yield f"{name}/{seed}", seed, made(name, seed)


def loss(data: Decisions, rewards: float) -> float:
    """The loss of a policy with these mean rewards."""
    best = data.rewards.max(axis=1).mean()
    if data.name not in (*PRICES, *GUESSES):
        return float(best - rewards)
    return float((best - rewards) / (best - data.rewards.mean(axis=0).max()))


# Unitless


def play(data: Decisions, explore: bool = True) -> tuple[float, list[int]]:
    """The mean reward of the bandit, and its choices."""
    from unitless import OnlineBandit

    bandit = OnlineBandit(range(data.rewards.shape[1]), explore=explore)
    chosen = []
    for x, rewards in zip(data.X, data.rewards, strict=True):
        decision = bandit.choose(x)
        reward = rewards[decision.action]
        bandit.learn(x, decision.action, reward, decision.probability)
        chosen.append(decision.action)
    return float(data.rewards[np.arange(len(chosen)), chosen].mean()), chosen


def with_all_labels(data: Decisions) -> float:
    """The mean reward of a learner that sees the rewards of all actions after each row."""
    from unitless.learners import Blend
    from unitless.rows import as_rows

    rows, actions = data.rewards.shape
    if data.name in (*PRICES, *GUESSES):
        found = np.empty((rows, actions))
        for k in range(actions):
            own = np.empty(rows)
            Blend("squared").learn(as_rows(data.X, data.rewards[:, k].copy()), own)
            found[:, k] = own
    else:
        found = np.empty((rows, actions))
        learner = Blend("softmax", classes=actions)
        learner.learn(as_rows(data.X, data.classes.astype(float)), found)
    return float(data.rewards[np.arange(rows), found.argmax(axis=1)].mean())


def run_unitless(kept: dict[str, Any]) -> Iterator[str]:
    for key, _, data in sets():
        if key not in kept:
            rewards, _ = play(data)
            everything = loss(data, with_all_labels(data))
            kept[key] = {"bandit": loss(data, rewards), "all labels": everything}
            yield key


def run_rules(kept: dict[str, Any]) -> Iterator[str]:
    from unitless.decisions import exploration

    for key, _, data in sets(SEEDS[:1]):
        found = kept.setdefault(key, {})
        for rule, (optimism, rate) in RULES.items():
            if rule not in found:
                exploration.OPTIMISM, exploration.RATE = optimism, rate
                rewards, _ = play(data, explore=rule != "greedy")
                found[rule] = loss(data, rewards)
                yield key


# Vowpal Wabbit


def write_text(path: Path, X: np.ndarray, data: Decisions) -> None:
    """Write the rows in Vowpal Wabbit's format, which counts actions from 1."""
    costs = -data.rewards
    if data.name in (*PRICES, *GUESSES):
        labels = [" ".join(f"{k + 1}:{cost:.9g}" for k, cost in enumerate(line)) for line in costs]
    else:
        labels = [str(label + 1) for label in data.classes]
    with path.open("w") as file:
        for x, label in zip(X, labels, strict=True):
            values = " ".join(f"f{j}:{value:.9g}" for j, value in enumerate(x) if value)
            file.write(f"{label} | {values}\n")


def vw(path: Path, data: Decisions, setting: str, seed: int) -> float:
    """The mean regret of Vowpal Wabbit's choices, in the unit of the rewards."""
    from vowpalwabbit import Workspace

    actions = data.rewards.shape[1]
    kind = "--cbify_cs" if data.name in (*PRICES, *GUESSES) else ""
    given = f"--cbify {actions} {kind} --cb_explore_adf {setting} -d {path}"
    workspace = Workspace(f"{given} --random_seed {seed + 1} --quiet -b 20")
    found = workspace.get_sum_loss() / workspace.get_weighted_examples()
    workspace.finish()
    return found


def run_vw(kept: dict[str, Any]) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows")
        for key, seed, data in sets():
            if key in kept:
                continue
            deviation = data.X.std(axis=0)
            standard = (data.X - data.X.mean(axis=0)) / np.where(deviation > 0, deviation, 1)
            found = {}
            for kind, X in (("raw", data.X), ("standardised", standard)):
                given, unit = data, 1.0
                if kind == "standardised" and data.name in (*PRICES, *GUESSES):
                    unit = float(np.ptp(data.rewards))
                    given = data._replace(rewards=(data.rewards - data.rewards.max()) / unit)
                write_text(path, X, given)
                for setting in [DEFAULT, *SETTINGS]:
                    if PAIRS in setting and X.shape[1] > MOST_FOR_PAIRS:
                        continue
                    regret = unit * vw(path, given, setting, seed)
                    best = data.rewards.max(axis=1).mean()
                    found[f"{kind} {setting}"] = loss(data, best - regret)
            kept[key] = summary_of(found)
            yield key


def summary_of(runs: dict[str, float]) -> dict[str, Any]:
    """The default, and the best setting on features as they are and standardised."""
    made: dict[str, Any] = {"default": runs[f"raw {DEFAULT}"]}
    for kind in ("raw", "standardised"):
        own = {setting: value for setting, value in runs.items() if setting.startswith(kind)}
        best = min(own, key=own.__getitem__)
        made[kind], made[f"{kind} setting"] = own[best], best.removeprefix(f"{kind} ")
    return made


# Units and speed


def run_units(kept: dict[str, Any]) -> Iterator[str]:
    for key, seed, data in sets(SEEDS[:1]):
        if key in kept:
            continue
        rng = np.random.default_rng(seed)
        cut = data._replace(X=data.X[:1000], rewards=data.rewards[:1000])
        _, first = play(cut)
        columns = cut.X.shape[1]
        by_two = cut._replace(
            X=cut.X * 2.0 ** rng.integers(-30, 31, columns), rewards=cut.rewards * 2.0**20
        )
        others = cut._replace(
            X=cut.X * 10 ** rng.uniform(-6, 6, columns), rewards=cut.rewards * 0.37 + 12.5
        )
        kept[key] = {
            "powers of two": float(np.mean(np.array(play(by_two)[1]) == first)),
            "others": float(np.mean(np.array(play(others)[1]) == first)),
        }
        yield key


def run_speed(kept: dict[str, Any]) -> Iterator[str]:
    from unitless import Model, OnlineBandit
    from unitless.learners import Blend

    rng = np.random.default_rng(0)
    rows, actions = 3000, 10
    X = rng.normal(size=(rows, 20))
    rewards = rng.normal(size=(rows, actions)) + X[:, :actions]
    contexts = [{f"x{j}": float(value) for j, value in enumerate(x)} for x in X]

    def blend() -> None:
        model = Model("regression", Blend("squared"))
        for context, reward in zip(contexts, rewards[:, 0].tolist(), strict=True):
            model.learn_one(context, reward)

    def bandit() -> None:
        made = OnlineBandit(range(actions))
        for context, own in zip(contexts, rewards.tolist(), strict=True):
            decision = made.choose(context)
            made.learn(context, decision.action, own[decision.action], decision.probability)

    seconds: dict[str, list[float]] = {"blend": [], "bandit": []}
    for _ in range(5):
        for name, run in (("blend", blend), ("bandit", bandit)):
            started = time.process_time()
            run()
            seconds[name].append((time.process_time() - started) / rows)
    kept |= {name: 1e6 * min(found) for name, found in seconds.items()}
    kept["ratio"] = kept["bandit"] / kept["blend"]
    yield "speed"


LOGS, LOG_ROWS = 1000, 2000


def run_coverage(kept: dict[str, Any]) -> Iterator[str]:
    """Value a constant policy, and one that changes, by logs with very unequal probabilities."""
    from unitless.decisions.off_policy import sequence

    kinds = {"clicks": (0.0, 1.0), "prices": (-4e6, 9e6)}
    for kind, policy in product(kinds, ("constant", "changing")):
        low, high = kinds[kind]
        wrong, widths = 0, []
        for seed in range(LOGS):
            rng = np.random.default_rng(seed)
            x, t = rng.random(LOG_ROWS), np.arange(LOG_ROWS) / LOG_ROWS
            p = np.clip(rng.random(LOG_ROWS) ** 2, 0.01, 0.99)  # of the second action
            shown = rng.random(LOG_ROWS) < p
            means = 0.1 + 0.6 * x, 0.3 + 0.3 * t
            own = np.where(shown, means[1], means[0])
            draws = rng.random(LOG_ROWS) < own if kind == "clicks" else rng.beta(own, 1 - own)
            chosen = np.ones(LOG_ROWS) if policy == "constant" else t  # probability of the second
            weights = np.where(shown, chosen / p, (1 - chosen) / (1 - p))
            true = np.cumsum(chosen * means[1] + (1 - chosen) * means[0]) / np.arange(
                1, LOG_ROWS + 1
            )
            ends = sequence(weights, low + (high - low) * draws, bounds=(low, high))
            below, above = ((end - low) / (high - low) for end in ends)
            wrong += bool(((true < below) | (true > above)).any())
            widths.append(above[-1] - below[-1])
        kept[f"{kind}, {policy} policy"] = {"wrong": wrong / LOGS, "width": float(np.mean(widths))}
        yield f"{kind}, {policy} policy"


# Results


def table(results: dict[str, Any]) -> None:
    own = {key: found["bandit"] for key, found in results["unitless"].items()}
    everything = {key: found["all labels"] for key, found in results["unitless"].items()}
    rivals = results.get("vw", {})
    print(f"{'set':20} {'ours':>7} {'best':>7} {'raw':>7} {'default':>7} {'labels':>7}")
    ratios: dict[str, list[float]] = {"standardised": [], "default": [], "labels": []}
    won = 0
    for name in NAMES:
        keys = [key for key in own if key.startswith(f"{name}/") and key in rivals]
        if not keys:
            continue
        ours, labels = np.mean([own[key] for key in keys]), np.mean([everything[k] for k in keys])
        theirs = {
            kind: np.mean([rivals[key][kind] for key in keys])
            for kind in ("standardised", "raw", "default")
        }
        print(
            f"{name:20} {ours:7.4f} "
            + " ".join(f"{theirs[kind]:7.4f}" for kind in ("standardised", "raw", "default"))
            + f" {labels:7.4f}"
        )
        if name in (*PRICES, *GUESSES):
            continue
        won += ours <= theirs["standardised"]
        for kind in ("standardised", "default"):
            ratios[kind].append(ours / theirs[kind])
        if name in SEVERAL:
            ratios["labels"].append(ours / labels)
    if ratios["default"]:
        means = {kind: np.exp(np.mean(np.log(found))) for kind, found in ratios.items()}
        print(f"at most the best of {len(SETTINGS)} settings on {won} of {len(ratios['default'])}")
        print(
            f"geometric mean of ratios: {means['standardised']:.3f}, default {means['default']:.3f}"
        )
        print(f"over all labels, median of several classes: {np.median(ratios['labels']):.2f}")
    if "rules" in results:
        rules = [*next(iter(results["rules"].values()))]
        logs = {
            rule: np.mean([np.log(max(found[rule], 1e-3)) for found in results["rules"].values()])
            for rule in rules
        }
        for rule in sorted(rules, key=logs.__getitem__):
            print(f"rule {rule:10} geometric mean of losses {np.exp(logs[rule]):.4f}")
    for part in ("units", "speed", "coverage"):
        if part in results:
            print(part, results[part])


RUNS = {
    "unitless": run_unitless,
    "rules": run_rules,
    "vw": run_vw,
    "units": run_units,
    "speed": run_speed,
    "coverage": run_coverage,
}


def main(parts: list[str]) -> None:
    for part in parts:
        results = json.loads(PATH.read_text()) if PATH.exists() else {}
        if part == "table":
            table(results)
            continue
        results.setdefault("settings", {"rows": CAP, "vowpalwabbit": version("vowpalwabbit")})
        kept = results.setdefault(part, {})
        for key in RUNS[part](kept):
            print(part, key, kept.get(key, kept), flush=True)
            newest = json.loads(PATH.read_text()) if PATH.exists() else {}  # of other parts
            PATH.write_text(json.dumps(results | newest | {part: kept}, indent=1))


if __name__ == "__main__":
    main(sys.argv[1:] or ["table"])
