"""The options of the commands, each defined once, as fields of dataclasses.

A command takes one dataclass: `takes(EvaluateOptions)` turns its fields into the parameters that
typer sees, so that the help, the manual and the code share one definition.
"""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from typing import Annotated, Any, Literal, TypeVar, get_type_hints

import typer

READING, COLUMNS, LEARNING, OUTPUT = "Reading", "Columns", "Learning", "Output"
PROCESSES = "Several processes"
Formats = Literal["csv", "tsv", "jsonl", "parquet", "arrow", "svmlight", "vw"]
Tasks = Literal["auto", "binary", "multiclass", "regression"]
Options = TypeVar("Options")


def _option(
    panel: str, help: str, *names: str, metavar: str | None = None, default: bool = False
) -> Any:
    """Define an option; `default` says whether its default is worth showing."""
    return typer.Option(
        *names, help=help, metavar=metavar, rich_help_panel=panel, show_default=default
    )


def _argument(metavar: str, help: str) -> Any:
    return typer.Argument(metavar=metavar, help=help, show_default=False)


DATA_HELP = (
    "File to read: CSV, TSV, JSON lines, Parquet, Arrow, svmlight or VW text, also compressed as "
    ".gz or .zst; - for standard input."
)
Data = Annotated[str, _argument("DATA", DATA_HELP)]
Model = Annotated[str, _argument("MODEL", "Model file.")]
Save = Annotated[str | None, _option(OUTPUT, "Save the model to this file.", metavar="MODEL")]
Top = Annotated[int, _option(OUTPUT, "Number of weights to show.", metavar="N", default=True)]
Quiet = Annotated[bool, _option(OUTPUT, "Print only errors.", "--quiet")]
Json = Annotated[bool, _option(OUTPUT, "Print the results as JSON and nothing else.", "--json")]
NoColor = Annotated[bool, _option(OUTPUT, "Print without colours.", "--no-color")]


@dataclass(kw_only=True)
class ReadingOptions:
    """How a file is read."""

    format: Annotated[
        Formats | None,
        _option(
            READING,
            "csv, tsv, jsonl, parquet, arrow, svmlight or vw (by default from the file name).",
            metavar="FORMAT",
        ),
    ] = None
    no_header: Annotated[
        bool,
        _option(
            READING, "CSV: the first line is data; name the columns c1, c2, ...", "--no-header"
        ),
    ] = False
    separator: Annotated[
        str | None,
        _option(READING, "Field separator of a CSV file (detected by default).", metavar="CHAR"),
    ] = None
    quote: Annotated[
        str | None,
        _option(
            READING,
            'Quote character of a CSV file, or "none" (detected by default).',
            metavar="CHAR",
        ),
    ] = None
    coerce: Annotated[
        bool,
        _option(READING, "Treat cells that do not fit their column as missing.", "--coerce"),
    ] = False
    skip_bad: Annotated[
        int, _option(READING, "Skip up to N invalid lines and report their number.", metavar="N")
    ] = 0

    def reading(self) -> dict[str, Any]:
        """Return the options of `open_blocks` that were given.

        >>> ReadingOptions(no_header=True, quote="none").reading()
        {'header': False, 'quote': None}
        """
        given: dict[str, Any] = {}
        if self.format is not None:
            given["format"] = self.format
        if self.no_header:
            given["header"] = False
        if self.separator is not None:
            names = {"tab": "\t", "\\t": "\t", "space": " "}
            given["separator"] = names.get(self.separator, self.separator)
        if self.quote is not None:
            given["quote"] = None if self.quote == "none" else self.quote
        return given


@dataclass(kw_only=True)
class ColumnOptions:
    """What the columns of a table mean."""

    target: Annotated[
        str | None,
        _option(
            COLUMNS,
            "Column to predict (rows of svmlight and VW text contain their label).",
            "-t",
            "--target",
            metavar="COLUMN",
        ),
    ] = None
    weight: Annotated[
        str | None, _option(COLUMNS, "Column of sample weights.", metavar="COLUMN")
    ] = None
    ignore: Annotated[
        list[str] | None,
        _option(
            COLUMNS, "Exclude this column from the features (may be repeated).", metavar="COLUMN"
        ),
    ] = None
    keep: Annotated[
        list[str] | None,
        _option(COLUMNS, "Use only the columns given this way as features.", metavar="COLUMN"),
    ] = None
    text: Annotated[
        list[str] | None,
        _option(COLUMNS, "Column of text; each of its words is a feature.", metavar="COLUMN"),
    ] = None
    interactions: Annotated[
        list[str] | None,
        _option(
            COLUMNS,
            "Add products of columns as features: a:b, a:: (a with each other column), :: (all "
            "pairs).",
            "-q",
            "--interactions",
            metavar="A:B",
        ),
    ] = None
    hash_bits: Annotated[
        int,
        _option(
            COLUMNS,
            "Values or words beyond --max-levels share 2^BITS features per column.",
            "-b",
            "--hash-bits",
            metavar="BITS",
            default=True,
        ),
    ] = 18
    max_levels: Annotated[
        int,
        _option(
            COLUMNS,
            "Maximum number of distinct values or words per column that get their own feature.",
            metavar="N",
            default=True,
        ),
    ] = 1000

    def columns(self) -> Any:
        """Return the encoder of a table's columns, without any columns yet."""
        from unitless.encoders import FrameEncoder

        return FrameEncoder(
            self.hash_bits, self.max_levels, self.interactions or (), self.text or ()
        )


