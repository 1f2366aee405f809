"""The options of the commands, each defined once, as fields of dataclasses.

A command takes one dataclass: `takes(EvaluateOptions)` turns its fields into the parameters that
typer sees, so that the help, the manual and the code share one definition.
"""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, field, fields
from functools import partial
from typing import Annotated, Any, Literal, TypeVar, get_type_hints

import typer

READING, COLUMNS, LEARNING, OUTPUT = "Reading", "Columns", "Learning", "Output"
PROCESSES = "Several processes"
Formats = Literal["csv", "tsv", "jsonl", "parquet", "arrow", "svmlight", "vw"]
Tasks = Literal["auto", "binary", "multiclass", "regression"]
Options = TypeVar("Options")


SHORT = {
    "target": "-t",
    "interactions": "-q",
    "hash_bits": "-b",
    "learner": "-l",
    "output": "-o",
}
"""Short names of options."""


def option(panel: str, default: Any, metavar: str | None, help: str, show: bool = False) -> Any:
    """Define a field that is an option; `show` says whether the help shows its default."""
    settings = {"metavar": metavar, "help": help, "rich_help_panel": panel, "show_default": show}
    return field(default=default, metadata={"option": settings})


_reading = partial(option, READING)
_columns = partial(option, COLUMNS)
_learning = partial(option, LEARNING)
_output = partial(option, OUTPUT)
_processes = partial(option, PROCESSES)


def argument(metavar: str, help: str) -> Any:
    """Define a field that is a required argument."""
    info = typer.Argument(metavar=metavar, help=help, show_default=False)
    return field(metadata={"argument": info})


def data_argument() -> Any:
    """Define the field of the data file."""
    return argument(
        "DATA",
        "File to read: CSV, TSV, JSON lines, Parquet, Arrow, svmlight or VW text, also compressed "
        "as .gz or .zst; - for standard input.",
    )


def takes(options: type[Options]) -> Callable[[Callable[[Options], None]], Callable[..., None]]:
    """Make a command of a function whose only parameter is a dataclass of options."""

    def decorate(function: Callable[[Options], None]) -> Callable[..., None]:
        def command(**values: Any) -> None:
            function(options(**values))

        hints = get_type_hints(options, include_extras=True)
        every: tuple[Field[Any], ...] = fields(options)  # type: ignore[arg-type]
        ordered = sorted(every, key=lambda each: each.default is not MISSING)
        parameters = [_parameter(each, hints[each.name]) for each in ordered]
        command.__name__ = function.__name__
        command.__doc__ = function.__doc__
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        return command

    return decorate


def _parameter(each: "Field[Any]", hint: Any) -> inspect.Parameter:
    default = inspect.Parameter.empty if each.default is MISSING else each.default
    kind = hint
    if "argument" in each.metadata:
        kind = Annotated[hint, each.metadata["argument"]]
    elif "option" in each.metadata:
        names = [SHORT[each.name]] if each.name in SHORT else []
        info = typer.Option(*names, f"--{each.name.replace('_', '-')}", **each.metadata["option"])
        kind = Annotated[hint, info]
    return inspect.Parameter(
        each.name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default
    )


# Options that commands without a dataclass share

_panel: Any = {"rich_help_panel": OUTPUT}
Model = Annotated[str, typer.Argument(metavar="MODEL", help="Model file.", show_default=False)]
Save = Annotated[
    str | None, typer.Option(metavar="MODEL", help="Save the model to this file.", **_panel)
]
Top = Annotated[int, typer.Option(metavar="N", help="Number of weights to show.", **_panel)]
Quiet = Annotated[bool, typer.Option("--quiet", help="Print only errors.", **_panel)]
Json = Annotated[
    bool, typer.Option("--json", help="Print the results as JSON and nothing else.", **_panel)
]
NoColor = Annotated[bool, typer.Option("--no-color", help="Print without colours.", **_panel)]


@dataclass(kw_only=True)
class ReadingOptions:
    """How a file is read."""

    format: Formats | None = _reading(
        None,
        "FORMAT",
        "csv, tsv, jsonl, parquet, arrow, svmlight or vw (by default from the file name).",
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
    coerce: bool = _reading(False, None, "Treat cells that do not fit their column as missing.")
    skip_bad: int = _reading(0, "N", "Skip up to N invalid lines and report their number.")

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

    target: str | None = _columns(
        None, "COLUMN", "Column to predict (rows of svmlight and VW text contain their label)."
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
        None,
        "A:B",
        "Add products of columns as features: a:b, a:: (a with each other column), :: (all pairs).",
    )
    hash_bits: int = _columns(
        18,
        "BITS",
        "Values or words beyond --max-levels share 2^BITS features per column.",
        show=True,
    )
    max_levels: int = _columns(
        1000,
        "N",
        "Maximum number of distinct values or words per column that get their own feature.",
        show=True,
    )

    def columns(self) -> Any:
        """Return the encoder of a table's columns, without any columns yet."""
        from unitless.encoders import FrameEncoder

        interactions = self.interactions or ()
        return FrameEncoder(self.hash_bits, self.max_levels, interactions, self.text or ())


@dataclass(kw_only=True)
class TaskOptions:
    """What is to be learned."""

    task: Tasks = _learning(
        "auto",
        "TASK",
        "binary, multiclass, regression or auto. auto: text, booleans or exactly two distinct "
        "values in the first block are classes, everything else is a number.",
        show=True,
    )
    loss: str | None = _learning(
        None,
        "LOSS",
        "logistic or hinge for two classes; squared, absolute, quantile(0.9) or huber(2) for "
        "numbers. Default: logistic or squared.",
    )


@dataclass(kw_only=True)
class LearningOptions(ReadingOptions, TaskOptions, ColumnOptions):
    """The options that `evaluate` and `fit` share."""

    data: str = data_argument()
    learner: str = _learning(
        "blend", "NAME", "Learner by name; `unitless learners` lists them.", show=True
    )
    quantile: float | None = _learning(
        None, "TAU", "Use the loss quantile(TAU); 0.5 is the median."
    )
    passes: int = _learning(1, "N", "Number of passes over the file; only the first is scored.")
    holdout: int = _learning(0, "N", "Predict, but never learn, one of every N rows.")
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
        None,
        "PAGE",
        "Write a report as one HTML page (page.html), and its results (page.results.json).",
    )
    results: str | None = _output(None, "FILE", "Write the results as JSON to this file.")
    top: Top = 10
    quiet: Quiet = False
    json: Json = False
    no_color: NoColor = False

    def __post_init__(self) -> None:
        if self.quantile is not None:
            if self.loss not in (None, "quantile"):
                raise ValueError(f"--quantile is a loss itself: leave out --loss {self.loss}")
            self.loss = f"quantile({self.quantile!r})"
        for name in ("passes", "holdout", "delay", "checkpoint", "audit", "skip_bad", "top"):
            minimum = int(name == "passes")
            value = getattr(self, name, minimum)
            if value < minimum:
                option_name = name.replace("_", "-")
                raise ValueError(f"--{option_name} {value}: must be at least {minimum}")
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

    delay: int = _learning(0, "N", "Learn each label N rows after its prediction.")
    audit: int = _output(0, "ROW", "Show what each feature adds to the score of this row.")


@dataclass(kw_only=True)
class FitOptions(LearningOptions):
    """The options of `fit`."""

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
    retries: int = _processes(3, "N", "How often to repeat a task whose worker died.", show=True)
