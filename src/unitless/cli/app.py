"""The list of commands."""

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
from unitless.cli.predict import predict
from unitless.cli.report import report
from unitless.cli.rescale import rescale

app = typer.Typer(
    help="Online linear learning that does not care about your units.",
    epilog="Exit codes: 0 done; 1 the reader of the output has gone; 2 the data or an option is "
    "wrong; 3 a file cannot be read or written; 130 and 143 interrupted.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


app.command()(evaluate)
app.command()(fit)
app.command()(predict)
app.command()(inspect)
app.command()(explain)
app.command()(rescale)
app.command()(compare)
app.command()(report)
app.command()(convert)
app.command()(compile)
app.command()(demo)
app.command()(adversary)
