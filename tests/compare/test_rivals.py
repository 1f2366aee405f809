"""The rivals of a comparison: the same rows, predicted before they are learned, in bounded time."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from unitless import losses
from unitless.compare import compare
from unitless.compare.rivals import RIVALS, ROWS_PER_CALL, rival_scores
from unitless.rows import as_rows

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 3))
SCORES = X @ [2.0, -1.0, 0.5]
TARGETS = {
    "logistic": np.where(SCORES + RNG.logistic(size=300) > 0, 1.0, -1.0),
    "squared": SCORES + RNG.normal(size=300) / 2,
    "softmax": np.digitize(SCORES, [-1, 1]).astype(float),
}


@pytest.mark.parametrize("loss", TARGETS)
@pytest.mark.parametrize("name", RIVALS)
def test_they_learn(name, loss):
    pytest.importorskip(RIVALS[name])
    rows = as_rows(X, TARGETS[loss])
    entry = compare(rows, [name], loss=loss, units="random").entries[0]
    late = rival_scores(name, rows, losses.get(loss), 3 if loss == "softmax" else 0, np.inf)[150:]
    y = TARGETS[loss][150:]
    if loss == "softmax":
        assert np.mean(late.argmax(axis=1) == y) > 0.6
    else:
        assert np.corrcoef(late, y)[0, 1] > 0.2
    assert entry.loss > 0
    assert np.isfinite(entry.elsewhere.loss)


@pytest.mark.parametrize("name", RIVALS)
def test_no_row_sees_its_label_or_a_later_one(name):
    pytest.importorskip(RIVALS[name])
    y = TARGETS["squared"]
    k = 5 * ROWS_PER_CALL
    other = np.append(y[:k], 100 * y[k:])
    one, two = (
        rival_scores(name, as_rows(X, t), losses.get("squared"), 0, np.inf) for t in (y, other)
    )
    np.testing.assert_array_equal(one[: k + 1], two[: k + 1])
    assert (one[k + ROWS_PER_CALL :] != two[k + ROWS_PER_CALL :]).any()


@pytest.mark.parametrize("name", RIVALS)
def test_missing_values_and_sparse_rows(name):
    pytest.importorskip(RIVALS[name])
    holes = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
    for values in (holes, csr_array(np.nan_to_num(holes))):
        scores = rival_scores(
            name, as_rows(values, TARGETS["squared"]), losses.get("squared"), 0, np.inf
        )
        assert np.isfinite(scores).all()


def test_a_missing_value_counts_as_the_mean():
    """So the scores of SGD with a scaler do not depend on where the columns have their zero."""
    holes = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
    task = (losses.get("squared"), 0, np.inf)
    there, far = (
        rival_scores("sklearn", as_rows(values, TARGETS["squared"]), *task)
        for values in (holes, holes + 1000)
    )
    np.testing.assert_allclose(there, far, atol=1e-6)


def test_impatience_and_absence(monkeypatch):
    rows = as_rows(np.tile(X, (50, 1)), np.tile(TARGETS["squared"], 50))
    made = compare(rows, ["vaw", "river", "sklearn"], loss="squared", patience=1e-9, regret=False)
    vaw = compare(rows[:100], ["vaw"], loss="squared", regret=False).entry("vaw")
    slow = made.entry("river")
    assert (slow.rows, slow.loss_of_first) == (100, vaw.loss)
    assert slow.loss == compare(rows[:100], ["river"], loss="squared").entry("river").loss
    assert made.entry("sklearn").rows == 32
    assert made.entry("vaw").rows == len(rows) == 15_000
    assert "(River) is slow and stopped after 100 of 15,000 rows, on which vaw has a" in str(made)
    monkeypatch.setattr("unitless.compare.rivals.find_spec", lambda name: None)
    made = compare(rows, ["vaw", "vw"], loss="squared", regret=False)
    assert made.left_out == {"vw": "it is not installed: pip install vowpalwabbit"}


def test_a_loss_that_they_lack():
    made = compare(as_rows(X, TARGETS["squared"]), list(RIVALS), loss="quantile(0.9)", regret=False)
    assert made.entries == []
    assert set(made.left_out) == set(RIVALS)
