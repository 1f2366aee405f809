"""What each option means, and `takes`, which makes a command of a function of `CommandOptions`.

A command names the options that it takes. They become the parameters that typer sees, so that the
help, the manual and the code share one definition.
"""

import inspect
import re
from collections.abc import Callable
from dataclasses import fields
from typing import Annotated, Any, get_type_hints

import typer

from unitless.cli.options import CommandOptions, spelt

FORMATS_READ = """CSV, TSV, JSON, Parquet, Arrow, svmlight or VW text, also compressed as .gz,
    .zst, .bz2, .xz or .zip; - for standard input."""
HELP = f"""
Arguments
  model MODEL: Model file.
  data DATA: Files, folders or patterns ('day*.csv'), read one after another in the
    order given, those of a folder or pattern sorted by name: {FORMATS_READ}
  file DATA: File to read: {FORMATS_READ}
  output OUTPUT: File to write; - for standard output.
  words ROW: The row: NAME=VALUE for each column, or one JSON object, or - to read a
    JSON object from standard input; with --row, a file.
  factors NAME=FACTOR: Factor by which the values of a column are multiplied from now
    on.

Reading
  format FORMAT: csv, tsv, jsonl, parquet, arrow, svmlight or vw (default: by file
    name).
  to FORMAT: Format of OUTPUT (by default from its name).
  no_header: CSV: the first line is data; name the columns c1, c2, ...
  separator CHAR: Field separator of a CSV file (detected by default).
  quote CHAR: Quote character of a CSV file, or "none" (detected by default).
  encoding NAME: Encoding of a text file: utf-8, utf-16, windows-1252, ... (detected).
  decimal CHAR: CSV: decimal sign of all numbers, a point or a comma (detected by
    default).
  thousands CHAR: CSV: separator of thousands, or "none" (detected by default).
  na TOKEN: CSV: this text means a missing value, too (may be repeated).
  strict: Cells that do not fit their column of numbers, dates or booleans are errors,
    not missing values.
  coerce: Treat cells that do not fit their column as missing (the default without
    --shards and --by-key).
  skip_bad N: Skip up to N invalid lines and report their number.

Columns
  target -t COLUMN: Column to predict (rows of svmlight and VW text contain it).
  weight COLUMN: Column of sample weights.
  ignore COLUMN: Exclude this column from the features (may be repeated).
  keep COLUMN: Use only the columns given this way as features.
  date COLUMN[=FORMAT]: Column of dates, written as in FORMAT, such as %d.%m.%Y
    (default: YYYY-MM-DD).
  category COLUMN: Column of categories, whatever its cells look like.
  text COLUMN: Column of text; each of its words is a feature.
  interactions -q A:B: Add products of columns: a:b, a:: (a with each other), :: (all
    pairs).
  hash_bits -b BITS: Values or words beyond --max-levels share 2^BITS features per
    column.
  max_levels N: Maximum number of distinct values or words per column with their own
    feature.
  classes A,B: All classes, for svmlight and VW text: no,yes become -1 and 1; a,b,c
    become 1, 2 and 3.

Learning
  task TASK: binary, multiclass, regression or auto. auto: text, booleans or exactly
    two distinct values in the first block are classes, everything else is a number.
  loss LOSS: logistic or hinge for two classes; squared, absolute, quantile(0.9) or
    huber(2) for numbers. Default: logistic or squared.
  learner -l NAME: Learner; `unitless learners` lists them.
  learners A,B,C: Learners by name, also sklearn, vw, river; all for all of them
    (default: a few).
  quantile TAU: Use the loss quantile(TAU); 0.5 is the median.
  passes N: Number of passes over the file; only the first is scored.
  holdout N: Predict, but never learn, one of every N rows.
  delay N: Learn each label N rows after its prediction.
  shuffle: Read the whole file into memory and learn its rows in random order.
  test FILE: After learning, also score the rows of this file, which are not learned.
  test_share SHARE: Hold out this share of the rows, for example 0.2, and score them
    at the end.
  units random: Repeat with columns in other units, times powers of two.
  tune: Add the best learning rate in hindsight for methods that have one.
  seed N: Seed of the random units.
  regret --regret/--no-regret: Compute the best fixed weights in hindsight and the
    regret against them (default: only for small files, because it may take long).

Several processes
  shards N: Learn one model (only with vaw) from N shards: files of a folder or
    pattern, or row groups of Parquet files.
  by_key COLUMN: Learn one model for each value of this column, saved in one file.
  workers N: Number of processes (default: one per core).
  address HOST:PORT: Use this Ray cluster instead of this machine (requires
    unitless[ray]).
  retries N: How often to repeat a task whose worker died.

Output
  save MODEL: Save the model to this file.
  resume MODEL: Continue from a saved model: in the same file where it stopped, in
    another file from its beginning.
  checkpoint N: Save the model every N rows (requires --save).
  predictions FILE: Write the predictions as CSV to this file; - for standard output.
  report PAGE: Write a report (page.html), and its results (page.results.json).
  results FILE: Write the results as JSON to this file.
  audit ROW: Show what each feature adds to the score of this row.
  row N: Explain this row of the file, from 1.
  sort BY: Sort by the effect of one standard deviation of a feature, by the effect of
    one unit, or by name: deviation, unit or name.
  top N: Number of weights to show.
  quiet: Print only errors.
  json: Print the results as JSON and nothing else.
  no_color: Print without colours."""
