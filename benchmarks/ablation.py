"""Measure the value of each part of the Blend: remove it and compare.

    python benchmarks/ablation.py                 run, print, write results/ablation.json
    python benchmarks/ablation.py binary hinge    these recipes only; the others stay in the file
    python benchmarks/ablation.py --markdown      the page's tables, from the file alone
    python benchmarks/ablation.py --write         the same, into docs/explanation/measurements.md

Sets, order and scores are those of `quality`, with at most ROWS rows. A change is another list of
members: without one, without those that share a view, a kind or a role, or with one whose constant
is a third or three times its value; the whole Blend is run with each list. The cost of a change is
the geometric mean over the sets of the score with it over the score without it, less 1.

Changes of the mixing itself, which is compiled, can no longer be measured here: their stored rows
are kept, each beside the scores of the whole Blend of its time.
"""

import argparse
import json
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from data import SHARED, Data, sets
from quality import in_markdown, measured, write_between

from unitless.blend import blend
from unitless.blend.experts import BY_VIEWS, Expert
from unitless.learners import Blend
from unitless.losses import get as get_loss
from unitless.rows import as_rows

RESULTS = Path(__file__).parent / "results" / "ablation.json"
ROWS = 5_000
LITTLE = 0.003  # a part that is worth less than this everywhere should go
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


# Changes


class Change(NamedTuple):
    """Another list of members."""

    group: str
    name: str
    members: list[Expert]


def changes(recipe: Recipe) -> Iterator[Change]:
    """All that is tried; the first changes nothing."""
    members = members_of(recipe)
    yield Change("", "nothing", members)
    for k, member in enumerate(members):
        yield Change("member", member.name, without(members, [k]))
    for name, gone in together(members).items():
        if 1 < len(gone) < len(members):
            yield Change("group", name, without(members, gone))
    for k, member in enumerate(members):
        for other in with_other_constants(member):
            yield Change("constant", other.name, [*members[:k], other, *members[k + 1 :]])


def members_of(recipe: Recipe) -> list[Expert]:
    """The members of a recipe's Blend."""
    return BY_VIEWS[get_loss(recipe.loss).code][recipe.views]


def without(members: list[Expert], gone: list[int]) -> list[Expert]:
    """The members that stay."""
    return [member for k, member in enumerate(members) if k not in gone]


def together(members: list[Expert]) -> dict[str, list[int]]:
    """Members that share a view, a kind or a role."""
    found: dict[str, list[int]] = {}
    for k, member in enumerate(members):
        found.setdefault(f"view: {member.view}", []).append(k)
        found.setdefault(f"kind: {member.kind.__name__}", []).append(k)
        if member.role != "main":
            found.setdefault(f"role: {member.role}", []).append(k)
    return found


def with_other_constants(member: Expert) -> Iterator[Expert]:
    """The member with a smaller and with a larger constant."""
    for key in CONSTANTS:
        if key in member.parameters:
            for factor in FACTORS:
                value = member.parameters[key] * factor
                name = f"{member.name}: {key} {value:.2g}"
                yield member._replace(name=name, parameters={**member.parameters, key: value})


# Costs


def tried(recipe: Recipe, data: Data, members: list[Expert]) -> dict[str, float]:
    """The scores of a set with these members; nan if all of them leave."""
    loss = get_loss(recipe.loss)
    classes = int(data.y.max()) + 1 if recipe.loss == "softmax" else 0
    names = [member.name for member in members]
    forecaster = blend.FORECASTER if blend.FORECASTER in names else names[0]
    with (
        patch.dict(BY_VIEWS[loss.code], trial=members),
        patch.object(blend, "FORECASTER", forecaster),  # reports use it, predictions do not
        np.errstate(divide="ignore", invalid="ignore"),  # if all leave
    ):
        learner = Blend(recipe.loss, views="trial", classes=classes)
        p = learner.learn(as_rows(data.X, data.y))
    if all(expert is None for expert in learner.experts):
        return {"score": np.nan}
    found = {"score": measured(recipe.loss, data.y, p)}
    return found | ({"log loss": float(loss.value(data.y, p).mean())} if classes else {})


def run(recipe: Recipe, before: dict[str, Any]) -> dict[str, Any]:
    """The scores of all changes, set by set; `before` is what is stored of the recipe."""
    every, found = list(changes(recipe)), []
    for name, data in streams(recipe):
        started = time.perf_counter()
        found.append({"set": name, "scores": [tried(recipe, data, one.members) for one in every]})
        print(f"{recipe.name:18} {name:20} {time.perf_counter() - started:.0f} s", flush=True)
    parts = [described(recipe, one) for one in every]
    for k, part in enumerate(parts):
        for key in found[0]["scores"][0]:
            part[key] = {one["set"]: one["scores"][k].get(key, np.nan) for one in found}
    when = {"date": date.today().isoformat(), "rows": f"at most {ROWS}"}
    return {"name": recipe.name, **when, "parts": [*parts, *of_the_mixing(before)]}


def of_the_mixing(before: dict[str, Any]) -> list[dict[str, Any]]:
    """The stored changes of the mixing, each with the scores that it is to be compared with."""
    whole, *parts = before.get("parts", [{}])
    beside = {key: whole[key] for key in ("score", "log loss") if key in whole}
    return [
        {"beside": beside, **part}
        for part in parts
        if part["group"] == "mixing" or part["name"].startswith(("stacker", "clip"))
    ]


def described(recipe: Recipe, change: Change) -> dict[str, str]:
    """What a table says of a change; of a member, which learner it is."""
    said = {"group": change.group, "name": change.name}
    if change.group == "member":
        member = next(one for one in members_of(recipe) if one.name == change.name)
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
    """The change's scores beside those of the whole blend, or those that are stored with it."""
    usual = part.get("beside", whole)[key]
    ratios = {name: part[key][name] / usual[name] for name in usual}
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
    parser.add_argument("recipes", nargs="*", help="only these")
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
        found[recipe.name] = made = run(recipe, found.get(recipe.name, {}))
        print(members_table(made), constants(made), sep="\n\n")
        print(
            f"{recipe.name}: worth less than {LITTLE:.1%}: {idle(made) or 'no member'}", flush=True
        )
        if (SHARED / "data").exists():
            recipes = [found[each.name] for each in RECIPES if each.name in found]
            RESULTS.write_text(json.dumps({"recipes": recipes}, indent=1) + "\n")


if __name__ == "__main__":
    main()
