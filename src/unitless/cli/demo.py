"""`unitless demo`: an evaluation of a built-in data set, on one screen."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console
    from rich.table import Table

    from unitless.learners.base import Learner

    Float = NDArray[np.float64]

LEARNER = "blend"


def demo() -> None:
    """Learn a built-in data set, then again in other units, and compare.

    [dim]Example:[/dim] unitless demo
    """
    from rich.console import Console
    from sklearn.datasets import load_breast_cancer

    console = Console(highlight=False)
    data = load_breast_cancer()
    X, y = data.data, 2.0 * data.target - 1
    console.print(
        f"[bold]Breast cancer[/bold]: {len(X)} tumours, {X.shape[1]} raw measurements from "
        f"{X[X > 0].min():.1g} to {X.max():.0f}.\n"
        "Each row is predicted before its label is used: one pass, no parameters.\n"
    )
    with console.status("compiling kernels (the first time only) ..."):
        _warm_up()
    scores, learner = _run(X, y, console)
    console.print(_summary(scores, y))
    console.print(_units(X, y, scores))
    console.print(_certificate(learner))
    console.print(
        "\n[dim]size: root mean square of the scores; a score of 1 means 73%\n"
        "at most: computed from this run, valid for all such weights\n"
        "bound: Theorem 2 of Algorithm 2, plus the regret of the blend against it[/dim]"
    )
    console.print(
        "\nTry it on your own file (CSV, Parquet, JSON lines, ...):\n\n"
        "    unitless evaluate FILE --target COLUMN\n"
    )


def _warm_up() -> None:
    import numpy as np

    from unitless import learners, regret
    from unitless.rows import as_rows

    rows = as_rows(np.array([[1.0, 2.0], [2.0, 1.0], [0.0, 3.0]]), [1, -1, 1])
    learner = learners.get(LEARNER)()
    scores = learner.learn(rows)
    learner.loss.link(learner.loss.value(1.0, scores))
    regret.certificate(learner)


def _run(X: "Float", y: "Float", console: "Console") -> tuple["Float", "Learner"]:
    """The first run, with a table that fills as it goes."""
    import numpy as np
    from rich.live import Live
    from rich.table import Table

    from unitless import learners
    from unitless.progressive import progressive
    from unitless.rows import as_rows

    table = Table(box=None, header_style="bold", padding=(0, 2))
    for heading in ("rows", "average loss", "loss since", "label", "predicted"):
        table.add_column(heading, justify="right")
    learner, scores = learners.get(LEARNER)(), []
    with Live(table, console=console, refresh_per_second=20):
        for report in progressive(learner, as_rows(X, y)):
            chance = float(learner.loss.link(report.score))
            table.add_row(
                f"{report.rows}",
                f"{report.loss:.4f}",
                f"{report.loss_since:.4f}",
                "benign" if report.target > 0 else "malignant",
                f"{chance:.0%} benign",
            )
            scores.append(report.scores)
    if not console.is_terminal:  # where Live ends without a new line
        console.print()
    return np.concatenate(scores), learner


def _summary(scores: "Float", y: "Float") -> "Table":
    import numpy as np

    from unitless.losses import get

    logistic = get("logistic")
    share = (y > 0).mean()
    constant = np.log(share / (1 - share))
    table = _two_columns("Predicted before each label was seen", "Unitless", "best constant")
    table.add_row(
        "logistic loss",
        f"{logistic.value(y, scores).mean():.3f}",
        f"{logistic.value(y, constant).mean():.3f}",
    )
    table.add_row(
        "wrong predictions",
        f"{np.mean(y * scores <= 0):.1%}",
        f"{np.mean(y * constant <= 0):.1%}",
    )
    return table


def _units(X: "Float", y: "Float", scores: "Float") -> "Table":
    """The same run in other units, with the largest change of a prediction."""
    import numpy as np

    from unitless import learners
    from unitless.rows import as_rows

    rng = np.random.default_rng(0)
    d = X.shape[1]
    table = _two_columns("The same rows again, in other units", "largest change of a score", "")
    for name, factors in (
        ("every feature times 1e-6 to 1e6", 10.0 ** rng.uniform(-6, 6, d)),
        ("every feature times 2^-20 to 2^20", 2.0 ** rng.integers(-20, 21, d)),
    ):
        moved = np.abs(learners.get(LEARNER)().learn(as_rows(X * factors, y)) - scores).max()
        table.add_row(name, "exactly 0" if moved == 0 else f"{moved:.1e}", "")
    return table


def _certificate(learner: "Learner") -> "Table":
    """Regret per row against all weights whose scores have a given root mean square."""
    from unitless import regret

    table = _two_columns("Certificate: average loss above that of ...", "at most", "bound")
    for size in (0.0, 0.5, 1.0, 2.0):
        trials = regret.certificate(learner).trials
        made = regret.certificate(learner, ball=size * trials**0.5)
        assert isinstance(made, regret.BlendCertificate)
        claim = made.by_member[-1].bounds[-1]  # Algorithm 2's ellipsoid
        assert claim.sharp is not None
        table.add_row(
            f"any fixed weights with scores of size {size:g}" if size else "always predicting 50%",
            f"{claim.certificate / trials:+.3f}",
            f"{claim.sharp / trials:+.3f}",
        )
    return table


def _two_columns(title: str, first: str, second: str) -> "Table":
    from rich.table import Table

    table = Table(box=None, padding=(0, 2))
    table.add_column(f"\n{title}")
    table.add_column(f"\n{first}", justify="right")
    table.add_column(f"\n{second}", justify="right")
    return table
