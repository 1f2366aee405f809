"""The summary of a run: the verdict first, then figures and weights, then guarantees in one line.

`summary` decides what is said and returns its lines. Without --verbose they fit a terminal of 24
lines of 80 columns, with one line for the next prompt: the weights, of which any number is useful,
take the room that the rest leaves. What does not fit is in the output of --verbose.
"""

import math
from collections.abc import Sequence
from textwrap import wrap
from typing import Any, NamedTuple

from rich.console import Console

from unitless.cli.screen import counted, last_name, number, plain, sum_of_losses
from unitless.escaping import escaped
from unitless.evaluation import LABELS
from unitless.evaluation.certified import telling
from unitless.model.explanations import what_scores_are
from unitless.regret import Information
from unitless.report import verdict

Results = dict[str, Any]
WIDTH, HEIGHT = 80, 23
FIRST_METRICS = ("loss", "auc", "accuracy", "mae", "r2", "below")
"""Metrics that are shown without --verbose."""
OF_RARE = ("precision", "recall", "average_precision")
RARE = 0.1
"""A class with a smaller share of the rows is rare: then precision and recall matter."""
SHORT = 7
"""The longest name of a member that is part of the line about guarantees."""
MIN_WEIGHTS, MAX_WEIGHTS = 3, 10
NAME = 60
"""The most characters of a name beside its weight, where lines may be longer."""
COMPARATORS = {
    "the best constant": "the best constant",
    "u = 0": "a model whose weights are all 0",
}
"""Fixed models in certificates, and their names in sentences."""
BEYOND_CHANCE = "(from 20 on, chance is an unlikely explanation)"


class StyledLine(NamedTuple):
    """A line of text and its style."""

    text: str
    style: str = ""

    @property
    def height(self) -> int:
        """The number of lines that it takes on the terminal."""
        return max(math.ceil(len(self.text) / WIDTH), 1)


BLANK = StyledLine("")


def show(console: Console, lines: Sequence[StyledLine]) -> None:
    """Print lines."""
    for line in lines:
        console.print(escaped(line.text), style=line.style)


def summary(
    results: Results,
    information: Information | None = None,
    *,
    top: int | None = None,
    files: Sequence[str] = (),
    verbose: bool = False,
) -> list[StyledLine]:
    """Return the lines that end a run; `files` were written, `top` is the number of weights."""
    before = [
        BLANK,
        *(StyledLine(text, "bold") for text in wrap(" ".join(verdict(results)), WIDTH)),
    ]
    before += [BLANK, *_facts(results, verbose), *_test(results, verbose)]
    before += [StyledLine(f"note: {note}") for note in results["notes"]]
    after = _theory(results, information, verbose)
    if files:
        after += [BLANK, StyledLine(f"wrote {', '.join(files)}")]
    heading = _headings(what_scores_are(results))
    if top is None:
        room = HEIGHT - sum(line.height for line in (*before, BLANK, *heading, *after))
        top = MAX_WEIGHTS if verbose else min(max(room, MIN_WEIGHTS), MAX_WEIGHTS)
    weights = results["weights"][:top]
    width = NAME if verbose else WIDTH - len(heading[1].text) + len("feature")
    return [*before, *weight_lines(weights, what_scores_are(results), width), *after]


# Figures


def _facts(results: Results, verbose: bool) -> list[StyledLine]:
    facts = [("rows", f"{results['rows']:,} in {results['seconds']:.1f} s")]
    for key, what, why in (
        ("unlabelled", "row", "without a label (predicted, not learned)"),
        ("held_out", "row", "held out"),
        ("skipped", "invalid line", "skipped"),
    ):
        if results[key]:
            facts.append(("", f"{counted(results[key], what)} {why}"))
    facts.append(("features", f"{results['features']:,}"))
    facts += _metrics(results["metrics"], verbose)
    facts += _rare_class(results, results["metrics"], verbose)
    for name, key in (("the best constant", "baseline"), (last_name(results["task"]), "last")):
        if results[key] is not None:
            facts.append((f"loss of {name}", number(results[key]["loss"])))
    test = results["test"]
    if test is None or test["source"]:  # those of --test-share are scored at the end
        for k, held in enumerate(results["holdouts"], start=1):
            facts.append((f"loss of held-out rows, pass {k}", number(held)))
    return _aligned(facts)


def _test(results: Results, verbose: bool) -> list[StyledLine]:
    """Return the metrics of rows that were not learned."""
    test = results["test"]
    if test is None:
        return []
    where = f" ({test['source']})" if test["source"] else ""
    heading = f"{counted(test['rows'], 'row')} that were never learned{where}"
    lines = [BLANK, StyledLine(heading, "bold")]
    if test["unknown"]:
        unknown = counted(test["unknown"], "more row")
        lines.append(StyledLine(f"{unknown} with a class that was not learned"))
    facts = _metrics(test["metrics"], verbose) + _rare_class(results, test["metrics"], verbose)
    return lines + _aligned(facts)


def _metrics(metrics: Results, verbose: bool) -> list[tuple[str, str]]:
    chosen = [name for name in metrics if verbose or name in FIRST_METRICS]
    return [(LABELS[name], number(metrics[name])) for name in chosen if name not in OF_RARE]


