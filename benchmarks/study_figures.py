"""Draw the figures of docs/explanation/study.md as SVG files."""

from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt
from study_numbers import PAPER, SMOOTH, Ranks, Study

COLOURS = {"coordinate": "C3", "full": "C1", SMOOTH: "C2", "scinol2": "C4", "coin": "C5"}
COLOURS |= {
    "coordinate2": "C7",
    "nag": "C0",
    "adagrad": "C6",
    "ogd": "C8",
    "kt": "C9",
    "zero": "0.5",
}
UNITS = {"raw": ("o", "C0"), "random": ("x", "C3"), "standardised": ("|", "C2")}
WORST = 1e3
"""Losses beyond this many times that of the best constant are drawn at this value."""
FREE = (SMOOTH, "full", "coordinate", "scinol2", "coin")
FOLLOWED = ("coordinate", "coordinate2", "full", SMOOTH, "scinol2", "nag", "adagrad", "ogd")

mpl.use("svg")
mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "study", "font.size": 9})


def draw(study: Study, folder: Path) -> None:
    """Draw all figures into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    loss = "logistic"
    for kind in study.sets["loss"].unique():
        keep(ranks(study.ranks(kind, "raw")), folder / f"ranks-{kind}.svg")
    keep(ranks(study.ranks(loss, "standardised", tuned=True)), folder / "ranks-tuned.svg")
    keep(units(study, loss), folder / "units.svg")
    keep(rates(study, loss), folder / "rates.svg")
    keep(lengths(study), folder / "lengths.svg")
    keep(growth(study), folder / "growth.svg")
    keep(times(study, loss), folder / "times.svg")


def keep(figure: Any, path: Path) -> None:
    figure.savefig(path, metadata={"Date": None}, bbox_inches="tight")
    plt.close(figure)


def colour(name: str) -> str:
    """Return the colour of a learner; those of the paper and the Blend are not black."""
    return COLOURS[name] if name in (*PAPER, SMOOTH) else "black"


def ranks(found: Ranks) -> Any:
    """Draw a critical-difference diagram; bars join learners that do not differ significantly."""
    k, half = len(found.names), (len(found.names) + 1) // 2
    cliques = found.cliques()
    bottom = -(len(cliques) * 0.35 + half * 0.55 + 1)
    figure, axes = plt.subplots(figsize=(8, -bottom * 0.38))
    axes.set(xlim=(1 - k * 0.45, k * 1.45), ylim=(bottom, 2.2))
    axes.axis("off")
    axes.plot([1, k], [0, 0], color="black", lw=1)
    for tick in [1, *range(5, k + 1, 5)]:
        axes.plot([tick, tick], [0, 0.15], color="black", lw=1)
        axes.text(tick, 0.3, str(tick), ha="center", va="bottom")
    axes.plot([1, 1 + found.difference], [1.3, 1.3], color="black", lw=2)
    axes.text(1, 1.45, f"critical difference {found.difference:.1f}", va="bottom")
    for level, (first, last) in enumerate(cliques):
        y = -0.35 * (level + 1)
        axes.plot([found.ranks[first], found.ranks[last]], [y, y], color="0.5", lw=2.5)
    base = -(len(cliques) * 0.35 + 0.6)
    for place, (name, rank) in enumerate(zip(found.names, found.ranks, strict=True)):
        left = place < half
        y = base - 0.55 * (place if left else k - 1 - place)
        end = 1 - k * 0.03 if left else k * 1.03
        axes.plot([rank, rank, end], [0, y, y], color=colour(name), lw=0.6)
        text = f"{name} {rank:.1f}" if left else f"{rank:.1f} {name}"
        axes.text(end, y, f" {text} ", ha="right" if left else "left", va="center",
                  color=colour(name), weight="bold" if name in PAPER else "normal")  # fmt: skip
    return figure


def units(study: Study, loss: str) -> Any:
    """Draw one row per learner: its loss in raw, random and standardised units."""
    found = {name: study.typical(loss, name) for name in UNITS}
    order = sorted(found["raw"], key=lambda name: -min(found["raw"][name], WORST))
    figure, axes = plt.subplots(figsize=(7, 0.2 * len(order) + 0.8))
    for name, (marker, tint) in UNITS.items():
        x = [min(found[name][learner], WORST) for learner in order]
        axes.plot(x, range(len(order)), marker, color=tint, mfc="none", ms=7, label=name)
    axes.axvline(1, color="0.7", lw=0.8)
    axes.set(
        xscale="log", xlabel="loss / loss of the best constant (geometric mean over data sets)"
    )
    labelled(axes, order)
    axes.legend(loc="upper right")
    return figure


def labelled(axes: Any, names: list[str]) -> None:
    """Label the vertical axis with the learners."""
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(-0.7, len(names) - 0.3)
    for tick, name in zip(axes.get_yticklabels(), names, strict=True):
        tick.set_color(colour(name))
    axes.grid(axis="y", lw=0.3)


def rates(study: Study, loss: str) -> Any:
    """Draw loss against learning rate; learners without a rate are flat lines."""
    figure, panels = plt.subplots(1, 2, figsize=(9, 4), sharey=True)
    for axes, kind in zip(panels, ("raw", "standardised"), strict=True):
        typical = study.typical(loss, kind, sets=study.common(loss, tuned=True))
        for number, name in enumerate(study.with_rate(loss)):
            curve = np.minimum(study.by_rate(loss, kind, name), WORST)
            style = ("-", "--", ":")[number % 3]
            axes.plot(study.rates, curve, style, color=f"C{number % 10}", lw=1, label=name)
        for name in FREE:
            level = min(typical[name], WORST)
            axes.axhline(level, color=COLOURS.get(name), lw=3, alpha=0.4, label=f"{name}: no rate")
        axes.set(xscale="log", yscale="log", title=f"{kind} units", xlabel="learning rate")
        axes.set_ylim(0.3, 12)
    panels[0].set_ylabel("loss / loss of the best constant")
    panels[1].legend(loc="center left", bbox_to_anchor=(1, 0.5), fontsize=8)
    return figure


def lengths(study: Study) -> Any:
    """Draw the loss of the first T rows: averages over the long data sets, then each data set."""
    sets = study.lengths["set"].unique(maintain_order=True).to_list()
    shown = {"average of the long ones": study.long_sets()} | {name: [name] for name in sets}
    columns = 4
    rows = -(-len(shown) // columns)
    figure, panels = plt.subplots(
        rows, columns, figsize=(11, 2.2 * rows + 0.6), sharex=True, squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for axes in panels.flat[len(shown) :]:
        axes.axis("off")
    for axes, (title, taken) in zip(panels.flat, shown.items(), strict=False):
        curves = study.by_length(taken)
        for learner in FOLLOWED:
            curve = curves.get(learner, {})
            axes.plot(list(curve), list(curve.values()), lw=1.2, color=COLOURS[learner],
                      label=learner)  # fmt: skip
        axes.axhline(1, color="0.7", lw=0.8)
        axes.set(xscale="log", yscale="log", title=title)
        axes.set_ylim(None, 3)
        axes.minorticks_off()
        lowest = axes.get_ylim()[0]
        ticks = [tick for tick in (0.05, 0.1, 0.2, 0.5, 1, 2) if tick > lowest]
        axes.set_yticks(ticks, map(str, ticks))
    for axes in panels[-1]:
        axes.set_xlabel("T")
    handles, labels = panels.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(FOLLOWED), fontsize=8)
    return figure


def growth(study: Study) -> Any:
    """Draw regret against T on logarithmic axes, with the theorems and a square root."""
    names = study.growth["set"].unique(maintain_order=True).to_list()
    figure, panels = plt.subplots(
        1, len(names), figsize=(3.4 * len(names), 4.2), squeeze=False, layout="constrained"
    )
    for axes, name in zip(panels[0], names, strict=True):
        for learner in (*FOLLOWED, "kt", "zero"):
            T, regret, bound = study.regrets(name, learner)
            tint = COLOURS[learner]
            axes.plot(T, np.where(regret > 0, regret, np.nan), "o-", ms=2.5, lw=1, color=tint,
                      label=learner)  # fmt: skip
            if learner in PAPER:
                axes.plot(T, bound, "--", lw=1, color=tint, label=f"theorem for {learner}")
        axes.plot(T, 3 * np.sqrt(T), ":", color="0.4", label="3 sqrt(T)")
        axes.set(xscale="log", yscale="log", title=name, xlabel="T")
        axes.set_ylim(1, None)
        axes.minorticks_off()
    panels[0][0].set_ylabel("regret")
    handles, labels = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=6, fontsize=8)
    return figure


def times(study: Study, loss: str) -> Any:
    """Draw the microseconds per row."""
    found = study.microseconds(loss)
    names = sorted(found, key=lambda name: -found[name])
    figure, axes = plt.subplots(figsize=(7, 0.2 * len(names) + 0.8))
    axes.plot([found[name] for name in names], range(len(names)), "o", color="C0", ms=4)
    axes.set(xscale="log", xlabel="microseconds per row (median over data sets)")
    labelled(axes, names)
    return figure
