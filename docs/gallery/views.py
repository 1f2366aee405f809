"""What each view of the Blend can represent: the predicted label of every point in the plane.

A view is what a member is shown of a row. The true label follows a bent line and is reversed in two
islands. Linear learners see a straight line if they are shown the raw values, a sum of two curves
if these are squashed, directions if rows are normalised, and steps if pairs of values are binned.
Boosted trees and neighbours find the islands. The Blend mixes all of them.
"""

import matplotlib.pyplot as plt
import numpy as np
from drawing import save

from unitless.learners import Blend, BoostedTrees, Diagonal, Neighbours, Newton
from unitless.rows import as_rows


def truth(X):
    """Return the labels of points: +1 and -1."""
    right, up = X.T
    bent = np.where(up > 1.3 * np.tanh(3 * right), 1.0, -1.0)
    island = np.hypot(right - 1.2, up + 1) < 0.6
    return np.where(island | (np.hypot(right + 1.2, up - 1) < 0.6), -bent, bent)


def raw(X):
    """Return the values as they are."""
    return X


def squashed(X):
    """Return S-shaped curves of single values, between -1 and 1."""
    return X / np.sqrt(4 / 3 + X**2)  # 4/3 is the variance, and the mean is 0


def normalised(X):
    """Return rows of equal length."""
    return X / np.hypot(*X.T)[:, None]


def pairs_of_bins(X):
    """Return one feature per cell of a grid of 8 times 8."""
    right, up = np.floor(4 * (squashed(X) + 1)).astype(int).T
    return np.eye(64)[8 * right + up]


rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, size=(5000, 2))
line = np.linspace(-2, 2, 80)
grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
kinds = {
    "raw": (raw, Newton()),
    "squashed": (squashed, Newton()),
    "normalised": (normalised, Newton()),
    "pairs of bins": (pairs_of_bins, Diagonal()),
    "boosted trees": (raw, BoostedTrees()),
    "neighbours": (raw, Neighbours()),
    "the Blend": (raw, Blend()),
}
fields = {"the truth": truth(grid)}
right = {}
for name, (view, learner) in kinds.items():
    scores = learner.learn(as_rows(view(X), truth(X)))
    right[name] = (scores * truth(X) > 0)[2500:].mean()
    print(f"{name}: {right[name]:.2f} right")
    fields[name] = np.tanh(learner.predict(as_rows(view(grid))) / 2)
print(f"the Blend is better than each of them: {right['the Blend'] == max(right.values())}")

figure, places = plt.subplots(2, 4, figsize=(7.2, 3.8), sharex=True, sharey=True)
for place, (name, field) in zip(places.flat, fields.items(), strict=True):
    square = field.reshape(80, 80)
    place.imshow(square, extent=(-2, 2, -2, 2), origin="lower", cmap="RdBu", vmin=-1, vmax=1)
    share = f" ({right[name]:.0%} right)" if name in right else ""
    place.set_title(name + share, fontsize=9)
    place.grid(False)
save(figure, __file__)
