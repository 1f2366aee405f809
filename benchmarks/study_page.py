"""docs/study.md: tables and sentences, from the numbers of the results file.

Every sentence that judges is chosen by the numbers, so that the page cannot say what they do not.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from study_numbers import LEVEL, PAPER, Ranks, Study

LOSS = "logistic"
KINDS = {
    "logistic": "two classes, logistic loss",
    "absolute": "numbers, absolute loss",
    "squared": "numbers, squared loss",
    "softmax": "several classes, cross-entropy",
}
UNITS = ("raw", "random", "standardised")
INVARIANT = ("unit", "affine", "linear")


def write(results: Path, page: Path) -> None:
    """The page, and its figures in a folder of the same name."""
    from study_figures import draw

    study = Study(results)
    draw(study, page.with_suffix(""))
    page.write_text(text(study, page.stem))


def text(study: Study, folder: str = "study") -> str:
    """The page; figures are in the folder."""
    parts = [HEAD.format(**facts(study))]
    for title, section in SECTIONS.items():
        parts += [f"## {title}", *section(study)]
    return "\n\n".join(parts).replace("FIGURES/", f"{folder}/") + "\n"


HEAD = """# The experiments the paper promised

<!-- made by benchmarks/study.py from benchmarks/results/study.parquet: do not edit -->

Kotłowski's paper ends with a plan: to "test the introduced algorithms in computational
experiments" against gradient descent and the methods of Ross et al., Orabona et al. and Luo et al.
This is it, and more: every learner of the registry, each passing once over {streams} streams made
of {sets} data sets. Everything here is generated from one results file, which
`python benchmarks/study.py` makes again (with `--quick`, a small form of it in a minute or two).

- **Sets.** {here}{absent}
- **Rows.** At most {rows} of a set ({half} of several classes), evenly spaced in its file, in
  natural order and in {seeds} shuffled ones. Each row is predicted before its label is seen, the
  first one included.
- **Units.** Raw; random (columns times a power of two between 2^-12 and 2^12); standardised in
  hindsight (sparse sets are not centred), which no online user can do.
- **Rates.** As they come, and the best of {rates} in hindsight, for each stream anew: an oracle.
- **Needs.** Methods that must know a bound, a horizon or a radius were told those of the stream.
- **Left out, for time.** On sets of more than 1000 columns, learners that keep a matrix; on more
  than 200, and with several classes, the tuning of methods that look at all columns at once.

