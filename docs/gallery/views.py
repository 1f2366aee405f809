"""What each part of the Blend can represent: the predicted label of every point in the plane.

The true label follows a bent line, and is reversed in two islands. Linear members see a straight
line. Smooth ones bend each feature on its own. Trees combine features and find the islands, and so
does the Blend, which mixes all of them.
"""

import matplotlib.pyplot as plt
import numpy as np
from drawing import save

from unitless.learners import Blend, BoostedTrees
from unitless.rows import as_rows


def truth(X):
    """Return the labels of points: +1 and -1."""
    right, up = X.T
    bent = np.where(up > 1.3 * np.tanh(3 * right), 1.0, -1.0)
    island = np.hypot(right - 1.2, up + 1) < 0.6
    return np.where(island | (np.hypot(right + 1.2, up - 1) < 0.6), -bent, bent)


rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, size=(5000, 2))
line = np.linspace(-2, 2, 80)
grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
kinds = {
    "linear members": Blend(views="linear"),
    "smooth members": Blend(views="smooth"),
    "boosted trees": BoostedTrees(),
    "the Blend": Blend(views="all"),
}
figure, places = plt.subplots(1, 5, figsize=(9, 2.2), sharey=True)
fields = {"the truth": truth(grid)}
for name, learner in kinds.items():
    scores = learner.learn(as_rows(X, truth(X)))
    print(f"{name}: {(scores * truth(X) > 0)[2500:].mean():.2f} right")
    fields[name] = np.tanh(learner.predict(as_rows(grid)) / 2)
for place, (name, field) in zip(places, fields.items(), strict=True):
    square = field.reshape(80, 80)
    place.imshow(square, extent=(-2, 2, -2, 2), origin="lower", cmap="RdBu", vmin=-1, vmax=1)
    place.set_title(name, fontsize=9)
    place.grid(False)
save(figure, __file__)
