"""`unitless demo`: an evaluation of a built-in data set, and the same in other units."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unitless.compare import Comparison


def demo() -> None:
    """Learn a built-in data set, then again in other units, and compare.

    It needs no file, and takes a few seconds after the first time.

    Example:

        unitless demo
    """
    from pathlib import Path
    from tempfile import TemporaryDirectory

    import polars
    from sklearn.datasets import load_breast_cancer

    from unitless.cli.options import CommandOptions
    from unitless.cli.run import EvaluationRun
    from unitless.cli.screen import warnings_as_notes
    from unitless.compare import compare
    from unitless.rows import as_rows

    data = load_breast_cancer()
    X = data.data
    print(
        f"Breast cancer: {len(X)} tumours, {X.shape[1]} raw measurements from "
        f"{X[X > 0].min():.1g} to {X.max():.0f}.\n"
        "Each row is predicted before its label is used: one pass, no parameters.\n"
    )
    with TemporaryDirectory() as folder:
        path = Path(folder, "breast cancer.csv")
        frame = polars.DataFrame(X, schema=list(data.feature_names))
        labels = polars.Series("tumour", data.target_names[data.target].tolist())
        frame.with_columns(labels).write_csv(path)
        options = CommandOptions(data=[str(path)], target="tumour")
        EvaluationRun(options, table=True).run()
    rows = as_rows(X, 2.0 * data.target - 1)
    with warnings_as_notes(quiet=False):
        moved = compare(rows, ["blend"], units="random", regret=False)
    print(f"\n{_in_other_units(moved)}")
    print(
        "\nTry it on your own file (CSV, Parquet, JSON lines, ...):\n\n"
        "    unitless evaluate FILE --target COLUMN\n"
    )


def _in_other_units(compared: "Comparison") -> str:
    """Say what became of the predictions when each column had another unit."""
    factors, there = compared.factors, compared.entries[0].elsewhere
    assert factors is not None
    assert there is not None
    change = "no prediction changed by a single bit"
    if there.moved:
        change = f"scores changed by {there.moved:.2g} at most"
    return (
        "The same rows with every measurement in another unit, multiplied by "
        f"{factors.min():.2g} to {factors.max():g}:\n"
        f"the loss is {there.loss:.4f}, and {change}."
    )
