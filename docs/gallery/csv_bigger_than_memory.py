"""A CSV file bigger than memory: blocks of rows are read, learned and forgotten.

The file here is small, but memory does not depend on its size: one block at a time. Each row is
predicted before it is learned, so the errors are those on unseen rows.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from drawing import save

from unitless.encoders import FrameEncoder
from unitless.evaluation import Evaluation
from unitless.model import Model
from unitless.readers import open_blocks

rng = np.random.default_rng(0)
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "trips.csv")
    with path.open("w") as file:
        print("metres,zone,minutes", file=file)
        for metres in rng.exponential(6000, 8000):
            zone = rng.choice(["centre", "suburb"])
            minutes = 2 + metres / (250 if zone == "centre" else 600) + rng.normal()
            print(f"{metres:.0f},{zone},{minutes:.2f}", file=file)
    blocks = open_blocks(path, target="minutes", block_bytes=16_384)
    first = next(blocks)
    columns = FrameEncoder(interactions=["zone:metres"])
    run = Evaluation(Model.from_first_block(first, target="minutes", columns=columns))
    sizes = [len(first)]

    def counted():
        """Yield the blocks, and remember how many rows each has."""
        yield first
        for block in blocks:
            sizes.append(len(block))
            yield block

    for _ in run.over(counted()):
        pass
print(f"{run.rows} rows in {len(sizes)} blocks of at most {max(sizes)} rows")
print(f"mean absolute error: {run.tally.metrics()['mae']:.2f} minutes")

figure, axes = plt.subplots()
rows, losses = np.array(run.curve.points()).T
axes.plot(rows, np.sqrt(losses), linewidth=1)
axes.set(xlabel="rows", ylabel="error in minutes (root mean square)", yscale="log")
save(figure, __file__)
