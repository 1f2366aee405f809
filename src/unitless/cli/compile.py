"""`unitless compile`: compile in advance what the commands need."""

from typing import Annotated, Any

import typer

ROWS = 300
PARTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "two classes": ("csv", "binary", {"report": "page.html", "predictions": "p.csv"}),
    "several classes": ("csv", "multiclass", {"report": "page.html"}),
    "numbers": ("csv", "regression", {"report": "page.html"}),
    "two classes, hinge loss": ("csv", "binary", {"loss": "hinge"}),
    "numbers, absolute loss": ("csv", "regression", {"loss": "absolute"}),
    "numbers, quantile loss": ("csv", "regression", {"loss": "quantile(0.9)"}),
    "svmlight": ("svm", "binary", {}),
    "VW text": ("vw", "binary", {}),
    "labels that arrive late": ("csv", "binary", {"delay": 1}),
}
"""Ending of the file, task, and options of a run that compiles each part."""
All = Annotated[bool, typer.Option("--all", metavar="", help="Also compile every other learner.")]


def compile(everything: All = False) -> None:
    """Compile in advance what `evaluate`, `fit` and `predict` need with the default learner.

    Use it in a container image, or before the first run. The compiled code goes to NUMBA_CACHE_DIR
    if it is set, otherwise to the user's cache folder. What is there already takes no time.

    Example:

        unitless compile
    """
    import os
    import time
    from tempfile import TemporaryDirectory

    parts = [(name, *part, "blend") for name, part in PARTS.items()]
    if everything:
        from unitless.learners import REGISTRY

        for learner in REGISTRY:
            for task in ("binary", "multiclass", "regression"):
                parts.append((f"{learner}, {task}", "csv", task, {}, learner))
    begin = time.perf_counter()
    before = os.getcwd()
    with TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for name, ending, task, more, learner in parts:
                start = time.perf_counter()
                _run(ending, task, learner, more)
                print(f"{name:<32}{time.perf_counter() - start:7.1f} s", flush=True)
        finally:
            os.chdir(before)
    print(f"{'all':<32}{time.perf_counter() - begin:7.1f} s")


def _run(ending: str, task: str, learner: str, more: dict[str, Any]) -> None:
    """Learn a small file, and predict it again."""
    from contextlib import suppress

    from unitless.cli.options import LearningOptions
    from unitless.cli.predict import PredictOptions, write_predictions
    from unitless.cli.run import EvaluationRun
    from unitless.learners.base import Diverged

    file = _written(ending, task)
    target = "y" if ending == "csv" else None
    options: Any = {"data": [file], "target": target, "learner": learner, "quiet": True}
    with suppress(Diverged):  # of a scale-dependent baseline
        run = EvaluationRun(LearningOptions(**options, save="m", **more), table=False)
        try:
            run.run()
        except ValueError:  # a learner that is not made for the task
            return
        write_predictions(PredictOptions(model="m", data=[file], output="p.csv", quiet=True))


def _written(ending: str, task: str) -> str:
    """Write numbers, a category, missing values, and a target for the task."""
    import numpy as np

    random = np.random.default_rng(0)
    x = random.normal(size=(ROWS, 3))
    y = {
        "binary": np.where(x[:, 0] > 0, "1", "-1"),
        "multiclass": np.array(["a", "b", "c"])[np.digitize(x[:, 0], [-0.5, 0.5])],
        "regression": x[:, 0].round(3).astype(str),
    }[task]
    lines = ["x0,x1,x2,colour,y"] if ending == "csv" else []
    for (a, b, c), label, k in zip(x.round(3).tolist(), y.tolist(), range(ROWS), strict=True):
        lines.append(
            {
                "csv": f"{a},{b if k % 9 else ''},{c},{'red' if k % 3 else 'blue'},{label}",
                "svm": f"{label} 1:{a} 2:{b} 7:{c}",
                "vw": f"{label} | x0:{a} x1:{b} red",
            }[ending]
        )
    with open(f"rows.{ending}", "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return file.name
