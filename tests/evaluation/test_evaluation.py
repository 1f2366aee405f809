"""An evaluation: resumed runs, models without scores, rows without labels."""

import io

import numpy as np
import pytest

from unitless import learners, persistence
from unitless.encoders import FrameEncoder
from unitless.evaluation import Evaluation, results_of, resumed
from unitless.model import Model
from unitless.readers import open_blocks
from unitless.rows import as_rows

TEXT = "size,kind\n" + "".join(f"{k * 7 % 13},{'ab'[k % 3 == 1]}\n" for k in range(90))
TEXT += "1,c\n2,c\n,\n3,a\n"
STOP = 37


def run_over(text, block_bytes, stop=None, learner="nag", path=None):
    """An evaluation of a text that is read in small blocks; saved and resumed at row `stop`."""
    blocks = list(open_blocks(io.BytesIO(text.encode()), target="kind", block_bytes=block_bytes))
    encoder = FrameEncoder(max_levels=3)
    options = {"learner": learner, "task": "multiclass", "columns": encoder}
    run = Evaluation(Model.from_first_block(blocks[0], target="kind", **options))
    for _ in run.over(blocks, every=STOP):
        if stop and run.rows == stop:
            run.save(path)
            again = resumed(path)
            rest = open_blocks(
                io.BytesIO(text.encode()), target="kind", block_bytes=block_bytes,
                resume=again.model.file.position,
            )  # fmt: skip
            for _ in again.over(rest, every=STOP):
                pass
            return again
    return run


@pytest.mark.parametrize("learner", ["nag", "coordinate"])
def test_resumed_scores_are_the_same(tmp_path, learner):
    """Also while classes are still to come, and in the middle of a block."""
    whole = run_over(TEXT, 300, learner=learner)
    assert whole.model.labels == ["a", "b", "c"]
    assert (whole.rows, whole.unlabelled, whole.model.rows) == (94, 1, 93)
    again = run_over(TEXT, 300, stop=STOP, learner=learner, path=tmp_path / "m")
    assert results_of(again) == results_of(whole)


def test_a_model_without_scores_starts_new_ones(tmp_path):
    run = run_over(TEXT, 1 << 20)
    persistence.save(run.model, tmp_path / "m")
    assert resumed(tmp_path / "m").rows == 0
    persistence.save(run.model.learner, tmp_path / "m")
    with pytest.raises(persistence.ModelFileError, match="evaluate"):
        resumed(tmp_path / "m")


def test_rows_without_a_label_may_bring_levels():
    """They then have their columns before the labelled rows do, so sums run in another order.

    That is all that separates a file with unlabelled rows from its labelled rows alone.
    """
    rng = np.random.default_rng(0)
    lines = [f"{rng.normal():.3f},{kind},{rng.normal():.3f}" for kind in "abcde" * 60]
    lines[:3] = [line.rpartition(",")[0] + "," for line in reversed(lines[:3])]
    (block,) = open_blocks(io.BytesIO("\n".join(["x,kind,y", *lines]).encode()), target="y")
    run = Evaluation(Model.from_first_block(block, target="y", learner="blend"))
    there = ~np.isnan(block.targets)
    scores = np.concatenate([step.scores for step in run.over([block])])[there]
    columns = FrameEncoder()
    encoded = columns.encode(block.frame.filter(there))
    columns.commit(encoded)
    names = run.model.feature_names()
    assert columns.names != names
    X, y = encoded.X, block.targets[there]
    X = X.toarray() if hasattr(X, "toarray") else np.asarray(X)
    alone = learners.get("blend")("squared").learn(as_rows(X, y))
    assert np.abs(alone - scores).max() < 1e-12 * np.abs(scores).max() * len(y)
    same = [columns.names.index(name) for name in names]
    assert (learners.get("blend")("squared").learn(as_rows(X[:, same], y)) == scores).all()
