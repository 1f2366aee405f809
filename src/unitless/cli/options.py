"""The options of all commands: one table says how each is written, its default and its meaning.

A command names the options that it takes. They become the parameters that typer sees, so that the
help, the manual and the code share one definition.
"""

import inspect
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Annotated, Any, Literal, NamedTuple

import typer

FORMATS_READ = """CSV, TSV, JSON, Parquet, Arrow, svmlight or VW text, also compressed as .gz, .zst,
    .bz2, .xz or .zip; - for standard input."""
HELP = f"""
Arguments
  model MODEL: Model file.
  data DATA+: Files, folders or patterns ('day*.csv'), read one after another in the order given,
    those of a folder or pattern sorted by name: {FORMATS_READ}
  file DATA: File to read: {FORMATS_READ}
  output OUTPUT: File to write; - for standard output.
  words ROW+: The row: NAME=VALUE for each column, or one JSON object, or - to read a JSON object
    from standard input; with --row, a file.
  factors NAME=FACTOR+: Factor by which the values of a column are multiplied from now on.

Reading
  format FORMAT: csv, tsv, jsonl, parquet, arrow, svmlight or vw (default: by file name).
  to FORMAT: Format of OUTPUT (by default from its name).
  no_header: CSV: the first line is data; name the columns c1, c2, ...
  separator CHAR: Field separator of a CSV file (detected by default).
  quote CHAR: Quote character of a CSV file, or "none" (detected by default).
  encoding NAME: Encoding of a text file: utf-8, utf-16, windows-1252, ... (detected).
  decimal CHAR: Decimal sign of all numbers in text, a point or a comma (detected by default).
  thousands CHAR: Separator of thousands in text, or "none" (detected by default).
  na TOKEN+: This text means a missing value, too (may be repeated).
  strict: Cells that do not fit their column of numbers, dates or booleans are errors, not missing
    values.
  coerce: Treat cells that do not fit their column as missing (the default without --by-key).
  skip_bad N = 0: Skip up to N invalid lines and report their number.

Columns
  target -t COLUMN: Column to predict (rows of svmlight and VW text contain it).
  weight COLUMN: Column of sample weights.
  ignore COLUMN+: Exclude this column from the features (may be repeated).
  keep COLUMN+: Use only the columns given this way as features.
  date COLUMN[=FORMAT]+: Column of dates, written as in FORMAT, such as %d.%m.%Y, or %s for seconds
    since 1970 (default: YYYY-MM-DD; other formats are detected where cells leave no doubt).
  category COLUMN+: Column of categories, whatever its cells look like.
  number COLUMN+: Column of numbers, whatever its cells look like.
  identifier_as_feature: Use columns of text that are different in every row as features; by default
    they are left out.
  text COLUMN+: Column of text; each of its words is a feature.
  interactions -q A:B+: Add products of columns: a:b, a:: (a with each other), :: (all pairs).
  hash_bits -b BITS = 18: Values or words beyond --max-levels share 2^BITS features per column.
  max_levels N = 1000: Maximum number of distinct values or words per column with their own feature.
  classes A,B: All classes, for svmlight and VW text: no,yes become -1 and 1; a,b,c become 1, 2 and
    3.

Learning
  task TASK = auto: binary, multiclass, regression or auto. auto: text, booleans or exactly two
    distinct values in the first block are classes, everything else is a number.
  loss LOSS: logistic or hinge for two classes; squared, absolute, quantile(0.9) or huber(2) for
    numbers. Default: logistic or squared.
  learner -l NAME = blend: Learner; `unitless learners` lists them.
  learners A,B,C: Learners by name, also boosting, linear, sklearn, vw, river; all for all of them
    (default: a few).
  quantile TAU: Use the loss quantile(TAU); 0.5 is the median.
  passes N = 1: Number of passes over the file; only the first is scored.
  holdout N = 0: Predict, but never learn, one of every N rows.
  interval COVERAGE+: Also predict intervals (of classes, sets) that cover this share of the rows,
    for example 0.9 (may be repeated).
  delay N: Labels arrive N rows after the next row is predicted; 0 says that they are known before
    it (default: not said).
  shuffle: Read the whole file into memory and learn its rows in random order.
  test FILE: After learning, also score the rows of this file, which are not learned.
  test_share SHARE = 0: Hold out this share of the rows, for example 0.2, and score them at the end.
  units random: Repeat with each column multiplied by a random power of two.
  tune: Add the best learning rate in hindsight for methods that have one.
  seed N = 0: Seed of the random units.
  reservoir N = 256: Number of learned rows, a uniform sample, that the model keeps for effects and
    explanations; 0 keeps none.
  regret --regret/--no-regret: Compute the best fixed weights in hindsight and the regret against
    them (default: only for small files, because it may take long).

Decisions
  action COLUMN: The rows are logged decisions, and this column has the action that was taken.
  reward COLUMN: Column of the rewards of logged decisions.
  probability COLUMN: Column of the probabilities with which logged actions were drawn.
  actions COLUMN: Key of JSON lines with the possible actions of each decision: an object that has
    the features of each action by its name, or a list of objects with the name as "id" or "name".
  policy FILE: Also value this policy: a table with one row per decision and a column "action" (what
    it chooses) or "probability" (with which it chooses the logged action).
  reward_range LOW,HIGH: The least and the largest possible reward (default: those of the file).
  bandit: Play classification as decisions: each class is an action, and only the reward of the
    chosen one is seen.

Several processes
  by_key COLUMN: Learn one model for each value of this column, saved in one file.
  workers N: Number of processes (default: one per core).
  address HOST:PORT: Use this Ray cluster instead of this machine (requires unitless[ray]).
  retries N = 3: How often to repeat a task whose worker died.

Output
  save MODEL: Save the model to this file.
  resume MODEL: Continue from a saved model: in the same file where it stopped, in another file from
    its beginning.
  checkpoint N = 0: Save the model every N rows (requires --save).
  predictions FILE: Write the predictions as CSV to this file; - for standard output.
  safe_csv: In CSV output, write an apostrophe before text that begins with =, +, - or @, which a
    spreadsheet would take for a formula (numbers stay as they are).
  report PAGE: Write a report (page.html), and its results (page.results.json).
  results FILE: Write the results as JSON to this file.
  audit N = 0: Show what each column adds to the score of row N.
  row N: Explain this row of the file, from 1.
  sort BY = effect: Sort columns by their effect on the prediction, or by name: effect or name.
  top N: Number of effects to show (default: as many as a small terminal has room for).
  verbose: Also print all metrics and guarantees, and more effects.
  quiet: Print only errors.
  json: Print the results as JSON and nothing else.
  no_color: Print without colours."""
