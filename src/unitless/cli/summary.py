"""The summary of a run: the verdict first, then figures and effects, then guarantees in one line.

`summary` decides what is said and returns its lines. Without --verbose they fit a terminal of 24
lines of 80 columns, with one line for the next prompt: the effects, of which any number is useful,
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
from unitless.model.explanations import what_predictions_are
from unitless.regret import Information
from unitless.report import verdict

Results = dict[str, Any]
SCREEN_WIDTH, SCREEN_HEIGHT = 80, 23
FIRST_METRICS = ("loss", "auc", "accuracy", "mae", "r2", "below")
"""Metrics that are shown without --verbose."""
OF_RARE = ("precision", "recall", "average_precision")
RARE_SHARE = 0.1
"""A class with a smaller share of the rows is rare: then precision and recall matter."""
SHORT_NAME = 7
"""The longest name of a member that is part of the line about guarantees."""
MIN_EFFECTS, MAX_EFFECTS = 3, 10
NAME = 60
"""The most characters of a column beside its effect, where lines may be longer."""
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
        return max(math.ceil(len(self.text) / SCREEN_WIDTH), 1)


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
    """Return the lines that end a run; `files` were written, `top` is the number of effects."""
    before = [
        BLANK,
        *(StyledLine(text, "bold") for text in wrap(" ".join(verdict(results)), SCREEN_WIDTH)),
    ]
    before += [BLANK, *_facts(results, verbose), *_test(results, verbose)]
    before += [StyledLine(f"note: {note}") for note in results["notes"]]
    after = _theory(results, information, verbose)
    if files:
        after += [BLANK, StyledLine(f"wrote {', '.join(files)}")]
    heading = _headings(what_predictions_are(results))
    if top is None:
        room = SCREEN_HEIGHT - sum(line.height for line in (*before, BLANK, *heading, *after))
        top = MAX_EFFECTS if verbose else min(max(room, MIN_EFFECTS), MAX_EFFECTS)
    effects = results["effects"][:top]
    width = NAME if verbose else SCREEN_WIDTH - len(heading[1].text) + len("column: from, to")
    return [*before, *effect_lines(effects, what_predictions_are(results), width), *after]


# Figures


def _facts(results: Results, verbose: bool) -> list[StyledLine]:
    first = results.get("first_scored", 1)
    scored = f", scored from row {first:,} on" if first > 1 else ""
    facts = [("rows", f"{results['rows']:,} in {results['seconds']:.1f} s{scored}")]
    for key, what, why in (
        ("unlabelled", "row", "without a label (predicted, not learned)"),
        ("held_out", "row", "held out"),
        ("skipped", "invalid line", "skipped"),
    ):
        if results[key]:
            facts.append(("", f"{counted(results[key], what)} {why}"))
    facts.append(("features", f"{results['features']:,}"))
    late = results.get("not_fresh")
    if late is not None:
        facts.append(("if every label is known before the next row", ""))
    facts += _metrics(results["metrics"], verbose)
    facts += _rare_class(results, results["metrics"], verbose)
    facts += _intervals(results, "intervals")
    constant = _baseline(results, "baseline", "the best constant")
    last = _baseline(results, "last", last_name(results["task"], results.get("delay")))
    if late is None:
        facts += [*constant, *last]
    else:  # who waits for labels cannot repeat the last one
        facts += [*last, ("if labels come later than that", "")]
        facts += [*_metrics(late, verbose), *_intervals(results, "intervals_not_fresh"), *constant]
    test = results["test"]
    if test is None or test["source"]:  # those of --test-share are scored at the end
        for k, held in enumerate(results["holdouts"], start=1):
            facts.append((f"loss of held-out rows, pass {k}", number(held)))
    return _aligned(facts)


def _intervals(results: Results, key: str) -> list[tuple[str, str]]:
    """Return how many rows intervals or sets covered, and what is certain about it.

    >>> own = {"asked": 0.9, "share": 0.904, "low": 0.885, "high": 0.914, "width": 12.34}
    >>> _intervals({"task": "regression", "intervals": [own]}, "intervals")
    [('coverage of 90 % intervals', '90.4 % (certified 88.5 to 91.4 %), width 12.3400')]
    """
    facts = []
    for own in results.get(key) or []:
        share, low, high = (f"{100 * own[name]:.1f}" for name in ("share", "low", "high"))
        if results["task"] == "regression":
            what, limits = "intervals", f"certified {low} to {high} %"
            width = f"width {number(own['width'])}"
        else:
            what, limits = "sets", f"certified at least {low} %"
            width = f"{own['width']:.2f} classes"
        facts.append(
            (f"coverage of {100 * own['asked']:g} % {what}", f"{share} % ({limits}), {width}")
        )
    return facts


def _baseline(results: Results, key: str, name: str) -> list[tuple[str, str]]:
    """Return the loss of a baseline, if it has one."""
    found = results[key]
    return [] if found is None else [(f"loss of {name}", number(found["loss"]))]


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
    if share >= RARE_SHARE and not verbose:
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
    metrics = results.get("not_fresh") or results["metrics"]  # certificates are about that answer
    total = metrics.get("loss", 0) * (results["rows"] - results["unlabelled"])
    certificate = telling(results["certificate"], total)
    if verbose:
        lines = certificate_lines(certificate, _what_counts(results))
        return lines + (
            [BLANK, StyledLine(f"{information} {BEYOND_CHANCE}")] if information else []
        )
    parts = []
    if certificate is not None and (bound := _tightest(certificate)):
        parts.append(f"guarantee{_what_counts(results)}: {bound}")
    if information is not None:
        only = "" if information.is_found else "only "
        parts.append(f"e-value {only}{information.largest:.3g}")
    text = "; ".join(parts)
    return (
        [BLANK, *map(StyledLine, [text] if len(text) <= SCREEN_WIDTH else parts)] if parts else []
    )


def _tightest(certificate: Results) -> str | None:
    """Return the bound that says most, about the best member or a fixed model; None without one."""
    members = _staying(certificate)
    if members:
        name, kept = members[0]
        member = f"its member {name}" if len(name) <= SHORT_NAME else "one of its members"
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


def _what_counts(results: Results) -> str:
    """Return the answer that a certificate is about, and that it counts row 1, if it does.

    Scores do not count row 1, and a Blend of numbers does not, either.
    """
    about = " without recent labels" if results.get("not_fresh") else ""
    is_skipped = results["task"] == "regression" and results.get("blend")
    return about if is_skipped else f"{about} (row 1 counts)"


def certificate_lines(certificate: Results | None, rows: str = "") -> list[StyledLine]:
    """Return the regret certificate in sentences; `rows` says which rows it counts."""
    if certificate is None or not certificate["rows"]:
        return []
    if not (_staying(certificate) or _claims(certificate)):
        return []
    total = f" of {sum_of_losses(certificate['loss'])}" if certificate["members"] else ""
    heading = (
        f"The total loss{total}{rows} is guaranteed, without assumptions about the data, to be"
    )
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


# Effects


def _headings(predictions: str) -> list[StyledLine]:
    text = f"Largest effects on {predictions}, other columns as in seen rows"
    return [
        StyledLine(text, "bold"),
        StyledLine(f"{'typical change':>16}{'change':>14}  column: from, to"),
    ]


def effect_lines(
    effects: Sequence[Results], predictions: str, width: int = NAME
) -> list[StyledLine]:
    """Return the largest effects by column.

    The typical change is that of the prediction when the column has the value of another seen row;
    the change is the one between two values, which are named.
    """
    if not effects:
        return []
    lines = [BLANK, *_headings(predictions)]
    for row in effects:
        change = number(row["change"]) if row.get("change") is not None else ""
        numbers = f"{number(row['moves']):>16}{change:>14}"
        lines.append(StyledLine(f"{numbers}  {_column_and_values(row, width)}"))
    return lines


def _column_and_values(row: Results, width: int) -> str:
    """Word a column and the values between which it moves.

    >>> _column_and_values({"column": "city", "from": "Rome", "to": "Oslo", "class": "yes"}, 30)
    'city: Rome, Oslo -> yes'
    """
    text = plain(row["column"], width)
    if "from" in row:
        ends = (f"{each:.4g}" if isinstance(each, float) else each for each in _ends(row))
        text += f": {', '.join(each or '(missing)' for each in ends)}"
    if "class" in row:
        text += f" -> {row['class']}"
    return plain(text, width)


def _ends(row: Results) -> tuple[Any, Any]:
    return row["from"], row["to"]
