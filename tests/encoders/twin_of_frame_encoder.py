"""Columns, row by row in plain Python; and frames of the three libraries from the same rows.

A row is a dict of a float, a string, a datetime or None by column name; `types` says which.
"""

import math
import re
from collections import Counter
from datetime import datetime, timedelta
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from unitless.encoders.namespaces import bucket_of

TYPES = {"number": pl.Float64, "category": pl.String, "text": pl.String, "date": pl.Datetime("us")}
LIBRARIES = ["polars", "pandas", "pyarrow"]
EPOCH = datetime(1970, 1, 1)
DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]


def frame_of(rows, types, library="polars"):
    """The rows as a typed data frame."""
    schema = {name: TYPES[kind] for name, kind in types.items()}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    convert = {"polars": frame.clone, "pandas": frame.to_pandas, "pyarrow": frame.to_arrow}
    return convert[library]()


def series(library, values, dtype=None):
    """A frame with the one column x."""
    if library == "pandas":
        return pd.DataFrame({"x": pd.Series(values, dtype=dtype)})
    if library == "polars":
        return pl.DataFrame({"x": pl.Series(values, dtype=dtype)})
    return pa.table({"x": pa.array(values, type=dtype)})


def cut(rows, places):
    """The rows in blocks, some of them empty."""
    ends = [0, *sorted(place % (len(rows) + 1) for place in places), len(rows)]
    return [rows[start:stop] for start, stop in pairwise(ends)]


def learned(columns, frames):
    """Encode and commit each; every row as {name: value}, zeros left out."""
    found = []
    for frame in frames:
        encoded = columns.encode(frame)
        columns.commit(encoded)
        found += as_dicts(encoded.X, columns.names)
    return found


def table_of(X):
    """An encoded block as an array, in whichever form it comes."""
    return np.asarray(X.toarray() if hasattr(X, "toarray") else X)


def as_dicts(X, names):
    """Each row of a matrix as {name: value}, zeros left out; NaN as None, so that == works."""
    return [
        {names[k]: None if math.isnan(v) else v for k, v in enumerate(row) if v != 0}
        for row in table_of(X).tolist()
    ]


def cycles(name, when):
    """The categories of a date."""
    yield f"{name}.hour={when.hour}"
    yield f"{name}.weekday={DAYS[when.weekday()]}"
    yield f"{name}.month={when.month}"


def features(name, kind, value):
    """(space, name, value) of each feature of one cell."""
    if kind == "number":
        return [(name, name, math.nan if value is None else value)]
    if kind == "date":
        days = math.nan if value is None else (value - EPOCH) / timedelta(days=1)
        whole = [] if value is None else cycles(name, value)
        return [(name, name, days), *((each.partition("=")[0], each, 1.0) for each in whole)]
    if value is None:
        return []
    if kind == "text":
        words = Counter(re.findall(r"\w+", value.lower()))
        return [(f"{name}", f"{name}:{word}", float(count)) for word, count in words.items()]
    return [(name, f"{name}={value}", 1.0)]


class Twin:
    """Names in order of appearance, and the rows as `learned` gives them."""

    def __init__(self, types, pairs=(), max_levels=1000, hash_bits=18):
        self.types, self.pairs = types, pairs
        self.max_levels, self.hash_bits = max_levels, hash_bits
        self.names, self.levels = [], {}

    def learn(self, row):
        """One row."""
        own = {name: features(name, kind, row[name]) for name, kind in self.types.items()}
        plain = [feature for each in own.values() for feature in each]
        products = [
            (f"{s}:{t}", f"{f}:{g}", u * v)
            for a, b in self.pairs
            for s, f, u in own[a]
            for t, g, v in own[b]
        ]
        found = {}
        numbers_first = sorted(plain + products, key=lambda feature: feature[0] != feature[1])
        for space, name, value in numbers_first:
            place = self.place(space, name)
            found[place] = found.get(place, 0.0) + value
        return {k: None if v != v else v for k, v in found.items() if v != 0}

    def place(self, space, name):
        """The name of the feature, or of its bucket."""
        levels = self.levels.setdefault(space, set())
        if name not in levels and name != space and len(levels) >= self.max_levels:
            name = f"{space}#{bucket_of(self.key(space, name), self.hash_bits)}"
        elif name != space:
            levels.add(name)
        if name not in self.names:
            self.names.append(name)
        return name

    def key(self, space, name):
        """The level of a name; for an interaction the levels of both."""
        if ":" in space:
            return tuple(
                re.split("[=:]", part)[-1] if "=" in part else "" for part in name.split(":")
            )
        return re.split("[=:]", name)[-1]
