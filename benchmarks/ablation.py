"""Measure the value of each part of the Blend: remove it and compare.

    python benchmarks/ablation.py                 run, print, write results/ablation.json
    python benchmarks/ablation.py binary hinge    these recipes only; the others stay in the file
    python benchmarks/ablation.py --markdown      the page's tables, from the file alone
    python benchmarks/ablation.py --write         the same, into docs/explanation/measurements.md

Sets, order and scores are those of `quality`, with at most ROWS rows. Members do not influence each
other, so each set's table of scores is made once, with every member's constant also at a third and
at three times its value; then the mixing alone is repeated, without a member, a view or a step, or
with another constant. The cost of a change is the geometric mean over the sets of the score with it
over the score without it, less 1.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import date
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from data import SHARED, Data, sets
from numba import njit
from quality import in_markdown, measured, write_between

from unitless.blend import logistic, softmax, squared
from unitless.blend.blend import MIXTURES
from unitless.blend.ensemble import Ensemble
from unitless.blend.experts import BY_VIEWS, Expert
from unitless.blend.hedge import STACKERS, HedgeMixture
from unitless.blend.mixture import Mixture
from unitless.learners import Blend
from unitless.learners.base import EMPTY
from unitless.losses import get as get_loss
from unitless.rows import as_rows

RESULTS = Path(__file__).parent / "results" / "ablation.json"
ROWS = 5_000
LITTLE = 0.003  # a part that is worth less than this everywhere should go
NOTHING = 1e-300  # a prior that no member recovers from
CONSTANTS = ("strength", "rate", "a")
FACTORS = (1 / 3, 3)


class Recipe(NamedTuple):
    """Sets of one task, learned by one table of experts."""

    name: str
    task: str
    loss: str
    views: str = "all"


RECIPES = [
    Recipe("binary", "binary", "logistic"),
    Recipe("binary, linear", "binary", "logistic", "linear"),
    Recipe("regression", "regression", "squared"),
    Recipe("regression, linear", "regression", "squared", "linear"),
    Recipe("multiclass", "multiclass", "softmax"),
    Recipe("multiclass, linear", "multiclass", "softmax", "linear"),
    Recipe("hinge", "binary", "hinge"),
    Recipe("absolute", "regression", "absolute"),
    Recipe("quantile 0.9", "regression", "quantile(0.9)"),
]
NATURAL = "elec2, natural order"


# Members' scores, once a set


class Stretch(NamedTuple):
    """Rows between two changes of the ensemble."""

    alive: np.ndarray
    scores: np.ndarray
    targets: np.ndarray


class Recorder:
    """Takes the place of the mixture of a Blend and records its inputs."""

    def __init__(self, ensemble: Ensemble) -> None:
        self.ensemble = ensemble
        self.stretches: list[Stretch] = []

    def drop(self, alive: np.ndarray) -> None:
        """Experts have left, as the ensemble knows."""

    def learn(self, scores: Any, targets: Any, weights: Any, out: Any) -> Any:
        """Keep the members' scores."""
        self.stretches.append(Stretch(self.ensemble.alive, scores, targets))
        out[:] = 0
        return out


class Recording(NamedTuple):
    """A set as its mixture sees it."""

    data: Data
    stretches: list[Stretch]
    decode: Callable[[Any], Any]


def record(recipe: Recipe, data: Data, members: list[Expert]) -> Recording:
    """Run the members."""
    several = {"classes": int(data.y.max()) + 1} if recipe.loss == "softmax" else {}
    blend = Blend(recipe.loss, views=recipe.views, **several)
    blend.ensemble = Ensemble(members, loss=blend.loss, intercept=True, **several)
    blend.mixture = recorder = Recorder(blend.ensemble)
    blend.learn(as_rows(data.X, data.y))
    counted = blend.target_scaler
    return Recording(data, recorder.stretches, counted.decode if counted else lambda p: p)


def enlarged(members: list[Expert]) -> list[Expert]:
    """The members, and each once more with a smaller and with a larger constant."""
    more = []
    for member in members:
        for key in set(CONSTANTS) & set(member.parameters):
            for factor in FACTORS:
                value = member.parameters[key] * factor
                name = f"{member.name}: {key} {value:.2g}"
                parameters = {**member.parameters, key: value}
                more.append(member._replace(name=name, parameters=parameters))
    return members + more


# Changes


class Change(NamedTuple):
    """Other columns of the table, another mixer, or other constants in its module."""

    group: str
    name: str
    columns: list[int]
    mixer: Any
    patches: tuple[tuple[ModuleType, str, float], ...] = ()