Losses are averages over rows and shuffled orders, divided by the loss of the best constant in
hindsight: 1 means that nothing was learned. A typical loss is their geometric mean over the sets on
which all learners ran. Measured on {date} with version {version}."""


def facts(study: Study) -> dict[str, object]:
    """What the head of the page is filled with."""
    sets = study.sets
    names = sets["set"].unique(maintain_order=True).to_list()
    streams = study.records.select("set", "loss", "order", "seed", "units").unique()
    absent = f" Not at hand, hence left out: {', '.join(study.absent)}." if study.absent else ""
    return {
        "streams": len(streams), "sets": len(names), "here": f"{', '.join(names)}.",
        "absent": absent, "rows": study.rows, "half": study.rows // 2, "seeds": study.seeds,
        "rates": f"{len(study.rates)} rates from {study.rates[0]:g} to {study.rates[-1]:g}",
        "date": study.date, "version": study.version,
    }  # fmt: skip


# What it comes to


def findings(study: Study) -> Iterator[str]:
    """The page in a few sentences."""
    raw, tuned = study.ranks(LOSS, "raw"), study.ranks(LOSS, "standardised", tuned=True)
    yield "\n".join(f"- {sentence}" for sentence in [
        about_the_best(raw), *about_the_paper(study, raw), about_other_losses(study),
        about_units(study),
        about_standardising(study, tuned), about_rates(study), about_growth(study),
        about_time(study),
    ])  # fmt: skip


def about_the_best(raw: Ranks) -> str:
    close = [
        n for n, r in zip(raw.names, raw.ranks, strict=True) if r - raw.ranks[0] <= raw.difference
    ]
    return (
        f"**Raw units, nothing tuned** ({KINDS[LOSS]}): by average rank the best is "
        f"`{raw.names[0]}` ({raw.ranks[0]:.1f}), then {listed(raw, 1, 5)}. Differences below "
        f"{raw.difference:.1f} may be chance, so {len(close)} of {len(raw.names)} learners cannot "
        "be told from the best by ranks alone."
    )


def about_the_paper(study: Study, raw: Ranks) -> Iterator[str]:
    typical = study.typical(LOSS, "raw")
    for name, title in PAPER.items():
        place, of = raw.place(name), len(raw.names)
        ahead = [n for n in raw.names[: place - 1] if study.invariance[n] in INVARIANT]
        verdict = "is the best" if place == 1 else "is not the best"
        poor = ", worse than the best constant" if typical[name] > 1 else ""
        behind = f"; ahead of it, and as free of units, are {ticked(ahead)}" if ahead else ""
        yield (
            f"**{title}** (`{name}`) {verdict}: place {place} of {of} (average rank "
            f"{raw.of(name):.1f}), a typical loss of {typical[name]:.2f} where always predicting "
            f"0 has {typical['zero']:.2f} and the best constant 1{poor}{behind}."
        )
    better = typical["scinol2"] < typical["coordinate"]
    same = "does better than" if better else "does no better than"
    yield (
        f"Their successor ScInOL 2 (`scinol2`) {same} Algorithm 1 in practice: a typical loss of "
        f"{typical['scinol2']:.2f}. What Algorithms 1 and 2 have and most of those ahead of them "
        "lack is a theorem without assumptions on scales (see [theory](theory.md)); the Blend has "
        "them as members, and so their guarantee. (The Blend and its other members were chosen "
        "with these sets at hand, the paper's algorithms were not.)"
    )


def about_other_losses(study: Study) -> str:
    parts = []
    for loss in KINDS:
        ranks = study.ranks(loss, "raw")
        paper = [f"{title} is {place(ranks, name)}" for name, title in PAPER.items()
                 if name in ranks.names]  # fmt: skip
        if loss != LOSS:
            first = f"`{ranks.names[0]}` ({ranks.ranks[0]:.1f}) before {listed(ranks, 1, 3)}"
            parts.append(f"{KINDS[loss]}: {'; '.join([first, *paper])}")
    return f"**Other losses**, raw units, nothing tuned. {'. '.join(map(capital, parts))}."


def place(ranks: Ranks, name: str) -> str:
    return f"number {ranks.place(name)} of {len(ranks.names)}"


def capital(text: str) -> str:
    return text[0].upper() + text[1:]


def about_units(study: Study) -> str:
    moved = study.moved(LOSS)
    free = [name for name in moved if study.invariance[name] in INVARIANT]
    still = [name for name in free if moved[name] == 1]
    others = sorted((moved[name] for name in moved if name not in free), reverse=True)
    unmoved = f"all {len(free)}" if len(still) == len(free) else f"{len(still)} of {len(free)}"
    worse = sum(factor > 2 for factor in others)
    return (
        f"**Units.** Of the learners that declare that units do not matter, {unmoved} have exactly "
        f"the same loss in random units as in raw ones, on every stream. Of the {len(others)} "
        f"others, {worse} have a stream on which the loss changes by more than a factor of 2, the "
        f"worst by {power(others[0])}."
    )


def about_standardising(study: Study, tuned: Ranks) -> str:
    plain, best = study.typical(LOSS, "raw"), study.typical(LOSS, "standardised", tuned=True)
    rated = sorted((name for name in study.with_rate(LOSS) if name in plain), key=best.get)
    beat = {t: [n for n in rated if best[n] < plain[t]] for t in ("full", "coordinate", "blend")}
    alone, helped = study.scores(LOSS, "raw")["blend"], study.scores(LOSS, UNITS[2], tuned=True)
    ahead = [s for s in alone if min(helped[n].get(s, np.inf) for n in rated) < alone[s]]
    return (
        "**With both oracles**, units standardised and the best rate in hindsight, the ranking is "
        f"led by {listed(tuned, 0, 4)}. Of the {len(rated)} methods with a rate, "
        f"{len(beat['coordinate'])} are then ahead of Algorithm 1 in raw units, "
        f"{len(beat['full'])} of Algorithm 2, {len(beat['blend'])} of the Blend; gradient descent "
        f"has {best['ogd']:.2f}, AdaGrad {best['adagrad']:.2f}, and the best of them is "
        f"`{rated[0]}` ({best[rated[0]]:.2f}; the Blend without help {plain['blend']:.2f}). "
        f"Set by set, the best of them is ahead of the Blend on {len(ahead)} of {len(alone)}"
        + (f": {', '.join(ahead)}." if ahead else ".")
    )


def about_rates(study: Study) -> str:
    near = {name: near_the_best(study, name) for name in ("ogd", "adagrad", "nag")}
    return (
        f"**Rates.** Of the {len(study.rates)} rates tried in raw units, {near['ogd']} are within "
        f"10 % of the loss of the best for `ogd`, {near['adagrad']} for `adagrad` and "
        f"{near['nag']} for `nag`, if all sets share one; for `ogd` the best is "
        f"{best_rate(study, 'ogd')} in raw units and {best_rate(study, 'ogd', 'standardised')} in "
        "standardised ones. Parameter-free methods are the flat lines of the figure below."
    )


def near_the_best(study: Study, name: str) -> int:
    """How many rates have a typical loss within 10 % of the best."""
    curve = study.by_rate(LOSS, "raw", name)
    return int((curve <= 1.1 * curve.min()).sum())


def best_rate(study: Study, name: str, units: str = "raw") -> str:
    """The rate with the least typical loss."""
    where = int(np.argmin(study.by_rate(LOSS, units, name)))
    edge = {0: " (the smallest tried)", len(study.rates) - 1: " (the largest tried)"}
    return f"{study.rates[where]:g}{edge.get(where, '')}"


def about_growth(study: Study) -> str:
    names = study.growth["set"].unique(maintain_order=True).to_list()
    slopes = {n: [study.slope(s, n) for s in names] for n in ("coordinate", "full", "blend")}
    shown = ", ".join(f"`{n}` {spanned(s)}" for n, s in slopes.items())
    within = all(kept(study, s, n) for s in names for n in PAPER)
    verdict = "is never above what its theorem promised" if within else "EXCEEDS its theorem"
    return (
        "**Growth.** On logarithmic axes the regret of the later half of the lengths rises with a "
        f"slope of: {shown} (the theorems have 1/2, up to logarithms; the range is over "
        f"{len(names)} sets). The regret of Algorithms 1 and 2 {verdict}, at any length."
    )


def kept(study: Study, name: str, learner: str) -> bool:
    """Whether the regret stays below its bound."""
    _, regret, bound = study.regrets(name, learner)
    return bool(np.all(regret <= bound))


def about_time(study: Study) -> str:
    times = study.microseconds(LOSS)
    slowest = max(times, key=times.__getitem__)
    return (
        f"**Time.** A row costs Algorithm 1 {times['coordinate']:.2f} µs, Algorithm 2 "
        f"{times['full']:.2f} µs, the Blend {times['blend']:.1f} µs, gradient descent "
        f"{times['ogd']:.2f} µs; the slowest is `{slowest}` with {times[slowest]:.1f} µs. None "
        "needs more than plain Numba."
    )


# Sections


def by_rank(study: Study) -> Iterator[str]:
    raw = study.ranks(LOSS, "raw")
    yield (
        f"Average ranks over {len(raw.sets)} sets ({KINDS[LOSS]}), each with the mean loss of "
        f"{study.seeds} shuffled orders. That all learners are equally good is ruled out "
        f"(Friedman's test, p = {raw.chance:.1g}); a bar joins learners whose ranks differ by less "
        f"than Nemenyi's critical difference at the level {LEVEL:g}. First, raw units and every "
        "learner as it comes:"
    )
    yield "![Critical-difference diagram, raw units](FIGURES/ranks.svg)"
    yield "With standardised units and the best rate in hindsight, for those that have one:"
    yield "![Critical-difference diagram, with both oracles](FIGURES/ranks-tuned.svg)"
    for loss in KINDS:
        yield f"### {capital(KINDS[loss])}"
        yield ranking(study, loss)


def ranking(study: Study, loss: str) -> str:
    """Ranks and typical losses, in all units, as they come and tuned."""
    ranks = {units: study.ranks(loss, units) for units in UNITS}
    tuned = {units: study.ranks(loss, units, tuned=True) for units in UNITS}
    losses = {units: study.typical(loss, units) for units in UNITS}
    best = {units: study.typical(loss, units, tuned=True) for units in UNITS}
    rated = study.with_rate(loss)
    head = ["learner", "rank, raw", "random", "standard.", "loss, raw", "random", "standard."]
    head += ["best rate: rank, raw", "standard.", "loss, raw", "standard."]
    cells = []
    for name in ranks["raw"].names:
        line = [f"**{name}**" if name in PAPER else name]
        line += [f"{ranks[units].of(name):.1f}" for units in UNITS]
        line += [amount(losses[units][name]) for units in UNITS]
        both = ("raw", "standardised")
        line += [f"{tuned[units].of(name):.1f}" if name in rated else "" for units in both]
        line += [amount(best[units][name]) if name in rated else "" for units in both]
        cells.append(line)
    return table(head, cells)


def by_units(study: Study) -> Iterator[str]:
    yield (
        "The typical loss of each learner as it comes, in three kinds of units. Where circle and "
        "cross coincide, units do not matter; a loss at the right edge is that large or larger, or "
        "the learner diverged."
    )
    yield "![Loss against units](FIGURES/units.svg)"
    moved, diverged = study.moved(LOSS), study.diverged(LOSS, "random")
    head = ["learner", "declares", "largest change of a loss", "sets on which it diverged"]
    cells = [
        [name, study.invariance[name], "none" if factor == 1 else power(factor),
         str(diverged.get(name, ""))]
        for name, factor in sorted(moved.items(), key=lambda item: (item[1], item[0]))
    ]  # fmt: skip
    yield table(head, cells)


def by_rates(study: Study) -> Iterator[str]:
    yield (
        "The typical loss if all sets share one rate. A method without a rate is a flat line: that "
        "is what parameter-free means. (Each curve is cut where its loss is 12 times that of the "
        "best constant.)"
    )
    yield "![Loss against rate](FIGURES/rates.svg)"


def by_length(study: Study) -> Iterator[str]:
    yield (
        "Regret against the best weights of the first T rows, in raw units. Two sets are drawn: "
        "five features in units from 0.01 to 100, of which a linear model explains a part. Dashed: "
        "what Theorems 1 and 2 promised. A regret below 1, or below 0, is not drawn: the Blend may "
        "beat the best fixed weights, because its members look at more than the raw features."
    )
    yield "![Growth of regret](FIGURES/growth.svg)"
    names = study.growth["set"].unique(maintain_order=True).to_list()
    learners = study.growth["learner"].unique().sort().to_list()
    cells = []
    for learner in learners:
        slopes = [study.slope(name, learner) for name in names]
        cells.append([learner, *("" if np.isnan(s) else f"{s:.2f}" for s in slopes)])
    yield "Slopes of log regret against log T, over the later half of the lengths:"
    yield table(["learner", *names], cells)


def by_bound(study: Study) -> Iterator[str]:
    shares = study.shares()
    runs, most = sum(n for n, _ in shares.values()), max(share for _, share in shares.values())
    kept = "No bound is exceeded" if most <= 1 else "A BOUND IS EXCEEDED"
    yield (
        f"{kept}: of {runs} runs (all streams and lengths) on which a theorem's assumptions hold "
        "and the best weights in hindsight are known, the one that came nearest used "
        f"{most:.0%} of what its theorem allows."
    )
    yield table(
        ["learner", "runs", "most of its bound that was used"],
        [[name, str(n), f"{share:.0%}"] for name, (n, share) in shares.items()],
    )


def by_order(study: Study) -> Iterator[str]:
    yield (
        "In their natural order rows are related to those before, or sorted by class; shuffled, "
        "they are not. Loss in natural order over that in shuffled order (raw units, geometric "
        "mean over sets), and the spread over shuffled orders: standard deviation over mean."
    )
    natural, shuffled = study.typical(LOSS, "raw", order="natural"), study.typical(LOSS, "raw")
    cells = []
    for name in study.ranks(LOSS, "raw").names:
        ratio = natural[name] / shuffled[name]
        spread = study.spread(LOSS, name)
        cells.append([name, f"{ratio:.2f}" if np.isfinite(ratio) else "diverged",
                      f"{100 * spread:.1f} %" if np.isfinite(spread) else "diverged"])  # fmt: skip
    yield table(["learner", "natural / shuffled", "spread"], cells)


def by_set(study: Study) -> Iterator[str]:
    shown = ("coordinate", "full", "scinol2", "nag", "adagrad", "ogd", "blend")
    yield (
        "Loss over that of the best constant, in raw units and shuffled order, as they come; "
        "beside it the best weights in hindsight, the best learner, and the best of those with a "
        "rate tuned in hindsight and units standardised."
    )
    for loss in KINDS:
        raw, tuned = study.scores(loss, "raw"), study.scores(loss, "standardised", tuned=True)
        names = [name for name in shown if name in raw]
        cells = []
        for row in study.sets.filter(loss=loss).iter_rows(named=True):
            best = min((n for n in raw if row["set"] in raw[n]), key=lambda n: raw[n][row["set"]])
            rated = [n for n in study.with_rate(loss) if row["set"] in tuned.get(n, {})]
            helped = min(rated, key=lambda n: tuned[n][row["set"]])
            hindsight = "" if row["best"] is None else amount(row["best"] / row["constant"])
            cells.append([
                row["set"], str(row["rows"]), str(row["columns"]),
                *(amount(raw[name].get(row["set"], np.nan)) for name in names), hindsight,
                f"{best} {amount(raw[best][row['set']])}",
                f"{helped} {amount(tuned[helped][row['set']])}",
            ])  # fmt: skip
        yield f"### {capital(KINDS[loss])}"
        head = ["set", "n", "d", *names, "in hindsight", "best", "best with both oracles"]
        yield table(head, cells)


def by_time(study: Study) -> Iterator[str]:
    yield (
        "The fastest of all orders on each set, then the median over sets; one thread, kernels "
        "compiled, rows in memory."
    )
    yield "![Microseconds a row](FIGURES/times.svg)"
    cells = [[name, f"{time:.2f}"] for name, time in study.microseconds(LOSS).items()]
    yield table(["learner", "µs a row"], cells)


SECTIONS: dict[str, Callable[[Study], Iterator[str]]] = {
    "What it comes to": findings,
    "Who is best": by_rank,
    "Loss against units": by_units,
    "Loss against rate": by_rates,
    "Growth of regret": by_length,
    "Bounds": by_bound,
    "Order, and spread": by_order,
    "Set by set": by_set,
    "Time a row": by_time,
}


# Words


def listed(found: Ranks, start: int, stop: int) -> str:
    """Some of the ranking, with ranks."""
    pairs = list(zip(found.names, found.ranks, strict=True))[start:stop]
    return ", ".join(f"`{name}` ({rank:.1f})" for name, rank in pairs)


def ticked(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def spanned(values: list[float]) -> str:
    """The range of numbers, of those that are known."""
    known = [value for value in values if np.isfinite(value)]
    return f"{min(known):.2f} to {max(known):.2f}" if known else "unknown"


def amount(value: float) -> str:
    """A relative loss."""
    if np.isnan(value):
        return ""
    return "diverged" if np.isinf(value) else f"{value:.3f}" if value < 100 else power(value)


def power(value: float) -> str:
    """A factor, in full while it is small."""
    return "divergence" if np.isinf(value) else f"{value:.3g}"


def table(head: list[str], cells: list[list[str]]) -> str:
    """A table in Markdown."""
    rows = [head, ["---"] * len(head), *cells]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
