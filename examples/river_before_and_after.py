"""Replace a River pipeline: no scaler and no learning rate, and a better score.

River must be installed (`pip install river`).

    python examples/river_before_and_after.py
"""

from river import datasets, evaluate, linear_model, metrics, preprocessing

from unitless.river import UnitlessClassifier, UnitlessRegressor


def compare(
    title: str, rows: object, before: object, after: object, metric: metrics.base.Metric
) -> None:
    """Print the scores of both models; each row is predicted before it is learned."""
    print(title)
    for name, model in (("before", before), ("after", after)):
        score = evaluate.progressive_val_score(rows, model, metric.clone())
        print(f"  {name:<7} {score}")


def main() -> None:
    """Compare two models on each of two streams."""
    compare(
        "phishing sites (yes or no)",
        datasets.Phishing(),
        preprocessing.StandardScaler() | linear_model.LogisticRegression(),
        UnitlessClassifier(),
        metrics.Accuracy(),
    )
    compare(
        "a president's approval (a number)",
        datasets.TrumpApproval(),
        preprocessing.StandardScaler() | linear_model.LinearRegression(),
        UnitlessRegressor(),
        metrics.MAE(),
    )
    many = UnitlessClassifier()
    frame, labels = as_frame(datasets.Phishing())
    many.learn_many(frame, labels)
    one = UnitlessClassifier()
    for x, y in datasets.Phishing():
        one.learn_one(x, y)
    question = next(iter(datasets.Phishing()))[0]
    same = many.predict_proba_one(question) == one.predict_proba_one(question)
    print(f"learn_many = learn_one row by row, to the last bit: {same}")


def as_frame(rows: datasets.base.Dataset) -> tuple[object, object]:
    """Convert a stream of dicts to a data frame and its labels."""
    import pandas

    return pandas.DataFrame([x for x, _ in rows]), pandas.Series([y for _, y in rows])


if __name__ == "__main__":
    main()
