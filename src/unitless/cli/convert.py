"""`unitless convert`: write the rows of a file in another format."""

from dataclasses import dataclass
from typing import Annotated

import typer

from unitless.cli.options import (
    COLUMNS,
    READING,
    Formats,
    OneFile,
    Quiet,
    ReadingOptions,
    option,
    takes,
)


@dataclass(kw_only=True)
class ConvertOptions(ReadingOptions):
    data: OneFile  # type: ignore[assignment]
    output: Annotated[
        str, typer.Argument(metavar="OUTPUT", help="File to write; - for standard output.")
    ]
    format: Formats | None = option(
        READING, None, "FORMAT", "Format of DATA (by default from its name).", "--from"
    )
    to: Formats | None = option(
        READING, None, "FORMAT", "Format of OUTPUT (by default from its name)."
    )
    target: str | None = option(
        COLUMNS, None, "COLUMN", "Column of labels; it is written first.", "-t"
    )
    weight: str | None = option(COLUMNS, None, "COLUMN", "Column of sample weights.")
    classes: str | None = option(
        COLUMNS,
        None,
        "A,B",
        "All classes, for svmlight and VW text: no,yes become -1 and 1; a,b,c become 1, 2 and 3.",
    )
    quiet: Quiet = False


@takes(ConvertOptions)
def convert(options: ConvertOptions) -> None:
    """Write the rows of a file in another format.

    Formats are taken from the file names (.csv, .tsv, .jsonl, .parquet, .arrow, .svm, .vw, also
    followed by .gz, .zst, .bz2, .xz or .zip) or from --from and --to. In sparse text, a category of
    a table becomes a feature `name=level`; a space, colon or bar in a name is written %20, %3A or
    %7C.

    Examples:

        unitless convert houses.csv houses.parquet
        unitless convert shop.csv shop.vw.gz -t Revenue --classes FALSE,TRUE
        zcat big.vw.gz | unitless convert - big.jsonl --from vw
    """
    from unitless.cli.conversion import Conversion
    from unitless.cli.outputs import check_outputs
    from unitless.cli.reading import odd_cell_notes
    from unitless.cli.screen import counted

    check_outputs({"OUTPUT": options.output}, options.data)
    conversion = Conversion(options)
    conversion.write()
    if options.quiet:
        return
    position = conversion.position
    parts = [counted(position["rows"], "row")]
    if position["skipped"]:
        parts.append(f"{counted(position['skipped'], 'invalid line')} skipped")
    if position.get("coerced"):
        parts.append(f"{counted(position['coerced'], 'cell')} treated as missing")
    typer.echo(", ".join(parts), err=True)
    if conversion.has_signs:
        typer.echo("note: labels 0 and 1 are written as -1 and 1, as VW needs them", err=True)
    for note in odd_cell_notes(position):
        typer.echo(f"note: {note}", err=True)
