"""The list of commands."""

import typer

from unitless.cli.adversary import adversary
from unitless.cli.compare import compare
from unitless.cli.convert import convert
from unitless.cli.demo import demo

app = typer.Typer(
    help="Online linear learning that does not care about your units.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


app.command()(compare)
app.command()(convert)
app.command()(demo)
app.command()(adversary)