READING = (
    "format no_header separator quote encoding decimal thousands na strict coerce skip_bad "
    "date category"
)
TABLE = "target weight ignore keep text interactions hash_bits max_levels task loss"
LEARNING = (
    f"data {TABLE} {READING} learner quantile passes holdout delay shuffle test test_share save "
    "resume checkpoint predictions report results audit top quiet json no_color"
)
PROCESSES = "shards by_key workers address retries"


def _parsed(table: str, panel: str = "") -> dict[str, tuple[str, list[str], str, str]]:
    """Return (panel, flags, metavar, help) by name."""
    found = {}
    for line in re.sub(r"\n    +", " ", table).strip("\n").splitlines():
        match = re.fullmatch(r"  (\w+)((?: -\S+)*)(?: (\S+))?: (.*)", line)
        if match is None:
            panel = line.strip() or panel
        else:
            name, flags, metavar, help = match.groups()
            found[name] = (panel, flags.split(), metavar or "", help)
    return found


MEANINGS = _parsed(HELP)


def takes(
    names: str, changed: str = "", **defaults: Any
) -> Callable[[Callable[[CommandOptions], None]], Callable[..., None]]:
    """Make a command of a function of `CommandOptions`.

    `changed` is a table like `HELP`, and `defaults` are defaults, that the command has otherwise.
    """
    meanings = dict(MEANINGS)
    for name, (_, flags, metavar, help) in _parsed(changed).items():
        meanings[name] = (MEANINGS[name][0], flags, metavar, help)
    given = {each.name: each.default for each in fields(CommandOptions)} | defaults
    hints = get_type_hints(CommandOptions)

    def decorate(function: Callable[[CommandOptions], None]) -> Callable[..., None]:
        def command(**values: Any) -> None:
            function(CommandOptions(**values))

        parameters = [
            _parameter(name, hints[name], given[name], *meanings[name]) for name in names.split()
        ]
        parameters.sort(key=lambda each: each.default is not inspect.Parameter.empty)
        command.__name__ = function.__name__
        command.__doc__ = function.__doc__
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        return command

    return decorate


def _parameter(
    name: str, hint: Any, default: Any, panel: str, flags: list[str], metavar: str, help: str
) -> inspect.Parameter:
    settings: Any = {"metavar": metavar, "help": help}
    if panel == "Arguments":
        info: Any = typer.Argument(**settings)
        default = inspect.Parameter.empty
    else:
        has_name = any(flag.startswith("--") for flag in flags)
        settings["show_default"] = default not in (None, False, 0, "")
        spelling = flags if has_name else [*flags, spelt(name)]
        info = typer.Option(*spelling, rich_help_panel=panel, **settings)
    kind = inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(name, kind, annotation=Annotated[hint, info], default=default)
