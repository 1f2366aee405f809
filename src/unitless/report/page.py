"""A report as one HTML page without scripts and without external resources."""

import os
from html import escape
from pathlib import Path
from typing import Any

from unitless.evaluation import LABELS
from unitless.persistence.container import replace
from unitless.report import figures

STYLE = Path(__file__).with_name("style.css")
FIGURES = (
    figures.learning_curve,
    figures.regret,
    figures.members,
    figures.calibration,
    figures.weights,
    figures.blend,
    figures.comparison,
)


def write_page(path: str | os.PathLike[str], results: dict[str, Any]) -> None:
    """Write the report of a results file."""
    replace(path, page(results).encode())


def page(results: dict[str, Any]) -> str:
    """Return the report as HTML.

    >>> nothing = {"source": "a<b", "task": "binary", "learner": "blend", "loss": "logistic"}
    >>> nothing |= {"rows": 0, "lines": [], "curve": [], "calibration": [], "weights": []}
    >>> nothing |= {"metrics": {}, "baseline": None, "blend": None, "target": "y", "features": 0}
    >>> text = page(nothing | {"unlabelled": 0, "package": "0.1.0"})
    >>> "a&lt;b" in text, "<script" in text
    (True, False)
    """
    made = [figure for draw in FIGURES if (figure := draw(results)) is not None]
    title = f"{escape(str(results['source'] or 'a stream'))}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<link rel="icon" href="data:,">'
        f"<title>{title}</title><style>{STYLE.read_text()}</style></head><body><main>"
        f"<h1>{title}</h1>{_lead(results)}{_numbers(results)}"
        f'<div class="figures">{"".join(map(_figure, made))}</div>'
        f"{_units(results)}{_weights(results)}<footer>Unitless {escape(results['package'])}: each "
        "row was predicted before its label was used.</footer></main></body></html>\n"
    )


def _lead(results: dict[str, Any]) -> str:
    target = f" of <b>{escape(str(results['target']))}</b>" if results["target"] else ""
    missing = results["unlabelled"]
    unlabelled = f", {missing:,} of them without a label" if missing else ""
    return (
        f"<p>{escape(results['task'].capitalize())}{target} by "
        f"<b>{escape(results['learner'])}</b>, "
        f"{escape(results['loss'])} loss: {results['rows']:,} rows{unlabelled}, "
        f"{results['features']:,} features, one pass, no tuning.</p>"
    )


def _numbers(results: dict[str, Any]) -> str:
    facts = [(LABELS[name], value) for name, value in results["metrics"].items()]
    if results["baseline"]:
        facts.insert(1, ("loss of the best constant", results["baseline"]["loss"]))
    cells = (f"<div><dt>{escape(name)}</dt><dd>{value:.4g}</dd></div>" for name, value in facts)
    return f"<dl>{''.join(cells)}</dl>"


def _figure(figure: tuple[str, str, str]) -> str:
    title, chart, text = figure
    return f"<figure><h2>{title}</h2>{chart}<figcaption>{escape(text)}</figcaption></figure>"


def _units(results: dict[str, Any]) -> str:
    """Return the table that shows whether units matter."""
    found = results.get("units")
    if not found:
        return ""
    rows = "".join(
        f"<tr><td>{escape(trial['units'])}</td><td>{_moved(trial['moved'])}</td></tr>"
        for trial in found["trials"]
    )
    size = found["trials"][0]["scores"]
    return (
        f"<section><h2>Other units</h2><p>A new {escape(results['learner'])} learned "
        f"{found['rows']:,} rows of the file again in other units. Typical size of a score: "
        f"{size:.3g}.</p><table><thead><tr><th>units</th><th>largest change of a score</th></tr>"
        f"</thead><tbody>{rows}</tbody></table></section>"
    )


def _moved(moved: float | None) -> str:
    if moved is None:
        return "it diverged"
    return "exactly 0" if moved == 0 else f"{moved:.1e}"


def _weights(results: dict[str, Any]) -> str:
    """Return a table of all weights in the results."""
    rows = "".join(
        f"<tr><td>{escape(row['feature'])}</td><td>{escape(str(row.get('class', '')))}</td>"
        f"<td>{_cell(row.get('per_deviation'))}</td><td>{_cell(row['per_unit'])}</td>"
        f"<td>{_cell(row.get('deviation'))}</td></tr>"
        for row in results["weights"]
    )
    if not rows:
        return ""
    return (
        "<section><h2>Weights</h2><details><summary>All features, largest weight first</summary>"
        '<div class="wide"><table><thead><tr><th>feature</th><th>class</th><th>per deviation</th>'
        f"<th>per unit</th><th>deviation</th></tr></thead><tbody>{rows}</tbody></table></div>"
        "</details></section>"
    )


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"
