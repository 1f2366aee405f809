"""`unitless convert`: write the rows of a file in another format."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unitless.cli.options import (
    COLUMNS,
    READING,
    Formats,
    Quiet,
    ReadingOptions,
    argument,
    data_argument,
    option,
    takes,
)

if TYPE_CHECKING:
    from unitless.cli.conversion import Conversion


@dataclass(kw_only=True)
class ConvertOptions(ReadingOptions):
    """The options of `convert`."""

    data: str = data_argument()
    output: str = argument("OUTPUT", "File to write; - for standard output.")
    format: Annotated[
        Formats | None,
        typer.Option("--from", help="Format of DATA (by default from its name).", metavar="FORMAT"),
    ] = None
    to: Formats | None = option(
        READING, None, "FORMAT", "Format of OUTPUT (by default from its name)."
    )
    target: str | None = option(COLUMNS, None, "COLUMN", "Column of labels; it is written first.")
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
    followed by .gz or .zst) or from --from and --to. In sparse text, a category of a table becomes
    a feature `name=level`; a space, colon or bar in a name is written %20, %3A or %7C.

    [dim]Examples:[/dim]

    unitless convert houses.csv houses.parquet

    unitless convert shop.csv shop.vw.gz -t Revenue --classes FALSE,TRUE

    zcat big.vw.gz | unitless convert - big.jsonl --from vw
    """
    from unitless.cli.conversion import Conversion
    from unitless.cli.outputs import check_outputs
    from unitless.readers import SPARSE, format_of

    check_outputs({"OUTPUT": options.output}, [options.data])
    source_format = options.format or format_of(options.data)
    target_format = options.to or format_of(options.output)
    reading = options.reading() | {"coerce": options.coerce, "skip_bad": options.skip_bad}
    reading["format"] = source_format
    target = options.target
    weight = options.weight
    if source_format not in SPARSE:
        reading |= {"target": target, "weight": weight}
    elif target_format not in SPARSE:
        target = target or "label"
        weight = weight or "importance"
    classes = options.classes.split(",") if options.classes else None
    conversion = Conversion(options.data, reading, target, weight, classes, {})
    _write(conversion, options.output, target_format)
    if not options.quiet:
        typer.echo(_summary(conversion.position), err=True)


def _summary(position: dict[str, Any]) -> str:
    from unitless.cli.screen import counted

    parts = [counted(position["rows"], "row")]
    if position["skipped"]:
        parts.append(f"{counted(position['skipped'], 'invalid line')} skipped")
    if position.get("coerced"):
        parts.append(f"{counted(position['coerced'], 'cell')} treated as missing")
    return ", ".join(parts)


def _write(conversion: "Conversion", output: str, target_format: str) -> None:
    from unitless import writers
    from unitless.cli.conversion import (
        dense_frames,
        encoded_rows,
        reordered_frames,
        rows_with_names,
    )
    from unitless.readers import SPARSE

    if target_format in ("parquet", "arrow") and output.endswith((".gz", ".zst")):
        raise ValueError(
            f"{output}: {target_format} files are compressed inside; leave out the ending"
        )
    is_sparse = conversion.reading["format"] in SPARSE
    with writers.opened(output) as file:
        if target_format in SPARSE:
            rows = rows_with_names(conversion) if is_sparse else encoded_rows(conversion)
            if target_format == "vw":
                writers.write_vw(rows, file)
            else:
                writers.write_svmlight(rows, file)
        elif is_sparse and target_format == "jsonl":
            rows = rows_with_names(conversion)
            writers.write_objects(rows, file, str(conversion.target), str(conversion.weight))
        elif is_sparse:
            writers.write_frames(dense_frames(conversion), file, target_format)
        else:
            writers.write_frames(reordered_frames(conversion, target_format), file, target_format)
