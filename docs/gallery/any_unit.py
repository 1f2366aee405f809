"""The same data in 25 units: the loss of Unitless is a flat line.

All features are standardised, then multiplied by a factor, as if they were measured in another
unit. Gradient descent and AdaGrad are good for the factor that their learning rate happens to fit.
Unitless has no learning rate to fit, and gives the same predictions to the last bit.
"""

import matplotlib.pyplot as plt
import numpy as np
from drawing import save
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale
from sklearn.utils import shuffle

from unitless.learners import Adagrad, Blend, Ogd
from unitless.rows import as_rows

X, y = shuffle(*load_breast_cancer(return_X_y=True), random_state=0)
X, signs = scale(X), 2.0 * y - 1
exponents = np.arange(-12, 13)
kinds = {"gradient descent": Ogd, "AdaGrad": Adagrad, "Unitless": Blend}
losses = {name: [] for name in kinds}
for exponent in exponents:
    for name, kind in kinds.items():
        scores = kind().learn(as_rows(X * 2.0**exponent, signs))
        losses[name].append(np.logaddexp(0, -signs * scores).mean())
ours = losses["Unitless"]
print(f"Unitless: a log loss of {ours[0]:.3f} in every unit: {len(set(ours)) == 1}")

figure, axes = plt.subplots()
for (name, found), style in zip(losses.items(), ("C1-", "C4-", "C0-"), strict=True):
    axes.plot(exponents, found, style, label=name, linewidth=3 if name == "Unitless" else 1.5)
axes.set(xlabel="all features multiplied by", ylabel="average log loss", yscale="log")
axes.set_xticks([-12, -6, 0, 6, 12], ["1/4096", "1/64", "1", "64", "4096"])
axes.legend()
save(figure, __file__)
