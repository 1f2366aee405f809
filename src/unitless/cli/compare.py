"""`unitless compare`: many learners over one file, one table."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from unitless.cli import options as o

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.table import Table

    from unitless.compare import Comparison
    from unitless.rows import Rows

WIDE = 110
"""Characters of a line in which the whole table has room."""

Learners = Annotated[
    str,
    typer.Option(
        metavar="A,B,C", help="Learners by name; by default all that take the loss.",
        rich_help_panel=o.LEARNING,
    ),
]  # fmt: skip
Units = Annotated[
    Literal["random"] | None,
    typer.Option(
        help="Repeat it with columns multiplied by powers of two, and show who moved.",
        rich_help_panel=o.LEARNING,
    ),
]
Tune = Annotated[
    bool,
    typer.Option(
        "--tune", help="Add the best rate in hindsight of methods with a rate.",
        rich_help_panel=o.LEARNING,
    ),
]  # fmt: skip
NoRegret = Annotated[
    bool,
    typer.Option(
        "--no-regret", help="Do not look for the best weights in hindsight, which may take long.",
        rich_help_panel=o.LEARNING,
    ),
]  # fmt: skip
Seed = Annotated[int, typer.Option(help="Of the random units.", rich_help_panel=o.LEARNING)]


def compare(
    data: o.Data,
    target: o.Target = None,
    learners: Learners = "",
    units: Units = None,
    tune: Tune = False,
    task: o.Task = "auto",
    loss: o.Loss = None,
    seed: Seed = 0,
    no_regret: NoRegret = False,
    weight: o.Weight = None,
    ignore: o.Ignore = None,
    keep: o.Keep = None,
    text: o.Text = None,
    interactions: o.Interactions = None,
    hash_bits: o.HashBits = 18,
    max_levels: o.MaxLevels = 1000,
    format: o.Format = None,
    no_header: o.NoHeader = False,
    separator: o.Separator = None,
    quote: o.Quote = None,
    coerce: o.Coerce = False,
    skip_bad: o.SkipBad = 0,
    json: o.Json = False,
    no_color: o.NoColor = False,
) -> None:
    """Let learners pass over a file, one after another, and show what each of them lost.

    All rows that have a label are kept in memory. Numbers have the absolute loss, because most
    learners need a bounded slope.

    [dim]Examples:[/dim]

    unitless compare houses.csv --target price

    unitless compare mails.svm --learners blend,full,nag,ogd --units random --tune
    """
    from unitless import compare as library
    from unitless.cli.reading import blocks_of, reading_of
    from unitless.cli.screen import warnings_as_notes
    from unitless.encoders import FrameEncoder

    names = [name.strip() for name in learners.split(",") if name.strip()] or None
    reading = reading_of(format, no_header, separator, quote)
    blocks = blocks_of(
        data, reading, target=target, weight=weight, coerce=coerce, skip_bad=skip_bad
    )
    columns = FrameEncoder(hash_bits, max_levels, interactions or (), text or ())
    how = {"target": target, "task": task, "weight": weight, "columns": columns}
    with warnings_as_notes(json):
        rows, loss = _read(blocks, loss, **how, ignore=ignore or (), keep=keep or ())
        with _waiting(json) as told:
            made = library.compare(
                rows, names, loss=loss, units=units, tune=tune, seed=seed, regret=not no_regret,
                told=told,
            )  # fmt: skip
    if json:
        print(_json(made))
    else:
        _show(made, no_color)


# The file


def _read(blocks: "Iterator[Any]", loss: str | None, **how: Any) -> "tuple[Rows, str]":
    """All rows that have a label, and the loss."""
    from unitless.model import LOSSES, started

    first = next(blocks)
    model = started(first, learner="blend", loss=loss, **how)
    parts = []
    for block in _chained(first, blocks):
        prepared = model.prepared(block)
        for _, label in prepared.new:
            model.add_class(label)
        parts.append(prepared.rows)
    usual = "absolute" if model.task == "regression" else LOSSES[model.task]
    return _stacked(parts), usual if model.task == "multiclass" else loss or usual


def _chained(first: Any, others: "Iterator[Any]") -> "Iterator[Any]":
    yield first
    yield from others


def _stacked(parts: "list[Rows]") -> "Rows":
    """The rows with a label, below one another; later blocks may have more columns."""
    import numpy as np
    from scipy.sparse import csr_array, vstack

    from unitless.rows import as_rows

    y = np.concatenate([part.targets for part in parts])
    ones = [np.ones(len(part)) if part.weights is None else part.weights for part in parts]
    v, known, width = np.concatenate(ones), ~np.isnan(y), max(part.columns for part in parts)
    if all(part.starts is None and part.columns == width for part in parts):
        X: Any = np.concatenate([part.values for part in parts])
    else:
        sparse = [csr_array(_matrix(part)) for part in parts]
        for each in sparse:
            each.resize(each.shape[0], width)
        X = vstack(sparse, format="csr")
    return as_rows(X[known], y[known], None if (v == 1).all() else v[known])


def _matrix(rows: "Rows") -> Any:
    """The values, as NumPy or SciPy has them."""
    from scipy.sparse import csr_array

    if rows.starts is None:
        return rows.values
    return csr_array((rows.values, rows.indices, rows.starts), shape=(len(rows), rows.columns))


# The table


def _waiting(quiet: bool) -> Any:
    """Say on a terminal which learner is at work; gives the function to tell it to."""
    from contextlib import contextmanager

    from unitless.cli.screen import console_of

    @contextmanager
    def waiting() -> Any:
        with console_of(quiet=quiet, error=True).status("reading ...") as status:
            yield lambda name: status.update(f"{name} ...")

    return waiting()


def _show(made: "Comparison", no_color: bool) -> None:
    from unitless.cli.screen import console_of

    console = console_of(no_color)
    if not console.is_terminal:  # a pipe has no width to fit into
        print(made)
        return
    wide = console.width >= WIDE
    console.print(_table(made, wide))
    given = [] if wide else [f"{line[1]}: {line[-1]}" for line in made.cells()[1:] if line[-1]]
    for note in (*given, *made.notes()):
        console.print(note, style="dim")


def _table(made: "Comparison", wide: bool) -> "Table":
    """On a narrow terminal without its last column, so that no number is cut."""
    from rich.table import Table
    from rich.text import Text

    head, *lines = (line if wide else line[:-1] for line in made.cells())
    table = Table(box=None, header_style="bold", padding=(0, 1), collapse_padding=True)
    for heading in head:
        left = heading in ("learner", "given")
        folded = heading.replace(" ", "\n", 1)
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
            "loss": made.loss, "rows": made.rows, "columns": made.columns, "best": best,
            "entries": entries, "left_out": made.left_out,
        },
        indent=1,
    )  # fmt: skip
