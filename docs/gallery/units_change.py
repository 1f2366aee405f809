"""A unit changes in mid-stream: after row 300, all values of one feature are 1000 times larger.

A model that is told (`rescale`) continues as if nothing had happened, to the last bit. A model that
is not told recovers slowly.
"""

import matplotlib.pyplot as plt
import numpy as np
from drawing import save
from sklearn.datasets import load_breast_cancer

from unitless.learners import Blend
from unitless.rows import as_rows

X, y = load_breast_cancer(return_X_y=True)
X = X[:, :10]
signs = 2.0 * y - 1
FACTOR, CHANGE, COLUMN = 1024.0, 300, 0
later = X.copy()
later[CHANGE:, COLUMN] *= FACTOR

losses = {}
for name in ("no change", "told", "not told"):
    data = X if name == "no change" else later
    learner = Blend()
    first = learner.learn(as_rows(data[:CHANGE], signs[:CHANGE]))
    if name == "told":
        learner.rescale({COLUMN: FACTOR})
    second = learner.learn(as_rows(data[CHANGE:], signs[CHANGE:]))
    losses[name] = np.logaddexp(0, -signs * np.append(first, second))

same = (losses["told"] == losses["no change"]).all()
print(f"told = no change, to the last bit: {same}")
after = {name: each[CHANGE:].mean() for name, each in losses.items()}
print(f"loss after the change: {after['told']:.3f} told, {after['not told']:.3f} not told")

figure, axes = plt.subplots()
for name, style in (("no change", "C0-"), ("told", "C1--"), ("not told", "C2-")):
    axes.plot(np.cumsum(losses[name]), style, label=name)
axes.axvline(CHANGE, color="grey", linestyle=":")
axes.set(xlabel="rows", ylabel="total log loss")
axes.legend()
save(figure, __file__)
