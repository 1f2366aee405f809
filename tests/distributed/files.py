"""Tables of flights in files, and what one process makes of them."""

import numpy as np
import polars as pl

from unitless.distributed import PartitionedData
from unitless.distributed.learning import learn_block, start_of


def table(n=600, seed=0):
    """Flights: two groups of levels, two numbers, a weight, a number and a class to predict."""
    rng = np.random.default_rng(seed)
    carrier = [f"c{k}" for k in np.minimum(rng.geometric(0.2, n), 12)]
    month = [f"m{k * 12 // n:02}" for k in range(n)]
    distance, minutes = rng.integers(80, 5000, n) * 1.0, rng.integers(0, 1440, n) * 1.0
    delay = 0.01 * distance - 0.1 * minutes + 20 * rng.normal(size=n)
    return pl.DataFrame({
        "carrier": carrier, "month": month, "distance": distance, "minutes": minutes,
        "weight": rng.choice([0.0, 0.5, 2.0], n), "delay": delay, "late": delay > 0,
        "how": np.where(delay > 30, "very", np.where(delay > 0, "late", "fine")),
    })  # fmt: skip


def parquet(folder, n=600, groups=12, **how):
    """One file of row groups."""
    path = folder / "flights.parquet"
    table(n, **how).write_parquet(path, row_group_size=n // groups)
    return path


def numbers(path, **how):
    """The source of delays."""
    return PartitionedData(
        path, target="delay", ignore=["late", "how", "weight"], task="regression", **how
    )


def classes(path, **how):
    """The source of late flights."""
    return PartitionedData(path, target="late", ignore=["delay", "how", "weight"], **how)


def in_one_pass(learner, source, key=""):
    """The model of all rows, learned one after the other."""
    parts = source.parts()
    model, source = start_of(source, learner, parts, key)
    for part in parts:
        for block in source.blocks(part):
            learn_block(model, block)
    return model


def predictions(model, frame):
    """Of the rows of a frame."""
    names = [name for name in frame.columns if name not in (*model.file.ignore, model.file.target)]
    encoded = model.encoder.encode(frame.select(names), grow=False)
    from unitless.rows import as_rows

    return model.learner.predict(as_rows(encoded.X))
