"""`unitless inspect`: the contents of a model file."""

from typing import Annotated, Literal

import typer

from unitless.cli import options as o

Sort = Annotated[
    Literal["deviation", "unit", "name"],
    typer.Option(
        help="Sort by the effect of one standard deviation of a feature, by the effect of one "
        "unit, or by name.",
        rich_help_panel=o.OUTPUT,
    ),
]


def inspect(
    model: o.Model,
    sort: Sort = "deviation",
    top: o.Top = 20,
    json: o.Json = False,
    no_color: o.NoColor = False,
) -> None:
    """Show what a model learned from, its largest weights, and its regret certificate.

    Weights are shown per unit of a feature, and per standard deviation.

    Example:

        unitless inspect houses.unitless --sort unit --top 50
    """
    import json as json_module

    from unitless import persistence
    from unitless.cli.reading import load_model
    from unitless.cli.screen import console_of, show_certificate, show_weights
    from unitless.evaluation.explanations import certified, weights_by_feature, what_scores_are
    from unitless.labels import text_of

    found = load_model(model)
    header = persistence.header(model)
    weights = weights_by_feature(found)
    if sort == "unit":
        weights.sort(key=lambda row: -abs(row["per_unit"] or 0))
    elif sort == "name":
        weights.sort(key=lambda row: row["feature"])
    facts = {
        "kind": header["kind"],
        "format": header["format"],
        "package": header["package"],
        "task": found.task,
        "learner": header["learner"]["name"],
        "parameters": header["learner"]["parameters"],
        "target": found.target,
        "labels": [text_of(label) for label in found.labels],
        "source": found.source,
        "rows": found.rows,
        "features": len(found.feature_names()),
    }
    certificate = certified(found.learner)
    if json:
        more = {"certificate": certificate, "blend": header["blend"], "weights": weights[:top]}
        print(json_module.dumps(facts | more, ensure_ascii=False))
        return
    console = console_of(no_color)
    for name, value in facts.items():
        if value not in (None, "", []):
            console.print(f"{name:<12}{_text(value)}")
    members: dict[str, float] = header["blend"] or {}
    for member, share in sorted(members.items(), key=lambda each: -each[1]):
        if share >= 0.001:
            console.print(f"{'member':<12}{member} {share:.1%}")
    show_certificate(console, certificate)
    scores = what_scores_are(facts | {"loss": found.learner.loss.name})
    show_weights(console, weights[:top], scores)


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k}={v}" for k, v in value.items())
    if isinstance(value, list):
        more = " ..." if len(value) > 20 else ""
        return ", ".join(map(str, value[:20])) + more
    return f"{value:,}" if isinstance(value, int) else str(value)