def changes(recipe: Recipe) -> Iterator[Change]:
    """All that is tried; the first changes nothing."""
    mixer, members = kind(recipe)
    every = list(range(len(members)))
    yield Change("", "nothing", every, mixer)
    for k, member in enumerate(members):
        yield Change("member", member.name, [j for j in every if j != k], mixer)
    for name, gone in together(members).items():
        if 1 < len(gone) < len(every):
            yield Change("group", name, [j for j in every if j not in gone], mixer)
    more = enlarged(members)
    for k in range(len(members), len(more)):
        place = names(members).index(more[k].name.rpartition(":")[0])
        yield Change("constant", more[k].name, [k if j == place else j for j in every], mixer)
    yield from mixings(recipe, mixer, every)


def kind(recipe: Recipe) -> tuple[Any, list[Expert]]:
    """(mixer, members) of a recipe."""
    code = get_loss(recipe.loss).code
    return MIXTURES[code], BY_VIEWS[code][recipe.views]


def names(members: list[Expert]) -> list[str]:
    """Their names."""
    return [member.name for member in members]


def together(members: list[Expert]) -> dict[str, list[int]]:
    """Members that share a view, a kind or a role."""
    found: dict[str, list[int]] = {}
    for k, member in enumerate(members):
        found.setdefault(f"view: {member.view}", []).append(k)
        found.setdefault(f"kind: {member.kind.__name__}", []).append(k)
        if member.role != "main":
            found.setdefault(f"role: {member.role}", []).append(k)
    return found


def mixings(recipe: Recipe, mixer: Any, every: list[int]) -> Iterator[Change]:
    """Changes of the mixing."""
    if mixer is HedgeMixture:
        for name, silent in silences(len(every)).items():
            yield Change("mixing", name, every, silenced(silent))
        return
    yield Change("mixing", "the stacker", every, with_share(mixer, 0.0))
    yield Change("mixing", "the mixture (stacker alone)", every, alone(mixer))
    for share in (0.5, 0.95):
        yield Change("constant", f"stacker's share {share}", every, with_share(mixer, share))
    if recipe.loss == "squared":
        for strength in (squared.STRENGTH * factor for factor in FACTORS):
            patches = ((squared, "STRENGTH", strength),)
            yield Change("constant", f"stacker: strength {strength:.2g}", every, mixer, patches)
        return
    for factor in FACTORS:
        name = f"stacker: prior precision {factor:.2g}"
        yield Change("constant", name, every, with_prior(mixer, factor))
    module = logistic if recipe.loss == "logistic" else softmax
    for clip in (module.CLIP / 2, module.CLIP * 2):
        yield Change("constant", f"clip {clip:g}", every, mixer, ((module, "CLIP", clip),))
    plain = ((module, "moderated", unmoderated),)
    yield Change("mixing", "the stacker's moderation", every, mixer, plain)


@njit
def unmoderated(z, s):
    """The score as it is."""
    return z


def with_share(mixer: type[Mixture], share: float) -> type[Mixture]:
    """A mixture that starts with so much on the stacker."""
    return type("Shared", (mixer,), {"stacker_share": share})


def with_prior(mixer: type[Mixture], factor: float) -> type[Mixture]:
    """A stacker whose prior is so much stronger."""

    def prepare(self: Mixture) -> None:
        mixer._prepare(self)
        self.state.D[:] /= factor

    return type("Prior", (mixer,), {"_prepare": prepare})


def alone(mixer: type[Mixture]) -> type[Mixture]:
    """A mixture in which the stacker has all the weight."""

    def set_prior(self: Mixture, alive: np.ndarray) -> None:
        mixer._set_prior(self, alive)
        self.state.W0[: len(self.members)][alive] = NOTHING
        self.state.W0[len(self.members)] = 1.0

    return type("Alone", (mixer,), {"_set_prior": set_prior})


def silences(K: int) -> dict[str, list[int]]:
    """Who is silent in the last step of a hedge, by name."""
    stackers = {name: [K + k] for k, name in enumerate(STACKERS)}
    both = [K + k for k in range(len(STACKERS))]
    return {**stackers, "both stackers": both, "the mixture (stackers alone)": list(range(K))}


def silenced(silent: list[int]) -> type[HedgeMixture]:
    """A hedge whose last step does not hear some of the members and stackers."""

    class Silenced(HedgeMixture):
        def drop(self, alive: np.ndarray) -> None:
            self.final.alive[: len(alive)] = self.base.alive  # claims are asked of all who leave
            super().drop(alive)
            self.final.alive[silent] = 0

    return Silenced


