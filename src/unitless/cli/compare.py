"""`unitless compare`: several learners on one file, in one table."""

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from unitless.cli.options import (
    LEARNING,
    ColumnOptions,
    Json,
    NoColor,
    ReadingOptions,
    TaskOptions,
    data_argument,
    option,
    takes,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from unitless.compare import Comparison
    from unitless.rows import Rows

FULL_WIDTH = 110
"""Characters of a line that the whole table needs."""
DEFAULT_LEARNERS = ("blend", "coordinate", "full", "vaw", "newton", "scinol2", "nag", "ogd", "zero")
"""Compared by default, as far as they support the loss."""
MAX_REGRET_VALUES = 2_000_000
"""Without --regret, the best fixed weights are computed for tables of up to this many values."""


@dataclass(kw_only=True)
class CompareOptions(ReadingOptions, TaskOptions, ColumnOptions):
    """The options of `compare`."""

    data: str = data_argument()
    learners: str = option(
        LEARNING,
        "",
        "A,B,C",
        "Learners by name, separated by commas; all for every learner (default: the most useful).",
    )
    units: Literal["random"] | None = option(
        LEARNING,
        None,
        "random",
        "Repeat the comparison with columns in other units (multiplied by powers of two).",
    )
    tune: bool = option(
        LEARNING, False, None, "Add the best learning rate in hindsight for methods that have one."
    )
    seed: int = option(LEARNING, 0, "N", "Seed of the random units.")
    regret: Annotated[
        bool | None,
        typer.Option(
            "--regret/--no-regret",
            help="Compute the best fixed weights in hindsight and the regret against them "
            "(default: only for small files, because it may take long).",
            rich_help_panel=LEARNING,
        ),
    ] = None
    json: Json = False
    no_color: NoColor = False


@takes(CompareOptions)
def compare(options: CompareOptions) -> None:
    """Run several learners over a file, one after the other, and show the loss of each.

    All rows that have a label are kept in memory.

    [dim]Examples:[/dim]

    unitless compare houses.csv --target price

    unitless compare mails.svm --learners blend,full,nag,ogd --units random --tune
    """
    from unitless import compare as library
    from unitless.cli.reading import new_blocks
    from unitless.cli.screen import warnings_as_notes

    blocks = new_blocks(options.data, options.reading(), options, options, options.task)
    with warnings_as_notes(options.json):
        rows, loss = _read(blocks, options)
        names, is_default = _names(options.learners, loss)
        regret = options.regret
        if regret is None:
            regret = len(rows) * max(rows.columns, 1) <= MAX_REGRET_VALUES
        with _progress(options.json, len(names)) as told:
            made = library.compare(
                rows,
                names,
                loss=loss,
                units=options.units,
                tune=options.tune,
                seed=options.seed,
                regret=regret,
                told=told,
            )
    if options.json:
        print(_json(made))
    else:
        _show(made, options.no_color)
        if is_default:
            print("more learners: --learners all, or --learners A,B,C (unitless learners --all)")


def _names(given: str, loss: str) -> tuple[list[str], bool]:
    """Return the names of the learners, and whether they are the default."""
    from unitless.cli.learners import check_learner
    from unitless.learners import REGISTRY, get

    names = [name.strip() for name in given.split(",") if name.strip()]
    if names == ["all"]:
        return list(REGISTRY), False
    for name in names:
        check_learner(name)
    if names:
        return names, False
    supported = []
    for name in DEFAULT_LEARNERS:
        try:
            get(name)("logistic" if loss == "softmax" else loss)
        except ValueError:
            continue
        supported.append(name)
    return supported, True


# The file


def _read(blocks: "Iterator[Any]", options: CompareOptions) -> "tuple[Rows, str]":
    """Return all rows that have a label, and the loss."""
    from itertools import chain

    from unitless.cli.labelled import labelled_rows
    from unitless.model import Model

    first = next(blocks)
    model = Model.from_first_block(
        first,
        learner="blend",
        target=options.target,
        task=options.task,
        loss=options.loss,
        weight=options.weight,
        ignore=options.ignore or (),
        keep=options.keep or (),
        columns=options.columns(),
    )
    parts = []
    for block in chain([first], blocks):
        prepared = model.prepared(block)
        for _, label in prepared.new:
            model.add_class(label)
        parts.append(prepared.rows)
    return labelled_rows(parts), model.learner.loss.name


# The table


@contextmanager
def _progress(quiet: bool, total: int) -> "Iterator[Any]":
    """Show a progress bar on a terminal; yields the function that is told each name."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    from unitless.cli.screen import console_of

    console = console_of(quiet=quiet, error=True)
    columns = TextColumn("{task.description:<30}"), BarColumn(), MofNCompleteColumn()
    disable = quiet or not console.is_terminal
    with Progress(*columns, console=console, transient=True, disable=disable) as bar:
        task = bar.add_task("reading", total=total + 1)

        def told(name: str) -> None:
            bar.update(task, description=name, advance=1)

        yield told


def _show(made: "Comparison", no_color: bool) -> None:
    from unitless.cli.screen import console_of

    console = console_of(no_color)
    if not console.is_terminal:  # a pipe has no width
        print(made)
        return
    wide = console.width >= FULL_WIDTH
    console.print(_table(made, wide))
    given = [] if wide else [f"{line[1]}: {line[-1]}" for line in made.cells()[1:] if line[-1]]
    for note in (*given, *made.notes()):
        console.print(note, style="dim")


def _table(made: "Comparison", wide: bool) -> "Table":
    """Return the table; on a narrow terminal without its last column, so that nothing is cut."""
    from rich.table import Table
    from rich.text import Text

    head, *lines = (line if wide else line[:-1] for line in made.cells())
    table = Table(box=None, header_style="bold", padding=(0, 1), collapse_padding=True)
    for heading in head:
        left = heading in ("learner", "given")
        folded = heading.replace(" ", "\n")
        table.add_column(folded, justify="left" if left else "right", no_wrap=heading != "given")
    for line in lines:
        table.add_row(*(Text(cell) for cell in line))
    return table


def _json(made: "Comparison") -> str:
    import json
    import math

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {str(key): plain(one) for key, one in value.items()}
        return None if isinstance(value, float) and math.isnan(value) else value

    entries = []
    for entry in made.entries:
        there = entry.elsewhere
        record = entry._asdict() | {"elsewhere": None if there is None else there._asdict()}
        entries.append(plain(record))
    best = None if made.best is None else made.best.infimum
    return json.dumps(
        {
            "loss": made.loss,
            "rows": made.rows,
            "columns": made.columns,
            "best": best,
            "entries": entries,
            "left_out": made.left_out,
        },
        indent=1,
    )
