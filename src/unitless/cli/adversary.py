"""`unitless adversary`: run the adversaries that prove the lower bounds."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.table import Table

    from unitless.regret.adversaries import Game

Games = Literal["theorem-3", "no-growth", "worst-case"]

STORY = {
    "theorem-3": (
        "The adversary shows x, sees the prediction p, and answers with a slope g of its sign, so "
        "that the loss g p is never negative. It chooses x so that h'S⁺h grows by the same amount "
        "in each trial, and at the end it names weights u that would have been better."
    ),
    "no-growth": (
        "The adversary shows a new direction in every trial, so that nothing learned helps, and "
        "answers with a slope g of the prediction's sign."
    ),
    "worst-case": (
        "Algorithm 1 on the constant x = 1: of all 2^T ways to choose the signs of the slopes, "
        "the worst one for each u, computed exactly."
    ),
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

    [dim]Examples:[/dim]

    unitless adversary coordinate

    unitless adversary all --game no-growth -T 100

    unitless adversary --game worst-case -T 1000
    """
    from rich.console import Console

    from unitless.learners import REGISTRY

    if game == "worst-case":
        tables = [_worst_case(trials)]
    else:
        names = sorted(REGISTRY) if learner == "all" else [learner]
        games, diverged = _games(names, game, d, trials, c, norm)
        tables = [_outcome(games)] if learner == "all" else [_trials(games[0]), _outcome(games)]
        if diverged:
            tables[-1].caption = f"diverged before the end: {', '.join(diverged)}"
    console = Console(highlight=False)
    console.print(f"{STORY[game]}\n")  # after the games, so that a refusal stands alone
    for table in tables:
        console.print(table)


def _games(
    names: list[str], game: Games, d: int, T: int, c: float, norm: float
) -> "tuple[list[Game], list[str]]":
    """Return the games, and the learners that diverged."""
    from unitless.learners.base import Diverged

    played, diverged = [], []
    for name in names:
        try:
            played.append(_play(name, game, d, T, c, norm))
        except Diverged:
            if len(names) == 1:
                raise
            diverged.append(name)
    return played, diverged


def _play(learner: str, game: Games, d: int, T: int, c: float, norm: float) -> "Game":
    from unitless.regret.adversaries import no_growth, opponent, theorem_3

    if game == "no-growth":
        return no_growth(opponent(learner), T, norm=norm)
    return theorem_3(opponent(learner), d, T, c=c, norm=norm)


def _trials(game: "Game") -> "Table":
    """Return a table of the first and the last trials."""
    T = len(game.g)
    table = _table("", "trial", "p", "g", "g p", "sum g p", "x")
    for t in range(T):
        if T > 9 and t == 5:
            table.add_row("...")
        if T <= 9 or t < 5 or t >= T - 3:
            p, g = float(game.p[t]), float(game.g[t])
            so_far = float(game.g[: t + 1] @ game.p[: t + 1])
            numbers = (f"{number:+.4f}" for number in (p, g, g * p, so_far))
            table.add_row(str(t + 1), *numbers, _vector(game.X[t]))
    return table


def _vector(x: "NDArray[np.float64]") -> str:
    shown = " ".join(f"{value:.4g}" for value in x[:4])
    return f"({shown}{' ...' if len(x) > 4 else ''})"


def _outcome(games: "list[Game]") -> "Table":
    """Return a table of what each learner lost."""
    T, d = games[0].X.shape
    title = f"After {T} trials in {d} dimensions"
    table = _table(title, "learner", "own loss", "|u|_S", "regret", "bound")
    for game in games:
        numbers = (float(game.g @ game.p), game.norm, game.regret, game.bound or 0.0)
        table.add_row(game.learner, *(f"{number:.6g}" for number in numbers))
    return table


def _worst_case(T: int) -> "Table":
    """Return a table of the regret as a function of u, with its bounds."""
    import numpy as np

    from unitless.regret.adversaries import curve

    found = curve(np.concatenate([[0.0], np.geomspace(1e-3, 1e5, 9)]), T)
    table = _table(
        f"Regret of Algorithm 1 (alpha = 1.2) after {T} trials",
        *("u", "no learner below", "worst case", "sharp form", "Theorem 1", "worst / sharp"),
    )
    table.caption = "no learner below: none that loses as little as this one against u = 0"
    for row in zip(*(found[k] for k in (0, 2, 3, 4, 5)), strict=True):
        table.add_row(*(f"{number:.5g}" for number in row), f"{row[2] / row[3]:.1%}")
    return table


def _table(title: str, *headings: str) -> "Table":
    from rich.table import Table

    table = Table(title=title and f"\n{title}", box=None, header_style="bold", padding=(0, 2))
    table.title_justify = "left"
    for heading in headings:
        table.add_column(heading, justify="left" if heading in ("learner", "x") else "right")
    return table
