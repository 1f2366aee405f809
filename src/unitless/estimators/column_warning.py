"""Columns of the first data frame that are left out, and the warning that says so."""

import warnings
from itertools import chain

from unitless.model import Model
from unitless.suggestions import listed


class ColumnsLeftOut(UserWarning):
    """Columns of a data frame are no features: identifiers, and columns without a value."""


def leave_out_columns(model: Model, table: object, identifier_as_feature: bool) -> None:
    """Let a new model leave out identifiers, and empty columns up to their first value."""
    from unitless.encoders.column_findings import empty_columns, identifier_columns

    columns = model.encoder
    if columns is None:
        return
    asked = {*filter(None, chain(*columns.interactions))}
    identifiers = [] if identifier_as_feature else identifier_columns(table, asked)
    model.file.ignore += identifiers
    columns.empty = empty_columns(table)
    if identifiers:
        _warn(
            f"{listed(map(repr, identifiers))} left out, because every row has another value; "
            "identifier_as_feature=True keeps such columns"
        )
    if columns.empty:
        _warn(f"{listed(map(repr, columns.empty))} left out, because no row has a value so far")


def _warn(text: str) -> None:
    warnings.warn(f"columns {text}", ColumnsLeftOut, stacklevel=5)
