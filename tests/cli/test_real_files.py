"""`evaluate` on real files, with no option but the target's name: the library's scores."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_svmlight_file

from laws.streams import same_bits
from unitless import OnlineClassifier, OnlineRegressor, load
from unitless.encoders import FrameEncoder
from unitless.encoders.column_kinds import fits, kind_of_cells
from unitless.learners import Blend
from unitless.rows import as_rows


def classified(X, y):
    """The probability of the last class, of each row before it was learned."""
    made = OnlineClassifier(shuffle=False).fit(X, y)
    return made.learner_.loss.link(made.progressive_)


def estimated(X, y):
    """The prediction of each row before it was learned."""
    return OnlineRegressor(shuffle=False).fit(X, y).progressive_


def online_shoppers(raw):
    """Weekend is TRUE or FALSE: booleans; classes keep their spelling."""
    frame = pd.read_csv(raw / "online_shoppers.csv", dtype={"Revenue": str})
    return classified(frame.drop(columns="Revenue"), frame["Revenue"].to_numpy())


def diamonds(raw):
    """Numbers and three categories."""
    frame = pd.read_csv(raw / "diamonds.csv")
    return estimated(frame.drop(columns="price"), frame["price"].to_numpy(np.float64))


def german(raw):
    """No header, spaces between fields."""
    frame = pd.read_csv(raw / "german.data", sep=" ", header=None)
    frame.columns = [f"c{k + 1}" for k in range(21)]
    return classified(frame.drop(columns="c21"), frame["c21"].to_numpy())


def a9a(raw):
    """svmlight, as scikit-learn loads it."""
    X, y = load_svmlight_file(str(raw / "a9a.libsvm"))
    return classified(X, y)


def sms(raw):
    """Words are counted by `FrameEncoder`."""
    frame = pd.read_csv(raw / "smsspamcollection.tsv", sep="\t")
    columns = FrameEncoder(text=["message"])
    with pytest.warns(UserWarning, match="more than 1000 words"):
        encoded = columns.encode(frame.drop(columns="label"))
    y = np.where(frame["label"] == "spam", 1.0, -1.0)
    blend = Blend()
    return blend.loss.link(blend.learn(as_rows(encoded.X, y)))


def beijing(raw):
    """Rows without a label teach nothing; the columns they bring keep their places."""
    frame = pd.read_csv(raw / "beijing_pm25.csv")
    known = frame["pm2.5"].notna().to_numpy()
    columns = FrameEncoder()
    encoded = columns.encode(frame.drop(columns="pm2.5"))
    y = frame["pm2.5"].to_numpy()[known]
    return Blend("squared").learn(as_rows(encoded.X[known], y))


FILES = {
    "online_shoppers.csv": (online_shoppers, ("-t", "Revenue")),
    "diamonds.csv": (diamonds, ("-t", "price")),
    "beijing_pm25.csv": (beijing, ("-t", "pm2.5")),
    "german.data": (german, ("--no-header", "-t", "c21")),
    "a9a.libsvm": (a9a, ()),
    "smsspamcollection.tsv": (sms, ("-t", "label")),
}


@pytest.mark.parametrize("name", FILES)
def test_scores_are_the_library_s(unitless, tmp_path, shared_data, name):
    library, words = FILES[name]
    page = tmp_path / "p.csv"
    done = unitless("evaluate", shared_data / "raw" / name, *words, "--predictions", page, "--json")
    assert done.code == 0, done.err
    results, scores = json.loads(done.out), library(shared_data / "raw")
    assert results["rows"] - results["unlabelled"] == len(scores)
    found = pl.read_csv(page).drop("prediction_not_fresh")[:, -1].to_numpy()
    if results["unlabelled"]:
        labels = pd.read_csv(shared_data / "raw" / name)[results["target"]]
        found = found[labels.notna()]
    same_bits(found, scores)


def test_tokens_of_missing_values_are_kept_with_the_model(unitless, tmp_path):
    """A survey with 99 for "no answer": the model reads later files in the same way."""
    rng = np.random.default_rng(0)
    age = rng.integers(18, 80, 300).astype(float)
    frame = pl.DataFrame({"age": age, "income": 100 * age + rng.normal(size=300)})
    gaps = frame.with_columns(age=pl.when(pl.Series(age) < 25).then(None).otherwise(pl.col("age")))
    scores = []
    for name, null, words in (("plain", "", ()), ("coded", "99", ("--na", "99"))):
        data, model = tmp_path / f"{name}.csv", tmp_path / name
        gaps.write_csv(data, null_value=null)
        done = unitless("fit", data, "-t", "income", "--save", model, *words)
        assert done.code == 0, done.err
        scores.append(unitless("predict", model, data).out)
    assert scores[0] == scores[1]


def kinds_before(cells, _, **options):
    """Before version 0.2, TRUE and FALSE in a CSV file were categories."""
    return "number" if fits(cells, "number") else "string"


@pytest.mark.parametrize("kinds", [kind_of_cells, kinds_before])
@pytest.mark.parametrize("spell", [str.upper, str.lower, str.title])
def test_booleans_of_a_file_and_of_its_frame(unitless, tmp_path, monkeypatch, kinds, spell):
    """One model, one file, every door."""
    rng = np.random.default_rng(0)
    weekend = rng.random(300) < 0.3
    visits = rng.normal(size=300)
    bought = np.where(visits + weekend > 0.5, "yes", "no")
    words = pl.DataFrame({"weekend": [spell(str(b)) for b in weekend], "visits": visits})
    data, path = tmp_path / "shop.csv", tmp_path / "m"
    words.with_columns(bought=pl.Series(bought)).write_csv(data)
    monkeypatch.setattr("unitless.encoders.column_kinds.kind_of_cells", kinds)
    done = unitless("fit", data, "-t", "bought", "-l", "coordinate", "--save", path)
    assert done.code == 0, done.err
    monkeypatch.setattr("unitless.encoders.column_kinds.kind_of_cells", kind_of_cells)
    model = load(path)
    features = {kind_of_cells: {"weekend"}, kinds_before: {"weekend=" + spell("true")}}
    assert features[kinds] < {*model.feature_names()}
    booleans = pl.read_csv(data).drop("bought")
    assert booleans["weekend"].dtype == pl.Boolean
    wanted = model.predict_proba(booleans)[:, -1]
    objects = booleans.to_pandas().astype({"weekend": object})
    for frame in (booleans.to_pandas(), objects, *([words] if kinds is kinds_before else [])):
        same_bits(model.predict_proba(frame)[:, -1], wanted)
    booleans.write_parquet(tmp_path / "shop.parquet")
    for file in (data, tmp_path / "shop.parquet"):
        found = pl.read_csv(unitless("predict", path, file).out.encode())
        same_bits(found[:, -1].to_numpy(), wanted)
