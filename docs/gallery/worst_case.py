"""Worst case against bound (Theorem 1): the regret of Algorithm 1 on its worst 1000 rows.

The worst of all sequences of 1000 signs is computed exactly. It lies between what no learner can
avoid and what the theorem allows.
"""

import matplotlib.pyplot as plt
import numpy as np
from drawing import save

from unitless.regret.adversaries import curve

u = np.geomspace(1e-2, 1e3, 60)
found = curve(u, 1000)
is_between = (found.lower <= found.worst) & (found.worst <= found.sharp)
print(f"lower <= worst <= bound everywhere: {is_between.all()}")

figure, axes = plt.subplots()
axes.plot(u, found.theorem_1, label="Theorem 1")
axes.plot(u, found.sharp, label="its sharpest form")
axes.plot(u, found.worst, label="worst case")
axes.plot(u, found.lower, label="no learner can do better")
axes.set(xscale="log", yscale="log", xlabel="|u|", ylabel="regret after 1000 rows")
axes.legend()
save(figure, __file__)
