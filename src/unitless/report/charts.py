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
ZOOM = [{"name": "zoom", "select": "interval", "bind": "scales"}]


class Figure(NamedTuple):
    """A figure; `spec` is None if the results have no data for it."""

    title: str
    text: str
    spec: Spec | None
    rows_axis: bool = False
    """Whether its x axis is the number of rows, which may become logarithmic."""
    needs_glossary: bool = False


def axis(field: str, title: str | None = None, kind: str = "quantitative", **more: Any) -> Spec:
    """Return the encoding of a field."""
    return {"field": field, "type": kind, "title": title or field, **more}


def number_axis(field: str, title: str, **more: Any) -> Spec:
    """Return an axis that fits the data and need not contain 0."""
    return axis(field, title, scale={"zero": False, "nice": True, **more})


def colour(field: str, names: Sequence[str]) -> Spec:
    """Return colours for the given names, in their order."""
    scale = {"domain": list(names), "range": COLOURS[: len(names)]}
    return axis(field, " ", "nominal", scale=scale, legend={"orient": "bottom", "columns": 2})


def chart(records: Iterable[Record], mark: Any, zoom: bool = True, **encoding: Any) -> Spec | None:
    """Return a chart with one kind of mark; None without records."""
    values = list(records)
    if not values:
        return None
    spec = {"data": {"values": values}, "width": "container", "height": 260}
    kind = mark if isinstance(mark, dict) else {"type": mark}
    spec |= {"mark": {"clip": True, "tooltip": {"content": "data"}, **kind}, "encoding": encoding}
    if zoom:
        spec["params"] = ZOOM
    return spec


def over_rows(records: list[Record], y: str, title: str, series: str) -> Spec | None:
    """Return lines over the number of rows, one per series."""
    names = list(dict.fromkeys(record[series] for record in records))
    x = axis("rows", "rows", scale={"zero": False, "nice": False})
    lines = {"type": "line", "point": {"size": 12}}
    up = number_axis(y, title)
    return chart(records, lines, x=x, y=up, color=colour(series, names))


def with_diagonal(spec: Spec | None, low: float, high: float) -> Spec | None:
    """Add the line on which both axes are equal."""
    if spec is None:
        return None
    ends = {"values": [{"at": low}, {"at": high}]}
    line = {"type": "line", "strokeDash": [4, 4], "color": "var(--c2)", "clip": True}
    both = {"x": axis("at"), "y": axis("at")}
    for name in "xy":
        both[name]["title"] = spec["encoding"][name]["title"]
    marks = {name: spec.pop(name) for name in ("mark", "encoding", "params") if name in spec}
    spec["layer"] = [{"data": ends, "mark": line, "encoding": both}, marks]
    return spec


def wider(points: list[list[float]]) -> list[list[float]]:
    """Return the means of consecutive windows, at most `WINDOWS` of them, all of the same length.

    >>> wider([[k, float(k)] for k in range(1, 102)])[-2:]
    [[98, 97.5], [100, 99.5]]
    """
    width = max(math.ceil(len(points) / WINDOWS), 1)
    made = []
    for stop in range(width, len(points) + 1, width):
        losses = [loss for _, loss in points[stop - width : stop]]
        made.append([points[stop - 1][0], sum(losses) / width])
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


def tall(spec: Spec | None, bars: int) -> Spec | None:
    """Make a chart high enough for its bars."""
    if spec is not None:
        spec["height"] = max(220, 18 * bars)
    return spec
