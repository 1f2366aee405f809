"""Learn from a CSV file that does not have to fit into memory.

The example writes a file of taxi trips to a temporary folder (a real file would be much larger) and
reads it in batches. Each trip is predicted before it is learned, so the printed errors are those on
unseen trips. Text, dates and missing values need no preparation.

    python examples/stream_from_csv.py
"""

import csv
import random
import tempfile
from collections.abc import Iterator
from datetime import datetime, timedelta
from io import StringIO
from itertools import islice
from pathlib import Path

import numpy as np
import polars

from unitless import OnlineRegressor

TRIPS, BATCH = 30_000, 5_000
SPEED = {"centre": 14, "suburb": 38, "airport": 62}  # km/h


def write_trips(path: Path) -> None:
    """Write trips whose duration depends on distance, zone and hour."""
    random.seed(0)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["distance_m", "zone", "started", "driver_rating", "minutes"])
        started = datetime(2024, 1, 1)
        for _ in range(TRIPS):
            started += timedelta(seconds=random.randint(10, 600))
            zone = random.choice(list(SPEED))
            metres = random.expovariate(1 / 6000)
            rush = 1.6 if started.hour in (8, 9, 17, 18) else 1.0
            minutes = 2 + 0.06 * metres / SPEED[zone] * rush + random.gauss(0, 1)
            rating = "" if random.random() < 0.2 else round(random.uniform(3, 5), 1)
            writer.writerow([round(metres), zone, started.isoformat(), rating, round(minutes, 2)])


def batches(path: Path) -> Iterator[polars.DataFrame]:
    """Yield the file in batches; only one batch is in memory at a time."""
    with path.open() as file:
        header = file.readline()
        while lines := list(islice(file, BATCH)):
            yield polars.read_csv(StringIO(header + "".join(lines)), try_parse_dates=True)


def main() -> None:
    """Write the file, learn it in batches, and print the error of each batch."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "trips.csv")
        write_trips(path)
        print(f"{path.name}: {path.stat().st_size / 1e6:.1f} MB, read {BATCH:,} trips at a time")
        model = OnlineRegressor(interactions=["zone:distance_m"])
        for number, batch in enumerate(batches(path), start=1):
            minutes = batch["minutes"].to_numpy()
            model.partial_fit(batch.drop("minutes"), minutes)
            error = np.abs(model.progressive_ - minutes).mean()
            print(f"batch {number}: off by {error:.2f} minutes on trips not yet seen")
    parts = model.explain(batch.drop("minutes")[-1:])
    top = sorted(parts, key=lambda name: -abs(parts[name]))[:3]
    print("largest contributions to the last prediction: " + ", ".join(top))


if __name__ == "__main__":
    main()
