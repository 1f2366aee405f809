"""`unitless learners`: the list of learners."""

from collections.abc import Iterable
from typing import Annotated

import typer

All = Annotated[
    bool, typer.Option("--all", metavar="", help="Also list the baselines for comparisons.")
]
Json = Annotated[bool, typer.Option("--json", metavar="", help="Print the list as JSON.")]
MEANING = {
    "unit": "scale-invariant",
    "affine": "affine-invariant",
    "linear": "linear-invariant",
    "none": "depends on units",
}


def learners(all: All = False, json: Json = False) -> None:
    """List the learners: name, invariance, theorem of the paper, and what each one is.

    The default is blend. Use another one with `evaluate --learner NAME`.

    Example:

        unitless learners --all
    """
    import json as json_module

    from unitless.learners import get, names

    found = []
    for name in names():
        kind = get(name)
        if all or ".baselines." not in kind.__module__:
            invariance = MEANING.get(kind.invariance, kind.invariance)
            first_paragraph = (kind.__doc__ or "").strip().partition("\n\n")[0]
            summary = " ".join(first_paragraph.split())
            entry = {"name": name, "invariance": invariance, "theorem": kind.theorem}
            found.append(entry | {"summary": summary})
    if json:
        print(json_module.dumps(found))
        return
    for entry in found:
        theorem = f", {entry['theorem']}" if entry["theorem"] else ""
        print(f"{entry['name']} ({entry['invariance']}{theorem})")
        print(f"    {entry['summary']}")
    if not all:
        print("\nThe default is blend. `unitless learners --all` also lists the baselines.")


def check_learner(name: str, others: Iterable[str] = ()) -> None:
    """Refuse the name of a learner that does not exist, with a suggestion."""
    from unitless.learners import names
    from unitless.suggestions import suggestion

    known = [*names(), *others]
    if name not in known:
        hint = suggestion(name, known) or "; `unitless learners --all` lists them"
        raise ValueError(f"there is no learner {name!r}{hint}")
