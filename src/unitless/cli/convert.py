"""`unitless convert`: write the rows of a file in another format."""

import sys

from unitless.cli.options import READING, CommandOptions, Option, takes

CHANGED = {
    "format": Option("Format of DATA (by default from its name).", "FORMAT", ("--from",)),
    "target": Option("Column of labels; it is written first.", "COLUMN", ("-t",)),
}


@takes(
    *("file", "output", *READING, "to", "target", "weight", "classes", "safe_csv", "quiet"),
    changed=CHANGED,
)
def convert(options: CommandOptions) -> None:
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
    from unitless.escaping import escaped

    check_outputs({"OUTPUT": options.output}, options.data)
    conversion = Conversion(options)
    conversion.write()
    position = conversion.position
    counts = counted(position.rows, "row")
    if position.skipped:
        counts += f", {counted(position.skipped, 'invalid line')} skipped"
    told = [counts]
    if conversion.has_signs:
        told.append("note: labels 0 and 1 are written as -1 and 1, as VW needs them")
    told += [f"note: {note}" for note in odd_cell_notes(position)]
    if not options.quiet:
        print(*map(escaped, told), sep="\n", file=sys.stderr)
