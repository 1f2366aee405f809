"""What is printed before and after a run."""

from typing import TYPE_CHECKING, Any

from unitless.cli.screen import counted, number, plain

if TYPE_CHECKING:
    from rich.console import Console

    from unitless.model import Model


def show_start(console: "Console", model: "Model", frame: Any = None) -> None:
    """Show what was decided: task, classes, learner, loss, and the types of columns."""
    what: str = model.task
    if model.task == "binary":
        what += f" ({' or '.join(plain(label, 20) for label in model.labels)})"
    elif model.task == "multiclass":
        what += f" ({len(model.labels)} classes so far)"
    target = f" of {model.target!r}" if model.target else ""
    console.print(
        f"task: {what}{target}; learner: {model.learner.name}; loss: {model.learner.loss.name}"
    )
    if frame is not None:
        console.print(f"columns: {_columns(model.features(frame))}")


def _columns(frame: Any) -> str:
    """Return how many columns are numbers and which are categories."""
    words = [name for name, dtype in frame.schema.items() if str(dtype) == "String"]
    made = f"{len(frame.columns) - len(words)} numeric"
    if not words:
        return made
    listed = ", ".join(plain(name, 20) for name in words[:NAMED])
    more = f" and {len(words) - NAMED} more" if len(words) > NAMED else ""
    return f"{made}, {len(words)} categorical ({listed}{more})"


NAMED = 5
"""Number of columns whose names are shown."""


def show_summary(console: "Console", results: dict[str, Any], top: int) -> None:
    """Show the results of a run."""
    from unitless.evaluation import LABELS
    from unitless.evaluation.explanations import what_scores_are

    console.print()
    for name, value in _facts(results):
        console.print(f"{name:<32}{value}")
    for name, value in results["metrics"].items():
        console.print(f"{LABELS[name]:<32}{number(value)}")
    if results["baseline"] is not None:
        console.print(f"{'loss of the best constant':<32}{number(results['baseline']['loss'])}")
    for k, held in enumerate(results["holdouts"]):
        console.print(f"{f'loss of held-out rows, pass {k + 1}':<32}{number(held)}")
    show_certificate(console, results["certificate"])
    show_weights(console, results["weights"][:top], what_scores_are(results))


def _facts(results: dict[str, Any]) -> list[tuple[str, str]]:
    seconds = results.get("seconds") or 0
    facts = [("rows", f"{results['rows']:,} in {seconds:.1f} s")]
    for key, what, why in (
        ("unlabelled", "row", "without a label (predicted, not learned)"),
        ("held_out", "row", "held out"),
        ("skipped", "invalid line", "skipped"),
        ("coerced", "cell", "that did not fit their column, treated as missing"),
    ):
        if results[key]:
            facts.append(("", f"{counted(results[key], what)} {why}"))
    return [*facts, ("features", f"{results['features']:,}")]


def show_certificate(console: "Console", certificate: dict[str, Any] | None) -> None:
    """Show the regret certificate in sentences."""
    if certificate is None:
        return
    console.print("\nGuaranteed for this run, without assumptions (total loss)", style="bold")
    staying = [m for m in certificate["members"].items() if m[1]["rows"] == certificate["rows"]]
    for name, kept in sorted(staying, key=lambda each: each[1]["loss"])[:3]:
        console.print(
            f"  at most that of its member {name} plus {kept['overhead']:.4g}: "
            f"{certificate['loss']:.5g} <= {kept['loss']:.5g} + {kept['overhead']:.4g}"
        )
    for against, what in AGAINST.items():
        claims = [c for c in certificate["claims"] if c["against"] == against]
        if claims:
            console.print(f"  {_claimed(min(claims, key=lambda c: c['certified']), what)}")


AGAINST = {"u = 0": "weights of 0", "the best constant": "the best constant"}


def _claimed(claim: dict[str, Any], what: str) -> str:
    bound, promised = claim["certified"], claim["sharp"]
    ahead = f"at most {bound:.4g} more" if bound >= 0 else f"at least {-bound:.4g} less"
    if claim["promised"] is None:
        return f"{ahead} than {what}"
    return f"{ahead} than {what} (bound of {claim['theorem']}: {promised:.4g} more)"


def show_weights(console: "Console", weights: list[dict[str, Any]], scores: str) -> None:
    """Show the largest weights by name."""
    if not weights:
        return
    console.print(f"\nLargest weights: the effect of a feature on {scores}", style="bold")
    console.print(f"{'per deviation':>16}{'per unit':>14}{'deviation':>14}  feature")
    for row in weights:
        name = row["feature"] + (f" -> {row['class']}" if "class" in row else "")
        cells = (row.get("per_deviation"), row["per_unit"], row.get("deviation"))
        texts = (
            f"{number(value):>{width}}" for value, width in zip(cells, (16, 14, 14), strict=True)
        )
        console.print("".join(texts) + f"  {plain(name, 60)}")


def show_audit(console: "Console", parts: list[dict[str, Any]], row: int | None = None) -> None:
    """Show what each feature adds to a score."""
    of = "" if row is None else f" of row {row}"
    console.print(f"\nContributions to the score{of}", style="bold")
    console.print(f"{'adds':>14}{'value':>14}  feature")
    for part in parts:
        adds = part["adds"]
        shown = number(adds) if isinstance(adds, float) else " ".join(map(number, adds))
        value = "" if part["value"] is None else number(part["value"])
        console.print(f"{shown:>14}{value:>14}  {plain(part['feature'], 60)}")
