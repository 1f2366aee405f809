"""StreamModel: a learner with all that lies between it and the rows of a file.

Blocks of a reader go in; which column is the target, what its values mean, how columns become
features and which classes there are is kept here, grows with the stream and is saved with the
learner. A block is `prepared` (nothing is learned), then its rows are predicted or learned.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unitless.encoders import FrameEncoder
from unitless.estimators.making import make_learner
from unitless.labels import as_labels
from unitless.learners.base import Learner
from unitless.readers.blocks import Block, ReadError
from unitless.rows import Rows, as_rows

Float = NDArray[np.float64]
Label = str | float | bool
Task = Literal["binary", "multiclass", "regression"]
LOSSES: dict[str, str] = {"binary": "logistic", "multiclass": "softmax", "regression": "squared"}


class Prepared(NamedTuple):
    """Rows of a block with coded targets, ready to be predicted or learned."""

    rows: Rows
    """Targets are NaN where there is none."""
    new: list[tuple[int, Label]]
    """Classes that appear for the first time, and in which row."""


@dataclass
class StreamModel:
    """A model of a stream of blocks.

    ========= ==========================================================================
    field     meaning
    ========= ==========================================================================
    task      "binary", "multiclass" or "regression"
    learner   the learner, whose targets are +-1, class numbers or numbers
    labels    the classes by code; of two, the first is -1
    target    tables: the name of the target's column
    weight    tables: the name of the column of sample weights, if there is one
    ignore    tables: columns that are no features
    keep      tables: the only columns that are, if any are named
    columns   tables: how columns become features
    names     VW text: the names of the features by column
    rows      rows learned
    position  where the reader is in the file
    source    the file as it was named
    reading   options of the reader that the file needs
    ========= ==========================================================================

    >>> import io
    >>> from unitless.readers import open_blocks
    >>> text = io.BytesIO(b"size,kind\\n1,cat\\n9,dog\\n2,cat\\n8,dog\\n1.5,cat\\n")
    >>> (block,) = open_blocks(text)
    >>> model = started(block, target="kind", learner="coordinate")
    >>> model.task, model.labels
    ('binary', ['cat', 'dog'])
    >>> scores = model.learner.learn(model.prepared(block).rows)
    >>> model.answers(scores).tolist(), model.feature_names()
    (['dog', 'cat', 'dog', 'dog', 'dog'], ['size'])
    """

    task: Task
    learner: Learner
    labels: list[Label] = field(default_factory=list)
    target: str | None = None
    weight: str | None = None
    ignore: list[str] = field(default_factory=list)
    keep: list[str] = field(default_factory=list)
    columns: FrameEncoder | None = None
    names: list[str] | None = None
    rows: int = 0
    position: dict[str, Any] = field(default_factory=dict)
    source: str = ""
    reading: dict[str, Any] = field(default_factory=dict)

    # Blocks -> rows

    def prepared(self, block: Block, *, grow: bool = True, labelled: bool = True) -> Prepared:
        """The block's rows; with `grow`, features new in it get a column.

        Without `labelled` targets and weights are not looked at: the rows are to be predicted.
        """
        targets, new = self._targets(block) if labelled else (None, [])
        weights = self._weights(block) if labelled else None
        if block.frame is None:
            return Prepared(self._sparse(block, targets, weights, grow), new)
        if self.columns is None:
            raise ValueError("the model was made from svmlight or VW text, and this is a table")
        features = self.features(block.frame)
        if not features.columns:  # polars then forgets how many rows there are
            return Prepared(as_rows(np.empty((len(block), 0)), targets, weights), new)
        encoded = self.columns.encode(features, grow=grow)
        rows = as_rows(encoded.X, targets, weights)
        self.columns.commit(encoded)
        return Prepared(rows, new)

    def _sparse(
        self, block: Block, targets: Float | None, weights: Float | None, grow: bool
    ) -> Rows:
        if self.columns is not None:
            raise ValueError("the model was made from a table, and this is svmlight or VW text")
        assert block.rows is not None
        if self.names is not None and grow:
            self.names += block.new_names
        return replace(block.rows, targets=targets, weights=weights)

    def features(self, frame: Any) -> Any:
        """The frame without what is no feature."""
        aside = {self.target, self.weight, *self.ignore}
        missing = [name for name in self.keep if name not in frame.columns]
        if missing:
            raise ValueError(f"there is no column {missing[0]!r}; there are {_listed(frame)}")
        kept = self.keep or frame.columns
        return frame.select([name for name in kept if name not in aside])

    def _refuse_unknown(self, block: Block) -> None:
        """A column that is asked for by name and is not there; of JSON lines it may come later."""
        assert self.columns is not None
        if block.position.get("format") == "jsonl":
            return
        aside = {self.target, self.weight}
        named = [name for name in (*self.ignore, *self.keep) if name not in aside]
        pairs = filter(None, chain(*self.columns.interactions))
        for name in (*named, *self.columns.text, *pairs):
            _column(block.frame, name)

    def _weights(self, block: Block) -> Float | None:
        if block.frame is None or self.weight not in block.frame.columns:
            return block.weights
        assert self.weight is not None
        weights = _numbers(_column(block.frame, self.weight), self.weight)
        if np.isnan(weights).any():
            line = int(block.lines[np.argmax(np.isnan(weights))])
            raise self._wrong("the weight is missing; use 0 to leave a row out", line, self.weight)
        return weights

    # Targets

    def _targets(self, block: Block) -> tuple[Float, list[tuple[int, Label]]]:
        found = raw_targets(block, self.target)
        if self.task == "regression":
            if isinstance(found, np.ndarray):
                return found, []
            row = next(k for k, label in enumerate(found) if label is not None)
            why = (
                f"{found[row]!r} is a class, and the task is regression: use --task binary or "
                "--task multiclass"
            )
            raise self._wrong(why, block.lines[row], self.target)
        return self._coded(found, block)

    def _coded(self, found: Any, block: Block) -> tuple[Float, list[tuple[int, Label]]]:
        """Codes of classes, NaN where there is none; and the classes new in the block."""
        if self.task == "binary" and len(self.labels) == 2 and isinstance(found, np.ndarray):
            signs = (found == self.labels[1]) * 2.0 - 1
            if ((signs > 0) | (found == self.labels[0])).all():  # the usual case, fast
                return signs, []
        each = _labels(found)
        known, new = {label: k for k, label in enumerate(self.labels)}, []
        for row, label in each.first.items():
            if label not in known:
                self._refuse_third(label, int(block.lines[row]))
                known[label] = len(known)
                new.append((row, label))
        codes = np.array([known[label] for label in each.distinct], dtype=np.float64)
        codes = np.append(codes * 2 - 1 if self.task == "binary" else codes, np.nan)
        return codes[each.codes], new

    def _refuse_third(self, label: Label, line: int) -> None:
        if self.task == "binary" and len(self.labels) == 2:
            one, two = map(shown, self.labels)
            why = (
                f"{shown(label)} is a third class after {one} and {two}; give --task multiclass, "
                "or --task regression if the target is a number"
            )
            raise self._wrong(why, line, self.target)

    def _wrong(self, why: str, line: int, column: str | None) -> ReadError:
        return _wrong(why, self.source, line, column)

    def add_class(self, label: Label) -> None:
        """A class that the learner has not met; of two classes the second has its place."""
        self.labels.append(label)
        if self.task == "multiclass" and len(self.labels) > self.learner.classes:
            self.learner.add_class()

    # Scores -> answers

    def answers(self, scores: Float) -> NDArray[Any]:
        """The class of each row, or the number."""
        if self.task == "regression":
            return scores
        labels = np.empty(len(self.labels), dtype=object)
        labels[:] = self.labels
        return as_labels(scores[:, : len(labels)] if scores.ndim == 2 else scores, labels)

    def probabilities(self, scores: Float) -> Float | None:
        """A column a class; None for losses that have none, and for numbers."""
        if self.task == "regression" or self.learner.loss.name not in ("logistic", "softmax"):
            return None
        p = self.learner.loss.link(scores)
        return (p if p.ndim == 2 else np.column_stack([1 - p, p]))[:, : len(self.labels)]

    # Looking inside

    def feature_names(self, count: int | None = None) -> list[str]:
        """Of the columns, up to `count`; svmlight has numbers for names."""
        if self.columns is not None:
            return self.columns.names
        if self.names is not None:
            return list(self.names)
        return [str(j) for j in range(self.position.get("columns", 0) if count is None else count)]

    def rescale(self, factors: Mapping[str, float]) -> None:
        """From now on these columns arrive multiplied by these factors, interactions included."""
        width = len(self.learner.weights().features)
        names = self.feature_names(width)
        sources = [(name,) for name in names] if self.columns is None else self.columns.sources
        self._refuse_unitless(factors, sources)
        every = np.ones(width)
        for j, each in enumerate(sources[:width]):
            every[j] = math.prod(factors.get(name, 1.0) for name in each)
        self.learner.rescale(every)

    def _refuse_unitless(
        self, factors: Mapping[str, float], sources: Iterable[tuple[str, ...]]
    ) -> None:
        known = {name for each in sources for name in each}
        kinds = self.columns.kinds if self.columns is not None else {}
        for name in factors:
            if name not in known:
                raise ValueError(f"there is no feature {name!r} to rescale")
            if kinds.get(name, "number") != "number":
                raise ValueError(f"feature {name!r} is a {kinds[name]}, which has no unit")
            if not math.isfinite(factors[name]) or factors[name] == 0:
                raise ValueError(
                    f"feature {name!r}: a unit cannot change by a factor of {factors[name]:g}"
                )


def started(
    block: Block,
    *,
    target: str | None = None,
    learner: str | Learner = "blend",
    loss: str | None = None,
    task: str = "auto",
    weight: str | None = None,
    ignore: Sequence[str] = (),
    keep: Sequence[str] = (),
    columns: FrameEncoder | None = None,
    source: str = "",
) -> StreamModel:
    """A fresh model for a stream that begins with this block: it settles task and classes.

    "auto" takes strings, booleans or two distinct values for classes, otherwise regression.
    """
    found = raw_targets(block, target)
    each = _labels(found)
    kind: Any = _task(found, each.distinct) if task == "auto" else task
    labels = [] if kind == "regression" else sorted(each.distinct)
    if kind == "binary" and len(labels) > 2:
        row = next(row for row, label in each.first.items() if label == labels[2])
        several = ", ".join(map(shown, labels[:3]))
        why = f"there are more than two classes ({several}, ...): use --task multiclass"
        raise _wrong(why, source, block.lines[row], target)
    made = _learner(learner, kind, loss, len(labels))
    table = block.frame is not None
    columns = FrameEncoder() if columns is None else columns  # an empty one is false
    if not table and (weight or ignore or keep or columns.interactions or columns.text):
        raise ValueError("weight, ignore, keep, interactions and text go by column: for tables")
    model = StreamModel(kind, made, labels, target, weight, [*ignore], [*keep], source=source)
    if table:
        model.columns = columns
        model._refuse_unknown(block)
    elif block.position.get("format") == "vw":
        model.names = []
    return model


def _learner(choice: str | Learner, task: str, loss: str | None, classes: int) -> Learner:
    if task == "multiclass":
        if loss not in (None, "logistic", "softmax"):
            raise ValueError(f"the {loss} loss is for two classes; several have the cross-entropy")
        return make_learner(choice, "softmax", max(classes, 2))
    made = make_learner(choice, loss or _usual_loss(choice, task))
    wanted = "signs" if task == "binary" else "reals"
    if made.loss.targets != wanted:
        raise ValueError(
            f"the {made.loss.name} loss does not fit the task {task}; "
            + ("use logistic or hinge" if task == "binary" else "use squared, absolute, ...")
        )
    return made


def _usual_loss(choice: str | Learner, task: str) -> str:
    """The task's loss; learners that need a bounded slope have the absolute one for numbers."""
    from unitless.learners import get

    if task == "regression" and isinstance(choice, str):
        try:
            get(choice)("squared")
        except ValueError:
            return "absolute"
    return LOSSES[task]


