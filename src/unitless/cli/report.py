"""`unitless report`: the page of a results file."""

from typing import Annotated

import typer


def report(
    results: Annotated[str, typer.Argument(metavar="RESULTS", help="Results file.")],
    page: Annotated[str, typer.Argument(metavar="PAGE", help="HTML page to write.")],
) -> None:
    """Make a report from a results file that `evaluate --results` or `--report` has written.

    [dim]Example:[/dim] unitless report houses.results.json houses.html
    """
    from unitless.cli.outputs import check_outputs
    from unitless.evaluation import read_results
    from unitless.report import write_page

    check_outputs({"PAGE": page}, [results])
    write_page(page, read_results(results))
