"""The rows of several blocks that have a label, as one block."""

from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from unitless.rows import Rows, as_rows


def labelled_rows(parts: list[Rows]) -> Rows:
    """Return the rows with a label as one block; later parts may have more columns."""
    targets = np.concatenate([part.targets for part in parts])
    weights = np.concatenate(
        [np.ones(len(part)) if part.weights is None else part.weights for part in parts]
    )
    has_label = ~np.isnan(targets)
    width = max(part.columns for part in parts)
    if all(part.starts is None and part.columns == width for part in parts):
        X: Any = np.concatenate([part.values for part in parts])
    else:
        matrices = [csr_array(_matrix(part)) for part in parts]
        for matrix in matrices:
            matrix.resize(matrix.shape[0], width)
        X = vstack(matrices, format="csr")
    kept_weights = None if (weights == 1).all() else weights[has_label]
    return as_rows(X[has_label], targets[has_label], kept_weights)


def _matrix(rows: Rows) -> Any:
    """Return the values as an array or a sparse matrix."""
    if rows.starts is None:
        return rows.values
    return csr_array((rows.values, rows.indices, rows.starts), shape=(len(rows), rows.columns))
