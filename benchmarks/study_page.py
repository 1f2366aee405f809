"""Write docs/explanation/study.md: tables and sentences, from the numbers of the results file.

Every sentence that states a result is chosen by the numbers, so that the page cannot disagree with
them.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from study_numbers import LEVEL, LONGEST_BROAD, PAPER, SMOOTH, SON, SON_C, Ranks, Study

LOSS = "logistic"
KINDS = {
    "logistic": "two classes, logistic loss",
    "absolute": "regression, absolute loss",
    "squared": "regression, squared loss",
    "softmax": "more than two classes, cross-entropy",
}
UNITS = ("raw", "random", "standardised")
INVARIANT = ("unit", "affine", "linear")


def write(results: Path, page: Path) -> None:
    """Write the page, and its figures into a folder of the same name."""
    from study_figures import draw

    study = Study(results)
    draw(study, page.with_suffix(""))
    page.write_text(text(study, page.stem))


def text(study: Study, folder: str = "study") -> str:
    """Return the text of the page; its figures are in the folder."""
    parts = [HEAD.format(**facts(study))]
    for title, section in SECTIONS.items():
        parts += [f"## {title}", *section(study)]
    return "\n\n".join(parts).replace("FIGURES/", f"{folder}/") + "\n"


HEAD = """# The study: every learner on every data set

<!-- made by benchmarks/study.py from benchmarks/results/study.parquet: do not edit -->

Kotłowski's paper ends with a plan to "test the introduced algorithms in the computational
experiments" and to compare them with gradient descent and with the methods of Ross et al.,
Orabona et al. and Luo et al. This page reports such experiments. Every learner of the registry
makes one pass over {streams} streams, which are made from {sets} data sets.{not_run} The page is
generated from one results file. `python benchmarks/study.py` repeats the experiments, and with
`--quick` it runs a small version in a minute or two.

- **Data sets.** {here}{absent}
- **Rows.** All rows of each data set, but at most {rows}, and at most {broad} if it has more than
  60 columns; then they are evenly spaced in the file. There is one run in natural order, in raw
  units. All other runs are in {orders}. Each row is predicted before its label is used, including
  the first one.
- **Units.** *Raw* units are those of the file. In *random* units each column is multiplied by a
  power of two between 2^-12 and 2^12. *Standardised* columns have mean 0 and variance 1 (columns
  of sparse data sets are not centred). Standardising needs the whole data set, so no online user
  can do it.
- **Learning rates.** Each learner runs with its default. In raw and in standardised units,
  learners with a learning rate also run with {rates}. The *best rate* is the best of these in
  hindsight, chosen for each stream, which is an oracle.
- **The Blend.** Here it is `Blend(views="smooth")`, written `blend, smooth`. The default Blend also
  has trees and pairs of bins, and this study has not run it:
  [Measurements](measurements.md) has its figures.
- **Sketched Online Newton.** `son` has its default rate. `son, rate sqrt(d)` has the rate of the
  paper by Luo et al. (two classes only); its *best rate* columns are for the best of {C_values} of
  C in hindsight. Otherwise C is the largest absolute prediction of the best weights in hindsight,
  or 1 where there are no best weights.
- **A reconstruction.** `nda` is normalised dual averaging, after Orabona, Crammer and
  Cesa-Bianchi. It was rebuilt from the regret bound in their paper and may differ from the
  algorithm that they ran.
- **Prior knowledge.** Methods that must know a bound, a horizon or a radius in advance received
  the true values of the stream.
- **Left out to save time.** On data sets with more than 1000 columns, learners that keep a
  matrix. With more than 60 columns or more than two classes, the tuning of methods that use all
  columns of each row.

