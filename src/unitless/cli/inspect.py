"""`unitless inspect`: what is in a model file."""

from typing import Annotated, Literal

import typer

from unitless.cli import options as o

Sort = Annotated[
    Literal["deviation", "unit", "name"],
    typer.Option(
        help="By what one deviation of a feature changes, by what one unit changes, or by name.",
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
    """Show what a model learned from, its weights by name and unit, and its certificate.

    [dim]Example:[/dim] unitless inspect houses.unitless --sort unit --top 50
    """
    from unitless import persistence
    from unitless.cli.loading import stream_model
    from unitless.cli.screen import console_of
    from unitless.cli.summary import show_certificate, show_weights
    from unitless.evaluation.explanations import certified, weights_by_feature, what_scores_are
    from unitless.model import text_of

    found, header = stream_model(model), persistence.header(model)
    weights = weights_by_feature(found)
    if sort == "unit":
        weights.sort(key=lambda row: -abs(row["per_unit"] or 0))
    elif sort == "name":
        weights.sort(key=lambda row: row["feature"])
    facts = {
        "kind": header["kind"], "format": header["format"], "package": header["package"],
        "task": found.task, "learner": header["learner"]["name"],
        "parameters": header["learner"]["parameters"], "target": found.target,
        "labels": [text_of(label) for label in found.labels], "source": found.source,
        "rows": found.rows, "features": len(found.feature_names()),
        "certificate": certified(found.learner), "blend": header["blend"], "weights": weights[:top],
    }  # fmt: skip
    if json:
        import json as dump

        print(dump.dumps(facts, ensure_ascii=False))
        return
    console = console_of(no_color)
    for name, value in facts.items():
        if name not in ("certificate", "blend", "weights") and value not in (None, "", []):
            console.print(f"{name:<12}{_shown(value)}")
    for member, carried in sorted((header["blend"] or {}).items(), key=lambda each: -each[1]):
        if carried >= 0.001:
            console.print(f"{'member':<12}{member} {carried:.1%}")
    show_certificate(console, facts["certificate"])
    scores = what_scores_are(facts | {"loss": found.learner.loss.name})
    show_weights(console, weights[:top], scores)


def _shown(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k}={v}" for k, v in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value[:20])) + (" ..." if len(value) > 20 else "")
    return f"{value:,}" if isinstance(value, int) else str(value)
