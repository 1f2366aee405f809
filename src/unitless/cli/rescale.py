"""`unitless rescale`: change the units of a saved model."""

from typing import Annotated

import typer

from unitless.cli import options as o

Factors = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME=FACTOR...",
        help="Factor by which the values of a column are multiplied from now on.",
        show_default=False,
    ),
]


def rescale(
    model: o.Model,
    factors: Factors,
    save: o.Save = None,
    quiet: o.Quiet = False,
) -> None:
    """Change the units of columns; the model continues as if they had always been the new ones.

    If metres become millimetres, the factor is 1000. Without --save the model file itself is
    replaced.

    [dim]Example:[/dim] unitless rescale people.unitless height=1000 --save in-mm.unitless
    """
    from unitless import persistence
    from unitless.cli.outputs import check_writable
    from unitless.cli.screen import console_of
    from unitless.persistence.saving import extra

    by_name = dict(map(_pair, factors))
    output = save or model
    check_writable(output)
    found = persistence.load(model)
    header = persistence.header(model)
    found.rescale(by_name)
    # Sizes of values in the old units would raise false alarms.
    kept = {name: array for name, array in extra(model).items() if not name.startswith("watch.")}
    persistence.save(found, output, position=header["position"], notes=header["notes"], extra=kept)
    changes = ", ".join(f"{name} times {factor:g}" for name, factor in by_name.items())
    console_of(quiet=quiet).print(f"{output}: {changes}")


def _pair(word: str) -> tuple[str, float]:
    name, _, factor = word.rpartition("=")
    try:
        return name, float(factor)
    except ValueError:
        raise ValueError(f"{word!r}: write NAME=FACTOR, for example height=1000") from None
