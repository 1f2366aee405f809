"""Trees that grow with the stream: what the default gains from the rows after the first thousands.

Online boosted trees stop at a fixed number of leaves. Histogram trees store rows, and grow a forest
anew whenever the stream has doubled (grey: while it is grown), with more trees and more leaves each
time. Both are members of the Blend, which is close to the better one at any length.
"""

import matplotlib.pyplot as plt
import numpy as np
from drawing import GREY, save
from sklearn.datasets import make_friedman1

from unitless.learners import Blend, BoostedTrees, HistogramTrees
from unitless.rows import as_rows

ROWS = 40_000
STEP = 50
X, y = make_friedman1(ROWS, n_features=10, noise=1.0, random_state=0)
learners = {
    "boosted trees": BoostedTrees("squared", trees=64, rate=0.15, leaves=256, gain=2.0),
    "histogram trees": HistogramTrees("squared"),
    "the Blend": Blend("squared"),
}
errors = {name: [] for name in learners}
leaves, grown = [], []
for first in range(0, ROWS, STEP):
    rows = as_rows(X[first : first + STEP], y[first : first + STEP])
    for name, learner in learners.items():
        errors[name].append(np.mean((learner.learn(rows) - rows.targets) ** 2))
    forest = learners["histogram trees"].forest
    leaves.append((len(forest.nodes) + len(forest.roots)) // 2)
    grown.append(learners["histogram trees"].planned > 0)

figure, (above, below) = plt.subplots(2, 1, figsize=(7.2, 4.6), sharex=True)
ends = np.arange(1, ROWS // STEP + 1) * STEP
late = {}
for name, found in errors.items():
    share = np.array(found) / y.var()
    late[name] = share[len(share) // 2 :].mean()
    smooth = [share[k // 2 : k + 1].mean() for k in range(len(share))]
    above.plot(ends, smooth, label=name)
above.axhline(1 / y.var(), color=GREY, linestyle=":", label="noise")
above.set(xscale="log", ylim=(0.03, 0.3), yscale="log", ylabel="squared error / variance")
above.legend(fontsize=8)
below.plot(ends, leaves, color="C1", drawstyle="steps-post")
below.fill_between(ends, 0, max(leaves), where=grown, color=GREY, alpha=0.3, linewidth=0)
below.set(xlim=(500, ROWS), xlabel="rows", ylabel="leaves of the forest in use")
print(f"last half: {', '.join(f'{name} {error:.4f}' for name, error in late.items())}")
print(f"the forest in use has {len(forest.roots)} trees and {leaves[-1]} leaves")
better = late["the Blend"] <= min(late.values())
print(f"the Blend is at least as good as each of both: {better}")
save(figure, __file__)
