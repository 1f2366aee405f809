"""The types of columns that a model of a file knows before it reads another one."""

import io

import pytest

from unitless.model import Model
from unitless.model.column_types import no_features, type_of_target, types_of_model
from unitless.readers import open_blocks

CSV = "id;when;price;kind;y\n" + "7;31/01/2021;1,5;a;no\n8;01/02/2021;2,5;b;yes\n" * 5
JSON = '{"when": "31/01/2021", "kind": "true", "ok": true, "n": 1, "y": "a"}\n' * 5 + (
    '{"when": "01/02/2021", "kind": "b", "ok": false, "n": 2, "y": "b"}\n' * 5
)


def model_of(text, format, **options):
    """A model that has learned a file."""
    model = None
    for block in open_blocks(io.BytesIO(text.encode()), format=format):
        model = Model.from_first_block(block, learner="coordinate", target="y", **options)
        prepared = model.prepared_block(block, grow=True)
        for piece in model.pieces(prepared):
            model.learn_rows(piece)
        prepared.commit()
        model.file.position = block.position
    return model


def test_a_csv_file_has_the_types_of_the_file_before():
    model = model_of(CSV, "csv", ignore=["id"])
    types = {"when": "date %d/%m/%Y", "price": "number 1234,5", "kind": "string"}
    for labelled in (True, False):
        assert types_of_model(model, "csv", labelled=labelled) == types
    model.file.reading = {"types": {"kind": "category"}}
    assert types_of_model(model, "tsv", labelled=True) == types | {"kind": "category"}
    assert no_features(model) == {"id", "y"}
    assert type_of_target(model) == {"y": "string"}


def test_other_formats_are_told_what_a_file_may_not_show():
    model = model_of(JSON, "jsonl")
    known = {"when": "date %d/%m/%Y"}
    assert types_of_model(model, "parquet", labelled=True) == known
    assert types_of_model(model, "jsonl", labelled=True) == known
    numbers = {"ok": "boolean", "n": "number"}
    assert types_of_model(model, "jsonl", labelled=False) == numbers | known


@pytest.mark.parametrize("format", ["csv", "jsonl", "svmlight"])
def test_a_model_that_was_not_made_of_a_table_has_what_it_was_given(format):
    from unitless.learners import get

    model = Model.of(get("coordinate")())
    assert types_of_model(model, format, labelled=True) is None
    model.file.reading = {"types": {"a": "number"}}
    assert types_of_model(model, format, labelled=True) == {"a": "number"}
    assert type_of_target(model) == {}
