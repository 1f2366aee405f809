"""What learners can represent: the score of a point in the plane, after 4000 points.

The label is "inside the ring". Algorithm 1 sees lines only. The views of the Blend bend each
feature on its own, which is not enough for a ring. By default it also has boosted trees, which
combine features.
"""

import matplotlib.pyplot as plt
import numpy as np
from drawing import save

from unitless.learners import Blend, Coordinate
from unitless.rows import as_rows

rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, size=(4000, 2))
y = np.where(np.abs(np.hypot(*X.T) - 1.2) < 0.5, 1.0, -1.0)
line = np.linspace(-2, 2, 60)
grid = np.stack(np.meshgrid(line, line), axis=-1).reshape(-1, 2)
kinds = {
    "Algorithm 1": Coordinate(),
    'Blend(views="smooth")': Blend(views="smooth"),
    "Blend": Blend(),
}
figure, places = plt.subplots(1, 3, figsize=(7.2, 2.7), sharey=True)
for place, (name, learner) in zip(places, kinds.items(), strict=True):
    scores = learner.learn(as_rows(X, y))
    print(f"{name}: {(scores * y > 0)[2000:].mean():.2f} right")
    field = np.tanh(learner.predict(as_rows(grid)) / 2).reshape(60, 60)
    place.imshow(field, extent=(-2, 2, -2, 2), origin="lower", cmap="RdBu", vmin=-1, vmax=1)
    place.set_title(name, fontsize=9)
    place.grid(False)
save(figure, __file__)
