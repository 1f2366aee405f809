"""The verdict compares with the better of the best constant and the last label."""

from unitless.report.verdict import certainty, verdict

FACTS = {
    "task": "regression",
    "target": "price",
    "loss": "squared",
    "learner": "blend",
    "baseline": {"loss": 100.0},
    "curve": [[10 * k, 5.0 + k % 2] for k in range(1, 21)],
    "verdicts": {
        "constant": {"mean": -95.0, "low": -99.0, "high": -91.0, "row": 64, "level": 0.95},
        "last": {"mean": -0.5, "low": -1.0, "high": 0.25, "row": None, "level": 0.95},
    },
}


def sentences(loss, last):
    return verdict(FACTS | {"metrics": {"loss": loss}, "last": {"loss": last}})


def test_certainty_holds_at_any_time():
    tests = FACTS["verdicts"]
    assert certainty(tests["constant"]) == (
        "certain (95 %, at any time) since row 64: by 91 to 99 per row."
    )
    assert certainty(tests["last"]) == (
        "not certain (95 %, at any time): the difference per row is between -1 and 0.25."
    )
    assert "between -1 and 0.25 now" in certainty(tests["last"] | {"row": 64})
    assert "more rows would tell" in certainty(tests["last"] | {"low": None, "high": None})
    assert certainty(None) == "not certain: there are too few rows to tell."


def test_a_little_better_than_the_last_value_is_not_called_far_better():
    first, second, third = sentences(5.6, 6.0)
    assert first.startswith(
        "Predictions of price are slightly better than repeating the last value"
    )
    assert "5.6 instead of 6 (6.7 % less)" in first
    assert second.startswith("This is not certain (95 %, at any time)")
    assert third == "The best constant has a loss of 100."


def test_worse_than_the_last_value_is_said_first():
    first, second, *_ = sentences(6.0, 5.0)
    assert "worse than repeating the last value" in first
    assert "20 % more" in first
    assert second == "The rows come in an order that the features do not explain."


def test_a_last_value_that_says_little_is_mentioned():
    first, second, third = sentences(5.0, 150.0)
    assert "far better than the best constant" in first
    assert second.startswith("This is certain")
    assert third == "Repeating the last value has a loss of 150."


def test_a_baseline_without_loss_has_no_share():
    (first, *_) = sentences(0.2, 0.0)
    assert "worse than repeating the last value: the squared loss is 0.2 instead of 0." in first
    (first, *_) = sentences(100.1, 150.0)
    assert "no better than the best constant" in first
    assert "(0.1 % more)" in first


def test_an_accuracy_without_gain_is_said_as_such():
    facts = FACTS | {"task": "binary", "target": "spam", "classes": [992.0, 8.0]}
    metrics = {"loss": 5.0, "accuracy": 0.9921}
    first, *_ = verdict(facts | {"metrics": metrics})
    assert "99.2 % of the rows are right, as many as with the most frequent class." in first
    first, *_ = verdict(facts | {"metrics": metrics | {"accuracy": 0.995}})
    assert "99.5 % of the rows are right instead of 99.2 % for the most frequent class" in first


def test_rivals_are_those_that_people_use():
    found = [("blend", 5.0), ("boosting", 6.0), ("linear", 7.0)]
    comparison = [{"learner": name, "loss": loss, "elsewhere": loss} for name, loss in found]
    facts = FACTS | {"metrics": {"loss": 5.0}, "comparison": comparison, "units": {"rows": 900}}
    assert verdict(facts)[-1] == (
        "On the first 900 rows, the loss is 5; it is 6 for HistGradientBoosting, retrained as rows "
        "arrive, and 7 for a scaled linear model, retrained as rows arrive."
    )
    comparison[1]["loss"] = None
    assert "HistGradientBoosting" not in verdict(facts)[-1]
