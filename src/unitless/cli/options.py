"""The options of all commands, as one dataclass; `option_help` says what each means."""

from dataclasses import dataclass, field, fields
from typing import Any, Literal

from unitless.readers.files import expanded

Formats = Literal["csv", "tsv", "jsonl", "parquet", "arrow", "svmlight", "vw"]
Tasks = Literal["auto", "binary", "multiclass", "regression"]
Names = list[str] | None


@dataclass(kw_only=True)
class CommandOptions:
    """What a command was given; `unitless.cli.option_help` says what each option means."""

    # Arguments
    model: str = ""
    data: list[str] = field(default_factory=list)
    file: str = ""
    output: str = ""
    words: list[str] = field(default_factory=list)
    factors: list[str] = field(default_factory=list)
    # Reading
    format: Formats | None = None
    to: Formats | None = None
    no_header: bool = False
    separator: str | None = None
    quote: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    thousands: str | None = None
    na: Names = None
    strict: bool = False
    coerce: bool = False
    skip_bad: int = 0
    # Columns
    target: str | None = None
    weight: str | None = None
    ignore: Names = None
    keep: Names = None
    date: Names = None
    category: Names = None
    text: Names = None
    interactions: Names = None
    hash_bits: int = 18
    max_levels: int = 1000
    classes: str | None = None
    # Learning
    task: Tasks = "auto"
    loss: str | None = None
    learner: str = "blend"
    learners: str = ""
    quantile: float | None = None
    passes: int = 1
    holdout: int = 0
    delay: int = 0
    shuffle: bool = False
    test: str | None = None
    test_share: float = 0.0
    units: Literal["random"] | None = None
    tune: bool = False
    seed: int = 0
    regret: bool | None = None
    # Several processes
    shards: int | None = None
    by_key: str | None = None
    workers: int | None = None
    address: str | None = None
    retries: int = 3
    # Output
    save: str | None = None
    resume: str | None = None
    checkpoint: int = 0
    predictions: str | None = None
    report: str | None = None
    results: str | None = None
    audit: int = 0
    row: int | None = None
    sort: Literal["deviation", "unit", "name"] = "deviation"
    top: int = 10
    quiet: bool = False
    json: bool = False
    no_color: bool = False

    def __post_init__(self) -> None:
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
        for each in fields(self):
            value = getattr(self, each.name)
            minimum = int(each.name == "passes")
            if isinstance(value, int) and value < minimum:
                raise ValueError(f"{spelt(each.name)} {value}: must be at least {minimum}")
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
        for pair in CONTRADICTIONS:
            one, other = pair.split()
            if getattr(self, one) and getattr(self, other):
                raise ValueError(f"{spelt(one)} cannot be combined with {spelt(other)}")

    def reading(self) -> dict[str, Any]:
        """Return the options of `open_blocks` that were given.

        >>> CommandOptions(data=["-"], no_header=True, quote="none").reading()
        {'header': False, 'quote': None}
        """
        given: dict[str, Any] = {}
        if self.no_header:
            given["header"] = False
        for name in ("format", "na", "separator", "quote", "encoding", "decimal", "thousands"):
            value = getattr(self, name)
            if value is not None and value != []:
                given[name] = WORDS.get((name, value), value) if isinstance(value, str) else value
        types = dict.fromkeys(self.category or (), "category")
        for spec in self.date or ():
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

        interactions = self.interactions or ()
        text = self.text or ()
        return {
            "target": self.target,
            "weight": self.weight,
            "ignore": self.ignore or (),
            "keep": self.keep or (),
            "task": self.task,
            "loss": self.loss,
            "columns": FrameEncoder(self.hash_bits, self.max_levels, interactions, text),
        }


CONTRADICTIONS = (
    "strict coerce",
    "checkpoint delay",
    "shuffle resume",
    "shuffle checkpoint",
    "shuffle predictions",
    "test test_share",
    "test_share holdout",
    "test_share resume",
    "shards by_key",
)
"""Options that cannot be combined."""
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
