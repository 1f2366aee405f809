"""Small charts as SVG: lines, points on a square, bars, stacked areas.

A chart is 420 units wide, so that its text stays readable on a phone. Colours are classes of the
page's style sheet (c0, c1, ...), which has a light and a dark mode.
"""

import math
from collections.abc import Sequence
from html import escape
from statistics import median
from typing import NamedTuple

WIDTH, HEIGHT = 420, 274
LEFT, RIGHT, TOP, BOTTOM = 58, 12, 26, 36
LOG_RATIO = 100
"""If values differ by a larger factor, their axis is logarithmic."""
Point = tuple[float, float]


class Line(NamedTuple):
    """A line of a chart."""

    name: str
    points: Sequence[Point]
    colour: int
    dashed: bool = False
    dots: bool = False


class Axis(NamedTuple):
    """An axis from `low` to `high`."""

    low: float
    high: float
    log: bool = False

    def place(self, value: float) -> float:
        """Return the position of a value, between 0 and 1."""
        low, high, at = self.low, self.high, value
        if self.log:
            low, high, at = math.log(low), math.log(high), math.log(max(value, 1e-300))
        return (at - low) / (high - low) if high > low else 0.5

    def ticks(self) -> list[float]:
        """Return the values of the ticks.

        >>> Axis(0, 1).ticks(), Axis(1, 5000, log=True).ticks()
        ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [1.0, 10.0, 100.0, 1000.0])
        >>> Axis(128, 3000, log=True).ticks()
        [200.0, 500.0, 1000.0, 2000.0]
        """
        if self.log:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            low, high = self.low * (1 - 1e-9), self.high * (1 + 1e-9)
            for parts in ((1,), (1, 2, 5)):  # with few powers of ten, also 2 and 5 times these
                found = [m * 10.0**k for k in powers for m in parts if low <= m * 10.0**k <= high]
                if len(found) > 2:
                    return found
            return found or [self.low, self.high]
        step = _step((self.high - self.low) / 6)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [round(k * step, 12) for k in range(first, last + 1)]


def _step(least: float) -> float:
    """Return the next number of the form 1, 2 or 5 times a power of ten."""
    if not 0 < least < math.inf:
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(m * power for m in (1, 2, 5, 10) if m * power >= least * 0.999)


