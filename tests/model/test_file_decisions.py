"""What was decided about a file is a record: made without words, saved as JSON, worded once."""

import ast
import io
import json
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from unitless import load
from unitless.model import Model, file_decisions
from unitless.model.decision_sentences import sentence
from unitless.model.file_decisions import (
    AlikeLevels,
    AnyDecision,
    ChosenTask,
    ColumnsRenamed,
    ColumnTypes,
    DateFormat,
    DifferentUnits,
    EmptyLeftOut,
    FieldSeparator,
    FirstOf,
    IdentifiersLeftOut,
    LeadingZeros,
    NearlyNumbers,
    NumbersAsNames,
    NumberSpelling,
    PossibleDates,
    RowCounter,
    SeveralFiles,
    TextColumns,
    TextEncoding,
    TooManyClasses,
)
from unitless.persistence import ModelFileError, header, save
from unitless.persistence.container import FORMAT, packed, read
from unitless.readers import open_blocks

ONE = FirstOf(["a"], 1)
MANY = FirstOf(["a", "b c", "d", "e", "f"], 9)
NONE = FirstOf([], 0)
WORDED = [
    (SeveralFiles("a.csv"), "files: one stream, which begins with a.csv"),
    (FieldSeparator("\t"), "separator: tab"),
    (FieldSeparator("^"), "separator: ^"),
    (TextEncoding("cp1252"), "encoding: Windows-1252 (--encoding names another one)"),
    (
        ColumnsRenamed({"a.1": "a"}, 3),
        "header: names that come several times have a suffix: a.1 (another a) and 2 more",
    ),
    (
        NumbersAsNames(FirstOf(["1.5"], 1)),
        "header: 1.5 are numbers; if they are data, use --no-header",
    ),
    (
        NumberSpelling("1234,5", MANY),
        "numbers: written like 1234,5 in a, b c, d, e, f and 4 more "
        "(--decimal, --thousands and --category say otherwise)",
    ),
    (
        ColumnTypes(2, MANY, ONE, NONE, ONE),
        "columns: 2 numeric, 9 categorical (a, b c, d, e, f and 4 more), 1 date (a), "
        "1 of lists, one feature per member (a)",
    ),
    (
        DateFormat("%s", ONE),
        "dates: a, written as seconds since 1970 (--category makes a column categorical)",
    ),
    (DateFormat("", ONE), "dates: a (--category makes a column categorical)"),
    (TextColumns(ONE), "text: the words of a are counted (--category: whole cells)"),
    (PossibleDates("a b", [""]), "dates: a b holds dates; --date 'a b' reads them"),
    (
        PossibleDates("a", ["%d/%m/%Y", "%m/%d/%Y"]),
        "dates: a may be dates; --date a=%d/%m/%Y or --date a=%m/%d/%Y reads them",
    ),
    (
        IdentifiersLeftOut(ONE),
        "identifiers: a left out, because every row has another value "
        "(--identifier-as-feature keeps them)",
    ),
    (RowCounter("a b"), "identifier: a b counts the rows; --ignore 'a b' leaves it out"),
    (EmptyLeftOut(ONE), "empty: a left out, because no row has a value so far"),
    (LeadingZeros(ONE), "leading zeros: a categorical (--number makes a column numeric)"),
    (
        AlikeLevels("a", ["yes", "Yes "]),
        "categories: 'yes' and 'Yes ' of a differ only in case or blanks: is it one?",
    ),
    (
        NearlyNumbers("a", 1234, 1240, FirstOf(["x"], 6)),
        "numbers: a is categorical, although 1,234 of 1,240 cells are numbers; "
        "--number a makes others missing: 'x' and 5 more",
    ),
    (
        DifferentUnits("a", ["", "kg"]),
        "numbers: a is categorical, because units differ: none, 'kg'",
    ),
    (
        ChosenTask("binary", "y", FirstOf([0.0, "b"], 2)),
        "task: binary, because 'y' has two values, 0 and 'b'",
    ),
    (
        ChosenTask("multiclass", None, FirstOf(["a", "b", "c"], 3)),
        "task: multiclass, because the labels have the classes 'a', 'b', 'c'",
    ),
    (ChosenTask("regression", "y", NONE), "task: regression, because 'y' has numbers"),
    (
        TooManyClasses("y", 1200, 1300, True),
        "doubt: 'y' has 1,200 classes in 1,300 rows, nearly one per row; "
        "if they are numbers, use --task regression",
    ),
    (
        TooManyClasses("y", 100, 130, False),
        "doubt: 'y' has 100 classes in 130 rows, nearly one per row; "
        "to predict another column, use --target",
    ),
]


