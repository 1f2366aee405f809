"""Intervals that stay honest through a drift: the noise triples half way.

Intervals that were fixed on the first 1000 rows then cover far too little. Those that are learned
by betting recover within a few dozen rows, and nothing had to be set.
"""

import matplotlib.pyplot as plt
import numpy as np
from drawing import save

from unitless import OnlineRegressor

rng = np.random.default_rng(0)
rows = 6000
X = rng.normal(size=(rows, 2))
y = 2 * X[:, 0] + np.where(np.arange(rows) < rows / 2, 1.0, 3.0) * rng.normal(size=rows)

model = OnlineRegressor(intervals=(0.9,)).partial_fit(X, y)
low, high = model.progressive_interval_.T
errors = np.abs(y - model.progressive_)
half = np.quantile(errors[100:1000], 0.9)
window = np.ones(200) / 200
figure, axes = plt.subplots()
for name, covered in (
    ("learned by betting", (low <= y) & (y <= high)),
    ("fixed on the first 1000 rows", errors <= half),
):
    axes.plot(np.convolve(covered, window, "valid"), label=name)
    print(f"{name}: {covered[-2000:].mean():.3f} of the last 2000 rows covered")
axes.axhline(0.9, linestyle=":", color="#808890")
axes.set(xlabel="rows", ylabel="coverage of the last 200 rows", ylim=(0, 1.02))
axes.legend(loc="lower left")
save(figure, __file__)
