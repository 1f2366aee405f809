"""The list of commands. Each is a function in a module of its name; the smallest are here."""

from importlib import import_module
from typing import Annotated

import typer

MODELS = ("evaluate", "fit", "predict", "decide", "inspect", "explain", "rescale")
TOOLS = ("compare", "convert", "learners", "demo")
app = typer.Typer(
    help="Online learning that does not care about units.",
    epilog="Exit codes: 0 success; 1 the output pipe was closed; 2 invalid data or option; 3 a "
    "file cannot be read or written; 130 and 143 interrupted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
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


for name in (*MODELS, *TOOLS):
    app.command()(getattr(import_module(f"unitless.cli.{name}"), name))


@app.command()
def report(
    files: Annotated[
        list[str],
        typer.Argument(metavar="RESULTS", help="Results files, and the HTML page to write."),
    ],
) -> None:
    """Make a report from a results file of `evaluate`, or compare several.

    Without a name that ends in .html, the page of a.results.json is a.html, and that of several
    files is comparison.html.

    Examples:

        unitless report houses.results.json houses.html
        unitless report coordinate.results.json blend.results.json
    """
    from unitless.cli.outputs import check_outputs
    from unitless.evaluation import read_results
    from unitless.report import write_page

    results = list(files)
    if results[-1].endswith((".html", ".htm")):
        page = results.pop()
    elif len(results) > 1:
        page = "comparison.html"
    else:
        page = results[0].removesuffix(".json").removesuffix(".results") + ".html"
    if not results:
        raise ValueError(f"{page} is the page to write: name a results file before it")
    if len(set(results)) < len(results):
        raise ValueError("the same results file is given twice; the name of a page ends in .html")
    check_outputs({"PAGE": page}, results)
    write_page(page, [read_results(path) for path in results])
    print(f"wrote {page}")
