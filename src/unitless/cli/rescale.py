"""`unitless rescale`: a saved model in other units."""

from typing import Annotated

import typer

from unitless.cli import options as o

Factors = Annotated[
    list[str],
    typer.Argument(
        metavar="NAME=FACTOR...",
        help="By what the values of a column are multiplied from now on.",
        show_default=False,
    ),
]


def rescale(
    model: o.Model,
    factors: Factors,
    save: o.Save = None,
    quiet: o.Quiet = False,
) -> None:
    """Change the units of columns: the model goes on as if they had always been those.

    Metres that become millimetres are multiplied by 1000. Without --save the file itself is
    changed; at every moment it is whole.

    [dim]Example:[/dim] unitless rescale people.unitless height=1000 --save in-mm.unitless
    """
    from unitless import persistence
    from unitless.cli.screen import console_of
    from unitless.persistence.saving import extra

    by = dict(map(_pair, factors))
    found, header = persistence.load(model), persistence.header(model)
    found.rescale(by)
    kept = {k: array for k, array in extra(model).items() if not k.startswith("watch.")}
    persistence.save(
        found, save or model, position=header["position"], notes=header["notes"], extra=kept
    )  # without the sizes of values in the old units: no alarm
    console_of(quiet=quiet).print(
        f"{save or model}: {', '.join(f'{name} times {factor:g}' for name, factor in by.items())}"
    )


def _pair(word: str) -> tuple[str, float]:
    name, _, factor = word.rpartition("=")
    try:
        return name, float(factor)
    except ValueError:
        raise ValueError(f"{word!r}: write name=factor, such as height=1000") from None
