"""Four learners in the units of the data and in others: only the scale-dependent ones notice.

Every feature is multiplied by a random power of two, from 1/4096 to 4096.
"""

import matplotlib.pyplot as plt
import numpy as np
from drawing import save
from sklearn.datasets import load_breast_cancer
from sklearn.utils import shuffle

from unitless.compare import compare
from unitless.rows import as_rows

X, y = shuffle(*load_breast_cancer(return_X_y=True), random_state=0)
rows = as_rows(X, 2 * y - 1)
table = compare(rows, ["blend", "nag", "adagrad", "ogd"], units="random", regret=False)
entries = sorted(table.entries, key=lambda entry: entry.loss)
for entry in entries:
    print(f"{entry.learner:8} {entry.loss:.4g} -> {entry.elsewhere.loss:.4g}")

figure, axes = plt.subplots()
names = [entry.learner for entry in entries]
axes.plot([entry.loss for entry in entries], names, "o", label="units of the data", markersize=9)
axes.plot([entry.elsewhere.loss for entry in entries], names, "D", label="other units")
share = y.mean()
constant = -share * np.log(share) - (1 - share) * np.log(1 - share)
axes.axvline(constant, color="grey", linestyle=":")
axes.annotate("best constant", (constant * 1.1, 2.6), color="grey")
axes.set(xscale="log", xlabel="average log loss")
axes.legend()
save(figure, __file__)