@cache
def recompiled(module: ModuleType, name: str, value: float) -> Any:
    """A mixing kernel of its own, which is to be called while the constant has that value."""
    return njit(nogil=True, error_model="numpy")(module.mix.py_func)


# Costs


def replay(recipe: Recipe, made: Recording, change: Change) -> dict[str, float]:
    """The scores of a set with that change; nan if no member is left."""
    if not all(stretch.alive[change.columns].any() for stretch in made.stretches):
        return {"score": np.nan}
    members = enlarged(kind(recipe)[1])
    loss = get_loss(recipe.loss)
    with ExitStack() as stack:
        for module, name, value in change.patches:
            stack.enter_context(patch.object(module, name, value))
            stack.enter_context(
                patch.object(change.mixer, "kernel", staticmethod(recompiled(module, name, value)))
            )
        mixer = change.mixer([members[k] for k in change.columns], loss)
        p = np.concatenate([told(mixer, stretch, change.columns) for stretch in made.stretches])
    p, y = made.decode(p), made.data.y
    if loss.targets == "reals":
        p[0] = 0.0  # made before any target was known
    found = {"score": measured(recipe.loss, y, p)}
    return found | ({"log loss": float(loss.value(y, p).mean())} if p.ndim > 1 else {})


def told(mixer: Any, stretch: Stretch, columns: list[int]) -> np.ndarray:
    """What a mixer makes of a stretch."""
    mixer.drop(stretch.alive[columns])
    scores = np.ascontiguousarray(stretch.scores[:, columns])
    out = np.empty((len(scores), *scores.shape[2:]))
    return mixer.learn(scores, stretch.targets, EMPTY, out)


def run(recipe: Recipe) -> dict[str, Any]:
    """The scores of all changes, set by set."""
    members, found = enlarged(kind(recipe)[1]), []
    tried = list(changes(recipe))
    for name, data in streams(recipe):
        started = time.perf_counter()
        made = record(recipe, data, members)
        between = time.perf_counter()
        found.append({"set": name, "scores": [replay(recipe, made, one) for one in tried]})
        spent = f"members {between - started:.0f} s, mixing {time.perf_counter() - between:.0f} s"
        print(f"{recipe.name:18} {name:20} {spent}", flush=True)
    parts = [described(recipe, one) for one in tried]
    for k, part in enumerate(parts):
        for key in found[0]["scores"][0]:
            part[key] = {one["set"]: one["scores"][k].get(key, np.nan) for one in found}
    when = {"date": date.today().isoformat(), "rows": f"at most {ROWS}"}
    return {"name": recipe.name, **when, "parts": parts}


def described(recipe: Recipe, change: Change) -> dict[str, str]:
    """What a table says of a change; of a member, which learner it is."""
    said = {"group": change.group, "name": change.name}
    if change.group == "member":
        member = next(one for one in kind(recipe)[1] if one.name == change.name)
        given = ", ".join(f"{key}={value}" for key, value in member.parameters.items())
        limits = [("d <= 256", member.small), ("dense", member.dense)]
        said |= {"learner": f"{member.kind.__name__}({given})", "view": member.view}
        said |= {"while": ", ".join(name for name, holds in limits if holds) or "always"}
    return said


def streams(recipe: Recipe) -> Iterator[tuple[str, Data]]:
    """The recipe's sets, and elec2 as it came where labels drift."""
    for name, X, y in sets(recipe.task):
        yield name, Data(name, X[:ROWS], y[:ROWS])
    if recipe.loss == "logistic":
        for name, X, y in sets(recipe.task, "elec2"):
            yield NATURAL, Data(name, X[: 4 * ROWS], y[: 4 * ROWS])


class Cost(NamedTuple):
    """What a change costs, as ratios less 1."""

    mean: float
    worst: float
    where: str
    natural: float


def cost(part: dict[str, Any], whole: dict[str, Any], key: str = "score") -> Cost:
    """The change's scores beside those of the whole blend."""
    ratios = {name: part[key][name] / whole[key][name] for name in whole[key]}
    natural = ratios.pop(NATURAL, np.nan)
    values = np.array([np.inf if np.isnan(r) else r for r in ratios.values()])
    where = list(ratios)[int(np.argmax(values))]
    mean = np.exp(np.mean(np.log(values)))
    return Cost(float(mean - 1), float(values.max() - 1), where, natural - 1)


def idle(recipe: dict[str, Any]) -> list[str]:
    """Members whose removal costs LITTLE nowhere."""
    whole, *parts = recipe["parts"]
    found = []
    for part in (part for part in parts if part["group"] == "member"):
        made = cost(part, whole)
        if made.mean < LITTLE and not made.natural >= LITTLE:
            found.append(part["name"])
    return found


