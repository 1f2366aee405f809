"""A drifting stream: the rule that makes the labels turns slowly, and reverses.

The Blend follows, because some of its members remember only recent rows. Logistic regression
that is fitted once, on the first 1000 rows, becomes useless.
"""

import matplotlib.pyplot as plt
import numpy as np
from drawing import save
from sklearn.linear_model import LogisticRegression

from unitless.learners import Blend
from unitless.rows import as_rows

rng = np.random.default_rng(0)
rows = 6000
X = rng.normal(size=(rows, 2)) * [1.0, 1000.0]
angle = np.linspace(0, np.pi, rows)
y = np.where(X[:, 0] * np.cos(angle) + X[:, 1] / 1000 * np.sin(angle) > 0, 1.0, -1.0)

blend = Blend().learn(as_rows(X, y)) * y > 0
fixed = LogisticRegression().fit(X[:1000], y[:1000])
batch = fixed.predict(X) == y
window = np.ones(200) / 200
figure, axes = plt.subplots()
for name, right in (("Blend, online", blend), ("logistic regression, fitted once", batch)):
    axes.plot(np.convolve(right, window, "valid"), label=name)
    print(f"{name}: {right[-1000:].mean():.2f} right at the end")
axes.set(xlabel="rows", ylabel="accuracy of the last 200 rows", ylim=(0, 1.02))
axes.legend(loc="lower left")
save(figure, __file__)