def short(value: float) -> str:
    """Format a number for an axis.

    >>> [short(x) for x in (0, 0.25, 1500, 2e6, -3e-5)]
    ['0', '0.25', '1.5k', '2M', '-3e-05']
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if size <= abs(value) < 1e12:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def line_chart(
    lines: Sequence[Line], x: str, y: str, *, log: bool = True, zero: bool = False
) -> str:
    """Draw lines over a logarithmic or linear axis; empty if there is nothing to draw."""
    lines = [line for line in lines if len(line.points) > 1]
    if not lines:
        return ""
    xs = [px for line in lines for px, _ in line.points]
    ys = [py for line in lines for _, py in line.points] + ([0.0] if zero else [])
    across = Axis(min(xs), max(xs), log and min(xs) > 0)
    up = _upward(ys)
    if up.log:
        lines = [_above(line, up.low) for line in lines]
    body = [_grid(across, up, x, y), *(_line(line, across, up) for line in lines)]
    return _svg("".join(body), f"{y} over {x}") + _legend(lines)


def _upward(values: Sequence[float]) -> Axis:
    """Return a linear axis, or a logarithmic one if the largest value would hide the others."""
    low, high = min(values), max(values)
    above = [value for value in values if value > 0]
    if low >= 0 and above and high > LOG_RATIO * median(above):
        return Axis(max(min(above), high / 1e6) / 1.5, high * 1.5, log=True)
    margin = (high - low) * 0.05 or abs(high) * 0.05 or 1.0
    return Axis(low - margin, high + margin)


def _above(line: Line, low: float) -> Line:
    """Return the line without values that a logarithmic axis cannot show."""
    return line._replace(points=[(px, py) for px, py in line.points if py >= low])


def square_chart(points: Sequence[tuple[float, float, float]], x: str, y: str) -> str:
    """Draw points (x, y, weight) between 0 and 1, with the diagonal."""
    if not points:
        return ""
    one, most = Axis(0, 1), max(weight for *_, weight in points)
    diagonal = _line(Line("", [(0, 0), (1, 1)], 2, dashed=True), one, one)
    dots = [
        f'<circle class="mark f0" cx="{_x(one, px):.1f}" cy="{_y(one, py):.1f}" '
        f'r="{2.5 + 6 * math.sqrt(weight / most):.1f}"><title>{escape(x)} {px:.3f}, {escape(y)} '
        f"{py:.3f}, {weight:,.0f} rows</title></circle>"
        for px, py, weight in points
    ]
    joined = _line(Line("", [(px, py) for px, py, _ in points], 0), one, one)
    body = _grid(one, one, x, y) + diagonal + joined + "".join(dots)
    return _svg(body, f"{y} against {x}")


def bar_chart(bars: Sequence[tuple[str, float, str]], *, log: bool = False) -> str:
    """Draw bars (name, length, text beside the bar); negative ones to the left.

    With `log`, logarithms are shown if lengths differ by a factor of more than LOG_RATIO.
    """
    if not bars:
        return ""
    bars = _log_lengths(bars) if log else bars
    most = max(abs(length) for _, length, _ in bars) or 1.0
    both = min(length for _, length, _ in bars) < 0 < max(length for _, length, _ in bars)
    row, start, room = 22, 168, 158
    rows = []
    for k, (name, length, text) in enumerate(bars):
        size = abs(length) / most * (room / 2 if both else room)
        left = start + (room / 2 - (size if length < 0 else 0) if both else 0)
        rows.append(
            f'<text class="name" x="{start - 6}" y="{k * row + 15}">{escape(_cut(name))}'
            f"<title>{escape(name)}</title></text>"
            f'<rect class="mark f{1 if length < 0 else 0}" x="{left:.1f}" y="{k * row + 4}" '
            f'width="{max(size, 0.5):.1f}" height="14"/>'
            f'<text class="value" x="{start + room + 6}" y="{k * row + 15}">{escape(text)}</text>'
        )
    return _svg("".join(rows), "bars", height=len(bars) * row + 4)


def _log_lengths(bars: Sequence[tuple[str, float, str]]) -> Sequence[tuple[str, float, str]]:
    lengths = [length for _, length, _ in bars if length != 0]
    low, high = min(lengths, default=1.0), max(lengths, default=1.0)
    if low < 0 or high <= LOG_RATIO * low:
        return bars
    return [(a, 0.5 + math.log10(x / low) if x > 0 else 0.0, b) for a, x, b in bars]


def area_chart(names: Sequence[str], at: Sequence[float], shares: Sequence[Sequence[float]]) -> str:
    """Draw shares that add up to 1 as stacked areas over a logarithmic axis."""
    if len(at) < 2:
        return ""
    across, up = Axis(min(at), max(at), log=True), Axis(0, 1)
    floor, body = [0.0] * len(at), []
    for k, name in enumerate(names):
        top = [low + share[k] for low, share in zip(floor, shares, strict=True)]
        edge = [(px, py) for px, py in zip(at, top, strict=True)]
        edge += [(px, py) for px, py in zip(reversed(at), reversed(floor), strict=True)]
        shape = " ".join(f"{_x(across, px):.1f},{_y(up, py):.1f}" for px, py in edge)
        body.append(
            f'<polygon class="mark f{k % 8} area" points="{shape}"><title>{escape(name)}</title>'
            "</polygon>"
        )
        floor = top
    lines = [Line(name, [], k % 8) for k, name in enumerate(names)]
    grid = _grid(across, up, "rows", "weight")
    return _svg("".join(body) + grid, "weights over rows") + _legend(lines)


def _cut(name: str) -> str:
    return name if len(name) <= 24 else name[:23] + "…"


def _x(axis: Axis, value: float) -> float:
    return LEFT + axis.place(value) * (WIDTH - LEFT - RIGHT)


def _y(axis: Axis, value: float) -> float:
    return HEIGHT - BOTTOM - axis.place(value) * (HEIGHT - TOP - BOTTOM)


def _grid(across: Axis, up: Axis, x: str, y: str) -> str:
    made = []
    for tick in up.ticks():
        at = _y(up, tick)
        made.append(
            f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}"/>'
        )
        made.append(f'<text class="up" x="{LEFT - 6}" y="{at + 4:.1f}">{short(tick)}</text>')
    for tick in across.ticks():
        at = _x(across, tick)
        made.append(
            f'<text class="across" x="{at:.1f}" y="{HEIGHT - BOTTOM + 16}">{short(tick)}</text>'
        )
    made.append(f'<text class="title" x="4" y="14">{escape(y)}</text>')
    made.append(
        f'<text class="across title" x="{(LEFT + WIDTH) / 2}" y="{HEIGHT - 4}">{escape(x)}</text>'
    )
    return "".join(made)


def _line(line: Line, across: Axis, up: Axis) -> str:
    points = " ".join(f"{_x(across, px):.1f},{_y(up, py):.1f}" for px, py in line.points)
    dashed = " dashed" if line.dashed else ""
    dots = ""
    if line.dots:
        dots = "".join(
            f'<circle class="mark f{line.colour}" cx="{_x(across, px):.1f}" '
            f'cy="{_y(up, py):.1f}" r="2.2"/>'
            for px, py in line.points
        )
    return f'<polyline class="mark c{line.colour}{dashed}" points="{points}"/>{dots}'


def _legend(lines: Sequence[Line]) -> str:
    each = (
        f'<span><i class="key f{line.colour}{" dashed" if line.dashed else ""}"></i>'
        f"{escape(line.name)}</span>"
        for line in lines
    )
    return f'<p class="legend">{"".join(each)}</p>'


def _svg(body: str, title: str, height: int = HEIGHT) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(title)}">{body}</svg>'
    )
