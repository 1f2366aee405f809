"""`unitless demo`: an evaluation of a built-in data set, and the same in other units."""


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
        options = CommandOptions(data=[str(path)], target="tumour", top=5)
        EvaluationRun(options, table=True).run()
    print("\nThe same rows with every measurement in another unit, beside gradient descent\n")
    rows = as_rows(X, 2.0 * data.target - 1)
    with warnings_as_notes(quiet=False):
        print(compare(rows, ["blend", "ogd"], units="random", regret=False))
    print(
        "\nTry it on your own file (CSV, Parquet, JSON lines, ...):\n\n"
        "    unitless evaluate FILE --target COLUMN\n"
    )
