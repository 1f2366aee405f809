"""The options that commands share, each explained once."""

from typing import Annotated, Literal

import typer

READING, COLUMNS, LEARNING, OUTPUT = "Reading", "Columns", "Learning", "Output"
SCALE = "Many processes (needs unitless[ray])"
Formats = Literal["csv", "tsv", "jsonl", "parquet", "arrow", "svmlight", "vw"]
Tasks = Literal["auto", "binary", "multiclass", "regression"]

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A file (CSV, TSV, JSON lines, Parquet, Arrow, svmlight, VW text; .gz and .zst too), "
        "or - for standard input.",
        show_default=False,
    ),
]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="A model file.", show_default=False)]

# Reading
Format = Annotated[
    Formats | None,
    typer.Option(
        help="The format, where the file's name does not tell it.", rich_help_panel=READING
    ),
]
NoHeader = Annotated[
    bool,
    typer.Option(
        "--no-header",
        help="CSV: the first line is a row; columns are called c1, c2, ...",
        rich_help_panel=READING,
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        help="CSV: what stands between fields, if not found out.", rich_help_panel=READING
    ),
]
Quote = Annotated[
    str | None,
    typer.Option(help="CSV: the quote, or none; if not found out.", rich_help_panel=READING),
]
Coerce = Annotated[
    bool,
    typer.Option(
        "--coerce",
        help="A cell that does not fit its column is missing, and counted.",
        rich_help_panel=READING,
    ),
]
SkipBad = Annotated[
    int,
    typer.Option(
        metavar="N", help="Pass over up to N bad lines, and count them.", rich_help_panel=READING
    ),
]

# Columns
Target = Annotated[
    str | None,
    typer.Option(
        "-t", "--target", help="The column to predict (svmlight and VW text have labels).",
        rich_help_panel=COLUMNS,
    ),
]  # fmt: skip
Weight = Annotated[
    str | None, typer.Option(help="The column of sample weights.", rich_help_panel=COLUMNS)
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="A column that is no feature.", rich_help_panel=COLUMNS),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN", help="A column that is a feature; all others are not.",
        rich_help_panel=COLUMNS,
    ),
]  # fmt: skip
Text = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN", help="A column of text: its words are counted.", rich_help_panel=COLUMNS
    ),
]
Interactions = Annotated[
    list[str] | None,
    typer.Option(
        "-q", "--interactions", metavar="A:B",
        help="Products of columns: a:b, a:: (a with every other), :: (all pairs).",
        rich_help_panel=COLUMNS,
    ),
]  # fmt: skip
HashBits = Annotated[
    int,
    typer.Option(
        "-b", "--hash-bits", metavar="BITS",
        help="Levels or words beyond the first --max-levels share 2^BITS features a column.",
        rich_help_panel=COLUMNS,
    ),
]  # fmt: skip
MaxLevels = Annotated[
    int,
    typer.Option(
        metavar="N", help="Levels or words with a feature of their own, a column.",
        rich_help_panel=COLUMNS,
    ),
]  # fmt: skip

# Learning
Learner = Annotated[
    str,
    typer.Option(
        "-l", "--learner", help="A learner by name; `unitless adversary all` lists them.",
        rich_help_panel=LEARNING,
    ),
]  # fmt: skip
Task = Annotated[
    Tasks,
    typer.Option(
        help="What the target is. auto: strings, booleans or two distinct values in the first "
        "block are classes, otherwise numbers.",
        rich_help_panel=LEARNING,
    ),
]
Loss = Annotated[
    str | None,
    typer.Option(
        help="logistic, hinge; squared, absolute, quantile(0.9), huber(2). Usual: logistic, "
        "squared.",
        rich_help_panel=LEARNING,
    ),
]
Quantile = Annotated[
    float | None,
    typer.Option(
        metavar="TAU", help="The loss quantile(TAU): 0.5 is the median.", rich_help_panel=LEARNING
    ),
]
Passes = Annotated[
    int,
    typer.Option(
        help="How often to go through the file; only the first pass is scored.",
        rich_help_panel=LEARNING,
    ),
]
Holdout = Annotated[
    int,
    typer.Option(
        metavar="N", help="Of every N rows one is predicted and never learned.",
        rich_help_panel=LEARNING,
    ),
]  # fmt: skip
Delay = Annotated[
    int,
    typer.Option(metavar="N", help="A label arrives N rows later.", rich_help_panel=LEARNING),
]

# Output
Save = Annotated[
    str | None, typer.Option(metavar="MODEL", help="Save the model here.", rich_help_panel=OUTPUT)
]
Resume = Annotated[
    str | None,
    typer.Option(
        metavar="MODEL",
        help="Go on from a saved model: in the same file where it stopped, in another from its "
        "beginning.",
        rich_help_panel=OUTPUT,
    ),
]
Checkpoint = Annotated[
    int,
    typer.Option(
        metavar="EVERY", help="Save the model every so many rows (needs --save).",
        rich_help_panel=OUTPUT,
    ),
]  # fmt: skip
Predictions = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Write the predictions as CSV, - for standard output.",
        rich_help_panel=OUTPUT,
    ),
]  # fmt: skip
Report = Annotated[
    str | None,
    typer.Option(
        metavar="PAGE", help="Write a report, one HTML page, and its results file beside it.",
        rich_help_panel=OUTPUT,
    ),
]  # fmt: skip
Results = Annotated[
    str | None,
    typer.Option(
        metavar="FILE", help="Write the results file (JSON) here.", rich_help_panel=OUTPUT
    ),
]
Audit = Annotated[
    int,
    typer.Option(
        metavar="ROW", help="Take the score of this row apart, feature by feature.",
        rich_help_panel=OUTPUT,
    ),
]  # fmt: skip
Top = Annotated[int, typer.Option(metavar="N", help="Weights to show.", rich_help_panel=OUTPUT)]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print errors only.", rich_help_panel=OUTPUT)]
Json = Annotated[
    bool,
    typer.Option("--json", help="Print the results as JSON, nothing else.", rich_help_panel=OUTPUT),
]
NoColor = Annotated[
    bool, typer.Option("--no-color", help="Print plain text.", rich_help_panel=OUTPUT)
]

# Many processes
Shards = Annotated[
    int | None,
    typer.Option(
        metavar="N", rich_help_panel=SCALE,
        help="One model (vaw or blend) from N runs of parts: files of a folder or pattern, or row "
        "groups of Parquet files.",
    ),
]  # fmt: skip
ByKey = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="One model for each value of this column, all in one file.",
        rich_help_panel=SCALE,
    ),
]  # fmt: skip
Address = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT", help="A Ray cluster to join; by default one is started here.",
        rich_help_panel=SCALE,
    ),
]  # fmt: skip
Retries = Annotated[
    int,
    typer.Option(
        metavar="N", help="How often a task is tried again after its worker died.",
        rich_help_panel=SCALE,
    ),
]  # fmt: skip
