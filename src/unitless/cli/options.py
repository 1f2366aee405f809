"""The options of the commands, each defined once, as fields of dataclasses.

A command takes one dataclass: `takes(LearningOptions)` turns its fields into the parameters that
typer sees, so that the help, the manual and the code share one definition.
"""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields
from functools import partial
from typing import Annotated, Any, Literal, TypeVar, get_type_hints

import typer

from unitless.readers.files import expanded

READING, COLUMNS, LEARNING, OUTPUT = "Reading", "Columns", "Learning", "Output"
PROCESSES = "Several processes"
Formats = Literal["csv", "tsv", "jsonl", "parquet", "arrow", "svmlight", "vw"]
Tasks = Literal["auto", "binary", "multiclass", "regression"]
Options = TypeVar("Options")


def option(panel: str, default: Any, metavar: str | None, help: str, *names: str) -> Any:
    """Define a field that is an option; `names` are those besides its own, or instead of it."""
    settings: Any = {"metavar": metavar or "", "help": help, "rich_help_panel": panel}
    settings["show_default"] = default not in (None, False, 0, "")
    return field(default=default, metadata={"names": names, "option": settings})


_reading = partial(option, READING)
_columns = partial(option, COLUMNS)
_learning = partial(option, LEARNING)
_output = partial(option, OUTPUT)
_processes = partial(option, PROCESSES)


def takes(options: type[Options]) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """Make a command of a function whose only parameter is a dataclass of options."""

    def decorate(function: Callable[[Options], None]) -> Callable[..., None]:
        def command(**values: Any) -> None:
            function(options(**values))

        hints = get_type_hints(options, include_extras=True)
        parameters = [_parameter(each, hints[each.name]) for each in fields(options)]  # type: ignore[arg-type]
        parameters.sort(key=lambda each: each.default is not inspect.Parameter.empty)
        command.__name__ = function.__name__
        command.__doc__ = function.__doc__
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        return command

    return decorate


def _parameter(each: Any, hint: Any) -> inspect.Parameter:
    default = inspect.Parameter.empty if each.default is MISSING else each.default
    if "option" in each.metadata:
        names = list(each.metadata["names"])
        if not any(name.startswith("--") for name in names):
            names.append(f"--{each.name.replace('_', '-')}")
        hint = Annotated[hint, typer.Option(*names, **each.metadata["option"])]
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(each.name, kind, annotation=hint, default=default)


# Arguments and options that commands without a dataclass share

_panel: Any = {"rich_help_panel": OUTPUT}
FORMATS_READ = (
    "CSV, TSV, JSON, Parquet, Arrow, svmlight or VW text, also compressed as .gz, .zst, .bz2, .xz "
    "or .zip; - for standard input."
)
OneFile = Annotated[str, typer.Argument(metavar="DATA", help=f"File to read: {FORMATS_READ}")]
Data = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        help="Files, folders or patterns ('day*.csv'), read one after another in the order given, "
        f"those of a folder or pattern sorted by name: {FORMATS_READ}",
    ),
]
Model = Annotated[str, typer.Argument(metavar="MODEL", help="Model file.")]
Save = Annotated[
    str | None, typer.Option(metavar="MODEL", help="Save the model to this file.", **_panel)
]
Top = Annotated[int, typer.Option(metavar="N", help="Number of weights to show.", **_panel)]
Quiet = Annotated[bool, typer.Option("--quiet", metavar="", help="Print only errors.", **_panel)]
Json = Annotated[
    bool,
    typer.Option(
        "--json", metavar="", help="Print the results as JSON and nothing else.", **_panel
    ),
]
NoColor = Annotated[
    bool, typer.Option("--no-color", metavar="", help="Print without colours.", **_panel)
]


