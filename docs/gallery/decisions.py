"""Decisions in any unit: the bandit earns the same whatever its features are measured in.

Each image is shown one of ten digits as a guess; only whether the guess was right is learned.
Dashed lines are the same images with every pixel multiplied by a random factor between 1/1000 and
1000. LinUCB then makes other choices. Vowpal Wabbit (SquareCB, as it comes) adapts to units, and
learns more slowly.
"""

import matplotlib.pyplot as plt
import numpy as np
from drawing import save
from sklearn.datasets import load_digits
from sklearn.utils import shuffle

from unitless import OnlineBandit

ROWS = 1200
X, y = shuffle(*load_digits(return_X_y=True), random_state=0)
X, y = X[:ROWS], y[:ROWS]
units = 2.0 ** np.random.default_rng(0).integers(-10, 11, X.shape[1])


class LinUCB:
    """Disjoint LinUCB (Li and others 2010) with alpha = 1."""

    def __init__(self, columns):
        self.inverse = np.tile(np.eye(columns), (10, 1, 1))
        self.b = np.zeros((10, columns))

    def choose(self, x):
        along = self.inverse @ x
        return int((np.sum(along * self.b, axis=1) + np.sqrt(along @ x)).argmax())

    def learn(self, x, action, reward):
        along = self.inverse[action] @ x
        self.inverse[action] -= np.outer(along, along) / (1 + along @ x)
        self.b[action] += reward * x


def unitless(X):
    bandit, right = OnlineBandit(range(10)), []
    for x, digit in zip(X, y, strict=True):
        decision = bandit.choose(x)
        right.append(decision.action == digit)
        bandit.learn(x, decision.action, right[-1], decision.probability)
    return right


def linucb(X):
    policy, right = LinUCB(X.shape[1]), []
    for x, digit in zip(X, y, strict=True):
        action = policy.choose(x)
        right.append(action == digit)
        policy.learn(x, action, float(right[-1]))
    return right


def vw(X):
    from vowpalwabbit import Workspace

    workspace = Workspace("--cbify 10 --cb_explore_adf --squarecb --quiet")
    right, before = [], 0.0
    for x, digit in zip(X, y, strict=True):
        values = " ".join(f"f{j}:{value:.9g}" for j, value in enumerate(x) if value)
        workspace.learn(f"{digit + 1} | {values}")
        right.append(workspace.get_sum_loss() == before)
        before = workspace.get_sum_loss()
    workspace.finish()
    return right


policies = {"Unitless": unitless, "LinUCB": linucb}
try:
    import vowpalwabbit  # noqa: F401
except ImportError:
    print("without Vowpal Wabbit, which is not installed")
else:
    policies["Vowpal Wabbit"] = vw
figure, axes = plt.subplots()
rows = np.arange(1, ROWS + 1)
for k, (name, play) in enumerate(policies.items()):
    raw, other = play(X), play(X * units)
    width = 3 if name == "Unitless" else 1.5
    axes.plot(rows, np.cumsum(raw) / rows, f"C{k}-", label=name, linewidth=width)
    axes.plot(rows, np.cumsum(other) / rows, f"C{k}--", linewidth=width)
    print(f"{name}: mean reward {np.mean(raw):.2f}, in other units {np.mean(other):.2f}")
    if name == "Unitless":
        print(f"the same choices in other units: {raw == other}")
axes.set(xlabel="decisions", ylabel="mean reward so far", ylim=(0, 1))
axes.legend()
save(figure, __file__)
