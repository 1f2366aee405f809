"""A results file with values of the wrong type is refused, and a report of any other is made."""

import copy
import io
import json

import msgspec
import numpy as np
import pytest

from unitless.evaluation import Evaluation, read_results, results_of, write_results
from unitless.evaluation.results import Results
from unitless.model import Model
from unitless.readers import open_blocks
from unitless.report.page import page

OTHERS = [None, "text", 7, -1.5, True, [], [1], [[None]], {}, {"a": 1}, {"loss": "x"}]


@pytest.fixture(scope="module")
def results():
    rng = np.random.default_rng(0)
    lines = [f"{x:.3f},{k % 3},{int(x > 0)}" for k, x in enumerate(rng.normal(size=40))]
    (block,) = open_blocks(io.BytesIO("\n".join(["size,place,label", *lines]).encode()))
    run = Evaluation(Model.from_first_block(block, target="label", learner="coordinate"))
    run.certify = True
    for _ in run.over([block]):
        pass
    trial = {"units": "times 2", "moved": 0.0, "scores": 1.0}
    compared = [{"learner": "ogd", "loss": 1.0, "elsewhere": None}]
    units = {"rows": 40, "trials": [trial]}
    return results_of(run, seconds=1.0, file_rows=40, units=units, comparison=compared)


def paths_of(thing, path=()):
    """Every place in a JSON value; of a list the first item stands for all."""
    yield path
    if isinstance(thing, dict):
        for key, value in thing.items():
            yield from paths_of(value, (*path, key))
    elif isinstance(thing, list) and thing:
        yield from paths_of(thing[-1], (*path, len(thing) - 1))


def replaced(thing, path, value):
    made = copy.deepcopy(thing)
    place = made
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return made


def test_results_are_read_as_they_were_written(results, tmp_path):
    write_results(tmp_path / "r.json", results)
    found = read_results(tmp_path / "r.json")
    assert found == json.loads((tmp_path / "r.json").read_text())
    assert page(found).startswith("<!doctype html>")


def test_values_of_another_type(results, tmp_path):
    write_results(tmp_path / "r.json", results)
    plain = json.loads((tmp_path / "r.json").read_text())
    refused = 0
    for path in paths_of(plain):
        for value in OTHERS if path else ():
            (tmp_path / "f.json").write_text(json.dumps(replaced(plain, path, value)))
            try:
                found = read_results(tmp_path / "f.json")
            except ValueError as error:
                refused += str(tmp_path / "f.json") in str(error)
                continue
            assert page(found).startswith("<!doctype html>")
    assert refused > 500


def test_keys_that_are_missing(results, tmp_path):
    needed = {each.name for each in msgspec.structs.fields(Results) if each.required}
    assert len(needed) > 20
    for key in needed - {"results"}:
        write_results(tmp_path / "f.json", {k: v for k, v in results.items() if k != key})
        with pytest.raises(ValueError, match=key):
            read_results(tmp_path / "f.json")
