"""A report as one HTML page, which loads nothing from elsewhere."""

import json
from collections.abc import Iterable, Sequence
from functools import cache
from html import escape
from pathlib import Path
from string import Template

from unitless.evaluation import LABELS
from unitless.evaluation.alarms import Alarm
from unitless.persistence.container import Pathlike, replace
from unitless.report.charts import Figure, Results, shown
from unitless.report.class_figures import rates
from unitless.report.figures import FIGURES
from unitless.report.verdict import verdict

FOLDER = Path(__file__).parent
LIBRARIES = ("vega", "vega-lite", "vega-embed")
THRESHOLDS = [k / 10 for k in range(1, 10)]  # probabilities of the table of thresholds
LOG = '<label><input type="checkbox" name="log"> logarithmic</label> '
BUTTONS = '<button name="svg">SVG</button> <button name="csv">CSV</button>'
LINK = ' <a href="#glossary">Glossary</a>'
GLOSSARY = {
    "best constant": "the single prediction for all rows that has the smallest loss, in hindsight",
    "certificate": "a bound on the regret that is computed from this run, and holds for certain",
    "loss": "the error of a prediction; logistic: minus the logarithm of the probability given to "
    "the actual class; squared: the squared difference",
    "progressive": "each row is predicted before its label is used, so every score is for a row "
    "that was not yet learned",
    "regret": "the loss of the learner minus that of a fixed model, over all rows so far",
    "window": "a number of consecutive rows",
}
"""The terms of the page; the documentation has more."""


def write_page(path: Pathlike, results: Sequence[Results]) -> None:
    """Write the report of a results file, or the comparison of several."""
    from unitless.report.runs import comparison_page

    text = page(results[0]) if len(results) == 1 else comparison_page(results)
    replace(path, text.encode())


def page(results: Results) -> str:
    """Return the report of one run as HTML."""
    figures = [figure for draw in FIGURES if (figure := draw(results)).spec is not None]
    body = _metrics(results) + boxes(figures)
    for part in (_noticed, _thresholds, _worst, _columns):
        body += part(results)
    terms = listed(f"{term}: {text}." for term, text in GLOSSARY.items())
    body += f'<section id="glossary"><h2>Glossary</h2>{terms}</section>'
    source = escape(str(results["source"] or "a stream"))
    return filled(source, verdict(results), _facts(results), body, figures)


def filled(
    title: str, sentences: Sequence[str], facts: str, body: str, figures: Sequence[Figure]
) -> str:
    """Return the page with these parts; title, facts and body are HTML already."""
    first, *others = map(escape, sentences)
    specs = json.dumps([figure._asdict() for figure in figures], allow_nan=False)
    return Template(_read("page.html")).substitute(
        title=title,
        style=_read("style.css"),
        verdict=f"<b>{first}</b>{' '.join(others)}",
        facts=facts,
        body=body,
        # Text of the data must not end the script.
        figures=specs.replace("<", "\\u003c"),
        vega="\n".join(_read(f"vega/{name}.min.js") for name in LIBRARIES),
        script=_read("report.js"),
        footer="Made by Unitless. Each row was predicted before its label was used.",
    )