Losses are averages over the rows, divided by the loss of the best constant
prediction in hindsight: 1 means that nothing was learned. The *typical loss* of a learner is
the geometric mean over the data sets on which all learners ran. Measured on {date} with version
{version}."""


def facts(study: Study) -> dict[str, object]:
    """Return the values for the head of the page."""
    sets = study.sets
    names = sets["set"].unique(maintain_order=True).to_list()
    streams = study.records.select("set", "loss", "order", "seed", "units").unique()
    later = ticked(study.not_run())
    absent = f" Not available, hence left out: {', '.join(study.absent)}." if study.absent else ""
    return {
        "streams": len(streams), "sets": len(names), "here": f"{', '.join(names)}.",
        "not_run": f" Learners that were added later did not run: {later}." if later else "",
        "absent": absent, "rows": study.rows, "broad": min(study.rows, LONGEST_BROAD),
        "orders": "one shuffled order" if study.seeds == 1 else f"{study.seeds} shuffled orders",
        "C_values": f"{len(SON_C)} values ({SON_C[0]:g} to {SON_C[-1]:g})",
        "rates": f"{len(study.rates)} rates from {study.rates[0]:g} to {study.rates[-1]:g}",
        "date": study.date, "version": study.version,
    }  # fmt: skip


# What it comes to


def findings(study: Study) -> Iterator[str]:
    """Summarise the page in a few sentences."""
    raw, tuned = study.ranks(LOSS, "raw"), study.ranks(LOSS, "standardised", tuned=True)
    yield "\n".join(f"- {sentence}" for sentence in [
        about_the_best(study, raw), *about_the_paper(study, raw), about_length(study),
        about_newton(study), about_other_losses(study), about_units(study),
        about_standardising(study, tuned), about_rates(study), about_growth(study),
        about_time(study),
    ])  # fmt: skip


def about_the_best(study: Study, raw: Ranks) -> str:
    typical = study.typical(LOSS, "raw")
    first = sorted(typical, key=typical.__getitem__)[:3]
    lowest = ", ".join(f"`{name}` ({typical[name]:.3f})" for name in first)
    close = [
        n for n, r in zip(raw.names, raw.ranks, strict=True) if r - raw.ranks[0] <= raw.difference
    ]
    return (
        f"**Raw units, no tuning** ({KINDS[LOSS]}). By average rank, `{raw.names[0]}` is the best "
        f"learner ({raw.ranks[0]:.1f}), followed by {listed(raw, 1, 5)}. Differences below "
        f"{raw.difference:.1f} may be due to chance, so by ranks alone {len(close)} of "
        f"{len(raw.names)} learners (the best included) cannot be distinguished from the best. The "
        f"lowest typical losses are those of {lowest}."
    )


def about_the_paper(study: Study, raw: Ranks) -> Iterator[str]:
    typical = study.typical(LOSS, "raw")
    for name, title in PAPER.items():
        place, of = raw.place(name), len(raw.names)
        ahead = [n for n in raw.names[: place - 1] if study.declared(n) in INVARIANT]
        verdict = "is the best" if place == 1 else "is not the best"
        better = f" Scale-invariant learners with a better rank: {ticked(ahead)}." if ahead else ""
        yield (
            f"**{title}** (`{name}`) {verdict}. It is number {place} of {of} (average rank "
            f"{raw.of(name):.1f}), with a typical loss of {typical[name]:.2f}. For comparison, the "
            f"best constant has 1 and always predicting 0 has {typical['zero']:.2f}.{better}"
        )
    better = typical["scinol2"] < typical["coordinate"]
    comparison = "better than" if better else "no better than"
    yield (
        f"ScInOL 2 (`scinol2`), a later algorithm of the same family, is {comparison} Algorithm 1 "
        f"in practice, with a typical loss of {typical['scinol2']:.2f}. Unlike most of the "
        "learners ahead of them, Algorithms 1 and 2 have a regret bound without assumptions on "
        "scales (see [theory](theory.md)). For the logistic loss they are members of the Blend, "
        "which therefore has their guarantees. Note that the Blend and its other members were "
        "chosen on these data sets; the algorithms of the paper were not."
    )


def about_length(study: Study) -> str:
    sets, curves = study.long_sets(), study.by_length(study.long_sets())
    lengths = list(curves["coordinate"])
    shown = [lengths[0], lengths[len(lengths) // 2], lengths[-1]]
    titles = {"coordinate": "Algorithm 1", "full": "Algorithm 2", "nag": "`nag`"}
    titles |= {"coordinate2": "Algorithm 2 per coordinate", SMOOTH: f"`{SMOOTH}`"}
    parts = [
        f"{title} {', '.join(f'{curves[name][T]:.2f}' for T in shown)}"
        for name, title in titles.items()
    ]
    below = [T for T, loss in curves["coordinate"].items() if loss < 1]
    since = f"from {below[0]} rows on" if below else "at no length"
    return (
        f"**Short and long streams.** On the {len(sets)} data sets with at least {shown[-1]} rows, "
        f"the typical losses over the first {shown[0]}, {shown[1]} and {shown[2]} rows are: "
        f"{'; '.join(parts)}. Algorithm 1 is better than the best constant {since}."
    )


def about_newton(study: Study) -> str:
    plain, best = study.typical(LOSS, "raw"), study.typical(LOSS, "raw", tuned=True)
    standard = study.typical(LOSS, "standardised", tuned=True)
    return (
        f"**Sketched Online Newton** (`son`) has a typical loss of {plain['son']:.2f} with its "
        f"default rate, {plain[SON]:.2f} with the rate sqrt(d) of its paper (both know the true "
        f"C), {best[SON]:.2f} with that rate and the C that gives the smallest loss, and "
        f"{standard[SON]:.2f} if the units are standardised as well. Algorithm 2, which needs no "
        f"C, has {plain['full']:.2f}."
    )


def about_other_losses(study: Study) -> str:
    parts = []
    for loss in KINDS:
        ranks = study.ranks(loss, "raw")
        paper = [f"{title} is {place(ranks, name)}" for name, title in PAPER.items()
                 if name in ranks.names]  # fmt: skip
        if loss != LOSS:
            first = f"`{ranks.names[0]}` ({ranks.ranks[0]:.1f}), then {listed(ranks, 1, 3)}"
            parts.append(f"{KINDS[loss]}: {'; '.join([first, *paper])}")
    return f"**Other losses**, raw units, no tuning. {'. '.join(map(capital, parts))}."


def place(ranks: Ranks, name: str) -> str:
    return f"number {ranks.place(name)} of {len(ranks.names)}"


def capital(text: str) -> str:
    return text[0].upper() + text[1:]


def about_units(study: Study) -> str:
    moved = study.moved(LOSS)
    free = [name for name in moved if study.declared(name) in INVARIANT]
    still = [name for name in free if moved[name] == 1]
    others = sorted((moved[name] for name in moved if name not in free), reverse=True)
    unmoved = f"all {len(free)}" if len(still) == len(free) else f"{len(still)} of {len(free)}"
    worse = sum(factor > 2 for factor in others)
    return (
        f"**Units.** Of the learners that are declared scale-invariant, {unmoved} have exactly the "
        f"same loss in random units as in raw units, on every stream. Of the {len(others)} others, "
        f"{worse} have a stream on which the loss changes by more than a factor of 2. The largest "
        f"change is a factor of {power(others[0])}."
    )


def about_standardising(study: Study, tuned: Ranks) -> str:
    plain, best = study.typical(LOSS, "raw"), study.typical(LOSS, "standardised", tuned=True)
    rated = sorted((name for name in study.with_oracle(LOSS) if name in plain), key=best.get)
    beat = {t: [n for n in rated if best[n] < plain[t]] for t in ("full", "coordinate", SMOOTH)}
    alone, helped = study.scores(LOSS, "raw")[SMOOTH], study.scores(LOSS, UNITS[2], tuned=True)
    ahead = [s for s in alone if min(helped[n].get(s, np.inf) for n in rated) < alone[s]]
    return (
        "**With both oracles**, that is, with standardised units and the best learning rate in "
        f"hindsight, the best learners are {listed(tuned, 0, 4)}. Of the {len(rated)} methods with "
        f"something to tune, {len(beat['coordinate'])} then have a lower typical loss than "
        f"Algorithm 1 in raw units, {len(beat['full'])} a lower one than Algorithm 2, and "
        f"{len(beat[SMOOTH])} a lower one than the Blend. Gradient descent has {best['ogd']:.2f}, "
        f"AdaGrad {best['adagrad']:.2f}, and the best of these methods, `{rated[0]}`, has "
        f"{best[rated[0]]:.2f}. The Blend without any oracle has {plain[SMOOTH]:.2f}. On single "
        f"data sets, the best method with both oracles is ahead of the Blend on {len(ahead)} of "
        f"{len(alone)}" + (f": {', '.join(ahead)}." if ahead else ".")
    )


def about_rates(study: Study) -> str:
    near = {name: near_the_best(study, name) for name in ("ogd", "adagrad", "nag")}
    return (
        "**Learning rates.** Suppose that all data sets share one learning rate. Of the "
        f"{len(study.rates)} rates tried in raw units, {near['ogd']} give a loss within 10 % of "
        f"the best for `ogd`, {near['adagrad']} for `adagrad` and {near['nag']} for `nag`. The "
        f"best rate for `ogd` is {best_rate(study, 'ogd')} in raw units and "
        f"{best_rate(study, 'ogd', 'standardised')} in standardised units. Parameter-free methods "
        "are the flat lines of the figure below."
    )


def near_the_best(study: Study, name: str) -> int:
    """Return how many rates have a typical loss within 10 % of the best."""
    curve = study.by_rate(LOSS, "raw", name)
    return int((curve <= 1.1 * curve.min()).sum())


def best_rate(study: Study, name: str, units: str = "raw") -> str:
    """Return the rate with the smallest typical loss."""
    where = int(np.argmin(study.by_rate(LOSS, units, name)))
    edge = {0: " (the smallest tried)", len(study.rates) - 1: " (the largest tried)"}
    return f"{study.rates[where]:g}{edge.get(where, '')}"


def about_growth(study: Study) -> str:
    names = study.growth["set"].unique(maintain_order=True).to_list()
    slopes = {n: [study.slope(s, n) for s in names] for n in ("coordinate", "full", SMOOTH)}
    shown = ", ".join(f"`{n}` {spanned(s)}" for n, s in slopes.items())
    within = all(kept(study, s, n) for s in names for n in PAPER)
    verdict = "never exceeds the bound" if within else "EXCEEDS the bound"
    return (
        "**Growth of regret.** Over the second half of the stream lengths, and on logarithmic "
        f"axes, the regret grows with these slopes: {shown}. The theorems have a slope of 1/2, up "
        f"to logarithms; the ranges are over {len(names)} data sets. The regret of Algorithms 1 "
        f"and 2 {verdict} of its theorem, at any length."
    )


def kept(study: Study, name: str, learner: str) -> bool:
    """Return whether the regret stays below its bound."""
    _, regret, bound = study.regrets(name, learner)
    return bool(np.all(regret <= bound))


def about_time(study: Study) -> str:
    times = study.microseconds(LOSS)
    slowest = max(times, key=times.__getitem__)
    return (
        "**Time per row** (of the processor). Algorithm 1 takes "
        f"{times['coordinate']:.2f} µs, Algorithm 2 {times['full']:.2f} µs, the Blend "
        f"{times[SMOOTH]:.1f} µs and gradient descent {times['ogd']:.2f} µs. The slowest learner "
        f"is `{slowest}` with {times[slowest]:.1f} µs."
    )


# Sections


def by_rank(study: Study) -> Iterator[str]:
    yield (
        "The learners are ranked on each data set by their loss in shuffled order, and the ranks "
        "are averaged. In the diagrams, a bar joins learners whose ranks differ by less than "
        f"Nemenyi's critical difference at the level {LEVEL:g}: such a difference may be due to "
        "chance. With few data sets the critical difference is large, and the diagram separates "
        "only the extremes. In the tables, *loss* is the typical loss, and *standard.* stands for "
        "standardised units."
    )
    for loss in (kind for kind in KINDS if kind in study.sets["loss"]):
        found = study.ranks(loss, "raw")
        verdict = "rejects" if found.chance < LEVEL else "does not reject"
        yield f"### {capital(KINDS[loss])}"
        yield (
            f"{len(found.names)} learners on {len(found.sets)} data sets. Friedman's test "
            f"{verdict} the hypothesis that all learners are equally good "
            f"(p = {found.chance:.1g}). The critical difference is {found.difference:.1f} ranks. "
            "Raw units and default parameters:"
        )
        yield f"![Critical-difference diagram, {loss} loss, raw units](FIGURES/ranks-{loss}.svg)"
        if loss == LOSS:
            yield "Standardised units and the best learning rate in hindsight:"
            yield "![Critical-difference diagram, with both oracles](FIGURES/ranks-tuned.svg)"
        yield ranking(study, loss)


def ranking(study: Study, loss: str) -> str:
    """Tabulate ranks and typical losses in all units, with default and with tuned rates."""
    ranks = {units: study.ranks(loss, units) for units in UNITS}
    both = ("raw", "standardised")
    tuned = {units: study.ranks(loss, units, tuned=True) for units in both}
    losses = {units: study.typical(loss, units) for units in UNITS}
    best = {units: study.typical(loss, units, tuned=True) for units in both}
    rated = study.with_oracle(loss)
    head = ["learner", "rank, raw", "random", "standard.", "loss, raw", "random", "standard."]
    head += ["best rate: rank, raw", "standard.", "loss, raw", "standard."]
    cells = []
    for name in ranks["raw"].names:
        line = [f"**{name}**" if name in PAPER else name]
        line += [f"{ranks[units].of(name):.1f}" for units in UNITS]
        line += [amount(losses[units][name]) for units in UNITS]
        line += [f"{tuned[units].of(name):.1f}" if name in rated else "" for units in both]
        line += [amount(best[units][name]) if name in rated else "" for units in both]
        cells.append(line)
    return table(head, cells)


def by_units(study: Study) -> Iterator[str]:
    yield (
        "The figure shows the typical loss of each learner with default parameters, in three kinds "
        "of units. Where circle and cross coincide, units do not matter. A loss at the right edge "
        "is that large or larger, or the learner diverged. In the table, *invariance* is what the "
        "learner declares: unit and linear are scale-invariant, rotation and none are not."
    )
    yield "![Loss against units](FIGURES/units.svg)"
    moved, diverged = study.moved(LOSS), study.diverged(LOSS, "random")
    head = ["learner", "invariance", "largest change of a loss", "data sets on which it diverged"]
    cells = [
        [name, study.declared(name), "none" if factor == 1 else power(factor),
         str(diverged.get(name, ""))]
        for name, factor in sorted(moved.items(), key=lambda item: (item[1], item[0]))
    ]  # fmt: skip
    yield table(head, cells)


def by_rates(study: Study) -> Iterator[str]:
    yield (
        "The figure shows the typical loss if all data sets share one learning rate. Methods "
        "without a learning rate are flat lines. Curves end where the loss is 12 times that of the "
        "best constant."
    )
    yield "![Loss against rate](FIGURES/rates.svg)"


def by_length(study: Study) -> Iterator[str]:
    sets, curves = study.long_sets(), study.by_length(study.long_sets())
    lengths = [T for T in next(iter(curves.values())) if T.bit_length() % 2]
    yield (
        "The figure shows the average loss of the first T rows, divided by that of the best "
        f"constant for the whole data set ({KINDS[LOSS]}, raw units, shuffled order, default "
        "parameters). The first panel and the table are geometric means over the "
        f"{len(sets)} data sets with at least {lengths[-1]} rows: {', '.join(sets)}. The loss "
        "includes the first rows, on which every learner still knows nothing, so a short stream "
        "favours learners that start fast. Losses above 3 are not shown."
    )
    yield "![Loss against the number of rows](FIGURES/lengths.svg)"
    cells = [
        [name, *(amount(curve[T]) for T in lengths)]
        for name, curve in sorted(curves.items(), key=lambda item: item[1][lengths[-1]])
    ]
    yield table(["learner", *(f"{T} rows" for T in lengths)], cells)


def by_growth(study: Study) -> Iterator[str]:
    yield (
        "The figure shows the regret against the best weights of the first T rows, in raw units. "
        "Two of the data sets, *drawn signs* and *drawn numbers*, are random: five features in "
        "units from 0.01 to 100, and targets that a linear model explains in part. Dashed lines "
        "are the bounds of Theorems 1 and 2. A regret below 1 is not shown. The Blend can have a "
        "negative regret, because its members use more than the raw features."
    )
    yield "![Growth of regret](FIGURES/growth.svg)"
    names = study.growth["set"].unique(maintain_order=True).to_list()
    learners = study.growth["learner"].unique().sort().to_list()
    cells = []
    for learner in learners:
        slopes = [study.slope(name, learner) for name in names]
        cells.append([learner, *("" if np.isnan(s) else f"{s:.2f}" for s in slopes)])
    yield "Slopes of log regret against log T, over the second half of the lengths:"
    yield table(["learner", *names], cells)


def by_bound(study: Study) -> Iterator[str]:
    shares = study.shares()
    runs, most = sum(n for n, _ in shares.values()), max(share for _, share in shares.values())
    kept = "No bound is exceeded" if most <= 1 else "A BOUND IS EXCEEDED"
    yield (
        f"{kept}. There are {runs} runs (streams and lengths) for which the assumptions of a "
        "theorem hold and the best weights in hindsight are known. In these runs the largest ratio "
        f"of a regret to its bound is {most:.0%}."
    )
    yield table(
        ["learner", "runs", "largest regret / bound"],
        [[name, str(n), f"{share:.0%}"] for name, (n, share) in shares.items()],
    )


def by_order(study: Study) -> Iterator[str]:
    yield (
        "In natural order, rows may depend on the rows before them or be sorted by class. The "
        "table shows the ratio of the loss in natural order to the loss in shuffled order (raw "
        "units, geometric mean over data sets)."
    )
    natural, shuffled = study.typical(LOSS, "raw", order="natural"), study.typical(LOSS, "raw")
    cells = []
    for name in study.ranks(LOSS, "raw").names:
        ratio = natural[name] / shuffled[name]
        cells.append([name, f"{ratio:.2f}" if np.isfinite(ratio) else "diverged"])
    yield table(["learner", "natural / shuffled"], cells)


def by_set(study: Study) -> Iterator[str]:
    shown = ("coordinate", "coordinate2", "full", "scinol2", "nag", "adagrad", "ogd", SMOOTH)
    yield (
        "The tables show the loss divided by that of the best constant, in raw units, shuffled "
        "order and with default parameters. The last columns show the best fixed weights in "
        "hindsight, the best learner, and the best learner with a tuned learning rate and "
        "standardised units."
    )
    for loss in KINDS:
        raw, tuned = study.scores(loss, "raw"), study.scores(loss, "standardised", tuned=True)
        names = [name for name in shown if name in raw]
        cells = []
        for row in study.sets.filter(loss=loss).iter_rows(named=True):
            best = min((n for n in raw if row["set"] in raw[n]), key=lambda n: raw[n][row["set"]])
            rated = [n for n in study.with_oracle(loss) if row["set"] in tuned.get(n, {})]
            helped = min(rated, key=lambda n: tuned[n][row["set"]])
            hindsight = "" if row["best"] is None else amount(row["best"] / row["constant"])
            cells.append([
                row["set"], str(row["rows"]), str(row["columns"]),
                *(amount(raw[name].get(row["set"], np.nan)) for name in names), hindsight,
                f"{best} {amount(raw[best][row['set']])}",
                f"{helped} {amount(tuned[helped][row['set']])}",
            ])  # fmt: skip
        yield f"### {capital(KINDS[loss])}"
        head = ["data set", "n", "d", *names, "in hindsight", "best", "best with both oracles"]
        yield table(head, cells)


def by_time(study: Study) -> Iterator[str]:
    yield (
        "For each data set the time is that of the fastest order; the table shows the median over "
        "data sets. One thread was used, the kernels were compiled and the rows were in memory."
    )
    yield "![Microseconds per row](FIGURES/times.svg)"
    cells = [[name, f"{time:.2f}"] for name, time in study.microseconds(LOSS).items()]
    yield table(["learner", "µs per row"], cells)


SECTIONS: dict[str, Callable[[Study], Iterator[str]]] = {
    "Summary": findings,
    "Ranking": by_rank,
    "Loss and units": by_units,
    "Loss and learning rate": by_rates,
    "Short and long streams": by_length,
    "Growth of regret": by_growth,
    "Regret bounds": by_bound,
    "Order of the rows": by_order,
    "Results per data set": by_set,
    "Time per row": by_time,
}


# Words


def listed(found: Ranks, start: int, stop: int) -> str:
    """Format part of the ranking, with average ranks."""
    pairs = list(zip(found.names, found.ranks, strict=True))[start:stop]
    return ", ".join(f"`{name}` ({rank:.1f})" for name, rank in pairs)


def ticked(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def spanned(values: list[float]) -> str:
    """Format the range of the finite values."""
    known = [value for value in values if np.isfinite(value)]
    return f"{min(known):.2f} to {max(known):.2f}" if known else "unknown"


def amount(value: float) -> str:
    """Format a relative loss."""
    if np.isnan(value):
        return ""
    return "diverged" if np.isinf(value) else f"{value:.3f}" if value < 100 else power(value)


def power(value: float) -> str:
    """Format a factor with three digits."""
    return "divergence" if np.isinf(value) else f"{value:.3g}"


def table(head: list[str], cells: list[list[str]]) -> str:
    """Format a table in Markdown."""
    rows = [head, ["---"] * len(head), *cells]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)
