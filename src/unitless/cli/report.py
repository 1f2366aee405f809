"""`unitless report`: the page of a results file."""

from typing import Annotated

import typer


def report(
    results: Annotated[str, typer.Argument(metavar="RESULTS", help="A results file.")],
    page: Annotated[str, typer.Argument(metavar="PAGE", help="The HTML page to write.")],
) -> None:
    """Make a page from a results file that `evaluate --results` or `--report` has kept.

    [dim]Example:[/dim] unitless report houses.json houses.html
    """
    from unitless.evaluation import read_results
    from unitless.report import write_page

    write_page(page, read_results(results))