def _rare_class(results: Results, metrics: Results, verbose: bool) -> list[tuple[str, str]]:
    """Return precision and recall of the rarer of two classes, if it is rare."""
    classes = results.get("classes") or []
    if len(classes) != 2 or "average_precision" not in metrics:
        return []
    rare = int(classes[1] <= classes[0])
    share = classes[rare] / sum(classes)
    if share >= RARE and not verbose:
        return []
    name = plain(results["labels"][rare], 10) if len(results["labels"]) == 2 else "rarer class"
    precision, recall, average = (number(metrics.get(key)) for key in OF_RARE)
    return [
        (f"precision and recall, {name}", f"{precision}, {recall}"),
        (f"average precision, {name}", f"{average} (by chance {number(share)})"),
    ]


def _aligned(facts: list[tuple[str, str]]) -> list[StyledLine]:
    return [StyledLine(f"{name:<32}{value}") for name, value in facts]


# Guarantees


def _theory(results: Results, information: Information | None, verbose: bool) -> list[StyledLine]:
    """Return what is proved about the run: one line, or with --verbose all of it."""
    total = results["metrics"].get("loss", 0) * (results["rows"] - results["unlabelled"])
    certificate = telling(results["certificate"], total)
    if verbose:
        lines = certificate_lines(certificate)
        return lines + (
            [BLANK, StyledLine(f"{information} {BEYOND_CHANCE}")] if information else []
        )
    parts = []
    if certificate is not None and (bound := _tightest(certificate)):
        parts.append(f"guarantee: {bound}")
    if information is not None:
        only = "" if information.is_found else "only "
        parts.append(f"e-value {only}{information.largest:.3g}")
    return [BLANK, StyledLine("; ".join(parts))] if parts else []


def _tightest(certificate: Results) -> str | None:
    """Return the bound that says most, about the best member or a fixed model; None without one."""
    members = _staying(certificate)
    if members:
        name, kept = members[0]
        member = f"its member {name}" if len(name) <= SHORT else "one of its members"
        return _excess(kept["overhead"], member, "loss ")
    for against, claim in _claims(certificate).items():
        return _excess(claim["certified"], against, "loss ")
    return None


def _staying(certificate: Results) -> list[tuple[str, Results]]:
    """Return the members that saw all rows, the best first."""
    members = sorted(certificate["members"].items(), key=lambda each: each[1]["loss"])
    return [each for each in members if each[1]["rows"] == certificate["rows"]]


def _claims(certificate: Results) -> dict[str, Results]:
    """Return the smallest bound for each fixed model, by its name in a sentence."""
    found = {}
    for against, name in COMPARATORS.items():
        claims = [claim for claim in certificate["claims"] if claim["against"] == against]
        claims = [claim for claim in claims if claim["certified"] is not None]
        if claims:
            found[name] = min(claims, key=lambda claim: claim["certified"])
    return found


def _excess(bound: float, what: str, noun: str = "") -> str:
    """Word a bound on the difference of two losses.

    >>> _excess(3.0, "the best constant"), _excess(-57.57, "the best constant")
    ('at most 3 more than the best constant', 'at least 57.57 less than the best constant')
    """
    return f"at {'most' if bound >= 0 else 'least'} {_difference(bound)} {noun}than {what}"


def _difference(value: float) -> str:
    return f"{sum_of_losses(abs(value))} {'more' if value >= 0 else 'less'}"


def certificate_lines(certificate: Results | None) -> list[StyledLine]:
    """Return the regret certificate in sentences."""
    if certificate is None or not certificate["rows"]:
        return []
    if not (_staying(certificate) or _claims(certificate)):
        return []
    total = f" of {sum_of_losses(certificate['loss'])}" if certificate["members"] else ""
    heading = f"The total loss{total} is guaranteed, without assumptions about the data, to be"
    lines = [BLANK, StyledLine(heading, "bold")]
    for name, kept in _staying(certificate)[:3]:
        what = f"the {sum_of_losses(kept['loss'])} of its member {name}"
        lines.append(StyledLine(f"  {_excess(kept['overhead'], what)}"))
    if certificate.get("clipped"):
        lines.append(StyledLine(f"  (predictions of members are {certificate['clipped']})"))
    for name, claim in _claims(certificate).items():
        text = _excess(claim["certified"], name)
        if claim["promised"] is not None:
            text += f" (bound of {claim['theorem']}: {_difference(claim['sharp'])})"
        lines.append(StyledLine(f"  {text}"))
    return lines


# Weights


def _headings(scores: str) -> list[StyledLine]:
    return [
        StyledLine(f"Largest weights: the effect of a feature on {scores}", "bold"),
        StyledLine(f"{'per deviation':>16}{'per unit':>14}{'deviation':>14}  feature"),
    ]


def weight_lines(weights: Sequence[Results], scores: str, width: int = NAME) -> list[StyledLine]:
    """Return the largest weights by name."""
    if not weights:
        return []
    lines = [BLANK, *_headings(scores)]
    for row in weights:
        name = row["feature"] + (f" -> {row['class']}" if "class" in row else "")
        cells = (row.get("per_deviation"), row["per_unit"], row.get("deviation"))
        first, *others = map(number, cells)
        numbers = f"{first:>16}" + "".join(f"{cell:>14}" for cell in others)
        lines.append(StyledLine(f"{numbers}  {plain(name, width)}"))
    return lines
