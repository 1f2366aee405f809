"""`unitless inspect`: the contents of a model file."""

from typing import Any

from unitless.cli.options import CommandOptions, takes


@takes("model", "sort", "top", "json", "no_color", top=20)
def inspect(options: CommandOptions) -> None:
    """Show what a model learned from, the largest effects, and its regret certificate.

    Effects are changes of the prediction: the typical one when a column has the value of another
    seen row, and the one between two values. Linear learners have coefficients, too.

    Example:

        unitless inspect houses.unitless --sort name --top 50
    """
    from unitless.blend.blend import Blend
    from unitless.cli.reading import load_model
    from unitless.cli.screen import console_of, number, score_meaning
    from unitless.cli.summary import StyledLine, certificate_lines, effect_lines, show
    from unitless.escaping import escaped, json_line
    from unitless.evaluation.certified import certified
    from unitless.model.effects import effects

    found = load_model(options.model)
    learner = found.learner
    members = learner.mixture_weights() if isinstance(learner, Blend) else {}
    shown = effects(found)
    if options.sort == "name":
        shown.sort(key=lambda row: row["column"])
    facts = _facts(options.model, found)
    certificate = certified(found.learner)
    shown = shown[: options.top]
    coefficients = _coefficients(found)
    if options.json:
        more = {"certificate": certificate, "blend": members or None, "effects": shown}
        more["coefficients"] = coefficients
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
    meaning = score_meaning(found)
    show(console, effect_lines(shown, meaning.replace("log-odds", "probability")))
    if coefficients:
        show(console, [StyledLine(f"\nCoefficients of {meaning}, per unit of a feature", "bold")])
    for name, value in list(coefficients.items())[: options.top]:
        numbers = value if isinstance(value, list) else [value]
        console.print(f"{' '.join(map(number, numbers)):>16}  {escaped(name)}")


def _facts(path: str, model: Any) -> dict[str, object]:
    """Return what the header of the file and the model say, without numbers of the learner."""
    from unitless import persistence
    from unitless.labels import text_of

    header = persistence.header(path)
    return {name: header[name] for name in ("kind", "format", "package")} | {
        "task": model.task,
        "learner": header["learner"]["name"],
        "parameters": header["learner"]["parameters"],
        "target": model.file.target,
        "labels": [text_of(label) for label in model.labels],
        "source": model.file.source,
        "rows": model.rows,
        "features": len(model.feature_names()),
        "memory": _memory(model.learner),
    }


def _memory(learner: Any) -> str:
    """Return how much memory the state takes and, if it grows with the rows, its limit.

    >>> from unitless.learners import Blend, Coordinate
    >>> _memory(Coordinate())
    '0.0 MB'
    >>> _memory(Blend(max_memory=64)).partition("; ")[2]
    'stored rows take at most 64 MB (max_memory)'
    """
    from unitless.state import remembered

    arrays, _ = remembered(learner)
    size = f"{sum(array.nbytes for array in arrays.values()) / 1e6:.1f} MB"
    limit = getattr(learner, "max_memory", None)
    grows = limit is not None and getattr(learner, "views", "all") == "all"
    return f"{size}; stored rows take at most {limit:g} MB (max_memory)" if grows else size


def _coefficients(model: Any) -> dict[str, object]:
    """Return the weight of each feature, the intercept first, if scores are linear in x."""
    if not getattr(model.learner, "linear", False):
        return {}
    intercept, features = model.learner.weights()
    names = model.feature_names(len(features))
    rows = zip(names, features.tolist(), strict=False)
    first = intercept.tolist() if hasattr(intercept, "tolist") else intercept
    return {"(intercept)": first, **dict(rows)}


def _text(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{k}={v}" for k, v in value.items())
    if isinstance(value, list):
        more = " ..." if len(value) > 20 else ""
        return ", ".join(map(str, value[:20])) + more
    return f"{value:,}" if isinstance(value, int) else str(value)
