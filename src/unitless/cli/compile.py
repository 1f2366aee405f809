"""`unitless compile`: compile in advance what the commands need."""

from typing import Annotated, Any

import typer

ROWS = 300
SINGLE_ROWS = 40
"""Single rows after which the kernel of one row has been compiled."""
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
    "one row at a time, two classes": ("dict", "binary", {}),
    "one row at a time, classes": ("dict", "multiclass", {}),
    "one row at a time, numbers": ("dict", "regression", {}),
}
"""Ending of the file ("dict": none), task, and options of a run that compiles each part."""
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
                if ending == "dict":
                    _learn_single_rows(task)
                else:
                    _run(ending, task, learner, more)
                print(f"{name:<32}{time.perf_counter() - start:7.1f} s", flush=True)
        finally:
            os.chdir(before)
    print(f"{'all':<32}{time.perf_counter() - begin:7.1f} s")


def _run(ending: str, task: str, learner: str, more: dict[str, Any]) -> None:
    """Learn a small file, and predict it again."""
    from contextlib import suppress

    from unitless.cli.options import CommandOptions
    from unitless.cli.predict import write_predictions
    from unitless.cli.run import EvaluationRun
    from unitless.learners.base import Diverged

    file = _written(ending, task)
    target = "y" if ending == "csv" else None
    options: Any = {"data": [file], "target": target, "learner": learner, "quiet": True}
    with suppress(Diverged):  # of a scale-dependent baseline
        run = EvaluationRun(CommandOptions(**options, save="m", **more), table=False)
        try:
            run.run()
        except ValueError:  # a learner that is not made for the task
            return
        write_predictions(CommandOptions(model="m", data=[file], predictions="p.csv", quiet=True))


def _learn_single_rows(task: str) -> None:
    """Learn and predict rows one at a time, as a service does."""
    from unitless.blend.blend import Blend

    loss, labels = {
        "binary": ("logistic", (-1, 1)),
        "multiclass": ("softmax", (0, 1, 2)),
        "regression": ("squared", (1, 3, 5)),
    }[task]
    learner = Blend(loss, classes=3) if task == "multiclass" else Blend(loss)
    for k in range(SINGLE_ROWS):
        row: dict[Any, float] = {"x": k / 7, "red": float(k % 3 > 0)}
        learner.predict_one(row)
        learner.learn_one(row, labels[k % len(labels)])


def _written(ending: str, task: str) -> str:
    """Write numbers, a category, missing values, and a target for the task."""
    import random

    chance = random.Random(0)
    lines = ["x0,x1,x2,colour,y"] if ending == "csv" else []
    for k in range(ROWS):
        a, b, c = (round(chance.gauss(0, 1), 3) for _ in range(3))
        label = {
            "binary": 1 if a > 0 else -1,
            "multiclass": "abc"[(a > -0.5) + (a > 0.5)],
            "regression": a,
        }[task]
        texts = {
            "csv": f"{a},{b if k % 9 else ''},{c},{'red' if k % 3 else 'blue'},{label}",
            "svm": f"{label} 1:{a} 2:{b} 7:{c}",
            "vw": f"{label} | x0:{a} x1:{b} red",
        }
        lines.append(texts[ending])
    with open(f"rows.{ending}", "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return file.name
