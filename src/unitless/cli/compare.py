"""`unitless compare`: several learners on one file, in one table."""

import math
from typing import Any

from unitless.cli.options import READING, TABLE, CommandOptions, takes

DEFAULT_LEARNERS = ("blend", "coordinate", "full", "vaw", "sklearn", "vw", "river")
"""Compared by default, if they have the loss: the default learner, Algorithms 1 and 2 of the paper
(for the squared loss: VAW), and what people use."""
MAX_REGRET_VALUES = 200_000
"""Without --regret, the best fixed weights are computed for tables of up to this many values."""
MAX_FULL_WORK = 2e10
"""Rows times squared columns up to which Algorithm 2 is compared by default."""
TIMES_SLOWEST = 4
"""A rival stops after this many times a second plus the time of the slowest learner, so that all of
them take at most 20 times the time of `evaluate`."""


@takes(
    *("data", *TABLE, *READING, "learners", "units", "delay", "tune", "seed", "regret", "json"),
    "no_color",
)
def compare(options: CommandOptions) -> None:
    """Run several learners over a file, one after the other, and show the loss of each.

    By default these are the Blend, Algorithms 1 and 2 of the paper (for the squared loss, the
    Vovk-Azoury-Warmuth forecaster), scikit-learn's SGD with a scaler, and Vowpal Wabbit and River
    if they are installed. All of them predict each row before they learn it. All rows that have a
    label are kept in memory. A rival that is much slower stops early, unless it is named in
    --learners; the table says after how many rows.

    Examples:

        unitless compare houses.csv --target price
        unitless compare mails.svm --learners blend,full,ogd --units random
    """
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

    from unitless import compare as library
    from unitless.cli import screen
    from unitless.compare.rivals import RIVALS
    from unitless.escaping import escaped
    from unitless.model.decision_sentences import sentences

    names = [name.strip() for name in (options.learners or "").split(",") if name.strip()]
    chosen = _chosen(names)
    console = screen.console_of(options.no_color, options.json, error=True)
    text = TextColumn("{task.description:<30}")
    bar = screen.progress_bar(console, text, BarColumn(), MofNCompleteColumn())
    with screen.warnings_as_notes(options.json), bar:
        task = bar.add_task("reading", total=len(chosen) + 1)
        model, rows, notes = _read(options)
        if not names and len(rows) * rows.columns**2 > MAX_FULL_WORK:
            chosen.remove("full")
        regret = options.regret
        if regret is None:
            regret = len(rows) * max(rows.columns, 1) <= MAX_REGRET_VALUES
        made = library.compare(
            rows,
            chosen,
            loss=model.learner.loss.name,
            units=options.units,
            tune=options.tune,
            seed=options.seed,
            regret=regret,
            delay=options.delay or 0,
            patience=math.inf if names else TIMES_SLOWEST,
            told=lambda name: bar.update(task, description=name, advance=1),
        )
    if not names:  # that a learner lacks the loss is expected
        rivals = {name: why for name, why in made.left_out.items() if name in RIVALS}
        made = made._replace(left_out=rivals)
    if options.json:
        print(_json(made, {"decisions": sentences(model.file.decisions), "notes": notes}))
        return
    screen.show_start(screen.console_of(options.no_color), model, of_learner=False)
    print(f"\n{made}")
    if not names:
        print("more learners: --learners all, or --learners A,B,C (unitless learners --all)")
    for note in notes:
        print(f"note: {escaped(note)}")


def _chosen(names: list[str]) -> list[str]:
    """Return the learners of these names: some usual ones without a name, every one for "all"."""
    from unitless.cli.learners import check_learner
    from unitless.compare.rivals import RIVALS
    from unitless.learners import REGISTRY

    chosen = [*REGISTRY, *RIVALS] if names == ["all"] else names or [*DEFAULT_LEARNERS]
    for name in chosen:
        check_learner(name, RIVALS)
    return chosen


def _read(options: CommandOptions) -> tuple[Any, Any, list[str]]:
    """Return a new model, all rows that have a label, and notes about cells."""
    from unitless.cli.reading import labelled_rows, no_labels, odd_cell_notes, open_new
    from unitless.readers import Position

    model, blocks = open_new(options)
    parts = []
    position = Position()
    for block in blocks:
        prepared = model.prepared_block(block, grow=True)
        prepared.commit()
        for _, label in prepared.new:
            model.add_class(label)
        parts.append(prepared.rows)
        position = block.position
    rows = labelled_rows(parts)
    if not len(rows) and model.file.target is not None:
        model.file.position = position
        raise ValueError(no_labels(model, position.rows))
    return model, rows, odd_cell_notes(position, model.file.target)


def _json(made: Any, more: dict[str, object]) -> str:
    import json

    found = made._asdict() | {"best": made.best and made.best.infimum, "entries": []} | more
    del found["factors"]
    for entry in made.entries:
        there = entry.elsewhere
        found["entries"].append(entry._asdict() | {"elsewhere": there and there._asdict()})
    # JSON has no NaN, the loss of a learner that diverged.
    without_nan = json.loads(json.dumps(found), parse_constant=lambda name: None)
    return json.dumps(without_nan, indent=1)
