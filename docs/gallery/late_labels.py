"""The default has two answers: with the last label known, and without recent labels.

Sales per hour follow the hour and the temperature, which are features, and a level that wanders,
which is none. While labels are known at once, they tell the level. Labels that are a day late tell
less of it, and the answer without recent labels knows only its mean.
"""

from collections import deque

import matplotlib.pyplot as plt
import numpy as np
from drawing import save

from unitless import OnlineRegressor

HOURS = 3000
LATE = 24

rng = np.random.default_rng(0)
hour = np.arange(HOURS) % 24
temperature = rng.normal(15, 5, HOURS)
level = np.cumsum(rng.normal(0, 1, HOURS))
sales = 100 + level + 20 * np.sin(hour / 24 * 2 * np.pi) + temperature
X = np.column_stack([hour, temperature])

at_once = OnlineRegressor(shuffle=False).fit(X, sales)
late = OnlineRegressor(delay=LATE).partial_fit(X[:1], sales[:1])
waiting = deque()
predicted = [sales[0]]
for row, label in zip(X[1:, None], sales[1:, None], strict=True):
    predicted.append(late.predict(row, fresh=True)[0])
    waiting.append((row, label))
    if len(waiting) > LATE:
        late.partial_fit(*waiting.popleft())

figure, axes = plt.subplots()
for name, scores in {
    "known before the next row": at_once.progressive_,
    "24 rows late": np.array(predicted),
    "not known": at_once.progressive_not_fresh_,
}.items():
    errors = np.abs(scores - sales)[1:]
    axes.plot(np.convolve(errors, np.ones(200) / 200, "valid"), label=f"labels {name}")
    print(f"labels {name}: mean absolute error {errors[-1000:].mean():.1f}")
axes.set(xlabel="rows", ylabel="mean absolute error of 200 rows", ylim=(0, None))
axes.legend()
save(figure, __file__)
