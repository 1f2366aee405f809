"""The list of commands."""

from typing import Annotated

import typer

from unitless.cli.adversary import adversary
from unitless.cli.compare import compare
from unitless.cli.compile import compile
from unitless.cli.convert import convert
from unitless.cli.demo import demo
from unitless.cli.evaluate import evaluate
from unitless.cli.explain import explain
from unitless.cli.fit import fit
from unitless.cli.inspect import inspect
from unitless.cli.learners import learners
from unitless.cli.predict import predict
from unitless.cli.report import report
from unitless.cli.rescale import rescale

EXIT_CODES = (
    "Exit codes: 0 success; 1 the output pipe was closed; 2 invalid data or option; 3 a file "
    "cannot be read or written; 130 and 143 interrupted."
)
app = typer.Typer(
    help="Online learning that does not care about units.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from unitless import __version__

        print(f"unitless {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True),
    ] = False,
) -> None:
    """Online learning that does not care about units."""


for command in (
    evaluate,
    fit,
    predict,
    inspect,
    explain,
    rescale,
    compare,
    report,
    convert,
    learners,
    compile,
    demo,
    adversary,
):
    app.command()(command)