# Tables


def percent(ratio: float) -> str:
    """A ratio less 1 in percent."""
    if np.isnan(ratio):
        return ""
    return f"{100 * ratio:+.1f} %" if np.isfinite(ratio) else "no member left"


def of_group(recipe: dict[str, Any], *groups: str) -> list[tuple[dict[str, Any], Cost]]:
    """The changes of these groups with their costs, dearest first."""
    whole, *parts = recipe["parts"]
    found = [(part, cost(part, whole)) for part in parts if part["group"] in groups]
    return sorted(found, key=lambda pair: -pair[1].mean)


def members_table(recipe: dict[str, Any]) -> str:
    """The members of the ensemble, and the value of each."""
    whole = recipe["parts"][0]
    extra = [NATURAL] if NATURAL in whole["score"] else []
    extra += ["log loss"] if "log loss" in whole else []
    head = ["member", "learner", "view", "while", "without it", "most", *extra]
    rows = []
    for part, made in of_group(recipe, "member"):
        row = [part[key] for key in ("name", "learner", "view", "while")]
        row += [percent(made.mean), f"{made.where} {percent(made.worst)}"]
        if NATURAL in whole["score"]:
            row.append(percent(made.natural))
        if "log loss" in whole:
            row.append(percent(cost(part, whole, "log loss").mean))
        rows.append(row)
    return in_markdown(head, rows)


def steps_table(recipes: list[dict[str, Any]]) -> str:
    """What views, kinds and steps are worth, a column a recipe."""
    found: dict[str, dict[str, str]] = {}
    for recipe in recipes:
        for part, made in of_group(recipe, "mixing", "group"):
            found.setdefault(part["name"], {})[recipe["name"]] = percent(made.mean)
    columns = [recipe["name"] for recipe in recipes]
    rows = [[name, *(costs.get(column, "") for column in columns)] for name, costs in found.items()]
    return in_markdown(["without", *columns], rows)


def constants_table(recipes: list[dict[str, Any]]) -> str:
    """How much the other constants cost at most, and gain at most."""
    rows = []
    for recipe in recipes:
        found = of_group(recipe, "constant")
        ends = [f"{part['name']}, {percent(made.mean)}" for part, made in (found[0], found[-1])]
        rows.append([recipe["name"], str(len(found)), *ends])
    return in_markdown(["loss", "tried", "worst", "best"], rows)


def markdown(kept: dict[str, Any]) -> str:
    """All tables for the page."""
    recipes = kept["recipes"]
    parts = []
    for recipe in recipes:
        note = f"Measured on {recipe['date']}, {recipe['rows']} rows per set."
        parts += [f"### Members: {recipe['name']}", note, members_table(recipe)]
    parts += ["### Views, kinds and steps", steps_table(recipes)]
    parts += ["### Constants at a third and at three times their value", constants_table(recipes)]
    return "\n\n".join(parts)


def constants(recipe: dict[str, Any]) -> str:
    """Every constant that was tried."""
    lines = [
        f"  {percent(made.mean):>9}  {part['name']}" for part, made in of_group(recipe, "constant")
    ]
    return "\n".join([f"{recipe['name']}:", *lines])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("recipes", nargs="*", help="only these; nothing is written")
    parser.add_argument("--markdown", action="store_true", help="print the kept tables")
    parser.add_argument("--write", action="store_true", help="put the kept tables into the page")
    options = parser.parse_args()
    if options.markdown:
        print(markdown(json.loads(RESULTS.read_text())))
    elif options.write:
        write_between("ablation", markdown(json.loads(RESULTS.read_text())))
    else:
        measure(options.recipes)


def measure(chosen: list[str]) -> None:
    """Run, print, and keep."""
    stored = json.loads(RESULTS.read_text())["recipes"] if RESULTS.exists() else []
    found = {recipe["name"]: recipe for recipe in stored}
    for recipe in RECIPES:
        if chosen and recipe.name not in chosen:
            continue
        found[recipe.name] = made = run(recipe)
        print(members_table(made), constants(made), sep="\n\n")
        print(
            f"{recipe.name}: worth less than {LITTLE:.1%}: {idle(made) or 'no member'}", flush=True
        )
        if (SHARED / "data").exists():
            recipes = [found[each.name] for each in RECIPES if each.name in found]
            RESULTS.write_text(json.dumps({"recipes": recipes}, indent=1) + "\n")


if __name__ == "__main__":
    main()