@cache
def _read(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")


# Parts


def boxes(figures: Iterable[Figure]) -> str:
    """Return a box per figure, which the script fills."""
    made = []
    for figure in figures:
        tools = (LOG if figure.rows_axis else "") + BUTTONS
        text = escape(figure.text) + (LINK if figure.needs_glossary else "")
        made.append(
            f'<figure><span class="tools">{tools}</span><h2>{escape(figure.title)}</h2>'
            f'<div class="chart"></div><figcaption>{text}</figcaption></figure>'
        )
    return f'<div class="figures">{"".join(made)}</div>'


def section(title: str, content: str) -> str:
    """Return a section; empty without content."""
    return f"<section><h2>{title}</h2>{content}</section>" if content else ""


def listed(texts: Iterable[str]) -> str:
    """Return a list of sentences; empty without any."""
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f"<ul>{items}</ul>" if items else ""


def table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table; numbers are aligned to the right. Empty without rows."""
    if not rows:
        return ""
    kinds = []
    for column in zip(*rows, strict=True):
        has_text = any(isinstance(cell, str) and cell for cell in column)
        kinds.append("" if has_text else ' class="number"')
    lines = []
    for tag, row in (("th", headings), *(("td", row) for row in rows)):
        cells = zip(row, kinds, strict=True)
        line = [f"<{tag}{kind}>{escape(shown(cell))}</{tag}>" for cell, kind in cells]
        lines.append(f"<tr>{''.join(line)}</tr>")
    whole = f"<thead>{lines[0]}</thead><tbody>{''.join(lines[1:])}</tbody>"
    return f'<div class="wide"><table>{whole}</table></div>'


def _facts(results: Results) -> str:
    missing = results["unlabelled"]
    facts = [
        f"{results['task'].capitalize()} by {results['learner']}",
        f"{results['rows']:,} rows" + (f" ({missing:,} without a label)" if missing else ""),
        f"{results['features']:,} features",
        f"{results['seconds']:.3g} s" if results.get("seconds") is not None else "",
        f"Unitless {results['package']}",
        results.get("date") or "",
    ]
    command = f"<br><code>{escape(results['command'])}</code>" if results.get("command") else ""
    return escape(" · ".join(filter(None, facts))) + command


def _metrics(results: Results) -> str:
    facts = [(LABELS[name], value) for name, value in results["metrics"].items()]
    last = "last value" if results["task"] == "regression" else "last class"
    for name, key in ((last, "last"), ("the best constant", "baseline")):
        if results.get(key):
            facts.insert(1, (f"loss of {name}", results[key]["loss"]))
    for name, value in ((results.get("test") or {}).get("metrics") or {}).items():
        facts.append((f"{LABELS[name]}, rows never learned", value))
    cells = [f"<div><dt>{escape(name)}</dt><dd>{shown(value)}</dd></div>" for name, value in facts]
    return f"<dl>{''.join(cells)}</dl>"


def _noticed(results: Results) -> str:
    """Return decisions of the reader, notes and alarms."""
    texts = [*(results.get("decisions") or ()), *(results.get("notes") or ())]
    for key, what in (("skipped", "invalid lines were skipped"), ("coerced", "cells did not fit")):
        if results[key]:
            texts.append(f"{results[key]:,} {what}")
    texts += [f"alarm: {Alarm(**alarm)}" for alarm in results["alarms"]]
    return section("What was noticed", listed(texts))


def _thresholds(results: Results) -> str:
    """Return what happens if rows from a probability on count as the second class."""
    found = rates(results)
    if results["loss"] != "logistic" or not found:
        return ""
    names = ("precision", "recall", "F1", "share of rows")
    rows = {}
    for threshold in THRESHOLDS:
        near = min(found, key=lambda each: abs(each["threshold"] - threshold))
        rows[f"{near['threshold']:.2f}"] = [near[name] for name in names]
    text = f"<p>Rows count as {escape(results['labels'][-1])} from this probability on.</p>"
    lines = [[probability, *values] for probability, values in rows.items()]
    return section("Thresholds", text + table(("probability", *names), lines))


def _worst(results: Results) -> str:
    rows = []
    for entry in results.get("worst") or ():
        names = [_label(results, entry[key]) for key in ("target", "predicted")]
        features = [f"{name} = {shown(value)}" for name, value in entry["features"].items()]
        rows.append((f"{entry['row']:,}", *names, entry["loss"], ", ".join(features)))
    headings = ("row", "actual", "predicted", "loss", "features")
    hint = "<p>Wrong labels and odd values are often found here.</p>"
    return section("Worst predictions", hint + table(headings, rows) if rows else "")


def _label(results: Results, code: float | None) -> object:
    """Return the class of a code or score; numbers stay."""
    if code is None or results["task"] == "regression":
        return code
    place = int(code >= 0) if results["task"] == "binary" else int(code)
    labels = results["labels"]
    return labels[place] if 0 <= place < len(labels) else "another class"


def _columns(results: Results) -> str:
    names = ("column", "kind", "features", "missing")
    rows = [[column[name] for name in names] for column in results.get("columns") or ()]
    return section("Columns", table(names, rows))
