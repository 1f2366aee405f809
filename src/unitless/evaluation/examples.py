"""Rows for a report, in constant memory: a sample of predictions, and the worst rows."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from unitless.evaluation.baselines import Sample
from unitless.evaluation.metrics import Facts, Float, grown
from unitless.rows import Rows

Names = Callable[[int], Sequence[str]]
SAMPLED = 1024
WORST = 20
VALUES = 12  # nonzero values that are kept of each of the worst rows


class Examples:
    """Every k-th labelled row, the labelled rows with the largest losses, and missing values."""

    def __init__(self) -> None:
        self.sample = Sample(3, SAMPLED)
        """Number of the row from 1, target, and the score or the code of the predicted class."""
        self.worst: list[Facts] = []  # largest loss first, with some of their features
        self.missing = np.zeros(0, dtype=np.int64)  # missing values by column

    def add(
        self,
        before: int,
        rows: Rows,
        scores: Float,
        counted: NDArray[np.bool_],
        losses: Float,
        names: Names,
    ) -> None:
        """Take in rows of which `before` were seen; the losses are those of the `counted` ones.

        `names(count)` gives the names of the features; they are asked for only when needed.
        """
        assert rows.targets is not None
        labelled = np.flatnonzero(counted)
        predicted = scores if scores.ndim == 1 else scores.argmax(axis=1)
        table = np.column_stack(
            [before + labelled + 1, rows.targets[labelled], predicted[labelled]]
        )
        self.sample.add(table)
        floor = self.worst[-1]["loss"] if len(self.worst) == WORST else -np.inf
        worst = np.argsort(-losses, kind="stable")[:WORST]
        worst = worst[losses[worst] > floor]
        known = names(rows.columns) if len(worst) else ()
        for k in worst:
            row, target, score = table[k].tolist()
            facts = {"row": int(row), "target": target, "predicted": score}
            features = _some_features(rows[labelled[k] : labelled[k] + 1], known)
            self.worst.append(facts | {"loss": float(losses[k]), "features": features})
        self.worst = sorted(self.worst, key=lambda each: (-each["loss"], each["row"]))[:WORST]
        missing = np.isnan(rows.values)
        if missing.any():
            columns = np.nonzero(missing)[1] if rows.indices is None else rows.indices[missing]
            self.missing = grown(self.missing, max(rows.columns, len(self.missing)))
            self.missing += np.bincount(columns, minlength=len(self.missing))


def _some_features(row: Rows, names: Sequence[str]) -> dict[str, float | None]:
    """The first nonzero features of a row; missing ones are None."""
    values = row.values.ravel()
    columns = np.arange(row.columns) if row.indices is None else row.indices
    kept = [k for k in np.flatnonzero(values)[:VALUES] if columns[k] < len(names)]
    return {names[int(columns[k])]: None if np.isnan(values[k]) else float(values[k]) for k in kept}