def test_every_decision_has_an_example():
    assert {type(decision) for decision, _ in WORDED} == {*get_args(AnyDecision)}


@pytest.mark.parametrize(("decision", "words"), WORDED)
def test_words(decision, words):
    assert sentence(decision) == words


@pytest.mark.parametrize("decision", [decision for decision, _ in WORDED])
def test_json(decision):
    plain = json.loads(json.dumps(msgspec.to_builtins(decision)))
    assert plain["about"] == type(decision).__name__
    assert msgspec.convert(plain, AnyDecision) == decision


def model_of(text, target="y", **options):
    """A model of a CSV file, and its first block."""
    block = next(open_blocks(io.BytesIO(text.encode())))
    return Model.from_first_block(block, learner="coordinate", target=target, **options), block


TEXT = "zip;day;y\n" + "02139;31/01/2021;1,5\n10115;01/02/2021;2,5\n" * 20


def test_decisions_of_a_file_are_records():
    model, _ = model_of(TEXT)
    assert model.file.decisions == [
        FieldSeparator(";"),
        NumberSpelling("1234,5", FirstOf(["y"], 1)),
        ColumnTypes(0, FirstOf(["zip"], 1), FirstOf(["day"], 1), NONE, NONE),
        DateFormat("%d/%m/%Y", FirstOf(["day"], 1)),
        LeadingZeros(FirstOf(["zip"], 1)),
        ChosenTask("binary", "y", FirstOf([1.5, 2.5], 2)),
    ]


def test_records_are_bounded():
    """Sentences name a few columns, and a model file is not longer for a wide table."""
    names = [f"c{k}" for k in range(1000)]
    row = ",".join(["a", "b"] * 500)
    model, _ = model_of(",".join([*names, "y"]) + "\n" + f"{row},1\n{row},2\n")
    types = next(each for each in model.file.decisions if isinstance(each, ColumnTypes))
    assert types.categorical == FirstOf(names[:5], 1000)
    assert "1000 categorical (c0, c1, c2, c3, c4 and 995 more)" in sentence(types)


def test_deciding_words_nothing():
    """The module that decides has no sentence: no text of several words but docstrings."""
    tree = ast.parse(Path(file_decisions.__file__).read_text())
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs
    ]
    assert "String" in texts
    assert not [text for text in texts if " " in text.replace(" | ", "|").strip()]


def test_a_model_file_has_the_records(tmp_path):
    model, block = model_of(TEXT)
    model.learn_rows(model.prepared_block(block, grow=True).rows)
    save(model, tmp_path / "m")
    saved = header(tmp_path / "m")["model"]["file"]["decisions"]
    assert saved[0] == {"about": "FieldSeparator", "char": ";"}
    assert load(tmp_path / "m").file.decisions == model.file.decisions


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("separator: comma", "Expected `object`, got `str`"),
        ({"about": "Taste"}, "Invalid value 'Taste'"),
        ({"about": "FieldSeparator"}, "missing required field `char`"),
        ({"about": "RowCounter", "column": 3}, "Expected `str`, got `int`"),
        ({"about": "RowCounter", "column": "a", "row": 1}, "unknown field `row`"),
    ],
)
def test_a_wrong_record_is_refused_by_its_place(wrong, why, tmp_path):
    model, _ = model_of(TEXT)
    save(model, tmp_path / "m")
    written, arrays = read(tmp_path / "m")
    assert written["format"] == FORMAT
    written["model"]["file"]["decisions"][1] = wrong
    (tmp_path / "m").write_bytes(packed(written, arrays))
    with pytest.raises(ModelFileError, match=why) as error:
        load(tmp_path / "m")
    assert r"$.model.file.decisions[1]" in str(error.value) or "decisions[...]" in str(error.value)
