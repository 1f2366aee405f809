"""`unitless adversary`: run the adversaries that prove the lower bounds."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

import typer

Games = Literal["theorem-3", "no-growth", "worst-case"]

STORY = {
    "theorem-3": """\
The adversary shows x, sees the prediction p, and answers with a slope g of its sign, so that the
loss g p is never negative. It chooses x so that h'S⁺h grows by the same amount in each trial, and
at the end it names weights u that would have been better.""",
    "no-growth": """\
The adversary shows a new direction in every trial, so that nothing learned helps, and answers with
a slope g of the prediction's sign.""",
    "worst-case": """\
Algorithm 1 on the constant x = 1: of all 2^T ways to choose the signs of the slopes, the worst one
for each u, computed exactly.""",
}


def adversary(
    learner: Annotated[str, typer.Argument(help="Learner by name, or all.")] = "all",
    game: Annotated[Games, typer.Option(help="Which adversary to run.")] = "theorem-3",
    d: Annotated[int, typer.Option("-d", "--dimensions", help="Theorem 3: dimensions, >= 2.")] = 2,
    trials: Annotated[
        int, typer.Option("-T", "--trials", help="Trials; Theorem 3: at most 35 (d - 1).")
    ] = 35,
    c: Annotated[float, typer.Option("-c", help="Theorem 3: x'S⁻¹x of its instances.")] = 1.0,
    norm: Annotated[float, typer.Option(help="|u|_S of the comparator.")] = 1.0,
) -> None:
    """Run the adversary of a lower bound against a learner, and show the result.

    No learner does better than the bound against it.

    Examples:

        unitless adversary coordinate
        unitless adversary all --game no-growth -T 100
        unitless adversary --game worst-case -T 1000
    """
    from unitless.core.learner import Diverged
    from unitless.learners import REGISTRY
    from unitless.regret.adversaries import no_growth, opponent, theorem_3

    if game == "worst-case":
        print(STORY[game])
        _show_worst_case(trials)
        return
    games: list[Any] = []
    diverged = []
    for name in sorted(REGISTRY) if learner == "all" else [learner]:
        try:
            if game == "no-growth":
                games.append(no_growth(opponent(name), trials, norm=norm))
            else:
                games.append(theorem_3(opponent(name), d, trials, c=c, norm=norm))
        except Diverged:
            if learner != "all":
                raise
            diverged.append(name)
    print(STORY[game])  # after the games, so that a refusal stands alone
    if learner != "all":
        _show_trials(games[0])
    print("\nAfter {} trials in {} dimensions\n".format(*games[0].X.shape))
    print(f"{'learner':<24}{_columns(('own loss', '|u|_S', 'regret', 'bound'))}")
    for each in games:
        own_loss = float(each.g @ each.p)
        numbers = (own_loss, each.norm, each.regret, each.bound or 0.0)
        print(f"{each.learner:<24}{_columns(f'{number:.6g}' for number in numbers)}")
    if diverged:
        print(f"diverged before the end: {', '.join(diverged)}")


def _show_trials(game: Any) -> None:
    """Show the first and the last trials."""
    T = len(game.g)
    losses = game.g * game.p
    print(f"\n{'trial':>5}{_columns(('p', 'g', 'g p', 'sum g p'))}  x")
    for t in range(T):
        if 5 <= t < T - 3 and T > 9:
            if t == 5:
                print("  ...")
            continue
        numbers = (game.p[t], game.g[t], losses[t], losses[: t + 1].sum())
        x = " ".join(f"{value:.4g}" for value in game.X[t][:4])
        more = " ..." if len(game.X[t]) > 4 else ""
        print(f"{t + 1:>5}{_columns(f'{number:+.4f}' for number in numbers)}  ({x}{more})")


def _show_worst_case(T: int) -> None:
    """Show the regret as a function of u, with its bounds."""
    import numpy as np

    from unitless.regret.adversaries import curve

    grid = np.append(0.0, np.geomspace(1e-3, 1e5, 9))
    u, _, below, worst, sharp, theorem = curve(grid, T)
    print(
        f"\nRegret of Algorithm 1 (alpha = 1.2) after {T} trials. lower: no learner that loses as"
    )
    print("little as this one against u = 0 has a smaller regret.\n")
    print(_columns(("u", "lower", "worst case", "sharp form", "Theorem 1", "worst/sharp")))
    for row in zip(u, below, worst, sharp, theorem, strict=True):
        print(f"{_columns(f'{number:.5g}' for number in row)}{row[2] / row[3]:>12.1%}")


def _columns(cells: Iterable[str]) -> str:
    return "".join(f"{cell:>12}" for cell in cells)
