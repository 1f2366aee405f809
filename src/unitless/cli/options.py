"""The options of all commands, each declared once: type, default, spelling and help.

`CommandOptions` has one field per option. A command names those that it takes (`takes`); what typer
sees, and so the help and the manual, follows from the fields.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin

import typer

FORMATS_READ = (
    "CSV, TSV, JSON, Parquet, Arrow, svmlight or VW text, also compressed as .gz, .zst, .bz2, .xz "
    "or .zip; - for standard input."
)
Format = Literal["csv", "tsv", "jsonl", "parquet", "arrow", "svmlight", "vw"]


class Option(NamedTuple):
    """What an option means, and how it is written."""

    help: str
    metavar: str = ""
    """The name of its value in the help; a flag has none."""
    flags: tuple[str, ...] = ()
    """Its spellings. If none begins with two dashes, its name with two dashes is one, too."""


# Fields. Options of type `Sequence` may be repeated; arguments are required where they are taken.


class Arguments:
    """What a command works on."""

    model: Annotated[str, Option("Model file.", "MODEL")] = ""
    data: Annotated[
        Sequence[str],
        Option(
            "Files, folders or patterns ('day*.csv'), read one after another in the order given, "
            f"those of a folder or pattern sorted by name: {FORMATS_READ}",
            "DATA",
        ),
    ] = ()
    file: Annotated[str, Option(f"File to read: {FORMATS_READ}", "DATA")] = ""
    output: Annotated[str, Option("File to write; - for standard output.", "OUTPUT")] = ""
    words: Annotated[
        Sequence[str],
        Option(
            "The row: NAME=VALUE for each column, or one JSON object, or - to read a JSON object "
            "from standard input; with --row, a file.",
            "ROW",
        ),
    ] = ()
    factors: Annotated[
        Sequence[str],
        Option("Factor by which the values of a column are multiplied from now on.", "NAME=FACTOR"),
    ] = ()


class ReadingOptions:
    """How files are read, and written."""

    format: Annotated[
        Format | None,
        Option(
            "csv, tsv, jsonl, parquet, arrow, svmlight or vw (default: by file name).",
            "FORMAT",
        ),
    ] = None
    to: Annotated[
        Format | None, Option("Format of OUTPUT (by default from its name).", "FORMAT")
    ] = None
    no_header: Annotated[
        bool, Option("CSV: the first line is data; name the columns c1, c2, ...")
    ] = False
    separator: Annotated[
        str | None, Option("Field separator of a CSV file (detected by default).", "CHAR")
    ] = None
    quote: Annotated[
        str | None,
        Option('Quote character of a CSV file, or "none" (detected by default).', "CHAR"),
    ] = None
    encoding: Annotated[
        str | None,
        Option("Encoding of a text file: utf-8, utf-16, windows-1252, ... (detected).", "NAME"),
    ] = None
    decimal: Annotated[
        str | None,
        Option(
            "Decimal sign of all numbers in text, a point or a comma (detected by default).",
            "CHAR",
        ),
    ] = None
    thousands: Annotated[
        str | None,
        Option('Separator of thousands in text, or "none" (detected by default).', "CHAR"),
    ] = None
    na: Annotated[
        Sequence[str], Option("This text means a missing value, too (may be repeated).", "TOKEN")
    ] = ()
    strict: Annotated[
        bool,
        Option(
            "Cells that do not fit their column of numbers, dates or booleans are errors, not "
            "missing values.",
        ),
    ] = False
    coerce: Annotated[
        bool,
        Option(
            "Treat cells that do not fit their column as missing (the default without --by-key).",
        ),
    ] = False
    skip_bad: Annotated[int, Option("Skip up to N invalid lines and report their number.", "N")] = 0


class ColumnOptions:
    """What columns mean."""

    target: Annotated[
        str | None,
        Option("Column to predict (rows of svmlight and VW text contain it).", "COLUMN", ("-t",)),
    ] = None
    weight: Annotated[str | None, Option("Column of sample weights.", "COLUMN")] = None
    ignore: Annotated[
        Sequence[str], Option("Exclude this column from the features (may be repeated).", "COLUMN")
    ] = ()
    keep: Annotated[
        Sequence[str], Option("Use only the columns given this way as features.", "COLUMN")
    ] = ()
    date: Annotated[
        Sequence[str],
        Option(
            "Column of dates, written as in FORMAT, such as %d.%m.%Y, or %s for seconds since "
            "1970 (default: YYYY-MM-DD; other formats are detected where cells leave no doubt).",
            "COLUMN[=FORMAT]",
        ),
    ] = ()
    category: Annotated[
        Sequence[str], Option("Column of categories, whatever its cells look like.", "COLUMN")
    ] = ()
    number: Annotated[
        Sequence[str], Option("Column of numbers, whatever its cells look like.", "COLUMN")
    ] = ()
    identifier_as_feature: Annotated[
        bool,
        Option(
            "Use columns of text that are different in every row as features; by default they are "
            "left out.",
        ),
    ] = False
    text: Annotated[
        Sequence[str], Option("Column of text; each of its words is a feature.", "COLUMN")
    ] = ()
    interactions: Annotated[
        Sequence[str],
        Option(
            "Add products of columns: a:b, a:: (a with each other), :: (all pairs).",
            "A:B",
            ("-q",),
        ),
    ] = ()
    hash_bits: Annotated[
        int,
        Option(
            "Values or words beyond --max-levels share 2^BITS features per column.",
            "BITS",
            ("-b",),
        ),
    ] = 18
    max_levels: Annotated[
        int,
        Option(
            "Maximum number of distinct values or words per column with their own feature.",
            "N",
        ),
    ] = 1000
    classes: Annotated[
        str | None,
        Option(
            "All classes, for svmlight and VW text: no,yes become -1 and 1; a,b,c become 1, 2 and "
            "3.",
            "A,B",
        ),
    ] = None


class LearningOptions:
    """What is learned, and how it is measured."""

    task: Annotated[
        Literal["auto", "binary", "multiclass", "regression"],
        Option(
            "binary, multiclass, regression or auto. auto: text, booleans or exactly two distinct "
            "values in the first block are classes, everything else is a number.",
            "TASK",
        ),
    ] = "auto"
    loss: Annotated[
        str | None,
        Option(
            "logistic or hinge for two classes; squared, absolute, quantile(0.9) or huber(2) for "
            "numbers. Default: logistic or squared.",
            "LOSS",
        ),
    ] = None
    learner: Annotated[str, Option("Learner; `unitless learners` lists them.", "NAME", ("-l",))] = (
        "blend"
    )
    learners: Annotated[
        str | None,
        Option(
            "Learners by name, also boosting, linear, sklearn, vw, river; all for all of them "
            "(default: a few).",
            "A,B,C",
        ),
    ] = None
    quantile: Annotated[
        float | None, Option("Use the loss quantile(TAU); 0.5 is the median.", "TAU")
    ] = None
    passes: Annotated[
        int, Option("Number of passes over the file; only the first is scored.", "N")
    ] = 1
    holdout: Annotated[int, Option("Predict, but never learn, one of every N rows.", "N")] = 0
    interval: Annotated[
        Sequence[float],
        Option(
            "Also predict intervals (of classes, sets) that cover this share of the rows, for "
            "example 0.9 (may be repeated).",
            "COVERAGE",
        ),
    ] = ()
    delay: Annotated[
        int | None,
        Option(
            "Labels arrive N rows after the next row is predicted; 0 says that they are known "
            "before it (default: not said).",
            "N",
        ),
    ] = None
    shuffle: Annotated[
        bool, Option("Read the whole file into memory and learn its rows in random order.")
    ] = False
    test: Annotated[
        str | None,
        Option("After learning, also score the rows of this file, which are not learned.", "FILE"),
    ] = None
    test_share: Annotated[
        float,
        Option(
            "Hold out this share of the rows, for example 0.2, and score them at the end.",
            "SHARE",
        ),
    ] = 0.0
    units: Annotated[
        Literal["random"] | None,
        Option("Repeat with each column multiplied by a random power of two.", "random"),
    ] = None
    tune: Annotated[
        bool, Option("Add the best learning rate in hindsight for methods that have one.")
    ] = False
    seed: Annotated[int, Option("Seed of the random units.", "N")] = 0
    reservoir: Annotated[
        int,
        Option(
            "Number of learned rows, a uniform sample, that the model keeps for effects and "
            "explanations; 0 keeps none.",
            "N",
        ),
    ] = 256
    regret: Annotated[
        bool | None,
        Option(
            "Compute the best fixed weights in hindsight and the regret against them (default: "
            "only for small files, because it may take long).",
            flags=("--regret/--no-regret",),
        ),
    ] = None


class DecisionOptions:
    """Logs of decisions, and classification that is played as decisions."""

    action: Annotated[
        str | None,
        Option(
            "The rows are logged decisions, and this column has the action that was taken.",
            "COLUMN",
        ),
    ] = None
    reward: Annotated[
        str | None, Option("Column of the rewards of logged decisions.", "COLUMN")
    ] = None
    probability: Annotated[
        str | None,
        Option("Column of the probabilities with which logged actions were drawn.", "COLUMN"),
    ] = None
    actions: Annotated[
        str | None,
        Option(
            "Key of JSON lines with the possible actions of each decision: an object that has the "
            'features of each action by its name, or a list of objects with the name as "id" or '
            '"name".',
            "COLUMN",
        ),
    ] = None
    policy: Annotated[
        str | None,
        Option(
            'Also value this policy: a table with one row per decision and a column "action" '
            '(what it chooses) or "probability" (with which it chooses the logged action).',
            "FILE",
        ),
    ] = None
    reward_range: Annotated[
        str | None,
        Option(
            "The least and the largest possible reward (default: those of the file).",
            "LOW,HIGH",
        ),
    ] = None
    bandit: Annotated[
        bool,
        Option(
            "Play classification as decisions: each class is an action, and only the reward of "
            "the chosen one is seen.",
        ),
    ] = False


class ProcessOptions:
    """Training in several processes."""

    by_key: Annotated[
        str | None,
        Option("Learn one model for each value of this column, saved in one file.", "COLUMN"),
    ] = None
    workers: Annotated[int | None, Option("Number of processes (default: one per core).", "N")] = (
        None
    )
    address: Annotated[
        str | None,
        Option(
            "Use this Ray cluster instead of this machine (requires unitless[ray]).",
            "HOST:PORT",
        ),
    ] = None
    retries: Annotated[int, Option("How often to repeat a task whose worker died.", "N")] = 3


class OutputOptions:
    """What is written and printed."""

    save: Annotated[str | None, Option("Save the model to this file.", "MODEL")] = None
    resume: Annotated[
        str | None,
        Option(
            "Continue from a saved model: in the same file where it stopped, in another file from "
            "its beginning.",
            "MODEL",
        ),
    ] = None
    checkpoint: Annotated[int, Option("Save the model every N rows (requires --save).", "N")] = 0
    predictions: Annotated[
        str | None,
        Option("Write the predictions as CSV to this file; - for standard output.", "FILE"),
    ] = None
    safe_csv: Annotated[
        bool,
        Option(
            "In CSV output, write an apostrophe before text that begins with =, +, - or @, which "
            "a spreadsheet would take for a formula (numbers stay as they are).",
        ),
    ] = False
    report: Annotated[
        str | None,
        Option("Write a report (page.html), and its results (page.results.json).", "PAGE"),
    ] = None
    results: Annotated[str | None, Option("Write the results as JSON to this file.", "FILE")] = None
    audit: Annotated[int, Option("Show what each column adds to the score of row N.", "N")] = 0
    row: Annotated[int | None, Option("Explain this row of the file, from 1.", "N")] = None
    sort: Annotated[
        Literal["effect", "name"],
        Option("Sort columns by their effect on the prediction, or by name: effect or name.", "BY"),
    ] = "effect"
    top: Annotated[
        int | None,
        Option(
            "Number of effects to show (default: as many as a small terminal has room for).",
            "N",
        ),
    ] = None
    verbose: Annotated[bool, Option("Also print all metrics and guarantees, and more effects.")] = (
        False
    )
    quiet: Annotated[bool, Option("Print only errors.")] = False
    json: Annotated[bool, Option("Print the results as JSON and nothing else.")] = False
    no_color: Annotated[bool, Option("Print without colours.")] = False


GROUPS: dict[str, type] = {
    "Arguments": Arguments,
    "Reading": ReadingOptions,
    "Columns": ColumnOptions,
    "Learning": LearningOptions,
    "Decisions": DecisionOptions,
    "Several processes": ProcessOptions,
    "Output": OutputOptions,
}
"""The groups of options, by their titles in the help."""


class OptionField(NamedTuple):
    """What is declared about a field of `CommandOptions`."""

    group: str
    type: Any
    default: object
    option: Option


def _fields() -> dict[str, OptionField]:
    """Return what is declared, by the name of the field."""
    found = {}
    for title, group in GROUPS.items():
        for name, annotation in group.__annotations__.items():
            type, option = get_args(annotation)
            found[name] = OptionField(title, type, getattr(group, name), option)
    return found


FIELDS = _fields()

# What commands take

READING = (
    *("format", "no_header", "separator", "quote", "encoding", "decimal", "thousands", "na"),
    *("strict", "coerce", "skip_bad", "date", "category", "number"),
)
TABLE = (
    *("target", "weight", "ignore", "keep", "identifier_as_feature", "text", "interactions"),
    *("hash_bits", "max_levels", "task", "loss"),
)
LEARNING = (
    *("data", *TABLE, *READING, "learner", "quantile", "passes", "holdout", "delay", "interval"),
    *("shuffle", "test", "test_share", "reservoir", "save", "resume", "checkpoint", "predictions"),
    *("safe_csv", "report", "results", "audit", "top", "verbose", "quiet", "json", "no_color"),
)
DECIDING = ("action", "reward", "probability", "actions", "policy", "reward_range", "bandit")
PROCESSES = ("by_key", "workers", "address", "retries")
CONTRADICTIONS = {
    "strict": ("coerce",),
    "quiet": ("verbose",),
    "checkpoint": ("delay",),
    "shuffle": ("resume", "checkpoint", "predictions"),
    "test_share": ("test", "holdout", "resume"),
}
"""Options that cannot be combined with others."""


class CommandOptions(
    Arguments,
    ReadingOptions,
    ColumnOptions,
    LearningOptions,
    DecisionOptions,
    ProcessOptions,
    OutputOptions,
):
    """What a command was given, and the defaults of all other options."""

    source: str
    """The data in the words of the user; of a pattern or folder with one file, that file."""
    test_files: Sequence[str]

    def __init__(self, **given: object) -> None:
        from unitless.readers.files import expanded  # not needed to show help

        for name, value in given.items():
            if name not in FIELDS:
                raise TypeError(f"there is no option {name!r}")
            if value is not None:
                setattr(self, name, value)
        if self.file:
            self.data = [self.file]
        self.source = " ".join(self.data)
        self.data = expanded(self.data)
        if len(self.data) == 1:
            self.source = self.data[0]
        elif "-" in self.data:
            raise ValueError("standard input (-) cannot be read together with files")
        self.test_files = expanded(self.test) if self.test else []
        if self.quantile is not None:
            if self.loss not in (None, "quantile"):
                raise ValueError(f"--quantile is a loss itself: leave out --loss {self.loss}")
            self.loss = f"quantile({self.quantile!r})"
        for name in FIELDS:
            value = getattr(self, name)
            minimum = int(name == "passes")
            if isinstance(value, int) and value < minimum:
                raise ValueError(f"{spelt(name)} {value}: must be at least {minimum}")
        if not 0 <= self.test_share < 1:
            raise ValueError(f"--test-share {self.test_share:g}: must be at least 0 and below 1")
        if self.holdout == 1:
            raise ValueError("--holdout 1 would hold out every row: use 2 or more")
        for name, wanted in (("passes", self.passes > 1), ("test_share", self.test_share)):
            if wanted and self.source == "-":
                text = "needs a file: standard input can be read only once"
                raise ValueError(f"{spelt(name)} {text}")
        if self.checkpoint and not self.save:
            raise ValueError("--checkpoint needs --save MODEL, the file to save to")
        for one, others in CONTRADICTIONS.items():
            for other in others:
                if getattr(self, one) and getattr(self, other):
                    raise ValueError(f"{spelt(one)} cannot be combined with {spelt(other)}")

    def reading(self) -> dict[str, Any]:
        """Return the options of `open_blocks` that were given.

        >>> CommandOptions(data=["-"], no_header=True, quote="none").reading()
        {'header': False, 'quote': None}
        """
        given: dict[str, object] = {}
        if self.no_header:
            given["header"] = False
        for name in ("format", "na", "separator", "quote", "encoding", "decimal", "thousands"):
            value = getattr(self, name)
            if value not in (None, ()):
                given[name] = WORDS.get((name, value), value) if isinstance(value, str) else value
        types = dict.fromkeys(self.category, "category") | dict.fromkeys(self.number, "number")
        for spec in self.date:
            name, _, format = spec.partition("=")
            types[name] = f"date {format}".rstrip()
        if types:
            given["types"] = types
        return given

    def strictness(self) -> dict[str, Any]:
        """Return the options of `open_blocks` about lines and cells that are invalid."""
        return {"strict": self.strict, "skip_bad": self.skip_bad}

    def meaning(self) -> dict[str, Any]:
        """Return what the columns mean and what is learned, for `Model.from_first_block`."""
        from unitless.encoders import FrameEncoder

        return {
            "target": self.target,
            "weight": self.weight,
            "ignore": self.ignore,
            "keep": self.keep,
            "identifier_as_feature": self.identifier_as_feature,
            "task": self.task,
            "loss": self.loss,
            "columns": FrameEncoder(self.hash_bits, self.max_levels, self.interactions, self.text),
        }


WORDS = {
    ("separator", "tab"): "\t",
    ("separator", "\\t"): "\t",
    ("separator", "space"): " ",
    ("quote", "none"): None,
    ("thousands", "none"): "",
    ("thousands", "space"): " ",
}
"""Words for characters that are hard to type."""


def spelt(name: str) -> str:
    """Return a field as an option.

    >>> spelt("test_share")
    '--test-share'
    """
    return f"--{name.replace('_', '-')}"


def takes(
    *names: str, changed: Mapping[str, Option] = MappingProxyType({}), **defaults: object
) -> Callable[[Callable[[CommandOptions], None]], Callable[..., None]]:
    """Make a command of a function of `CommandOptions`.

    `changed` are options that are written otherwise or mean something else in this command, and
    `defaults` those that have another default.
    """
    fields = {name: FIELDS[name] for name in names}
    for name, option in changed.items():
        fields[name] = fields[name]._replace(option=option)
    for name, default in defaults.items():
        fields[name] = fields[name]._replace(default=default)
    parameters = [_parameter(name, field) for name, field in fields.items()]
    parameters.sort(key=lambda each: each.default is not inspect.Parameter.empty)

    def decorate(function: Callable[[CommandOptions], None]) -> Callable[..., None]:
        def command(**values: object) -> None:
            function(CommandOptions(**values))

        command.__name__ = function.__name__
        command.__doc__ = function.__doc__
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        return command

    return decorate


@cache  # commands share most of their options, and each start of the program makes all commands
def _parameter(name: str, field: OptionField) -> inspect.Parameter:
    """Return the parameter of typer for a field."""
    option = field.option
    info: object
    hint = field.type
    default = field.default
    if get_origin(hint) is Sequence:  # typer knows lists
        hint = list[get_args(hint)[0]]  # type: ignore[misc]
        default = None
    if field.group == "Arguments":
        info = typer.Argument(metavar=option.metavar, help=option.help)
        default = inspect.Parameter.empty
    else:
        if default is None:
            hint = hint | None
        has_name = any(flag.startswith("--") for flag in option.flags)
        info = typer.Option(
            *(option.flags if has_name else [*option.flags, spelt(name)]),
            metavar=option.metavar,
            help=option.help,
            show_default=bool(default),
            rich_help_panel=field.group,
        )
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, annotation=Annotated[hint, info], default=default)
