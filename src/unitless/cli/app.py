"""The list of commands."""

import typer

from unitless.cli.demo import demo

app = typer.Typer(
    help="Online linear learning that does not care about your units.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


@app.callback()
def _main() -> None:
    """Without this, Typer would turn a single command into the program itself."""


app.command()(demo)
