"""Labels that arrive late: each row is predicted at once and learned when its label comes.

Until the first label arrives, nothing is known. After that, a model that has seen a few rows less
predicts nearly as well.
"""

from collections import deque

import matplotlib.pyplot as plt
import numpy as np
from drawing import save
from sklearn.datasets import load_breast_cancer
from sklearn.utils import shuffle

from unitless import OnlineClassifier

X, y = shuffle(*load_breast_cancer(return_X_y=True), random_state=0)
figure, axes = plt.subplots()
for delay in (0, 20, 100):
    model = OnlineClassifier("scinol2")
    waiting = deque()
    right = []
    for row, label in zip(X, y, strict=True):
        known = hasattr(model, "classes_")
        right.append(known and model.predict(row[None])[0] == label)
        waiting.append((row, label))
        if len(waiting) > delay:
            past, past_label = waiting.popleft()
            model.partial_fit(past[None], [past_label], classes=[0, 1])
    axes.plot(np.convolve(right, np.ones(100) / 100, "valid"), label=f"{delay} rows late")
    print(f"{delay} rows late: {np.mean(right[-300:]):.3f} of the last 300 right")
axes.set(xlabel="rows", ylabel="accuracy of 100 rows", ylim=(0, 1))
axes.legend()
save(figure, __file__)
