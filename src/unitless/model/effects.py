"""Effects of columns: differences of predictions when a column has the value of another seen row.

The rows are those of the model's reservoir. Nothing here looks at weights, so it is true of every
learner. Predictions are numbers, or probabilities where the loss has them, without recent targets.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unitless.labels import text_of
from unitless.model.input_columns import (
    InputColumns,
    Ints,
    Takes,
    differing,
    input_columns,
    mixed_rows,
    repeated,
)
from unitless.rows import Rows

if TYPE_CHECKING:
    from unitless.model import Model

Float = NDArray[np.float64]
PAIRINGS = 4
"""Other rows whose values each row takes."""
MOST_VALUES = 1 << 24
"""Values in all rows that are predicted for importances: wide tables use fewer rows."""
MIN_EFFECT_ROWS = 16
VALUES_PER_CALL = 1 << 20
"""Values in the rows that are predicted at once."""
LEVELS = 16
"""Levels of a category, the most frequent ones, that are compared."""
LOW, HIGH = 10, 90
"""The percentiles of a column of numbers between which it moves."""
ROWS_PER_VALUE = 64
"""Rows over which the predictions for a value are averaged."""


def importances(model: "Model", rows: int | None = None) -> Float:
    """Return how far each column moves the prediction: its mean absolute change.

    The value of the column is replaced by that of another row of the reservoir. For classes it is
    the total variation of the probabilities; several targets have shares, which are averaged.
    """
    columns = input_columns(model)
    kept = model.reservoir.rows(spread(len(model.reservoir), rows or _affordable(model)))
    if len(kept) < 2:
        return np.zeros(len(columns.names))
    before = predictions(model, kept)
    changes = np.zeros((len(columns.names), before.shape[1]))
    for shift in sorted({round(len(kept) * k / (PAIRINGS + 1)) for k in range(1, PAIRINGS + 1)}):
        other = repeated(kept, np.roll(np.arange(len(kept)), -max(shift, 1)))
        numbers, places = differing(columns, kept, other)
        for batch in _batches(len(numbers), kept.columns):
            own, chosen = numbers[batch], places[batch]

            def takes(row: Ints, column: Ints, chosen: Ints = chosen) -> Any:
                return chosen[row] == column

            made = mixed_rows(columns, repeated(kept, own), repeated(other, own), takes)
            np.add.at(changes, chosen, np.abs(predictions(model, made) - before[own]))
    changes /= len(kept) * PAIRINGS
    if model.task == "multioutput":
        changes /= np.where(changes.sum(axis=0) > 0, changes.sum(axis=0), 1)
    return changes.sum(axis=1) / (2 if model.task == "multiclass" else changes.shape[1])


def effects(model: "Model", top: int | None = None) -> list[dict[str, Any]]:
    """Return the effects by column, the largest first; columns without an effect are left out.

    Each has its `column`, what it `moves` (see `importances`) and, for numbers and categories, the
    `change` of the mean prediction between two values, `from` and `to`: the 10th and the 90th
    percentile, or the levels with the lowest and the highest prediction. With several classes it is
    that of the `class` that changes most.
    """
    if len(model.reservoir) < 2:
        return []
    moves = importances(model)
    columns = input_columns(model)
    order = [int(k) for k in np.argsort(-moves, kind="stable")[:top] if moves[k] > 0]
    return [
        {"column": columns.names[k], "moves": float(moves[k]), **_between(model, columns, k)}
        for k in order
    ]


def predictions(model: "Model", rows: Rows) -> Float:
    """Return one column per prediction: the number, the probability of the second class, or all."""
    scores = model.predict_rows(rows)
    p = model.probabilities(scores)
    if p is None:
        p = scores
    elif model.task == "binary":
        p = p[:, -1]
    return p.reshape(len(rows), -1)


def _between(model: "Model", columns: InputColumns, column: int) -> dict[str, Any]:
    """Return what becomes of the prediction between two values of a column."""
    kept = model.reservoir.rows()
    found = _values(model, columns, column, kept)
    if len(found) < 2:
        return {}
    base = model.reservoir.rows(spread(len(kept), ROWS_PER_VALUE))
    means = []
    for number in found.values():
        other = repeated(kept, np.full(len(base), number))
        made = mixed_rows(columns, base, other, _only(column))
        means.append(predictions(model, made).mean(axis=0))
    table = np.array(means)
    largest = int(np.argmax(np.ptp(table, axis=0)))
    low, high = 0, len(found) - 1
    texts = list(found)
    if not isinstance(texts[0], float):
        low, high = int(table[:, largest].argmin()), int(table[:, largest].argmax())
    change = {"from": texts[low], "to": texts[high]}
    change["change"] = float(table[high, largest] - table[low, largest])
    if model.task == "multiclass" and largest < len(model.labels):
        change["class"] = text_of(model.labels[largest])
    return change


def _only(column: int) -> Takes:
    return lambda rows, columns: np.broadcast_to(
        columns == column, np.broadcast_shapes(rows.shape, columns.shape)
    )


def _values(
    model: "Model", columns: InputColumns, column: int, kept: Rows
) -> dict[float | str, int]:
    """Return values to compare, and a row of the reservoir with each of them."""
    features = columns.features(column)
    kind = kind_of(model, columns, column)
    if kind == "number":
        values = column_of(kept, int(features[0]))
        present = np.flatnonzero(~np.isnan(values))
        if not len(present):
            return {}
        order = present[np.argsort(values[present], kind="stable")]
        ends = order[[len(order) * LOW // 100, len(order) * HIGH // 100]]
        if values[ends[0]] == values[ends[1]]:  # most rows have the same value
            ends = order[[0, -1]]
        return {float(values[k]): int(k) for k in ends}
    if kind != "category":
        return {}
    levels: dict[str, list[int]] = {}
    for number, text in enumerate(texts_of(model, columns, column, kept)):
        levels.setdefault(text, []).append(number)
    frequent = sorted(levels, key=lambda text: -len(levels[text]))[:LEVELS]
    return {text: levels[text][0] for text in frequent}


def kind_of(model: "Model", columns: InputColumns, column: int) -> str:
    """Return "number", "category", "text", "list" or "date"."""
    name = columns.names[column]
    if model.encoder is not None:
        return "text" if name in model.encoder.text else model.encoder.kinds.get(name, "number")
    features = columns.features(column)
    names = model.feature_names(model.learner.columns)
    return "number" if len(features) == 1 and names[features[0]] == name else "category"


def texts_of(model: "Model", columns: InputColumns, column: int, rows: Rows) -> list[str]:
    """Return the value of a column that is no number in each row, as text; "" is missing."""
    features = columns.features(column)
    names = model.feature_names(model.learner.columns)
    start = len(columns.names[column]) + 1
    texts: list[list[str]] = [[] for _ in range(len(rows))]
    numbers, places = rows.block.positions()
    own = np.isin(places, features) & (rows.block.values != 0)
    for number, feature in zip(numbers[own].tolist(), places[own].tolist(), strict=True):
        texts[number].append(names[feature][start:])
    return [" ".join(each) for each in texts]


def column_of(rows: Rows, feature: int) -> Float:
    """Return the values of one feature."""
    if rows.starts is None:
        return rows.values[:, feature]
    found = np.zeros(len(rows))
    numbers, places = rows.block.positions()
    own = places == feature
    found[numbers[own]] = rows.values[own]
    return found


def _affordable(model: "Model") -> int:
    """Return the number of rows for importances: fewer if each has very many values."""
    lengths: Sequence[int] = [len(row.values) for row in model.reservoir.kept]
    values = max(sum(lengths) / max(len(lengths), 1), 1.0)
    return max(int(MOST_VALUES / (PAIRINGS * values * values)), MIN_EFFECT_ROWS)


def spread(count: int, most: int) -> list[int]:
    """Return at most so many of `count` numbers, at equal distances.

    >>> spread(3, 8), spread(9, 3)
    ([0, 1, 2], [0, 3, 6])
    """
    return [k * count // min(count, most) for k in range(min(count, most))]


def _batches(count: int, width: int) -> list[slice]:
    step = max(VALUES_PER_CALL // max(width, 1), 1)
    return [slice(start, min(start + step, count)) for start in range(0, count, step)]
