"""Charts as Vega-Lite specifications.

A specification holds its data as records, which the page also offers as CSV. Colours are variables
of the page's style sheet, which has a light and a dark mode.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

Results = dict[str, Any]
Record = dict[str, Any]
Spec = dict[str, Any]

COLOURS = [f"var(--c{k})" for k in range(8)]
WINDOWS = 64
HEIGHT = 320  # of a chart with its legend, so that charts beside each other end at the same place
LEGEND_LINE = 22
LEGEND = {"orient": "bottom", "columns": 2}
LOG_RATIO = 30  # if losses differ by a larger factor, their axis is logarithmic
WHOLE = {"domain": [0, 1]}  # the scale of a share


class Figure(NamedTuple):
    """A figure; `spec` is None if the results have no data for it."""

    title: str
    text: str
    spec: Spec | None
    rows_axis: bool = (
        False  # whether its x axis is the number of rows, which may become logarithmic
    )
    needs_glossary: bool = False


def axis(field: str, title: str | None = None, kind: str = "quantitative", **more: Any) -> Spec:
    """Return the encoding of a field."""
    return {"field": field, "type": kind, "title": title or field, **more}


ROWS_AXIS = axis("rows", scale={"zero": False, "nice": False})


def colour(field: str, names: Sequence[str]) -> Spec:
    """Return colours for the given names, in their order."""
    scale = {"domain": list(names), "range": COLOURS[: len(names)]}
    return axis(field, " ", "nominal", scale=scale, legend=LEGEND)


def chart(records: Iterable[Record], mark: Spec, zoom: bool = True, **encoding: Any) -> Spec | None:
    """Return a chart with one kind of mark; None without records."""
    values = list(records)
    if not values:
        return None
    by_colour = encoding.get("color", {})
    names = by_colour["scale"]["domain"] if by_colour.get("legend") else []
    spec = {
        "data": {"values": values},
        "width": "container",
        "height": HEIGHT - LEGEND_LINE * math.ceil(len(names) / 2),
        "mark": {"clip": True, "tooltip": {"content": "data"}, **mark},
        "encoding": encoding,
    }
    if zoom:
        spec["params"] = [{"name": "zoom", "select": "interval", "bind": "scales"}]
    return spec


def over_rows(records: list[Record], y: Spec, series: str) -> Spec | None:
    """Return lines over the number of rows, one per series."""
    names = list(dict.fromkeys(record[series] for record in records))
    lines = {"type": "line", "point": {"size": 12}}
    return chart(records, lines, x=ROWS_AXIS, y=y, color=colour(series, names))


def loss_axis(records: Iterable[Record], title: str, zero: bool) -> Spec:
    """Return an axis of losses, logarithmic if they differ much."""
    losses = [record["loss"] for record in records] or [0.0]
    if 0 < min(losses) < max(losses) / LOG_RATIO:
        return axis("loss", f"{title} (log)", scale={"type": "log"}, axis={"tickCount": 5})
    return axis("loss", title, scale={"zero": zero})


def layered(spec: Spec, below: Spec | None = None, above: Spec | None = None) -> Spec:
    """Put another layer below or above the marks of a chart."""
    marks = {name: spec.pop(name) for name in ("mark", "encoding", "params") if name in spec}
    return spec | {"layer": [layer for layer in (below, marks, above) if layer]}


def with_diagonal(spec: Spec | None, low: float, high: float) -> Spec | None:
    """Add the line on which both axes are equal."""
    if spec is None:
        return None
    line = {"type": "line", "strokeDash": [4, 4], "color": "var(--c2)", "clip": True}
    both = {name: axis("at", spec["encoding"][name]["title"]) for name in "xy"}
    ends = {"values": [{"at": low}, {"at": high}]}
    return layered(spec, below={"data": ends, "mark": line, "encoding": both})


def wider(points: list[list[float]]) -> list[list[float]]:
    """Return the means of consecutive windows, at most `WINDOWS` of them, all of the same length.

    A point is a number of rows, and one or several means.

    >>> wider([[k, float(k)] for k in range(1, 102)])[-2:]
    [[98, 97.5], [100, 99.5]]
    """
    width = max(math.ceil(len(points) / WINDOWS), 1)
    made = []
    for stop in range(width, len(points) + 1, width):
        columns = zip(*(losses for _, *losses in points[stop - width : stop]), strict=True)
        made.append([points[stop - 1][0], *(sum(losses) / width for losses in columns)])
    return made


def shown(cell: Any) -> str:
    """Format a cell or a number.

    >>> [shown(cell) for cell in (None, 12345, 12345.67, 0.123456, "text")]
    ['', '12,345', '12,346', '0.1235', 'text']
    """
    if cell is None or isinstance(cell, str):
        return cell or ""
    is_whole = isinstance(cell, int) or 1e4 <= abs(cell) < 1e12
    return f"{cell:,.0f}" if is_whole else f"{cell:.4g}"
