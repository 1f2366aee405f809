"""`unitless inspect`: the contents of a model file."""

from unitless.cli.options import CommandOptions, takes


@takes("model sort top json no_color", top=20)
def inspect(options: CommandOptions) -> None:
    """Show what a model learned from, its largest weights, and its regret certificate.

    Weights are shown per unit of a feature, and per standard deviation.

    Example:

        unitless inspect houses.unitless --sort unit --top 50
    """
    from unitless import persistence
    from unitless.blend.blend import Blend
    from unitless.cli.reading import load_model
    from unitless.cli.screen import console_of, score_meaning
    from unitless.cli.summary import certificate_lines, show, weight_lines
    from unitless.escaping import escaped, json_line
    from unitless.evaluation.certified import certified
    from unitless.labels import text_of
    from unitless.model.explanations import weights_by_feature

    found = load_model(options.model)
    header = persistence.header(options.model)
    learner = found.learner
    members = learner.mixture_weights() if isinstance(learner, Blend) else {}
    weights = weights_by_feature(found)
    if options.sort == "unit":
        weights.sort(key=lambda row: -abs(row["per_unit"] or 0))
    elif options.sort == "name":
        weights.sort(key=lambda row: row["feature"])
    facts = {name: header[name] for name in ("kind", "format", "package")}
    facts |= {
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
    weights = weights[: options.top]
    if options.json:
        more = {"certificate": certificate, "blend": members or None, "weights": weights}
        print(json_line(facts | more))
        return
    console = console_of(options.no_color)
    for name, value in facts.items():
        if value not in (None, "", []):
            console.print(f"{name:<12}{escaped(_text(value))}")
    for member, share in sorted(members.items(), key=lambda each: -each[1]):
        if share >= 0.001:
            console.print(f"{'member':<12}{member} {share:.1%}")
    show(console, certificate_lines(certificate))
    show(console, weight_lines(weights, score_meaning(found)))


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k}={v}" for k, v in value.items())
    if isinstance(value, list):
        more = " ..." if len(value) > 20 else ""
        return ", ".join(map(str, value[:20])) + more
    return f"{value:,}" if isinstance(value, int) else str(value)
