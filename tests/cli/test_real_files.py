"""`evaluate` on real files, with no option but the target's name: the library's scores."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_svmlight_file

from laws.streams import same_bits
from unitless import OnlineClassifier, OnlineRegressor
from unitless.encoders import FrameEncoder
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
    """TRUE and FALSE are words of a CSV file; pandas would make booleans of them."""
    frame = pd.read_csv(raw / "online_shoppers.csv", dtype={"Weekend": str, "Revenue": str})
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
    with pytest.warns(UserWarning, match="more than 1000 levels"):
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
    "smsspamcollection.tsv": (sms, ("-t", "label", "--text", "message")),
}


@pytest.mark.parametrize("name", FILES)
def test_scores_are_the_library_s(unitless, tmp_path, shared_data, name):
    library, words = FILES[name]
    page = tmp_path / "p.csv"
    done = unitless("evaluate", shared_data / "raw" / name, *words, "--predictions", page, "--json")
    assert done.code == 0, done.err
    results, scores = json.loads(done.out), library(shared_data / "raw")
    assert results["rows"] - results["unlabelled"] == len(scores)
    found = pl.read_csv(page)[:, -1].to_numpy()
    if results["unlabelled"]:
        labels = pd.read_csv(shared_data / "raw" / name)[results["target"]]
        found = found[labels.notna()]
    same_bits(found, scores)
