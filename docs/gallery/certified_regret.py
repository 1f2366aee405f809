"""Certified against true regret: what the learner knows during the run, and what was true.

The true regret needs all rows and a solver. The certificate needs a few sums, and is never smaller.
"""

import matplotlib.pyplot as plt
from drawing import save
from sklearn.datasets import load_breast_cancer
from sklearn.utils import shuffle

from unitless.learners import Coordinate
from unitless.regret import certificate
from unitless.rows import as_rows

X, y = shuffle(*load_breast_cancer(return_X_y=True), random_state=0)
rows = as_rows(X[:, :3], 2 * y - 1)
learner = Coordinate()
counts, true, certified, bound = [], [], [], []
start = 0
for stop in (20, 40, 80, 120, 180, 260, 380, 569):
    learner.learn(rows[start:stop])
    start = stop
    best = certificate(learner, rows=rows[:stop]).best
    counts.append(stop)
    true.append(best.regret)
    certified.append(best.certificate)
    bound.append(best.sharp)
print(
    f"certified >= true at every point: {all(c >= t for c, t in zip(certified, true, strict=True))}"
)

figure, axes = plt.subplots()
axes.plot(counts, bound, "o-", label="bound of Theorem 1")
axes.plot(counts, certified, "s-", label="certified")
axes.plot(counts, true, "D-", label="true")
axes.set(xlabel="rows", ylabel="regret", yscale="log")
axes.legend()
save(figure, __file__)
