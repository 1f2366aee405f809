"""`unitless learners`: the list of learners."""

from typing import Annotated

import typer

from unitless.cli import options as o

All = Annotated[bool, typer.Option("--all", help="Also list the baselines for comparisons.")]
MEANING = {
    "unit": "scale-invariant",
    "affine": "affine-invariant",
    "linear": "linear-invariant",
    "none": "depends on units",
}


def learners(all: All = False, json: o.Json = False) -> None:
    """List the learners: name, invariance, and what each one is.

    [dim]Example:[/dim] unitless learners --all
    """
    import json as json_module

    from unitless.learners import REGISTRY, get

    found = []
    for name in REGISTRY:
        kind = get(name)
        summary = (kind.__doc__ or "").strip().split("\n\n")[0]
        entry = {
            "name": name,
            "invariance": MEANING.get(kind.invariance, kind.invariance),
            "summary": " ".join(summary.split()),
        }
        if all or ".baselines." not in kind.__module__:
            found.append(entry)
    if json:
        print(json_module.dumps(found))
        return
    width = max(len(entry["name"]) for entry in found)
    for entry in found:
        print(f"{entry['name']:<{width}}  {entry['invariance']:<17} {entry['summary']}")
    if not all:
        print("\nThe default is blend. `unitless learners --all` also lists the baselines.")


def check_learner(name: str) -> None:
    """Refuse the name of a learner that does not exist, with a suggestion."""
    from unitless.learners import REGISTRY
    from unitless.suggestions import suggestion

    if name not in REGISTRY:
        hint = suggestion(name, REGISTRY) or "; `unitless learners --all` lists them"
        raise ValueError(f"there is no learner {name!r}{hint}")