def _task(found: Any, labels: Sequence[Label]) -> str:
    if isinstance(found, np.ndarray):
        return "binary" if len(labels) == 2 else "regression"
    return "multiclass" if len(labels) > 2 else "binary"


def raw_targets(block: Block, target: str | None) -> Any:
    """The targets: an array of numbers with NaN, or a list of strings or booleans with None.

    They are the block's own, or those of a column that was read with the others.
    """
    if block.targets is not None:
        return block.targets if block.targets.dtype == np.float64 else block.targets.tolist()
    if block.frame is None:
        assert block.rows is not None
        return np.full(len(block), np.nan)
    if target is None:
        raise ValueError(f"which column is the target? There are {_listed(block.frame)}")
    column = _column(block.frame, target)
    return _numbers(column, target) if column.dtype.is_numeric() else column.to_list()


def _wrong(why: str, source: str, line: int, column: str | None) -> ReadError:
    """A row that was read, and cannot be used."""
    return ReadError(why, file=source or "the rows", line=int(line), column=column)


def _column(frame: Any, name: str) -> Any:
    if name not in frame.columns:
        raise ValueError(f"there is no column {name!r}; there are {_listed(frame)}")
    return frame.get_column(name)


def _listed(frame: Any) -> str:
    names = [repr(name) for name in frame.columns]
    return ", ".join(names[:20]) + (f" and {len(names) - 20} more" if len(names) > 20 else "")


