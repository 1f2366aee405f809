"""`unitless convert`: a file in one format -> the same rows in another."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from unitless.cli import options as o
from unitless.cli.reading import reading_of

if TYPE_CHECKING:
    from unitless.cli.reshaping import Job

Option = typer.Option


def convert(
    data: o.Data,
    output: Annotated[str, typer.Argument(metavar="OUTPUT", help="A file to write, or -.")],
    format: Annotated[
        o.Formats | None, Option("--from", help="The format of DATA, if its name does not tell.")
    ] = None,
    to: Annotated[
        o.Formats | None, Option(help="The format of OUTPUT, if its name does not tell.")
    ] = None,
    target: Annotated[
        str | None, Option("-t", "--target", help="The column of labels; it comes first.")
    ] = None,
    weight: o.Weight = None,
    classes: Annotated[
        str | None,
        Option(help="Labels for svmlight and VW: no,yes are written -1 and 1; a,b,c 1, 2 and 3."),
    ] = None,
    no_header: o.NoHeader = False,
    separator: o.Separator = None,
    quote: o.Quote = None,
    coerce: o.Coerce = False,
    skip_bad: o.SkipBad = 0,
    quiet: o.Quiet = False,
) -> None:
    """Write the rows of a file in another format.

    Formats are told by the ends of names (.csv, .tsv, .jsonl, .parquet, .arrow, .svm, .vw, and .gz
    or .zst behind them) or by --from and --to. A category of a table is a feature `name=level` in
    sparse text; a space, a colon or a bar in a name is written %20, %3A, %7C.

    [dim]Examples:[/dim]

    unitless convert houses.csv houses.parquet

    unitless convert shop.csv shop.vw.gz --target Revenue --classes FALSE,TRUE

    zcat big.vw.gz | unitless convert - big.jsonl --from vw
    """
    from unitless.readers import SPARSE, format_of

    known, wanted = format or format_of(data), to or format_of(output)
    reading = reading_of(known, no_header, separator, quote)
    reading |= {"coerce": coerce, "skip_bad": skip_bad}
    if known not in SPARSE:
        reading |= {"target": target, "weight": weight}
    elif wanted not in SPARSE:
        target, weight = target or "label", weight or "importance"
    from unitless.cli.reshaping import Job

    job = Job(data, reading, target, weight, classes.split(",") if classes else None, {})
    _write(job, output, wanted)
    if not quiet:
        typer.echo(_said(job.position), err=True)


def _said(position: dict[str, Any]) -> str:
    from unitless.cli.screen import counted

    parts = [counted(position["rows"], "row")]
    if position["skipped"]:
        parts.append(f"{counted(position['skipped'], 'bad line')} passed over")
    if position.get("coerced"):
        parts.append(f"{counted(position['coerced'], 'cell')} made missing")
    return ", ".join(parts)


def _write(job: "Job", output: str, wanted: str) -> None:
    from unitless import writers
    from unitless.cli import reshaping
    from unitless.readers import SPARSE

    if wanted in ("parquet", "arrow") and output.endswith((".gz", ".zst")):
        raise ValueError(f"{output}: {wanted} files are compressed inside; leave the ending out")
    sparse = job.reading["format"] in SPARSE
    with writers.opened(output) as file:
        if wanted in SPARSE:
            write = writers.write_vw if wanted == "vw" else writers.write_svmlight
            write(reshaping.named(job) if sparse else reshaping.encoded(job), file)
        elif sparse and wanted == "jsonl":
            writers.write_objects(reshaping.named(job), file, str(job.target), str(job.weight))
        else:
            frames = reshaping.dense(job) if sparse else reshaping.frames(job, wanted)
            writers.write_frames(frames, file, wanted)
