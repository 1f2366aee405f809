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
LABELS = {"binary": (-1, 1), "multiclass": (0, 1, 2), "regression": (1, 3, 5)}
"""Targets of single rows; in the file, the column of a task has its name."""
All = Annotated[bool, typer.Option("--all", metavar="", help="Also compile every other learner.")]


def compile(everything: All = False) -> None:
    """Compile in advance what `evaluate`, `fit` and `predict` need with the default learner.

    Use it in a container image, or before the first run. The compiled code goes to NUMBA_CACHE_DIR
    if it is set, otherwise to the user's cache folder. Code that is there already takes no time.

    Example:

        unitless compile
    """
    import time
    from contextlib import chdir
    from tempfile import TemporaryDirectory

    parts = [(name, *part, "blend") for name, part in PARTS.items()]
    if everything:
        from unitless.learners import REGISTRY

        for learner in REGISTRY:
            for task in LABELS:
                parts.append((f"{learner}, {task}", "csv", task, {}, learner))
    begin = time.perf_counter()
    with TemporaryDirectory() as folder, chdir(folder):
        _write_files()
        for name, ending, task, more, learner in parts:
            start = time.perf_counter()
            if ending == "dict":
                _learn_single_rows(task)
            else:
                _run(f"rows.{ending}", task, learner, more)
            print(f"{name:<32}{time.perf_counter() - start:7.1f} s", flush=True)
    print(f"{'all':<32}{time.perf_counter() - begin:7.1f} s")


def _write_files() -> None:
    """Write numbers, a category, missing values, and a target for each task."""
    import numpy as np
    import polars as pl

    from unitless.cli.conversion import Conversion
    from unitless.cli.options import CommandOptions

    X = np.random.default_rng(0).normal(size=(ROWS, 3)).round(3)
    row = pl.int_range(ROWS)
    frame = pl.DataFrame(X, schema=["x0", "x1", "x2"]).with_columns(
        x1=pl.when(row % 9 > 0).then("x1"),
        colour=pl.when(row % 3 > 0).then(pl.lit("red")).otherwise(pl.lit("blue")),
        binary=pl.when(pl.col("x0") > 0).then(1).otherwise(-1),
        multiclass=pl.lit(["a", "b", "c"]).list.get(row % 3),
        regression="x0",
    )
    frame.write_csv("rows.csv")
    for file in ("rows.svm", "rows.vw"):
        Conversion(CommandOptions(file="rows.csv", output=file, target="binary")).write()


def _run(file: str, task: str, learner: str, more: dict[str, Any]) -> None:
    """Learn a small file, and predict it again."""
    from contextlib import suppress

    from unitless.cli.options import CommandOptions
    from unitless.cli.predict import write_predictions
    from unitless.cli.run import EvaluationRun
    from unitless.learners.base import Diverged

    options: Any = {"data": [file], "learner": learner, "quiet": True, "save": "m", **more}
    if file == "rows.csv":
        options |= {"target": task, "ignore": [other for other in LABELS if other != task]}
    with suppress(Diverged):  # of a scale-dependent baseline
        try:
            EvaluationRun(CommandOptions(**options), table=False).run()
        except ValueError:  # a learner that is not made for the task
            return
        write_predictions(CommandOptions(model="m", data=[file], predictions="p.csv", quiet=True))


def _learn_single_rows(task: str) -> None:
    """Learn and predict rows one at a time, as a service does."""
    from unitless.model.learner_choice import learner_for_task

    labels = LABELS[task]
    learner = learner_for_task("blend", task, None, len(labels))
    for k in range(SINGLE_ROWS):
        row: dict[Any, float] = {"x": k / 7, "red": float(k % 3 > 0)}
        learner.predict_one(row)
        learner.learn_one(row, labels[k % len(labels)])