def _numbers(column: Any, name: str) -> Float:
    if not column.dtype.is_numeric():
        raise ValueError(f"column {name!r}: numbers were expected, it holds {column.dtype}")
    return np.ascontiguousarray(column.fill_null(math.nan).to_numpy(), dtype=np.float64)


class _Labels(NamedTuple):
    """Labels of a block: the distinct ones, and the place of each row's among them, -1 if none."""

    distinct: list[Label]
    codes: NDArray[np.int64]
    first: dict[int, Label]
    """Row of first appearance -> label."""


def _labels(found: Any) -> _Labels:
    if isinstance(found, np.ndarray):
        there = ~np.isnan(found)
        distinct, first, codes = np.unique(found[there], return_index=True, return_inverse=True)
        rows = np.flatnonzero(there)
        every = np.full(len(found), -1)
        every[there] = codes
        labels: list[Label] = distinct.tolist()
        order = np.argsort(first)
        return _Labels(labels, every, {int(rows[first[k]]): labels[k] for k in order})
    places: dict[Label, int] = {}
    rows_of: dict[int, Label] = {}
    every = np.full(len(found), -1)
    for row, label in enumerate(found):
        if label is not None:
            if label not in places:
                places[label] = len(places)
                rows_of[row] = label
            every[row] = places[label]
    return _Labels(list(places), every, rows_of)


def shown(label: Label) -> str:
    """A label for an error: 1.0 is 1, and "1" has quotes.

    >>> shown(1.0), shown("1"), shown(True)
    ('1', "'1'", 'True')
    """
    return repr(label) if not isinstance(label, float) else f"{label:g}"


def text_of(label: Label) -> str:
    """A label for a table.

    >>> text_of(1.0), text_of("1"), text_of(True)
    ('1', '1', 'True')
    """
    return f"{label:g}" if isinstance(label, float) else str(label)