@dataclass(kw_only=True)
class TaskOptions:
    """What is to be learned."""

    task: Annotated[
        Tasks,
        _option(
            LEARNING,
            "binary, multiclass, regression or auto. auto: text, booleans or exactly two distinct "
            "values in the first block are classes, everything else is a number.",
            metavar="TASK",
            default=True,
        ),
    ] = "auto"
    loss: Annotated[
        str | None,
        _option(
            LEARNING,
            "logistic or hinge for two classes; squared, absolute, quantile(0.9) or huber(2) for "
            "numbers. Default: logistic or squared.",
            metavar="LOSS",
        ),
    ] = None


@dataclass(kw_only=True)
class LearningOptions(ReadingOptions, TaskOptions, ColumnOptions):
    """The options that `evaluate` and `fit` share."""

    data: Data
    learner: Annotated[
        str,
        _option(
            LEARNING,
            "Learner by name; `unitless learners` lists them.",
            "-l",
            "--learner",
            metavar="NAME",
            default=True,
        ),
    ] = "blend"
    quantile: Annotated[
        float | None,
        _option(LEARNING, "Use the loss quantile(TAU); 0.5 is the median.", metavar="TAU"),
    ] = None
    passes: Annotated[
        int,
        _option(LEARNING, "Number of passes over the file; only the first is scored.", metavar="N"),
    ] = 1
    holdout: Annotated[
        int, _option(LEARNING, "Predict, but never learn, one of every N rows.", metavar="N")
    ] = 0
    save: Save = None
    resume: Annotated[
        str | None,
        _option(
            OUTPUT,
            "Continue from a saved model: in the same file where it stopped, in another file from "
            "its beginning.",
            metavar="MODEL",
        ),
    ] = None
    checkpoint: Annotated[
        int, _option(OUTPUT, "Save the model every N rows (requires --save).", metavar="N")
    ] = 0
    predictions: Annotated[
        str | None,
        _option(
            OUTPUT, "Write the predictions as CSV to this file; - for standard output.",
            metavar="FILE",
        ),
    ] = None  # fmt: skip
    report: Annotated[
        str | None,
        _option(
            OUTPUT,
            "Write a report as one HTML page (page.html), and its results (page.results.json).",
            metavar="PAGE",
        ),
    ] = None
    results: Annotated[
        str | None, _option(OUTPUT, "Write the results as JSON to this file.", metavar="FILE")
    ] = None
    top: Top = 10
    quiet: Quiet = False
    json: Json = False
    no_color: NoColor = False

    def __post_init__(self) -> None:
        if self.quantile is not None:
            if self.loss not in (None, "quantile"):
                raise ValueError(f"--quantile is a loss itself: leave out --loss {self.loss}")
            self.loss = f"quantile({self.quantile!r})"
        minimum = {"passes": 1}
        for name in ("passes", "holdout", "delay", "checkpoint", "audit", "skip_bad", "top"):
            value = getattr(self, name, 1)
            if value < minimum.get(name, 0):
                option = name.replace("_", "-")
                raise ValueError(f"--{option} {value}: must be at least {minimum.get(name, 0)}")
        if self.holdout == 1:
            raise ValueError("--holdout 1 would hold out every row: use 2 or more")
        if self.passes > 1 and self.data == "-":
            raise ValueError("--passes needs a file: standard input can be read only once")
        if self.checkpoint and not self.save:
            raise ValueError("--checkpoint needs --save MODEL, the file to save to")
        if self.checkpoint and getattr(self, "delay", 0):
            raise ValueError("--checkpoint cannot be combined with --delay")


@dataclass(kw_only=True)
class EvaluateOptions(LearningOptions):
    """The options of `evaluate`."""

    delay: Annotated[
        int, _option(LEARNING, "Learn each label N rows after its prediction.", metavar="N")
    ] = 0
    audit: Annotated[
        int,
        _option(OUTPUT, "Show what each feature adds to the score of this row.", metavar="ROW"),
    ] = 0


@dataclass(kw_only=True)
class FitOptions(LearningOptions):
    """The options of `fit`."""

    shards: Annotated[
        int | None,
        _option(
            PROCESSES,
            "Learn one model (only with vaw) from N shards: files of a folder or pattern, or row "
            "groups of Parquet files.",
            metavar="N",
        ),
    ] = None
    by_key: Annotated[
        str | None,
        _option(
            PROCESSES,
            "Learn one model for each value of this column, saved in one file.",
            metavar="COLUMN",
        ),
    ] = None
    workers: Annotated[
        int | None,
        _option(PROCESSES, "Number of processes (default: one per core).", metavar="N"),
    ] = None
    address: Annotated[
        str | None,
        _option(
            PROCESSES,
            "Use this Ray cluster instead of this machine (requires unitless[ray]).",
            metavar="HOST:PORT",
        ),
    ] = None
    retries: Annotated[
        int,
        _option(
            PROCESSES, "How often to repeat a task whose worker died.", metavar="N", default=True
        ),
    ] = 3


def takes(options: type[Options]) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """Make a command of a function whose only parameter is a dataclass of options."""

    def decorate(function: Callable[[Options], None]) -> Callable[..., None]:
        def command(**values: Any) -> None:
            function(options(**values))

        hints = get_type_hints(options, include_extras=True)
        parameters = [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                annotation=hints[field.name],
                default=inspect.Parameter.empty if field.default is MISSING else field.default,
            )
            for field in sorted(fields(options), key=lambda field: field.default is not MISSING)  # type: ignore[arg-type]
        ]
        command.__name__ = function.__name__
        command.__doc__ = function.__doc__
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        return command

    return decorate
