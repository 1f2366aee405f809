"""Generated files, and a way to run a command in this process."""

import sys
from typing import NamedTuple

import numpy as np
import polars as pl

from unitless.cli import main


class Done(NamedTuple):
    """What came of a command."""

    code: int
    out: str
    err: str


def command(monkeypatch, capsys):
    """A function that runs `unitless` with some words."""

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["unitless", *map(str, words)])
        try:
            main()
            code = 0
        except SystemExit as end:
            code = end.code or 0
        return Done(code, *capsys.readouterr())

    return run


def table(rows=700, seed=0):
    """Numbers in several units, a category, a weight, missing values; the label needs them all."""
    rng = np.random.default_rng(seed)
    metres, grams = rng.normal(size=rows), rng.normal(size=rows) * 1000
    colour = rng.choice(["red", "blue", "green"], rows)
    score = metres + grams / 1000 + (colour == "red") + rng.normal(size=rows) / 2
    frame = pl.DataFrame(
        {
            "metres": metres,
            "grams": grams,
            "colour": colour,
            "weight": rng.choice([1.0, 2.0], rows),
            "label": np.where(score > 0, "yes", "no"),
            "score": score,
        }
    )
    gaps = pl.Series(rng.random(rows) < 0.05)
    return frame.with_columns(
        pl.when(gaps).then(None).otherwise(pl.col("metres")).alias("metres"),
        pl.when(pl.Series(rng.random(rows) < 0.03))
        .then(None)
        .otherwise(pl.col("label"))
        .alias("label"),
    )


def written(path, frame):
    """The frame as a CSV file."""
    frame.write_csv(path)
    return path