@dataclass(kw_only=True)
class ReadingOptions:
    """Files, and how they are read."""

    data: Data
    format: Formats | None = _reading(
        None, "FORMAT", "csv, tsv, jsonl, parquet, arrow, svmlight or vw (default: by file name)."
    )
    no_header: bool = _reading(
        False, None, "CSV: the first line is data; name the columns c1, c2, ..."
    )
    separator: str | None = _reading(
        None, "CHAR", "Field separator of a CSV file (detected by default)."
    )
    quote: str | None = _reading(
        None, "CHAR", 'Quote character of a CSV file, or "none" (detected by default).'
    )
    encoding: str | None = _reading(
        None, "NAME", "Encoding of a text file: utf-8, utf-16, windows-1252, ... (detected)."
    )
    decimal: str | None = _reading(
        None, "CHAR", "CSV: decimal sign of all numbers, a point or a comma (detected by default)."
    )
    thousands: str | None = _reading(
        None, "CHAR", 'CSV: separator of thousands, or "none" (detected by default).'
    )
    date: list[str] | None = _columns(
        None,
        "COLUMN[=FORMAT]",
        "Column of dates, written as in FORMAT, such as %d.%m.%Y (default: YYYY-MM-DD).",
    )
    category: list[str] | None = _columns(
        None, "COLUMN", "Column of categories, whatever its cells look like."
    )
    na: list[str] | None = _reading(
        None, "TOKEN", "CSV: this text means a missing value, too (may be repeated)."
    )
    strict: bool = _reading(
        False,
        None,
        "CSV: cells of a numeric column that are not numbers are errors, not missing values.",
    )
    coerce: bool = _reading(
        False, None, "Treat cells that do not fit their column as missing (CSV: the default)."
    )
    skip_bad: int = _reading(0, "N", "Skip up to N invalid lines and report their number.")

    def __post_init__(self) -> None:
        self.source = self.data if isinstance(self.data, str) else " ".join(self.data)
        self.data = expanded(self.data)
        if len(self.data) == 1:
            self.source = self.data[0]
        elif "-" in self.data:
            raise ValueError("standard input (-) cannot be read together with files")
        if self.strict and self.coerce:
            raise ValueError("--strict and --coerce contradict each other: use one of them")
        for each in fields(self):
            value = getattr(self, each.name)
            minimum = int(each.name == "passes")
            if isinstance(value, int) and value < minimum:
                name = each.name.replace("_", "-")
                raise ValueError(f"--{name} {value}: must be at least {minimum}")

    def reading(self) -> dict[str, Any]:
        """Return the options of `open_blocks` that were given.

        >>> ReadingOptions(data=["-"], no_header=True, quote="none").reading()
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
        if self.na:
            given["na"] = self.na
        if self.encoding is not None:
            given["encoding"] = self.encoding
        if self.decimal is not None:
            given["decimal"] = self.decimal
        if self.thousands is not None:
            given["thousands"] = {"none": "", "space": " "}.get(self.thousands, self.thousands)
        types = dict.fromkeys(self.category or (), "category")
        for spec in self.date or ():
            name, _, format = spec.partition("=")
            types[name] = f"date {format}".rstrip()
        if types:
            given["types"] = types
        return given


@dataclass(kw_only=True)
class TableOptions:
    """What the columns of a table mean, and what is to be learned."""

    target: str | None = _columns(
        None, "COLUMN", "Column to predict (rows of svmlight and VW text contain it).", "-t"
    )
    weight: str | None = _columns(None, "COLUMN", "Column of sample weights.")
    ignore: list[str] | None = _columns(
        None, "COLUMN", "Exclude this column from the features (may be repeated)."
    )
    keep: list[str] | None = _columns(
        None, "COLUMN", "Use only the columns given this way as features."
    )
    text: list[str] | None = _columns(
        None, "COLUMN", "Column of text; each of its words is a feature."
    )
    interactions: list[str] | None = _columns(
        None, "A:B", "Add products of columns: a:b, a:: (a with each other), :: (all pairs).", "-q"
    )
    hash_bits: int = _columns(
        18, "BITS", "Values or words beyond --max-levels share 2^BITS features per column.", "-b"
    )
    max_levels: int = _columns(
        1000, "N", "Maximum number of distinct values or words per column with their own feature."
    )
    task: Tasks = _learning(
        "auto",
        "TASK",
        "binary, multiclass, regression or auto. auto: text, booleans or exactly two distinct "
        "values in the first block are classes, everything else is a number.",
    )
    loss: str | None = _learning(
        None,
        "LOSS",
        "logistic or hinge for two classes; squared, absolute, quantile(0.9) or huber(2) for "
        "numbers. Default: logistic or squared.",
    )

    def meaning(self) -> dict[str, Any]:
        """Return these options for `Model.from_first_block`."""
        from unitless.encoders import FrameEncoder

        interactions = self.interactions or ()
        return {
            "target": self.target,
            "weight": self.weight,
            "ignore": self.ignore or (),
            "keep": self.keep or (),
            "task": self.task,
            "loss": self.loss,
            "columns": FrameEncoder(self.hash_bits, self.max_levels, interactions, self.text or ()),
        }


CONTRADICTIONS = (
    ("checkpoint", "delay"),
    ("shuffle", "resume"),
    ("shuffle", "checkpoint"),
    ("shuffle", "predictions"),
    ("test", "test_share"),
    ("test_share", "holdout"),
    ("test_share", "resume"),
)
"""Options that cannot be combined."""


@dataclass(kw_only=True)
class LearningOptions(ReadingOptions, TableOptions):
    learner: str = _learning("blend", "NAME", "Learner; `unitless learners` lists them.", "-l")
    quantile: float | None = _learning(
        None, "TAU", "Use the loss quantile(TAU); 0.5 is the median."
    )
    passes: int = _learning(1, "N", "Number of passes over the file; only the first is scored.")
    holdout: int = _learning(0, "N", "Predict, but never learn, one of every N rows.")
    delay: int = _learning(0, "N", "Learn each label N rows after its prediction.")
    shuffle: bool = _learning(
        False, None, "Read the whole file into memory and learn its rows in random order."
    )
    test: str | None = _learning(
        None, "FILE", "After learning, also score the rows of this file, which are not learned."
    )
    test_share: float = _learning(
        0.0, "SHARE", "Hold out this share of the rows, for example 0.2, and score them at the end."
    )
    save: Save = None
    resume: str | None = _output(
        None,
        "MODEL",
        "Continue from a saved model: in the same file where it stopped, in another file from its "
        "beginning.",
    )
    checkpoint: int = _output(0, "N", "Save the model every N rows (requires --save).")
    predictions: str | None = _output(
        None, "FILE", "Write the predictions as CSV to this file; - for standard output."
    )
    report: str | None = _output(
        None, "PAGE", "Write a report (page.html), and its results (page.results.json)."
    )
    results: str | None = _output(None, "FILE", "Write the results as JSON to this file.")
    audit: int = _output(0, "ROW", "Show what each feature adds to the score of this row.")
    top: Top = 10
    quiet: Quiet = False
    json: Json = False
    no_color: NoColor = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.quantile is not None:
            if self.loss not in (None, "quantile"):
                raise ValueError(f"--quantile is a loss itself: leave out --loss {self.loss}")
            self.loss = f"quantile({self.quantile!r})"
        if self.holdout == 1:
            raise ValueError("--holdout 1 would hold out every row: use 2 or more")
        if self.passes > 1 and self.source == "-":
            raise ValueError("--passes needs a file: standard input can be read only once")
        self.test_files = expanded(self.test) if self.test else []
        if not 0 <= self.test_share < 1:
            raise ValueError(f"--test-share {self.test_share:g}: must be at least 0 and below 1")
        if self.test_share and self.source == "-":
            raise ValueError("--test-share needs a file: standard input can be read only once")
        for one, other in CONTRADICTIONS:
            if getattr(self, one) and getattr(self, other):
                names = [name.replace("_", "-") for name in (one, other)]
                raise ValueError(f"--{names[0]} cannot be combined with --{names[1]}")
        if self.checkpoint and not self.save:
            raise ValueError("--checkpoint needs --save MODEL, the file to save to")


@dataclass(kw_only=True)
class FitOptions(LearningOptions):
    shards: int | None = _processes(
        None,
        "N",
        "Learn one model (only with vaw) from N shards: files of a folder or pattern, or row "
        "groups of Parquet files.",
    )
    by_key: str | None = _processes(
        None, "COLUMN", "Learn one model for each value of this column, saved in one file."
    )
    workers: int | None = _processes(None, "N", "Number of processes (default: one per core).")
    address: str | None = _processes(
        None, "HOST:PORT", "Use this Ray cluster instead of this machine (requires unitless[ray])."
    )
    retries: int = _processes(3, "N", "How often to repeat a task whose worker died.")
