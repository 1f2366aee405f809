"""An adversary against each learner (Theorem 3): every regret is at least the lower bound.

The adversary chooses the next row after it has seen the learner's prediction. No learner can avoid
the bound; scale-invariant ones stay near it.
"""

import matplotlib.pyplot as plt
from drawing import save

from unitless.regret.adversaries import opponent, theorem_3

names = ["full", "coordinate", "scinol2", "nag", "adagrad", "ogd"]
games = {name: theorem_3(opponent(name), 5, 35, c=1.0, norm=1.0) for name in names}
for name, game in games.items():
    print(
        f"{name:10} regret {game.regret:.3g} >= bound {game.bound:.3g}: {game.regret >= game.bound}"
    )

figure, axes = plt.subplots()
axes.bar(names, [game.regret for game in games.values()], color="C0", label="regret")
axes.plot(names, [game.bound for game in games.values()], "D", color="C1", label="lower bound")
axes.set(yscale="log", ylabel="after 35 rows")
axes.legend()
save(figure, __file__)
