"""`unitless compare`: many learners over one file, one table."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray
    from rich.table import Table

    from unitless.compare import Comparison
    from unitless.features import Columns
    from unitless.readers import Block
    from unitless.rows import Rows


def compare(
    data: Annotated[str, typer.Argument(help="A file of rows, or - for standard input.")],
    target: Annotated[
        str | None, typer.Option(help="The column to predict; svmlight and VW rows have their own.")
    ] = None,
    learners: Annotated[
        str, typer.Option(help="Names, separated by commas; by default all that take the loss.")
    ] = "",
    loss: Annotated[
        str | None,
        typer.Option(help="By default logistic for two values, softmax for words, else absolute."),
    ] = None,
    units: Annotated[
        Literal["random"] | None,
        typer.Option(help="Repeat it in other units and show who moved."),
    ] = None,
    tune: Annotated[
        bool, typer.Option("--tune", help="Add the best rate in hindsight of methods with a rate.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Of the random units.")] = 0,
    format: Annotated[
        str | None, typer.Option(help="csv, tsv, jsonl, parquet, arrow, svmlight or vw.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Let learners pass over a file, one after another, and show what each of them lost.

    [dim]Examples:[/dim]

    unitless compare houses.csv --target price

    unitless compare mails.svm --learners blend,full,nag,ogd --units random --tune
    """
    from unitless import compare as library

    rows, loss = _opened(data, target, format, loss)
    names = [name.strip() for name in learners.split(",") if name.strip()] or None
    with _waiting() as told:
        made = library.compare(rows, names, loss=loss, units=units, tune=tune, seed=seed, told=told)
    if json:
        print(_json(made))
    else:
        _show(made)


# The file


def _opened(
    data: str, target: str | None, format: str | None, loss: str | None
) -> "tuple[Rows, str]":
    """All rows that have a label, and the loss."""
    import numpy as np

    from unitless.rows import as_rows

    parts, labels, weights = zip(*_parts(data, target, format), strict=True)
    y, loss = _coded(np.concatenate(labels), loss)
    v = np.concatenate(weights)
    return as_rows(_stacked(parts), y, None if (v == 1).all() else v), loss


def _parts(data: str, target: str | None, format: str | None) -> "Iterator[tuple[Any, Any, Any]]":
    """(X, labels, weights) of each block, without the rows that have no label."""
    import numpy as np

    from unitless.features import Columns
    from unitless.readers import open_blocks

    columns, names = Columns(), list[str]()
    for block in open_blocks(data, format=format, target=target, names=names):
        names += block.new_names
        if block.targets is None:
            assert block.frame is not None  # other formats have their labels
            known = ", ".join(block.frame.columns)
            raise ValueError(f"{data}: give --target, the column to predict, one of {known}")
        labelled = np.array([label is not None and label == label for label in block.targets])
        weights = np.ones(len(block)) if block.weights is None else block.weights
        yield _features(block, columns)[labelled], block.targets[labelled], weights[labelled]


def _features(block: "Block", columns: "Columns") -> Any:
    """The features of a block as a matrix."""
    from unitless.regret.design import matrix

    if block.frame is None:
        assert block.rows is not None  # a block has either
        return matrix(block.rows)
    encoded = columns.encode(block.frame)
    columns.commit(encoded)
    return encoded.X


def _stacked(parts: "Sequence[Any]") -> Any:
    """The blocks below one another; later ones may have more columns."""
    import numpy as np
    from scipy.sparse import csr_array, vstack

    width = max(part.shape[1] for part in parts)
    if all(isinstance(part, np.ndarray) and part.shape[1] == width for part in parts):
        return np.concatenate(parts)
    sparse = [csr_array(part) for part in parts]
    for part in sparse:
        part.resize(part.shape[0], width)
    return vstack(sparse, format="csr")


def _coded(labels: "NDArray[Any]", loss: str | None) -> "tuple[NDArray[np.float64], str]":
    """The labels as the loss wants them, and the loss."""
    import numpy as np

    from unitless import losses, targets

    words = labels.dtype.kind not in "fiu"
    values = np.unique(labels.astype(str) if words and labels.dtype.kind == "O" else labels)
    if loss is None:
        loss = "logistic" if len(values) == 2 else "softmax" if words else "absolute"
    kind = losses.get(loss).targets
    given = labels.astype(values.dtype)
    if kind == "signs":
        if len(values) != 2:
            raise ValueError(
                f"the {loss} loss is for two classes, and the target has {len(values)}: use "
                "--loss softmax, or for numbers --loss absolute"
            )
        return targets.as_signs(given, values), loss
    if kind == "classes":
        return targets.as_numbers(given, values), loss
    if words:
        raise ValueError(f"the {loss} loss needs numbers, and the target is {str(given[0])!r}")
    return labels.astype(np.float64), loss


# The table


def _waiting() -> Any:
    """Say on a terminal which learner is at work; gives the function to tell it to."""
    from contextlib import contextmanager

    from rich.console import Console

    @contextmanager
    def waiting() -> Any:
        console = Console(stderr=True)
        with console.status("reading ...") as status:
            yield lambda name: status.update(f"{name} ... (kernels are compiled the first time)")

    return waiting()


def _show(made: "Comparison") -> None:
    from rich.console import Console

    console = Console(highlight=False)
    if not console.is_terminal:  # a pipe has no width to fit into
        print(made)
        return
    console.print(_table(made))
    for note in made.notes():
        console.print(note, style="dim", markup=False)


def _table(made: "Comparison") -> "Table":
    from rich.table import Table
    from rich.text import Text

    head, *lines = made.cells()
    table = Table(box=None, header_style="bold", padding=(0, 1))
    for heading in head:
        left = heading in ("learner", "given in hindsight")
        table.add_column(heading, justify="left" if left else "right", no_wrap=heading == "learner")
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