"""One line per option: field, spellings, METAVAR (+: may be repeated), default and meaning.

An option without METAVAR is a flag.
"""
TYPES: dict[str, object] = {
    "": bool,
    **dict.fromkeys(("N", "BITS"), int),
    **dict.fromkeys(("SHARE", "TAU", "COVERAGE"), float),
    "FORMAT": Literal["csv", "tsv", "jsonl", "parquet", "arrow", "svmlight", "vw"],
    "TASK": Literal["auto", "binary", "multiclass", "regression"],
    "BY": Literal["effect", "name"],
    "random": Literal["random"],
}
"""Types by METAVAR; others are text."""
READING = (
    "format no_header separator quote encoding decimal thousands na strict coerce skip_bad "
    "date category number"
)
TABLE = (
    "target weight ignore keep identifier_as_feature text interactions hash_bits max_levels task "
    "loss"
)
LEARNING = (
    f"data {TABLE} {READING} learner quantile passes holdout delay interval shuffle "
    "test test_share reservoir save resume checkpoint predictions safe_csv report results audit "
    "top verbose quiet json no_color"
)
DECIDING = "action reward probability actions policy reward_range bandit"
PROCESSES = "by_key workers address retries"


class Option(NamedTuple):
    """A line of the table."""

    panel: str
    flags: list[str]
    metavar: str
    type: Any
    default: Any
    help: str


def _parsed(table: str) -> dict[str, Option]:
    """Return the options by name."""
    found = {}
    panel = ""
    for line in re.sub(r"\n    +", " ", table).split("\n"):
        match = re.fullmatch(r"  (\w+)((?: -\S+)*)(?: (\S+?)(\+?))?(?: = (\w+))?: (.*)", line)
        if match is None:
            panel = line or panel
            continue
        name, flags, metavar, several, default, help = match.groups()
        kind = TYPES.get(metavar or "", str)
        value: object = () if several else default
        if default and kind in (int, float):
            value = kind(default)
        elif kind is bool and "/" not in flags:
            value = False
        kind = list[kind] if several else kind  # type: ignore[valid-type]
        found[name] = Option(panel, flags.split(), metavar or "", kind, value, help)
    return found


OPTIONS = _parsed(HELP)


class CommandOptions(SimpleNamespace):
    """What a command was given, and the defaults of all other options."""

    data: Any
    loss: object

    def __init__(self, **given: object) -> None:
        from unitless.readers.files import expanded  # not needed to show help

        known = {name: value for name, value in given.items() if value is not None}
        super().__init__(**{name: option.default for name, option in OPTIONS.items()} | known)
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
        for name in OPTIONS:
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
            for other in others.split():
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


CONTRADICTIONS = {
    "strict": "coerce",
    "quiet": "verbose",
    "checkpoint": "delay",
    "shuffle": "resume checkpoint predictions",
    "test_share": "test holdout resume",
}
"""Options that cannot be combined with others."""
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
    names: str, changed: str = "", **defaults: object
) -> Callable[[Callable[[CommandOptions], None]], Callable[..., None]]:
    """Make a command of a function of `CommandOptions`.

    `changed` is a table like `HELP`, and `defaults` are defaults, that the command has otherwise.
    """
    options = OPTIONS | _parsed(changed)
    for name, default in defaults.items():
        options[name] = options[name]._replace(default=default)
    parameters = [_parameter(name, options[name]) for name in names.split()]
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


def _parameter(name: str, option: Option) -> inspect.Parameter:
    info: object
    default = None if option.default == () else option.default
    hint = option.type if default is not None else option.type | None
    if option.panel == "Arguments":
        info = typer.Argument(metavar=option.metavar, help=option.help)
        hint = option.type
        default = inspect.Parameter.empty
    else:
        has_name = any(flag.startswith("--") for flag in option.flags)
        info = typer.Option(
            *(option.flags if has_name else [*option.flags, spelt(name)]),
            metavar=option.metavar,
            help=option.help,
            show_default=bool(default),
            rich_help_panel=option.panel,
        )
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, annotation=Annotated[hint, info], default=default)
