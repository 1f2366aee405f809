"""Rows for a report, in constant memory: a sample of predictions, and the worst rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unitless.evaluation.baselines import Sample
from unitless.evaluation.metrics import Float
from unitless.kernels.arithmetic import grown
from unitless.rows import Rows

SAMPLED = 1024
WORST = 20
VALUES = 12
"""Nonzero values that are kept of each of the worst rows."""
ROW, TARGET, PREDICTED, LOSS = range(4)
"""Of an example: its number from 1, the target, the score or the code of the class, the loss."""


class Examples:
    """Every k-th labelled row, the labelled rows with the largest losses, and missing values.

    >>> from unitless.rows import as_rows
    >>> examples = Examples()
    >>> rows = as_rows([[1.0], [np.nan], [3.0]], [5.0, 5.0, 5.0])
    >>> examples.add(0, rows, np.array([4.0, 9.0, 5.0]), np.array([1.0, 16.0, 0.0]))
    >>> examples.worst[:, ROW].tolist(), examples.missing.tolist()
    ([2.0, 1.0, 3.0], [1])
    """

    def __init__(self) -> None:
        self.sample = Sample(4, SAMPLED)
        self.worst = np.zeros((0, 4 + 2 * VALUES))
        """Largest loss first; each row ends with the columns and values of some features."""
        self.missing = np.zeros(0, dtype=np.int64)
        """Missing values by column."""

    def add(self, before: int, rows: Rows, scores: Float, losses: Float) -> None:
        """Take in rows of which `before` were seen; the losses are those of labelled rows."""
        assert rows.targets is not None
        labelled = np.flatnonzero(~np.isnan(rows.targets))
        predicted = scores if scores.ndim == 1 else scores.argmax(axis=1)
        facts = [before + labelled + 1, rows.targets[labelled], predicted[labelled], losses]
        table = np.column_stack(facts)
        self.sample.add(table)
        is_full = len(self.worst) == WORST
        floor = self.worst[-1, LOSS] if is_full else -np.inf
        large = np.flatnonzero(losses > floor)
        large = large[np.argsort(-losses[large], kind="stable")[:WORST]]
        if len(large):
            new = [_with_values(table[k], rows, labelled[k]) for k in large]
            merged = np.concatenate([self.worst, new])
            order = np.lexsort((merged[:, ROW], -merged[:, LOSS]))
            self.worst = merged[order[:WORST]]
        self._count_missing(rows)

    def _count_missing(self, rows: Rows) -> None:
        missing = np.isnan(rows.values)
        if not missing.any():
            return
        columns = np.nonzero(missing)[1] if rows.indices is None else rows.indices[missing]
        if len(self.missing) < rows.columns:
            self.missing = grown(self.missing, rows.columns)
        self.missing += np.bincount(columns, minlength=len(self.missing))

    def described(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """The worst rows as the results file has them, with names of features."""
        made = []
        for row, target, predicted, loss, *rest in self.worst.tolist():
            features = {}
            for column, value in zip(rest[:VALUES], rest[VALUES:], strict=True):
                if 0 <= column < len(names):
                    features[names[int(column)]] = value
            facts = {"row": int(row), "target": target, "predicted": predicted, "loss": loss}
            made.append(facts | {"features": features})
        return made


def _with_values(facts: Float, rows: Rows, place: int) -> NDArray[np.float64]:
    """An example, and the columns and values of its first nonzero features."""
    row = rows[place : place + 1]
    values = row.values.ravel()
    columns = np.arange(row.columns) if row.indices is None else row.indices
    kept = np.flatnonzero(values)[:VALUES]
    made = np.full(4 + 2 * VALUES, -1.0)
    made[:4] = facts
    made[4 : 4 + len(kept)] = columns[kept]
    made[4 + VALUES : 4 + VALUES + len(kept)] = values[kept]
    return made
